/* Memory: sizes are checked here, the system is asked in memory_posix.c and memory_windows.c. */
#include "base/memory.h"
#include "base/memory_system.h"
#include "base/size.h"
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64

void *kr_alloc(size_t n, size_t size) {
  size_t bytes;
  if (!kr_mul_size(n, size, &bytes) || !kr_add_size(bytes, ALIGNMENT, &bytes)) return NULL;
  bytes &= ~(size_t)(ALIGNMENT - 1);
  if (!bytes) bytes = ALIGNMENT;
  void *block = kr_system_alloc(bytes, ALIGNMENT);
  return block ? memset(block, 0, bytes) : NULL;
}

void kr_free(void *block) {
  kr_system_free(block);
}

void *kr_array_grow(void *array, size_t n, size_t size) {
  size_t bytes;
  if (!kr_mul_size(n, size, &bytes)) return NULL;
  return realloc(array, bytes ? bytes : 1);
}

void kr_array_free(void *array) {
  free(array);
}

char *kr_strndup(const char *text, size_t n) {
  size_t bytes;
  char *copy = kr_add_size(n, 1, &bytes) ? kr_alloc(bytes, 1) : NULL;
  if (copy && n) memcpy(copy, text, n);
  return copy;
}

char *kr_strdup(const char *text) {
  return kr_strndup(text, strlen(text));
}
