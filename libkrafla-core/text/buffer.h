/* Growing arrays of bytes and of token ids. Zero at first. */
#ifndef KR_TEXT_BUFFER_H
#define KR_TEXT_BUFFER_H

#include "base/memory.h"
#include "base/size.h"
#include <string.h>

typedef struct kr_bytes {
  char *data; /* kr_array_free */
  size_t n, capacity;
} kr_bytes;

typedef struct kr_ids {
  int32_t *data; /* kr_array_free */
  size_t n, capacity;
} kr_ids;

/* Makes room for extra more bytes. */
static inline bool kr_bytes_reserve(kr_bytes *b, size_t extra) {
  size_t need;
  if (!kr_add_size(b->n, extra, &need)) return false;
  if (need <= b->capacity) return true;
  size_t capacity = need > b->capacity * 2 ? need : b->capacity * 2;
  char *data = kr_array_grow(b->data, capacity, 1);
  if (!data) return false;
  b->data = data, b->capacity = capacity;
  return true;
}

static inline bool kr_bytes_add(kr_bytes *b, const void *data, size_t n) {
  if (!kr_bytes_reserve(b, n)) return false;
  if (n) memcpy(b->data + b->n, data, n);
  b->n += n;
  return true;
}

static inline bool kr_ids_add(kr_ids *ids, int32_t id) {
  if (ids->n == ids->capacity) {
    size_t capacity = ids->capacity ? ids->capacity * 2 : 64;
    int32_t *data = kr_array_grow(ids->data, capacity, sizeof *data);
    if (!data) return false;
    ids->data = data, ids->capacity = capacity;
  }
  ids->data[ids->n++] = id;
  return true;
}

#endif
