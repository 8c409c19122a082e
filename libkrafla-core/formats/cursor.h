/* Reading a mapped file forward: nothing is taken that is not there, and failures say where. */
#ifndef KR_FORMATS_CURSOR_H
#define KR_FORMATS_CURSOR_H

#include "formats/source.h"

static inline uint32_t kr_load_u16(const uint8_t *p) {
  return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static inline uint32_t kr_load_u32(const uint8_t *p) {
  return kr_load_u16(p) | kr_load_u16(p + 2) << 16;
}

static inline uint64_t kr_load_u64(const uint8_t *p) {
  return (uint64_t)kr_load_u32(p) | (uint64_t)kr_load_u32(p + 4) << 32;
}

typedef struct kr_cursor {
  const uint8_t *data;
  size_t size, at; /* at <= size */
  kr_error *err;
  /* what is being read, for messages: "key" 3 of 19, named once its name is known */
  const char *kind; /* NULL: the header */
  uint64_t index, count;
  kr_text name;
} kr_cursor;

#define KR_SHOWN 88 /* bytes of a name as messages show it */

/* A name from a file for a message, cut and printable. Returns out. */
const char *kr_shown(kr_text name, char out[KR_SHOWN]);

/* Fails with a message that begins with what is being read. Returns code. */
int kr_cursor_fail(const kr_cursor *cursor, int code, const char *format, ...) KR_PRINTF(3, 4);

static inline size_t kr_cursor_left(const kr_cursor *cursor) {
  return cursor->size - cursor->at;
}

/* The next n bytes, or a failure that calls them what. */
int kr_cursor_take(kr_cursor *cursor, uint64_t n, const char *what, const uint8_t **ret) KR_CHECKED;
int kr_cursor_u32(kr_cursor *cursor, const char *what, uint32_t *ret) KR_CHECKED;
int kr_cursor_u64(kr_cursor *cursor, const char *what, uint64_t *ret) KR_CHECKED;
/* A string behind its u64 length. */
int kr_cursor_text(kr_cursor *cursor, const char *what, kr_text *ret) KR_CHECKED;

#endif
