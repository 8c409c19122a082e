/* Rendering: a compiled template, variables in, text out. */
#ifndef KR_TEXT_JINJA_RUN_H
#define KR_TEXT_JINJA_RUN_H

#include "text/jinja/jinja_ast.h"

struct kr_jbuiltin;

/* Variables that were set in one body; read through the parents. */
typedef struct kr_jscope {
  struct kr_jscope *parent;
  uint32_t n, capacity;
  struct kr_jvariable {
    uint32_t symbol;
    kr_jvalue value;
  } *variables;
  bool kept; /* a macro refers to it */
} kr_jscope;

typedef struct kr_jrun {
  kr_jctx *c;
  const struct kr_template *t;
  kr_jvalue *top;    /* by symbol: variables of the top level, those of the request, and globals */
  kr_jscope *scope;  /* NULL at the top level */
  kr_jscope *unused; /* left scopes, to be used again */
  kr_jvalue hole;    /* the text that a filter block filters */
  const char *now;   /* "2026-01-15T12:34:56", or NULL: the clock */
} kr_jrun;

typedef struct kr_jmacro {
  const kr_jnode *node;
  kr_jscope *scope; /* where it was made */
} kr_jmacro;

typedef struct kr_jloop {
  const kr_jnode *node;
  kr_jrun *run;
  kr_jscope *scope; /* around the loop */
  kr_jiterator it;
  kr_jlist *drained; /* what was read ahead to know the length; read instead of it */
  size_t at;
  kr_jvalue before, current, after, changed;
  int64_t index0, length; /* -1: unknown */
  int32_t depth0;
} kr_jloop;

typedef enum kr_jflow { KR_J_FAILED, KR_J_ON, KR_J_BROKEN, KR_J_CONTINUED } kr_jflow;

kr_jflow kr_jexec(kr_jrun *r, const kr_jnode *node);
bool kr_jeval(kr_jrun *r, const kr_jnode *node, kr_jvalue *ret);

/* ---- variables ---- */
bool kr_jscope_push(kr_jrun *r, kr_jscope *parent);
void kr_jscope_pop(kr_jrun *r, kr_jscope *back);
bool kr_jset(kr_jrun *r, uint32_t symbol, kr_jvalue value);
bool kr_jlookup(kr_jrun *r, uint32_t symbol, kr_jvalue *ret);         /* KR_J_MISSING: not set */
bool kr_jassign(kr_jrun *r, const kr_jnode *target, kr_jvalue value); /* unpacks */

/* ---- loops ---- */
kr_jflow kr_jexec_for(kr_jrun *r, const kr_jnode *node);
bool kr_jloop_next(kr_jctx *c, kr_jloop *loop, kr_jvalue *ret);
/* KR_J_MISSING when there is no such attribute. */
bool kr_jloop_attribute(kr_jctx *c, kr_jloop *loop, const char *name, kr_jvalue *ret);
bool kr_jloop_call(kr_jrun *r, kr_jloop *loop, const kr_jargs *args, kr_jvalue *ret);

/* ---- calls ---- */
bool kr_jeval_args(kr_jrun *r, const kr_jnode *call, kr_jargs *ret);
bool kr_jargs_named(kr_jctx *c, kr_jargs *args, kr_jstring *name, kr_jvalue value);
bool kr_jcall(kr_jrun *r, kr_jvalue callee, const kr_jargs *args, kr_jvalue *ret);
bool kr_jmacro_call(kr_jrun *r, kr_jmacro *macro, const kr_jargs *args, kr_jvalue *ret);
const kr_jstring *kr_jmacro_name(const kr_jmacro *macro); /* NULL: it has none */
bool kr_jmacro_attribute(kr_jctx *c, const kr_jmacro *macro, const char *name, kr_jvalue *ret);
/* The text that a body writes. */
bool kr_jcapture(kr_jrun *r, const kr_jnode *body, kr_jvalue *ret);

/* ---- operators ---- */
bool kr_jgetattr(kr_jctx *c, kr_jvalue object, kr_jvalue name, kr_jvalue *ret);
bool kr_jgetitem(kr_jctx *c, kr_jvalue object, kr_jvalue key, kr_jvalue *ret);
bool kr_jgetslice(kr_jctx *c, kr_jvalue object, const kr_jvalue bounds[3], kr_jvalue *ret);
bool kr_jbinary(kr_jctx *c, char op, kr_jvalue a, kr_jvalue b, kr_jvalue *ret);

/* ---- the request ---- */
/* Reads a JSON text into values. */
bool kr_jread_json(kr_jctx *c, const char *text, size_t n, kr_jvalue *ret);
/* strftime; now as in kr_jrun. */
bool kr_jstrftime(kr_jctx *c, const char *now, const kr_jstring *format, kr_jvalue *ret);

#endif
