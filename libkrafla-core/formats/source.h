/* A model source: the metadata and tensors of a model file, whatever its format.
 *
 * Everything points into read-only mappings or into memory of the source, and lives as long as it.
 * Readers check every length, offset and shape before a source is returned: what kr_source gives
 * out may be used without further bounds checks. Keys are GGUF's ("llama.block_count"). */
#ifndef KR_FORMATS_SOURCE_H
#define KR_FORMATS_SOURCE_H

#include "base/memory.h"
#include "quant/types.h"
#include <stdbool.h>

typedef enum kr_value_type { /* GGUF's numbers */
                             KR_VALUE_U8 = 0,
                             KR_VALUE_I8 = 1,
                             KR_VALUE_U16 = 2,
                             KR_VALUE_I16 = 3,
                             KR_VALUE_U32 = 4,
                             KR_VALUE_I32 = 5,
                             KR_VALUE_F32 = 6,
                             KR_VALUE_BOOL = 7,
                             KR_VALUE_STRING = 8,
                             KR_VALUE_ARRAY = 9,
                             KR_VALUE_U64 = 10,
                             KR_VALUE_I64 = 11,
                             KR_VALUE_F64 = 12
} kr_value_type;

typedef struct kr_text { /* not ended by a zero byte; any bytes */
  const char *data;
  size_t n;
} kr_text;

/* A metadata value. For an array, element is the type of its n elements; they stand at data as in
 * GGUF: little-endian, unaligned, strings each behind a u64 length. Otherwise element is type.
 * Bools are 0 or 1. */
typedef struct kr_value {
  kr_text key;
  uint32_t type, element;
  uint64_t n; /* elements; 1 for a scalar; bytes for a string */
  const uint8_t *data;
  size_t bytes; /* at data */
} kr_value;

typedef struct kr_tensor {
  kr_text name;
  uint32_t type;       /* kr_type; known, whole blocks in every row */
  int32_t n_dims;      /* 1 to 4 */
  int64_t dims[4];     /* innermost first: dims[0] values in a row; unused ones are 1 */
  const uint8_t *data; /* in a mapping, aligned to 8 bytes or more there */
  size_t bytes;        /* of all rows, all of them readable */
} kr_tensor;

typedef struct kr_source kr_source;

/* Opens a model by what its bytes say. A split GGUF file is opened by any of its parts' names
 * ("name-00002-of-00003.gguf"), and the others are found beside it. Messages start with the path,
 * or with that of the part that is at fault. */
int kr_source_open(const char *path, kr_source **ret_source, kr_error *err);
/* The same for bytes in memory, which stay the caller's and outlive the source; name stands for
 * the path. Their tensors are aligned as the bytes are. */
int kr_source_open_bytes(const char *name, const uint8_t *data, size_t size, kr_source **ret_source,
                         kr_error *err);
void kr_source_close(kr_source *source);
const char *kr_source_path(const kr_source *source); /* of a split model, of its first part */

/* Puts the path before a message, unless it begins with it; of a long path only its end. Returns
 * code. */
int kr_fail_path(kr_error *err, int code, const char *path);

const kr_value *kr_source_get(const kr_source *source, const char *key); /* or NULL */
size_t kr_source_n_values(const kr_source *source);
const kr_value *kr_source_value(const kr_source *source, size_t i);

const kr_tensor *kr_source_tensor(const kr_source *source, const char *name); /* or NULL */
size_t kr_source_n_tensors(const kr_source *source);
const kr_tensor *kr_source_tensor_at(const kr_source *source, size_t i);

/* The tensor's pages are not needed for now. */
void kr_source_release(const kr_source *source, const kr_tensor *tensor);

/* Typed look-ups. Any integer type is taken where its value fits; f32 and f64 where a float is
 * asked for, and integers too, but NaN never. Absent keys return KR_OK and leave *ret alone; a
 * value of another type or out of range fails with a message that names the file, the key and the
 * value.
 */
int kr_source_int(const kr_source *source, const char *key, int64_t min, int64_t max, int64_t *ret,
                  kr_error *err);
int kr_source_float(const kr_source *source, const char *key, double *ret, kr_error *err);
int kr_source_bool(const kr_source *source, const char *key, bool *ret, kr_error *err);
int kr_source_string(const kr_source *source, const char *key, kr_text *ret, kr_error *err);
/* An array with elements of one of the types in mask (bits 1 << kr_value_type); *ret is NULL when
 * the key is absent. */
int kr_source_array(const kr_source *source, const char *key, uint32_t mask, const kr_value **ret,
                    kr_error *err);

/* Elements of an array of numbers, i < n, or of a scalar, i = 0. What the result cannot hold
 * becomes the nearest that it can, NaN as an integer 0. */
int64_t kr_value_int(const kr_value *value, uint64_t i);
double kr_value_float(const kr_value *value, uint64_t i);

/* Walks an array of strings: *at is 0 at first; false at its end. */
bool kr_value_next(const kr_value *value, size_t *at, kr_text *ret);

#endif
