/* A compiled template: a tree that is walked. It lies in the template's arena and never changes. */
#ifndef KR_TEXT_JINJA_AST_H
#define KR_TEXT_JINJA_AST_H

#include "text/jinja/jinja_value.h"

typedef enum kr_jkind {
  /* expressions */
  KR_J_N_CONST, /* value */
  KR_J_N_NAME,  /* symbol */
  KR_J_N_TUPLE_OF,
  KR_J_N_LIST_OF,
  KR_J_N_DICT_OF, /* list: key, value, key, value */
  KR_J_N_IF_ELSE, /* a if b else c; c may be NULL */
  KR_J_N_AND,
  KR_J_N_OR,
  KR_J_N_NOT,
  KR_J_N_NEGATE,
  KR_J_N_PLUS,
  KR_J_N_BINARY,   /* a op b, as kr_jnumber_binary has them */
  KR_J_N_JOINED,   /* list, by ~ */
  KR_J_N_COMPARE,  /* list: operands; n - 1 operators in ops */
  KR_J_N_GETATTR,  /* a.value */
  KR_J_N_GETITEM,  /* a[b] */
  KR_J_N_SLICE,    /* a:b:c, each may be NULL; only under GETITEM */
  KR_J_N_CALL,     /* a(list of arguments) */
  KR_J_N_ARGUMENT, /* a; op: 0, '=' (value: its name), '*' or 'p' for ** */
  KR_J_N_FILTER,   /* a | builtin(list) */
  KR_J_N_TEST,     /* a is builtin(list) */
  /* statements */
  KR_J_N_BLOCK_OF,  /* list */
  KR_J_N_DATA,      /* value */
  KR_J_N_OUTPUT,    /* a */
  KR_J_N_FOR,       /* for a in b if c; list: body, else or NULL; flag: recursive */
  KR_J_N_IF,        /* list: condition, body, condition, body ... [else body] */
  KR_J_N_SET,       /* a = b */
  KR_J_N_SET_TEXT,  /* a = b, the text of c; b: filters with a hole, or NULL */
  KR_J_N_MACRO,     /* symbol; list: parameters (symbol, a: default or NULL); b: body; op: wants */
  KR_J_N_CALL_TEXT, /* a: call, b: macro without a name */
  KR_J_N_FILTER_TEXT, /* a: filters with a hole, b: body */
  KR_J_N_WITH,        /* list: target, value, target, value ...; a: body */
  KR_J_N_SCOPE,       /* a: body */
  KR_J_N_GENERATION,  /* a: body */
  KR_J_N_BREAK,
  KR_J_N_CONTINUE,
  KR_J_N_HOLE,          /* the text that a filter block filters */
  KR_J_N_NAMESPACE_REF, /* target: symbol.value */
  KR_J_N_REFUSED        /* fails when it is reached; value: why */
} kr_jkind;

/* Names that every template knows, by the numbers of their symbols. */
enum { KR_J_SYMBOL_LOOP, KR_J_SYMBOL_CALLER, KR_J_SYMBOL_VARARGS, KR_J_SYMBOL_KWARGS };

enum { KR_J_WANTS_VARARGS = 1, KR_J_WANTS_KWARGS = 2, KR_J_WANTS_CALLER = 4 };

typedef enum kr_jcompare_op {
  KR_J_EQ,
  KR_J_NE,
  KR_J_LT,
  KR_J_LE,
  KR_J_GT,
  KR_J_GE,
  KR_J_IN,
  KR_J_NOT_IN
} kr_jcompare_op;

typedef struct kr_jnode kr_jnode;
struct kr_jnode {
  uint8_t kind, op;
  bool flag;
  uint32_t line, symbol, n;
  kr_jnode *a, *b, *c;
  kr_jnode **list;
  union {
    kr_jvalue value;
    uint8_t *ops;
    const struct kr_jbuiltin *builtin;
  };
};

struct kr_template {
  kr_jarena arena;
  kr_jnode *body;
  kr_jstring **symbols; /* names of variables */
  bool *hidden; /* by symbol: set at the top before it is read there, so nothing given shows */
  uint32_t n_symbols;
};

/* Compiles; the tree and all that it holds are made in c's arena. */
bool kr_jparse(kr_jctx *c, const char *source, size_t n, struct kr_template *ret);

#endif
