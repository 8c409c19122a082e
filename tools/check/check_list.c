/* The kernels of the table: the one list that a new kernel or weight format is added to. */
#include "check.h"
#include <string.h>

static const kr_check_format q4_0 = {"q4_0", .pair_bytes = 576, .halves = 32};
static const kr_check_format q4_1 = {"q4_1", .pair_bytes = 640, .halves = 64};
static const kr_check_format q8_0 = {"q8_0", .pair_bytes = 1088, .halves = 32};
static const kr_check_format f16 = {"f16", .bytes = 2};
static const kr_check_format bf16 = {"bf16", .bytes = 2};
static const kr_check_format f32 = {"f32", .bytes = 4};

#define ENTRY(name) #name, offsetof(kr_kernels, name)
#define PRODUCTS(type)                                                                             \
  {ENTRY(vector_##type), &kr_check_vector_product, &type, false}, {                                \
    ENTRY(matrix_##type), &kr_check_matrix_product, &type, true                                    \
  }

const kr_check_kernel kr_check_kernels[] = {
    PRODUCTS(q4_0),
    PRODUCTS(q4_1),
    PRODUCTS(q8_0),
    PRODUCTS(f16),
    PRODUCTS(bf16),
    PRODUCTS(f32),
    {ENTRY(quantize), &kr_check_quantize, NULL, false},
    {ENTRY(rms_norm), &kr_check_rms_norm, NULL, false},
    {ENTRY(softmax), &kr_check_softmax, NULL, false},
    {ENTRY(silu_gate), &kr_check_gate, NULL, false},
    {ENTRY(gelu_gate), &kr_check_gate, NULL, false},
    {ENTRY(rope_pairs), &kr_check_rope, NULL, false},
    {ENTRY(rope_halves), &kr_check_rope, NULL, false},
    {ENTRY(add), &kr_check_add, NULL, false},
    {ENTRY(to_f16), &kr_check_to_f16, NULL, false},
    {ENTRY(values_q8), &kr_check_values_q8, NULL, false},
};
const size_t kr_check_n_kernels = sizeof kr_check_kernels / sizeof *kr_check_kernels;

/* One function pointer after the other from the first product on: a kernel that was appended to
 * the table and not to the list does not compile. */
_Static_assert(sizeof(kr_kernels) ==
                   offsetof(kr_kernels, vector_q4_0) +
                       sizeof kr_check_kernels / sizeof *kr_check_kernels * sizeof(kr_check_fn *),
               "every kernel of the table has a line here");

kr_check_fn *kr_check_get(const kr_kernels *table, const kr_check_kernel *kernel) {
  kr_check_fn *fn = NULL;
  if (!table || kernel->offset + sizeof fn > table->struct_size) return NULL;
  memcpy(&fn, (const char *)table + kernel->offset, sizeof fn);
  return fn;
}

static bool build(kr_check_job *job, kr_check_random *random) {
  return job->kernel->kind->build(job, random);
}

bool kr_check_job_new(kr_check_job *job, const kr_check_kernel *kernel, uint64_t seed,
                      int64_t index) {
  memset(job, 0, sizeof *job);
  job->kernel = kernel;
  job->index = index;
  kr_check_random random =
      kr_check_seed(seed, (uint64_t)(kernel - kr_check_kernels), (uint64_t)index);
  job->style = kr_check_pick_style(&random);
  job->x_style = kr_check_pick_style(&random);
  kernel->kind->pick(job, &random, index, &job->shape);
  return build(job, &random);
}

bool kr_check_job_new_timed(kr_check_job *job, const kr_check_kernel *kernel, uint64_t seed,
                            int64_t bytes) {
  memset(job, 0, sizeof *job);
  job->kernel = kernel;
  job->index = -1;
  kr_check_random random = kr_check_seed(seed, (uint64_t)(kernel - kr_check_kernels), UINT64_MAX);
  kernel->kind->pick_timed(job, bytes, &job->shape);
  return build(job, &random);
}

void kr_check_job_clear(kr_check_job *job) {
  for (int i = 0; i < job->n_buffers; i++) kr_check_buffer_clear(&job->buffer[i]);
  job->n_buffers = 0;
}

kr_check_buffer *kr_check_job_add(kr_check_job *job, kr_check_random *random, const char *name,
                                  kr_check_element element, int64_t n, size_t align) {
  kr_check_buffer *buffer = &job->buffer[job->n_buffers++];
  return kr_check_buffer_new(buffer, random, name, element, n, align) ? buffer : NULL;
}
