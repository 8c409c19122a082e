/* What the parts of the template interpreter share: memory, bounds, output, and the failure. */
#ifndef KR_TEXT_JINJA_CONTEXT_H
#define KR_TEXT_JINJA_CONTEXT_H

#include "base/error.h"
#include "base/memory.h"
#include "base/size.h"
#include <stdbool.h>
#include <string.h>

/* Memory that is freed all at once. */
typedef struct kr_jarena {
  struct kr_jblock *blocks;
  char *at, *end;
  size_t used, limit; /* bytes asked of the system */
} kr_jarena;

void kr_jarena_free(kr_jarena *arena);

/* One compilation or one render. Zero at first, but for the bounds. */
typedef struct kr_jctx {
  kr_jarena arena;
  int64_t steps; /* left */
  int32_t depth; /* of nested evaluations, now */
  char *out;     /* the text so far; captures nest as marks in it */
  size_t n_out, out_capacity;
  int code;      /* kr_status of the failure; 0: none */
  uint32_t line; /* of the template, where it failed; 0: unknown */
  bool raised;   /* by the template itself: the message stands alone */
  char message[500];
} kr_jctx;

enum {
  KR_J_MAX_DEPTH = 1200,     /* nested evaluations: some 120 macros, some 400 KB of stack */
  KR_J_MAX_NESTING = 100,    /* brackets, operators and blocks in a template */
  KR_J_MAX_JSON = 500,       /* values of a request in each other */
  KR_J_MAX_SOURCE = 1 << 20, /* bytes of a template */
  KR_J_STEP_BYTES = 64,      /* bytes that are looked at or copied count as one step */
  KR_J_MAX_RANGE = 100000,   /* items of range(), as in the sandbox of the reference */
  KR_J_COMPILE_MEMORY = 12 << 20,
  KR_J_RENDER_MEMORY = 11 << 20, /* and KR_J_MEMORY_FACTOR for each byte of the request */
  KR_J_MEMORY_FACTOR = 32,
  KR_J_RENDER_STEPS = 1000000, /* and KR_J_STEP_FACTOR for each byte of the request */
  KR_J_STEP_FACTOR = 64        /* some templates look through all messages for each */
};

/* Fails: returns false. kind is Python's name of the exception. The first failure stays. */
bool kr_jfail(kr_jctx *c, const char *kind, const char *format, ...) KR_PRINTF(3, 4);
bool kr_jfail_code(kr_jctx *c, int code, const char *format, ...) KR_PRINTF(3, 4);

/* Zeroed, 16-byte aligned; NULL on failure. */
void *kr_jalloc(kr_jctx *c, size_t n, size_t size) KR_CHECKED;
/* A copy of an array of n elements with room for *capacity, which is grown to hold at least need.
 */
void *kr_jgrow(kr_jctx *c, const void *array, size_t n, size_t size, size_t need,
               size_t *capacity) KR_CHECKED;

/* Counts work: one step and the bytes that were gone through. */
bool kr_jcharge(kr_jctx *c, size_t bytes);
/* Entering and leaving nested evaluations; the depth is bounded. */
bool kr_jenter(kr_jctx *c);
static inline void kr_jleave(kr_jctx *c) {
  c->depth--;
}

bool kr_jout(kr_jctx *c, const char *p, size_t n);
bool kr_jout_text(kr_jctx *c, const char *text);

#endif
