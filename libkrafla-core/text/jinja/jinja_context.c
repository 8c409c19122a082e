/* Memory and bounds of the template interpreter. */
#include "text/jinja/jinja_context.h"
#include <stdarg.h>
#include <stdio.h>

typedef struct kr_jblock {
  struct kr_jblock *next;
} kr_jblock;

enum { BLOCK_BYTES = 32 << 10, LARGE_BYTES = 4 << 10 };

void kr_jarena_free(kr_jarena *arena) {
  for (kr_jblock *block = arena->blocks; block;) {
    kr_jblock *next = block->next;
    kr_array_free(block);
    block = next;
  }
  *arena = (kr_jarena){0};
}

static bool fail(kr_jctx *c, int code, const char *kind, const char *format, va_list args) {
  if (c->code) return false;
  c->code = code;
  int n = *kind ? snprintf(c->message, sizeof c->message, "%s: ", kind) : 0;
  if (n < 0 || (size_t)n >= sizeof c->message) n = 0;
  vsnprintf(c->message + n, sizeof c->message - (size_t)n, format, args);
  return false;
}

bool kr_jfail(kr_jctx *c, const char *kind, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fail(c, KR_E_FORMAT, kind, format, args);
  va_end(args);
  return false;
}

bool kr_jfail_code(kr_jctx *c, int code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  fail(c, code, "", format, args);
  va_end(args);
  return false;
}

static bool use(kr_jctx *c, size_t bytes) {
  size_t used;
  if (!kr_add_size(c->arena.used, bytes, &used) || used > c->arena.limit)
    return kr_jfail(c, "MemoryError", "it needs more than %zu bytes", c->arena.limit);
  c->arena.used = used;
  return true;
}

static char *add_block(kr_jctx *c, size_t bytes) {
  size_t header = (sizeof(kr_jblock) + 15) / 16 * 16, total;
  if (!kr_add_size(bytes, header, &total)) {
    kr_jfail(c, "MemoryError", "a size that overflows");
    return NULL;
  }
  if (!use(c, total)) return NULL;
  kr_jblock *block = kr_array_grow(NULL, total, 1);
  if (!block) {
    kr_jfail_code(c, KR_E_MEMORY, "out of memory: chat template");
    return NULL;
  }
  *block = (kr_jblock){.next = c->arena.blocks};
  c->arena.blocks = block;
  return (char *)block + header;
}

void *kr_jalloc(kr_jctx *c, size_t n, size_t size) {
  size_t bytes;
  if (!kr_mul_size(n, size, &bytes) || bytes > SIZE_MAX - 64) {
    kr_jfail(c, "MemoryError", "a size that overflows");
    return NULL;
  }
  bytes = (bytes + 15) / 16 * 16;
  char *p;
  if (bytes >= LARGE_BYTES) {
    p = add_block(c, bytes);
    if (!p) return NULL;
  } else {
    if ((size_t)(c->arena.end - c->arena.at) < bytes) {
      p = add_block(c, BLOCK_BYTES);
      if (!p) return NULL;
      c->arena.at = p, c->arena.end = p + BLOCK_BYTES;
    }
    p = c->arena.at;
    c->arena.at += bytes;
  }
  memset(p, 0, bytes);
  return p;
}

void *kr_jgrow(kr_jctx *c, const void *array, size_t n, size_t size, size_t need,
               size_t *capacity) {
  size_t more = *capacity ? *capacity * 2 : 4;
  if (more < need) more = need;
  void *grown = kr_jalloc(c, more, size);
  if (!grown) return NULL;
  if (n) memcpy(grown, array, n * size);
  *capacity = more;
  return grown;
}

bool kr_jcharge(kr_jctx *c, size_t bytes) {
  int64_t steps = 1 + (int64_t)(bytes / KR_J_STEP_BYTES);
  if ((c->steps -= steps) < 0) return kr_jfail(c, "RuntimeError", "it takes too many steps");
  return true;
}

bool kr_jenter(kr_jctx *c) {
  if (--c->steps < 0) return kr_jfail(c, "RuntimeError", "it takes too many steps");
  if (++c->depth > KR_J_MAX_DEPTH) {
    c->depth--;
    return kr_jfail(c, "RecursionError", "too deeply nested");
  }
  return true;
}

bool kr_jout(kr_jctx *c, const char *p, size_t n) {
  if (n > c->out_capacity - c->n_out || !c->out) {
    size_t need, capacity = c->out_capacity ? c->out_capacity * 2 : 4096;
    if (!kr_add_size(c->n_out, n, &need))
      return kr_jfail(c, "MemoryError", "a size that overflows");
    if (capacity < need) capacity = need;
    if (!use(c, capacity - c->out_capacity)) return false;
    char *out = kr_array_grow(c->out, capacity, 1);
    if (!out) return kr_jfail_code(c, KR_E_MEMORY, "out of memory: chat");
    c->out = out, c->out_capacity = capacity;
  }
  if (n) memcpy(c->out + c->n_out, p, n);
  c->n_out += n;
  return kr_jcharge(c, n);
}

bool kr_jout_text(kr_jctx *c, const char *text) {
  return kr_jout(c, text, strlen(text));
}
