/* Memory and file mappings. The only place where the core allocates. */
#ifndef KR_BASE_MEMORY_H
#define KR_BASE_MEMORY_H

#include "base/error.h"
#include <stdint.h>

/* n * size zeroed bytes, 64-byte aligned; NULL when the product overflows or memory is gone. A
 * request of 0 bytes gives a pointer that may be freed. */
void *kr_alloc(size_t n, size_t size) KR_CHECKED;
/* Grows (never shrinks below use) an array; the old block stays valid on failure. Not aligned,
 * not zeroed: for plain arrays made by this function only, freed by kr_array_free. */
void *kr_array_grow(void *array, size_t n, size_t size) KR_CHECKED;
void kr_array_free(void *array);
void kr_free(void *block);

char *kr_strdup(const char *text) KR_CHECKED;            /* freed by kr_free */
char *kr_strndup(const char *text, size_t n) KR_CHECKED; /* ended by a zero byte */

/* Zeroed pages from the operating system, huge pages asked for; for weights and caches. */
void *kr_pages_alloc(size_t bytes) KR_CHECKED;
void kr_pages_free(void *pages, size_t bytes);

/* A file mapped for reading. */
typedef struct kr_mapping {
  const uint8_t *data; /* NULL for an empty file */
  size_t size;
} kr_mapping;

/* Only regular files. Messages do not name the path. */
int kr_mapping_open(const char *path, kr_mapping *ret_mapping, kr_error *err);
void kr_mapping_close(kr_mapping *mapping);
/* Tells the system that these bytes are not needed for now; they may be read again. */
void kr_mapping_release(const kr_mapping *mapping, const uint8_t *data, size_t bytes);

#endif
