/* Builds the head of a GGUF file in memory: version 3, little-endian, alignment 32. Without
 * tensors that is a whole file, a tokenizer's.
 *
 * Failures (memory, impossible shapes) are kept and reported by kr_gguf_build_end. */
#ifndef KR_FORMATS_GGUF_BUILD_H
#define KR_FORMATS_GGUF_BUILD_H

#include "formats/source.h"

#define KR_GGUF_ALIGNMENT 32

typedef struct kr_gguf_blob {
  uint8_t *data; /* kr_array_free */
  size_t n, room;
} kr_gguf_blob;

typedef struct kr_gguf_build { /* zero at first */
  kr_gguf_blob head, tensors;  /* the keys stand in head, behind room for the header */
  uint64_t n_keys, n_tensors;
  uint64_t data; /* bytes of tensor data so far, padding included */
  char *bad;     /* the first tensor with an impossible shape; kr_free */
  bool failed;   /* memory is gone */
} kr_gguf_build;

void kr_gguf_build_clear(kr_gguf_build *build);

void kr_gguf_build_u32(kr_gguf_build *build, const char *key, uint32_t value);
void kr_gguf_build_f32(kr_gguf_build *build, const char *key, float value);
void kr_gguf_build_bool(kr_gguf_build *build, const char *key, bool value);
void kr_gguf_build_string(kr_gguf_build *build, const char *key, kr_text value);
/* A value as it stands in another file. */
void kr_gguf_build_copy(kr_gguf_build *build, const kr_value *value);

/* An array of n elements, which are then added one by one: numbers as their bytes (1, 2, 4 or 8,
 * the lowest first), strings as texts. */
void kr_gguf_build_array(kr_gguf_build *build, const char *key, uint32_t element, uint64_t n);
void kr_gguf_build_le(kr_gguf_build *build, uint64_t value, int bytes);
void kr_gguf_build_text(kr_gguf_build *build, kr_text text);
/* A text of two parts with a space between. */
void kr_gguf_build_pair(kr_gguf_build *build, kr_text left, kr_text right);

/* type is a kr_type, dims are positive, innermost first, n_dims 1 to 4. Its data begins at
 * *ret_at, if that is not NULL, of the data, and ends at *ret_end. */
void kr_gguf_build_tensor(kr_gguf_build *build, const char *name, uint32_t type,
                          const int64_t *dims, uint32_t n_dims, uint64_t *ret_at,
                          uint64_t *ret_end);

/* All that stands before the tensor data, padded; it belongs to build. Nothing may be added
 * afterwards. */
int kr_gguf_build_end(kr_gguf_build *build, const uint8_t **ret_data, size_t *ret_n,
                      kr_error *err) KR_CHECKED;

#endif
