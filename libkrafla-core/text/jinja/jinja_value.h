/* Values of chat templates: what Python objects are to Jinja, as far as templates can see them.
 *
 * All of them live in the arena of one render (constants: of the template) and are freed with it.
 * Strings, lists and dicts never change once made, as in the immutable sandbox of the reference;
 * namespaces, loops and generators do. Strings are valid UTF-8.
 *
 * Functions that return bool give false on failure, which is then described in the kr_jctx. */
#ifndef KR_TEXT_JINJA_VALUE_H
#define KR_TEXT_JINJA_VALUE_H

#include "text/jinja/jinja_context.h"

typedef enum kr_jtype {
  KR_J_MISSING, /* no value: an argument that was not given, a variable that was not set */
  KR_J_UNDEFINED,
  KR_J_NONE,
  KR_J_BOOL,
  KR_J_INT,
  KR_J_BIG, /* an integer outside int64 */
  KR_J_FLOAT,
  KR_J_STRING,
  KR_J_LIST,
  KR_J_TUPLE,
  KR_J_DICT,
  KR_J_VIEW, /* keys(), values(), items() of a dict */
  KR_J_RANGE,
  KR_J_GENERATOR, /* can be read once */
  KR_J_NAMESPACE,
  KR_J_MACRO,
  KR_J_LOOP,
  KR_J_METHOD,   /* bound to its object */
  KR_J_FUNCTION, /* a global */
  KR_J_CYCLER,
  KR_J_JOINER
} kr_jtype;

typedef struct kr_jstring kr_jstring;
typedef struct kr_jlist kr_jlist;
typedef struct kr_jdict kr_jdict;
typedef struct kr_jrange kr_jrange;
typedef struct kr_jview kr_jview;
typedef struct kr_jgenerator kr_jgenerator;
typedef struct kr_jundefined kr_jundefined;
typedef struct kr_jbig kr_jbig;
typedef struct kr_jmethod kr_jmethod;
typedef struct kr_jcycler kr_jcycler;
struct kr_jmacro;
struct kr_jloop;
struct kr_jbuiltin;

typedef struct kr_jvalue {
  uint8_t type; /* kr_jtype */
  union {
    bool b;
    int64_t i;
    double f;
    const kr_jbig *big;
    kr_jstring *s;
    kr_jlist *list; /* KR_J_LIST, KR_J_TUPLE */
    kr_jdict *dict; /* KR_J_DICT, KR_J_NAMESPACE */
    const kr_jview *view;
    const kr_jrange *range;
    kr_jgenerator *generator;
    const kr_jundefined *undefined;
    struct kr_jmacro *macro;
    struct kr_jloop *loop;
    const kr_jmethod *method;
    const struct kr_jbuiltin *function;
    kr_jcycler *cycler; /* KR_J_CYCLER; KR_J_JOINER: the separator, and how often it was asked */
    void *object;
  };
} kr_jvalue;

/* Bytes that a string may be extended in, if it is the last to have been: see kr_jconcat. */
typedef struct kr_jroom {
  size_t used, capacity;
  char data[];
} kr_jroom;

#define KR_J_UNCOUNTED SIZE_MAX

struct kr_jstring {
  const char *p;
  size_t n;
  size_t points; /* code points, or KR_J_UNCOUNTED */
  kr_jroom *room;
  bool markup; /* markupsafe.Markup: what is added to it is escaped */
};

struct kr_jlist {
  bool group; /* a tuple of groupby: has attributes grouper and list */
  size_t n, capacity;
  kr_jvalue *items;
};

typedef struct kr_jentry {
  uint64_t hash;
  kr_jvalue key, value;
} kr_jentry;

struct kr_jdict { /* in order of insertion */
  size_t n, capacity;
  kr_jentry *entries;
  uint32_t *index; /* entry number + 1, or 0; NULL while the dict is small */
  size_t index_size;
};

struct kr_jview {
  const kr_jdict *dict;
  enum { KR_J_KEYS, KR_J_VALUES, KR_J_ITEMS } kind;
};

struct kr_jrange {
  int64_t start, stop, step, n;
};

struct kr_jgenerator {
  kr_jlist *items;
  size_t next;
};

struct kr_jundefined {
  const char *hint; /* the whole message, or NULL */
  bool unsafe;      /* SecurityError rather than UndefinedError */
  kr_jvalue object; /* KR_J_MISSING: a variable */
  kr_jvalue name;
};

struct kr_jbig {
  bool negative;
  uint32_t n;
  uint32_t limb[];
};

struct kr_jmethod {
  kr_jvalue self;
  const struct kr_jbuiltin *builtin;
};

struct kr_jcycler {
  kr_jlist *items;
  size_t at;
};

/* Arguments of a call. Names are strings; names of one call differ. */
typedef struct kr_jargs {
  kr_jvalue *positional;
  size_t n;
  struct kr_jnamed {
    kr_jstring *name;
    kr_jvalue value;
  } *named;
  size_t n_named;
} kr_jargs;

static inline kr_jvalue kr_jmissing(void) {
  return (kr_jvalue){.type = KR_J_MISSING};
}
static inline kr_jvalue kr_jnone(void) {
  return (kr_jvalue){.type = KR_J_NONE};
}
static inline kr_jvalue kr_jbool(bool b) {
  return (kr_jvalue){.type = KR_J_BOOL, .b = b};
}
static inline kr_jvalue kr_jint(int64_t i) {
  return (kr_jvalue){.type = KR_J_INT, .i = i};
}
static inline kr_jvalue kr_jfloat(double f) {
  return (kr_jvalue){.type = KR_J_FLOAT, .f = f};
}
static inline kr_jvalue kr_jobject(kr_jtype type, void *object) {
  return (kr_jvalue){.type = (uint8_t)type, .object = object};
}
static inline bool kr_jis_string(kr_jvalue v) {
  return v.type == KR_J_STRING;
}
static inline bool kr_jis_integer(kr_jvalue v) { /* bool is a kind of int */
  return v.type == KR_J_INT || v.type == KR_J_BIG || v.type == KR_J_BOOL;
}

/* ---- making ---- */

/* The bytes are not copied. */
bool kr_jstring_of(kr_jctx *c, const char *p, size_t n, kr_jvalue *ret);
bool kr_jstring_copy(kr_jctx *c, const char *p, size_t n, kr_jvalue *ret);
bool kr_jstring_text(kr_jctx *c, const char *text, kr_jvalue *ret); /* a literal */
/* A part of s, sharing its bytes. */
bool kr_jstring_part(kr_jctx *c, const kr_jstring *s, size_t at, size_t n, kr_jvalue *ret);
/* a followed by b; what grows a text at its end takes time for what is added only. */
bool kr_jconcat(kr_jctx *c, const kr_jstring *a, const char *b, size_t n, kr_jvalue *ret);
size_t kr_jpoints(const kr_jstring *s);
static inline bool kr_jis_ascii(const kr_jstring *s) {
  return kr_jpoints(s) == s->n;
}
bool kr_jequals(const kr_jstring *s, const char *text);

kr_jlist *kr_jlist_new(kr_jctx *c, size_t capacity);
bool kr_jlist_add(kr_jctx *c, kr_jlist *list, kr_jvalue item);
bool kr_jpair(kr_jctx *c, kr_jvalue a, kr_jvalue b, kr_jvalue *ret);
bool kr_jgenerator_of(kr_jctx *c, kr_jlist *items, kr_jvalue *ret);

kr_jdict *kr_jdict_new(kr_jctx *c);
/* TypeError for keys that Python cannot hash. */
bool kr_jdict_set(kr_jctx *c, kr_jdict *dict, kr_jvalue key, kr_jvalue value);
/* *ret is KR_J_MISSING when there is no such key. */
bool kr_jdict_get(kr_jctx *c, const kr_jdict *dict, kr_jvalue key, kr_jvalue *ret);
/* The same for a key that is a text; never fails but for bounds. */
bool kr_jdict_find(kr_jctx *c, const kr_jdict *dict, const char *key, kr_jvalue *ret);

bool kr_jundefined_hint(kr_jctx *c, const char *hint, kr_jvalue *ret);
bool kr_jundefined_name(kr_jctx *c, kr_jvalue object, kr_jvalue name, bool unsafe, kr_jvalue *ret);
/* Fails with the error that using an undefined value raises. */
bool kr_jundefined_fail(kr_jctx *c, const kr_jundefined *undefined);

/* ---- asking ---- */

const char *kr_jtype_name(kr_jvalue v); /* as type(v).__name__ */
bool kr_jtruth(kr_jvalue v);
/* len(v); TypeError without one. *ret is -1 instead when fail is false. */
bool kr_jlength(kr_jctx *c, kr_jvalue v, bool fail, int64_t *ret);
bool kr_jequal(kr_jctx *c, kr_jvalue a, kr_jvalue b, bool *ret);
/* < of Python: *ret is negative, 0 or positive; op names it in the TypeError for others. Floats
 * that are not a number give *ret 2, which is no order. */
bool kr_jcompare(kr_jctx *c, kr_jvalue a, kr_jvalue b, const char *op, int *ret);
bool kr_jcontains(kr_jctx *c, kr_jvalue container, kr_jvalue item, bool *ret);

/* ---- iterating ---- */

typedef struct kr_jiterator {
  kr_jvalue of;
  size_t at;
} kr_jiterator;

bool kr_jiterable(kr_jvalue v);
/* TypeError when v cannot be iterated. */
bool kr_jiterate(kr_jctx *c, kr_jvalue v, kr_jiterator *ret);
/* *ret is KR_J_MISSING at the end. */
bool kr_jnext(kr_jctx *c, kr_jiterator *it, kr_jvalue *ret);
/* list(v) */
bool kr_jlist_of(kr_jctx *c, kr_jvalue v, kr_jlist **ret);

/* ---- text of values ---- */

bool kr_jwrite_str(kr_jctx *c, kr_jvalue v);           /* str(v), to the context's output */
bool kr_jwrite_repr(kr_jctx *c, kr_jvalue v);          /* repr(v) */
bool kr_jstr(kr_jctx *c, kr_jvalue v, kr_jvalue *ret); /* str(v); strings stay as they are */
bool kr_jrepr(kr_jctx *c, kr_jvalue v, kr_jvalue *ret);
/* Takes what was written since n_out was mark off the output, as a string. */
bool kr_jtake(kr_jctx *c, size_t mark, kr_jvalue *ret);

#endif
