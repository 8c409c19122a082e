/* The kinds vector_* and matrix_*: a packed matrix by one column or by many. */
#include "check.h"

enum { WEIGHTS, RESULT_ROWS_MAX = 1 << 20 };

/* Shapes that every kernel is given, before random ones: one group, odd groups, one pair, a range
 * that starts and ends inside, no groups at all; columns around the widths of tiles. */
static const kr_check_shape edge_shapes[] = {
    {.groups = 1, .first = 0, .last = 1, .k = 1, .n = 1},
    {.groups = 3, .first = 0, .last = 3, .k = 1, .n = 2},
    {.groups = 2, .first = 1, .last = 2, .k = 2, .n = 3, .gap = 5},
    {.groups = 5, .first = 1, .last = 4, .k = 3, .n = 4, .gap = 1},
    {.groups = 4, .first = 2, .last = 2, .k = 4, .n = 5},
    {.groups = 7, .first = 0, .last = 7, .k = 5, .n = 8},
    {.groups = 1, .first = 0, .last = 1, .k = 9, .n = 17, .gap = 3},
    {.groups = 2, .first = 0, .last = 2, .k = 24, .n = 33},
    {.groups = 9, .first = 0, .last = 9, .k = 2, .n = 7},
    {.groups = 1, .first = 0, .last = 1, .k = 0, .n = 2},
};
enum { EDGES = sizeof edge_shapes / sizeof *edge_shapes };

static void pick(const kr_check_job *job, kr_check_random *random, int64_t index,
                 kr_check_shape *ret_shape) {
  kr_check_shape s = {0};
  if (index < EDGES) {
    s = edge_shapes[index];
  } else {
    s.groups = 1 + kr_check_below(random, kr_check_below(random, 4) ? 4 : 13);
    s.first = kr_check_below(random, 3) ? 0 : kr_check_below(random, s.groups);
    s.last = kr_check_below(random, 3) ? s.groups
                                       : s.first + kr_check_below(random, s.groups - s.first + 1);
    s.k = 1 + kr_check_below(random, kr_check_below(random, 3) ? 6 : 24);
    s.n = 1 + kr_check_below(random, kr_check_below(random, 4) ? 9 : 40);
    s.gap = kr_check_below(random, 2) ? 0 : kr_check_below(random, 70);
  }
  if (!job->kernel->many) s.n = 1;
  if (job->kernel->format->pair_bytes)
    s.k *= KR_PAIR; /* above, k counts pairs */
  else if (index >= EDGES && kr_check_below(random, 2))
    s.k += kr_check_below(random, 260);
  *ret_shape = s;
}

static void pick_timed(const kr_check_job *job, int64_t bytes, kr_check_shape *ret_shape) {
  int64_t k = 1024, groups = 64; /* of a matrix that a prompt meets: it stays in the cache */
  if (!job->kernel->many) groups = bytes / kr_check_group_bytes(job->kernel->format, k);
  if (groups < 1) groups = 1;
  if (groups * KR_GROUP > RESULT_ROWS_MAX) groups = RESULT_ROWS_MAX / KR_GROUP;
  *ret_shape =
      (kr_check_shape){.groups = groups, .last = groups, .k = k, .n = job->kernel->many ? 64 : 1};
}

static bool add_quantized(kr_check_job *job, kr_check_random *random) {
  int64_t k = job->shape.k, n = job->shape.n, blocks = k / KR_BLOCK;
  kr_check_buffer *q = kr_check_job_add(job, random, "q", KR_CHECK_I8, n * k, 0);
  kr_check_buffer *d = kr_check_job_add(job, random, "d", KR_CHECK_F32, n * blocks, 0);
  kr_check_buffer *s = kr_check_job_add(job, random, "s", KR_CHECK_I32, n * blocks, 0);
  if (!q || !d || !s) return false;
  int8_t *values = (int8_t *)q->data;
  int32_t *sums = (int32_t *)(void *)s->data;
  kr_check_fill_q(random, job->x_style, values, n * k);
  kr_check_fill_d(random, job->x_style, (float *)(void *)d->data, n * blocks);
  for (int64_t b = 0; b < n * blocks; b++) {
    sums[b] = 0;
    for (int i = 0; i < KR_BLOCK; i++) sums[b] += values[b * KR_BLOCK + i];
  }
  job->columns.q = values;
  job->columns.d = (float *)(void *)d->data;
  job->columns.s = sums;
  return kr_check_buffer_seal(q, false) && kr_check_buffer_seal(d, false) &&
         kr_check_buffer_seal(s, false);
}

static bool add_floats(kr_check_job *job, kr_check_random *random) {
  int64_t n = job->shape.n, ldx = job->shape.k + job->shape.gap;
  int64_t count = (n - 1) * ldx + job->shape.k;
  kr_check_buffer *f = kr_check_job_add(job, random, "f", KR_CHECK_F32, count, 0);
  if (!f) return false;
  kr_check_fill_f32(random, job->x_style, (float *)(void *)f->data, count);
  job->columns.f = (float *)(void *)f->data;
  job->columns.ldf = ldx;
  return kr_check_buffer_seal(f, false);
}

static bool build(kr_check_job *job, kr_check_random *random) {
  const kr_check_format *format = job->kernel->format;
  const kr_check_shape *s = &job->shape;
  int64_t group_bytes = kr_check_group_bytes(format, s->k);
  /* a page of the KV cache that is not yet full: groups further apart than their size */
  int64_t stride = group_bytes + (s->gap & 1 ? 64 * (s->gap % 5) : 0);
  int64_t bytes = s->groups ? (s->groups - 1) * stride + group_bytes : 0;
  kr_check_buffer *w = kr_check_job_add(job, random, "weights", KR_CHECK_I8, bytes, 64);
  if (!w) return false;
  for (int64_t g = 0; g < s->groups; g++)
    kr_check_fill_group(random, job->style, format, s->k, w->data + g * stride);
  job->panel = (kr_panel){w->data, stride, s->k};
  job->columns.n = s->n;
  if (!(format->pair_bytes ? add_quantized(job, random) : add_floats(job, random))) return false;
  job->ldy = s->groups * KR_GROUP + s->gap;
  kr_check_buffer *y = kr_check_job_add(job, random, "y", KR_CHECK_F32,
                                        (s->n - 1) * job->ldy + s->groups * KR_GROUP, 0);
  return y && kr_check_buffer_seal(w, false) && kr_check_buffer_seal(y, true);
}

static void call(const kr_check_job *job, kr_check_fn *fn) {
  const kr_check_buffer *y = &job->buffer[job->n_buffers - 1];
  ((kr_product_fn *)fn)(&job->panel, job->shape.first, job->shape.last, &job->columns,
                        (float *)(void *)y->data, job->ldy);
}

static double weight_bytes(const kr_check_job *job) {
  return (double)job->buffer[WEIGHTS].bytes;
}
static double products(const kr_check_job *job) {
  return (double)(job->shape.groups * KR_GROUP * job->shape.k * job->shape.n);
}

const kr_check_kind kr_check_vector_product = {
    "GB/s", pick, pick_timed, build, call, NULL, weight_bytes,
};
const kr_check_kind kr_check_matrix_product = {
    "GMAC/s", pick, pick_timed, build, call, NULL, products,
};
