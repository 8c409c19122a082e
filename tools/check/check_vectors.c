/* The kinds over vectors: quantize, rms_norm, softmax, gates, rotations, add, to_f16, and the
 * values of a q8 cache. */
#include "check.h"
#include <string.h>

/* Lengths around the widths of vectors and of the sixteen lanes, then random ones. */
static int64_t pick_length(kr_check_random *random, int64_t index) {
  static const int64_t lengths[] = {1,  2,  3,  4,  5,  7,  8,  9,  15,
                                    16, 17, 31, 32, 33, 63, 64, 65, 576};
  int64_t n = sizeof lengths / sizeof *lengths;
  if (index < n) return lengths[index];
  return 1 + kr_check_below(random, kr_check_below(random, 2) ? 100 : 1700);
}

static void pick_vector(const kr_check_job *job, kr_check_random *random, int64_t index,
                        kr_check_shape *ret_shape) {
  (void)job;
  *ret_shape = (kr_check_shape){.k = pick_length(random, index),
                                .n = 1 + kr_check_below(random, 5),
                                .gap = kr_check_below(random, 2) ? 0 : kr_check_below(random, 40),
                                .alias = kr_check_below(random, 3)};
}
static void pick_vector_timed(const kr_check_job *job, int64_t bytes, kr_check_shape *ret_shape) {
  (void)job;
  (void)bytes;
  *ret_shape = (kr_check_shape){.k = 4096, .n = 1};
}

static float *floats(const kr_check_job *job, int buffer) {
  return (float *)(void *)job->buffer[buffer].data;
}

/* A buffer of n floats of a style; written ones keep their values too, for kernels in place. */
static bool add_values(kr_check_job *job, kr_check_random *random, const char *name, int64_t n,
                       kr_check_style style, bool written) {
  kr_check_buffer *x = kr_check_job_add(job, random, name, KR_CHECK_F32, n, 0);
  if (!x) return false;
  kr_check_fill_f32(random, style, (float *)(void *)x->data, n);
  return kr_check_buffer_seal(x, written);
}

static bool add_result(kr_check_job *job, kr_check_random *random, const char *name,
                       kr_check_element element, int64_t n) {
  kr_check_buffer *y = kr_check_job_add(job, random, name, element, n, 0);
  return y && kr_check_buffer_seal(y, true);
}

static double length(const kr_check_job *job) {
  return (double)(job->shape.k * job->shape.n);
}
static double single_length(const kr_check_job *job) {
  return (double)job->shape.k;
}

/* ---- quantize: x f32 [n][ldx] to q, d, s ---------------------------------------------------- */

static bool build_quantize(kr_check_job *job, kr_check_random *random) {
  kr_check_shape *s = &job->shape;
  s->groups = (s->k + KR_BLOCK - 1) / KR_BLOCK + (s->gap % 3); /* blocks; whole ones of padding */
  job->ldx = s->k + s->gap;
  return add_values(job, random, "x", (s->n - 1) * job->ldx + s->k, job->style, false) &&
         add_result(job, random, "q", KR_CHECK_I8, s->n * s->groups * KR_BLOCK) &&
         add_result(job, random, "d", KR_CHECK_F32, s->n * s->groups) &&
         add_result(job, random, "s", KR_CHECK_I32, s->n * s->groups);
}
static void call_quantize(const kr_check_job *job, kr_check_fn *fn) {
  const kr_check_shape *s = &job->shape;
  ((kr_quantize_fn *)fn)(floats(job, 0), job->ldx, s->n, s->k, s->groups * KR_BLOCK,
                         (int8_t *)job->buffer[1].data, floats(job, 2),
                         (int32_t *)(void *)job->buffer[3].data);
}
static void settle_quantize(kr_check_job *job) { /* q and s are open where d is not finite */
  for (int64_t b = 0; b < job->shape.n * job->shape.groups; b++) {
    uint32_t bits;
    memcpy(&bits, job->buffer[2].data + 4 * b, 4);
    if ((bits & 0x7f800000) != 0x7f800000) continue;
    memset(job->buffer[1].data + b * KR_BLOCK, 0, KR_BLOCK);
    memset(job->buffer[3].data + 4 * b, 0, 4);
  }
}
const kr_check_kind kr_check_quantize = {"Gval/s",       pick_vector,   pick_vector_timed,
                                         build_quantize, call_quantize, settle_quantize,
                                         length};

/* ---- rms_norm: x, w, y f32 [k]; alias 1: y is x --------------------------------------------- */

static bool build_norm(kr_check_job *job, kr_check_random *random) {
  kr_check_shape *s = &job->shape;
  static const float eps[] = {1e-5f, 1e-6f, 0.0f, 1.0f};
  if (s->alias > 1) s->alias = 0;
  job->scale = eps[kr_check_below(random, job->index < 0 ? 1 : 4)];
  return add_values(job, random, "x", s->k, job->style, s->alias == 1) &&
         add_values(job, random, "w", s->k, job->x_style, false) &&
         add_result(job, random, "y", KR_CHECK_F32, s->alias == 1 ? 0 : s->k);
}
static void call_norm(const kr_check_job *job, kr_check_fn *fn) {
  ((kr_rms_norm_fn *)fn)(floats(job, 0), floats(job, 1), job->shape.k, job->scale,
                         floats(job, job->shape.alias == 1 ? 0 : 2));
}
const kr_check_kind kr_check_rms_norm = {"Gval/s",  pick_vector, pick_vector_timed, build_norm,
                                         call_norm, NULL,        single_length};

/* ---- softmax: x f32 [k] in place, of which first..last count -------------------------------- */

static void pick_softmax(const kr_check_job *job, kr_check_random *random, int64_t index,
                         kr_check_shape *ret_shape) {
  (void)job;
  kr_check_shape s = {.k = (pick_length(random, index) + 15) / 16 * 16};
  s.first = kr_check_below(random, 2) ? 0 : kr_check_below(random, s.k);
  s.last = kr_check_below(random, 3) ? s.k : s.first + 1 + kr_check_below(random, s.k - s.first);
  *ret_shape = s;
}
static void pick_softmax_timed(const kr_check_job *job, int64_t bytes, kr_check_shape *ret_shape) {
  (void)job;
  (void)bytes;
  *ret_shape = (kr_check_shape){.k = 4096, .last = 4096};
}
static bool build_softmax(kr_check_job *job, kr_check_random *random) {
  static const float scales[] = {0.125f, 1.0f, 0.08838835f, 1e-3f};
  job->scale = scales[kr_check_below(random, job->index < 0 ? 1 : 4)];
  /* a NaN among scores never reaches the result alike everywhere: the contract keeps it out */
  kr_check_style style = job->style == KR_CHECK_NONFINITE ? KR_CHECK_ORDINARY : job->style;
  kr_check_buffer *x = kr_check_job_add(job, random, "x", KR_CHECK_F32, job->shape.k, 0);
  if (!x) return false;
  kr_check_fill_f32(random, style, floats(job, 0), job->shape.k);
  if (style != job->style) /* masked positions, some of them */
    for (int64_t i = 0; i < job->shape.k; i += 1 + kr_check_below(random, 5)) {
      uint32_t minus_infinity = 0xff800000;
      memcpy(floats(job, 0) + i, &minus_infinity, 4);
    }
  else if (kr_check_below(random, 2)) /* differences around the bound where exp gives 0 */
    for (int64_t i = 0; i < job->shape.k; i++) floats(job, 0)[i] *= 50;
  return kr_check_buffer_seal(x, true) && add_result(job, random, "ret", KR_CHECK_F32, 2);
}
static void call_softmax(const kr_check_job *job, kr_check_fn *fn) {
  const kr_check_shape *s = &job->shape;
  ((kr_softmax_fn *)fn)(floats(job, 0), s->first, s->last, s->k, job->scale, floats(job, 1));
}
const kr_check_kind kr_check_softmax = {
    "Gval/s", pick_softmax, pick_softmax_timed, build_softmax, call_softmax, NULL, single_length};

/* ---- gates: gate, up, y f32 [k]; alias 1: y is gate, 2: y is up ----------------------------- */

static bool build_gate(kr_check_job *job, kr_check_random *random) {
  kr_check_shape *s = &job->shape;
  kr_check_buffer *gate = kr_check_job_add(job, random, "gate", KR_CHECK_F32, s->k, 0);
  if (!gate) return false;
  kr_check_fill_f32(random, job->style, floats(job, 0), s->k);
  if (job->index % 2) /* the whole range of exp */
    for (int64_t i = 0; i < s->k; i++) floats(job, 0)[i] *= 30;
  if (!kr_check_buffer_seal(gate, s->alias == 1)) return false;
  return add_values(job, random, "up", s->k, job->x_style, s->alias == 2) &&
         add_result(job, random, "y", KR_CHECK_F32, s->alias ? 0 : s->k);
}
static void call_gate(const kr_check_job *job, kr_check_fn *fn) {
  int64_t alias = job->shape.alias;
  ((kr_gate_fn *)fn)(floats(job, 0), floats(job, 1), job->shape.k,
                     floats(job, alias == 1   ? 0
                                 : alias == 2 ? 1
                                              : 2));
}
const kr_check_kind kr_check_gate = {
    "Gval/s", pick_vector, pick_vector_timed, build_gate, call_gate, NULL, single_length,
};

/* ---- rotations: k pairs in each of n heads --------------------------------------------------- */

static void pick_rope_timed(const kr_check_job *job, int64_t bytes, kr_check_shape *ret_shape) {
  (void)job;
  (void)bytes;
  *ret_shape = (kr_check_shape){.k = 64, .n = 32};
}
static bool build_rope(kr_check_job *job, kr_check_random *random) {
  kr_check_shape *s = &job->shape;
  job->ldx = 2 * s->k + s->gap;
  /* cosines and sines in -1 .. 1; that they belong together is no matter */
  kr_check_style style = job->x_style == KR_CHECK_EXTREME ? KR_CHECK_EDGES : job->x_style;
  return add_values(job, random, "x", (s->n - 1) * job->ldx + 2 * s->k, job->style, true) &&
         add_values(job, random, "c", s->k, style, false) &&
         add_values(job, random, "s", s->k, style, false);
}
static void call_rope(const kr_check_job *job, kr_check_fn *fn) {
  ((kr_rope_fn *)fn)(floats(job, 0), job->ldx, job->shape.n, job->shape.k, floats(job, 1),
                     floats(job, 2));
}
const kr_check_kind kr_check_rope = {
    "Gval/s", pick_vector, pick_rope_timed, build_rope, call_rope, NULL, length,
};

/* ---- add: x f32 [k] += y -------------------------------------------------------------------- */

static bool build_add(kr_check_job *job, kr_check_random *random) {
  return add_values(job, random, "x", job->shape.k, job->style, true) &&
         add_values(job, random, "y", job->shape.k, job->x_style, false);
}
static void call_add(const kr_check_job *job, kr_check_fn *fn) {
  ((kr_add_fn *)fn)(floats(job, 0), floats(job, 1), job->shape.k);
}
const kr_check_kind kr_check_add = {
    "Gval/s", pick_vector, pick_vector_timed, build_add, call_add, NULL, single_length,
};

/* ---- to_f16: x f32 [k] to u16 [k] ------------------------------------------------------------ */

static bool build_to_f16(kr_check_job *job, kr_check_random *random) {
  kr_check_shape *s = &job->shape;
  if (!kr_check_job_add(job, random, "x", KR_CHECK_F32, s->k, 0)) return false;
  kr_check_fill_f32(random, job->style, floats(job, 0), s->k);
  for (int64_t i = 0; i < s->k; i++) { /* every exponent of a half and its neighbours */
    uint32_t r = (uint32_t)kr_check_next(random), low = r & 1 ? 0 : r & 2 ? 0x1000 : 0x1fff;
    uint32_t bits = (r & 0x807fe000) | (uint32_t)(100 + kr_check_below(random, 46)) << 23 | low;
    if (r & 4 && job->style == KR_CHECK_WIDE) memcpy(floats(job, 0) + i, &bits, 4);
  }
  return kr_check_buffer_seal(&job->buffer[0], false) &&
         add_result(job, random, "y", KR_CHECK_U16, s->k);
}
static void call_to_f16(const kr_check_job *job, kr_check_fn *fn) {
  ((kr_to_f16_fn *)fn)(floats(job, 0), job->shape.k, (uint16_t *)(void *)job->buffer[1].data);
}
const kr_check_kind kr_check_to_f16 = {
    "Gval/s", pick_vector, pick_vector_timed, build_to_f16, call_to_f16, NULL, single_length,
};

/* ---- values_q8: v int8 [k / 16][KR_PAGE][16], d f32 [KR_PAGE][k / 32] ------------------------ */

static void pick_values(const kr_check_job *job, kr_check_random *random, int64_t index,
                        kr_check_shape *ret_shape) {
  (void)job;
  kr_check_shape s = {.k = KR_BLOCK * (1 + kr_check_below(random, 5)),
                      .n = 1 + kr_check_below(random, 9),
                      .gap = kr_check_below(random, 2) ? 0 : kr_check_below(random, 40)};
  s.first = index % 3 ? kr_check_below(random, KR_PAGE) : 0;
  s.last = index % 4 ? s.first + kr_check_below(random, KR_PAGE - s.first + 1) : KR_PAGE;
  *ret_shape = s;
}
static void pick_values_timed(const kr_check_job *job, int64_t bytes, kr_check_shape *ret_shape) {
  (void)job;
  (void)bytes;
  *ret_shape = (kr_check_shape){.k = 64, .n = 3, .last = KR_PAGE};
}
static bool build_values(kr_check_job *job, kr_check_random *random) {
  const kr_check_shape *s = &job->shape;
  job->ldx = KR_PAGE + s->gap;
  job->ldy = s->k + s->gap;
  kr_check_buffer *v = kr_check_job_add(job, random, "v", KR_CHECK_I8, s->k * KR_PAGE, 64);
  if (!v) return false;
  kr_check_fill_q(random, job->x_style, (int8_t *)v->data, s->k * KR_PAGE);
  kr_check_buffer *d =
      kr_check_job_add(job, random, "d", KR_CHECK_F32, KR_PAGE * s->k / KR_BLOCK, 0);
  if (!d) return false;
  kr_check_fill_d(random, job->x_style, (float *)(void *)d->data, KR_PAGE * s->k / KR_BLOCK);
  return kr_check_buffer_seal(v, false) && kr_check_buffer_seal(d, false) &&
         add_values(job, random, "x", (s->n - 1) * job->ldx + s->last, job->style, false) &&
         add_result(job, random, "y", KR_CHECK_F32, (s->n - 1) * job->ldy + s->k);
}
static void call_values(const kr_check_job *job, kr_check_fn *fn) {
  const kr_check_shape *s = &job->shape;
  ((kr_values_q8_fn *)fn)((const int8_t *)job->buffer[0].data, floats(job, 1), s->k, s->first,
                          s->last, floats(job, 2), job->ldx, s->n, floats(job, 3), job->ldy);
}
static double values_work(const kr_check_job *job) {
  return (double)(job->shape.k * job->shape.n * (job->shape.last - job->shape.first));
}
const kr_check_kind kr_check_values_q8 = {
    "GMAC/s", pick_values, pick_values_timed, build_values, call_values, NULL, values_work,
};
