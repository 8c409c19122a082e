/* Makes the bytes of GGUF files, good and bad, and opens them where reading past their end is
 * fatal. */
#ifndef KR_TESTS_GGUF_BYTES_H
#define KR_TESTS_GGUF_BYTES_H

#include "formats/source.h"
#include <glib.h>

/* A file being made. The counts and the alignment may be set to lie; all is freed by kr_made_end.
 */
typedef struct kr_made {
  uint32_t version;
  uint64_t n_keys, n_tensors; /* as the header will say */
  uint64_t alignment;         /* of the tensor data as it is laid out */
  GByteArray *keys, *entries, *data;
} kr_made;

void kr_made_begin(kr_made *made, uint32_t version); /* alignment 32, nothing in it */
/* Header, keys, entries, padding, data. */
GBytes *kr_made_end(kr_made *made);

void kr_put_u8(GByteArray *out, uint8_t x);
void kr_put_u16(GByteArray *out, uint16_t x);
void kr_put_u32(GByteArray *out, uint32_t x);
void kr_put_u64(GByteArray *out, uint64_t x);
void kr_put_f32(GByteArray *out, float x);
void kr_put_text(GByteArray *out, const char *text); /* behind its u64 length */

/* A key and its type; the caller puts the value into made->keys. */
void kr_made_key(kr_made *made, const char *key, kr_value_type type);
void kr_made_string(kr_made *made, const char *key, const char *value);
void kr_made_u16(kr_made *made, const char *key, uint16_t value);
void kr_made_u32(kr_made *made, const char *key, uint32_t value);
void kr_made_array(kr_made *made, const char *key, kr_value_type element, uint64_t n);

/* An entry alone, with an offset of the caller's choice. */
void kr_made_entry(kr_made *made, const char *name, uint32_t n_dims, const uint64_t *dims,
                   uint32_t type, uint64_t offset);
/* An F32 tensor of n values: first, first + 1, ... behind the data so far, aligned. */
void kr_made_f32(kr_made *made, const char *name, uint64_t n, float first);

/* A small model-like file of every kind of value, whose last tensor ends with the file. */
GBytes *kr_made_sample(uint32_t version);

/* Memory whose end is the end of the file and that of what may be read. */
typedef struct kr_guarded {
  uint8_t *data;
  size_t size;
  void *pages;
  size_t pages_size;
} kr_guarded;

void kr_guarded_set(kr_guarded *guarded, const void *data, size_t size);
void kr_guarded_clear(kr_guarded *guarded);

/* Opens made bytes as "made.gguf", which must be refused with this code and a message that begins
 * with the name and has all words, separated by '|'. */
void kr_expect_refused(GBytes *bytes, int code, const char *words);
void kr_expect_words(const kr_error *err, const char *start, const char *words);

#endif
