/* The kernel table: its entries by name, and one backend layered over another. */
#include "dispatch/dispatch.h"
#include <string.h>

typedef void generic_fn(void);

typedef struct entry {
  const char *name;
  size_t offset;
} entry;

#define ENTRY(name)                                                                                \
  { #name, offsetof(kr_kernels, name) }

static const entry entries[] = {
    ENTRY(vector_q4_0), ENTRY(matrix_q4_0), ENTRY(vector_q4_1), ENTRY(matrix_q4_1),
    ENTRY(vector_q8_0), ENTRY(matrix_q8_0), ENTRY(vector_f16),  ENTRY(matrix_f16),
    ENTRY(vector_bf16), ENTRY(matrix_bf16), ENTRY(vector_f32),  ENTRY(matrix_f32),
    ENTRY(quantize),    ENTRY(rms_norm),    ENTRY(softmax),     ENTRY(silu_gate),
    ENTRY(gelu_gate),   ENTRY(rope_pairs),  ENTRY(rope_halves), ENTRY(add),
    ENTRY(to_f16),      ENTRY(values_q8),
};

enum { N_ENTRIES = sizeof entries / sizeof *entries };

/* A pointer that is appended to kr_kernels must be named above too. */
_Static_assert(offsetof(kr_kernels, vector_q4_0) + N_ENTRIES * sizeof(generic_fn *) ==
                   sizeof(kr_kernels),
               "every kernel has an entry");

size_t kr_kernel_count(void) {
  return N_ENTRIES;
}

const char *kr_kernel_name(size_t i) {
  return i < N_ENTRIES ? entries[i].name : NULL;
}

size_t kr_table_layer(const kr_backend *backend, kr_kernels *table, const char **owners) {
  const kr_kernels *own = backend->kernels;
  size_t given = 0;
  for (size_t i = 0; i < N_ENTRIES; i++) {
    size_t offset = entries[i].offset;
    generic_fn *kernel;
    if (offset + sizeof kernel > own->struct_size) continue; /* from an older minor version */
    memcpy(&kernel, (const char *)own + offset, sizeof kernel);
    if (!kernel) continue;
    memcpy((char *)table + offset, &kernel, sizeof kernel);
    owners[i] = backend->name;
    given++;
  }
  return given;
}
