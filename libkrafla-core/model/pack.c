/* Packing: rows of a file's matrix into groups of sixteen interleaved rows (krafla/backend.h).
 *
 * The packed units are made of the same bytes as the file's blocks: four consecutive bytes of a row
 * (Q8_0: four k; Q4_0, Q4_1: four k in the low and four in the high nibbles, as both put k and
 * k + 16 into one byte) move as one 32-bit word. Other types are decoded exactly and quantized to
 * Q8_0. */
#include "base/size.h"
#include "model/model.h"
#include <string.h>

enum { Q4_0_BYTES = 18, Q4_1_BYTES = 20, Q8_0_BYTES = 34 };

/* One block of one row: scale (and minimum) and units, into place r of block b of a pair. */
static void put_block(uint8_t *pair, int b, int r, const uint8_t *block, int scales, int units) {
  for (int i = 0; i < scales; i++) memcpy(pair + i * 64 + b * 32 + r * 2, block + 2 * i, 2);
  uint8_t *to = pair + scales * 64 + b * units * 64 + r * 4;
  const uint8_t *from = block + 2 * scales;
  for (int u = 0; u < units; u++) memcpy(to + u * 64, from + 4 * u, 4);
}

/* rows: up to 16 rows of blocks, row_bytes apart. Padding was zeroed with the pages. */
static inline void pack_blocks(uint8_t *group, const uint8_t *rows, size_t row_bytes, int n_rows,
                               int64_t blocks, int block_bytes, int scales, int units) {
  int64_t pair_bytes = (int64_t)scales * 64 + 2 * units * 64;
  for (int64_t b = 0; b < blocks; b++)
    for (int r = 0; r < n_rows; r++)
      put_block(group + b / 2 * pair_bytes, (int)(b % 2), r,
                rows + (size_t)r * row_bytes + b * block_bytes, scales, units);
}

static inline void pack_values(uint8_t *group, const uint8_t *rows, size_t row_bytes, int n_rows,
                               int64_t k, int bytes) {
  for (int64_t i = 0; i < k; i++)
    for (int r = 0; r < n_rows; r++)
      memcpy(group + (i * KR_GROUP + r) * bytes, rows + (size_t)r * row_bytes + i * bytes,
             (size_t)bytes);
}

/* Decodes the rows and quantizes them: scratch holds f32 [k], then the rows as Q8_0. */
static void requantize(const kr_matrix *m, const kr_tensor *t, const uint8_t *rows,
                       size_t row_bytes, int n_rows, uint8_t *scratch) {
  float *values = (float *)scratch;
  uint8_t *blocks = scratch + m->k * (int64_t)sizeof(float);
  for (int r = 0; r < n_rows; r++) {
    kr_type_get(t->type)->dequantize(rows + (size_t)r * row_bytes, m->k, values);
    kr_quantize_q8_0(values, m->k, blocks + r * (m->k / KR_BLOCK * Q8_0_BYTES));
  }
}

size_t kr_pack_scratch(const kr_matrix *m, const kr_tensor *t) {
  size_t values, blocks, sum;
  if (m->format != KR_FORMAT_Q8_0 || t->type == KR_TYPE_Q8_0) return 0;
  if (!kr_mul_size((size_t)m->k, sizeof(float), &values) ||
      !kr_mul_size((size_t)m->k / KR_BLOCK, Q8_0_BYTES * KR_GROUP, &blocks) ||
      !kr_add_size(values, blocks, &sum))
    return SIZE_MAX;
  return sum;
}

void kr_pack_groups(const kr_matrix *m, const kr_tensor *t, int64_t first, int64_t last,
                    uint8_t *scratch) {
  size_t row_bytes = t->bytes / (size_t)m->rows;
  int64_t blocks = m->k / KR_BLOCK;
  for (int64_t g = first; g < last; g++) {
    const uint8_t *rows = t->data + (size_t)(g * KR_GROUP) * row_bytes;
    int n_rows = m->rows - g * KR_GROUP < KR_GROUP ? (int)(m->rows - g * KR_GROUP) : KR_GROUP;
    uint8_t *group = (uint8_t *)m->panel.data + g * m->panel.group_bytes; /* ours to fill */
    switch (m->format) {
    case KR_FORMAT_Q4_0:
      pack_blocks(group, rows, row_bytes, n_rows, blocks, Q4_0_BYTES, 1, 4);
      break;
    case KR_FORMAT_Q4_1:
      pack_blocks(group, rows, row_bytes, n_rows, blocks, Q4_1_BYTES, 2, 4);
      break;
    case KR_FORMAT_Q8_0:
      if (scratch) {
        requantize(m, t, rows, row_bytes, n_rows, scratch);
        rows = scratch + m->k * (int64_t)sizeof(float);
      }
      pack_blocks(group, rows, (size_t)blocks * Q8_0_BYTES, n_rows, blocks, Q8_0_BYTES, 1, 8);
      break;
    case KR_FORMAT_F16:
    case KR_FORMAT_BF16:
      pack_values(group, rows, row_bytes, n_rows, m->k, 2);
      break;
    case KR_FORMAT_F32:
      pack_values(group, rows, row_bytes, n_rows, m->k, 4);
      break;
    }
  }
}

/* ---- all matrices of a model ---------------------------------------------------------------- */

typedef struct packing {
  const kr_matrix *matrix;
  const kr_tensor *tensor;
  uint8_t *scratch; /* for each thread; NULL when none is needed */
  size_t scratch_bytes;
} packing;

static void pack_task(void *data, int64_t first, int64_t last, int32_t worker) {
  packing *p = data;
  uint8_t *scratch = p->scratch ? p->scratch + (size_t)worker * p->scratch_bytes : NULL;
  kr_pack_groups(p->matrix, p->tensor, first, last, scratch);
}

static int pack_one(kr_model *model, kr_weight *w, kr_pool *pool, kr_error *err) {
  packing p = {.matrix = w->matrix,
               .tensor = w->tensor,
               .scratch_bytes = kr_pack_scratch(w->matrix, w->tensor)};
  p.scratch_bytes =
      p.scratch_bytes > SIZE_MAX - 64 ? SIZE_MAX : (p.scratch_bytes + 63) & ~(size_t)63;
  if (p.scratch_bytes) {
    p.scratch = kr_alloc((size_t)kr_pool_threads(pool), p.scratch_bytes);
    if (!p.scratch) return kr_fail_memory(err, "packing");
  }
  kr_pool_run(pool, w->matrix->groups, 1, pack_task, &p);
  kr_free(p.scratch);
  kr_source_release(model->source, w->tensor);
  return KR_OK;
}

int kr_model_pack(kr_model *m, kr_pool *pool, kr_progress_fn *progress, void *progress_data,
                  kr_error *err) {
  m->packed = kr_pages_alloc(m->packed_bytes);
  if (!m->packed) return kr_fail_memory(err, "packed weights");
  uint8_t *at = m->packed;
  for (size_t i = 0; i < m->n_matrices; i++) {
    kr_matrix *matrix = &m->matrices[i];
    matrix->panel.data = at;
    at += matrix->groups * matrix->panel.group_bytes;
  }
  int64_t slots = KR_N_GLOBAL + m->hp.n_layers * KR_N_LAYER;
  for (int64_t i = 0; i < slots; i++) {
    kr_weight *w = i < KR_N_GLOBAL ? &m->global[i] : &m->layers[0][0] + (i - KR_N_GLOBAL);
    if (!w->matrix) continue;
    int code = pack_one(m, w, pool, err);
    if (code) return code;
    double done = (double)(w->matrix->panel.data - m->packed) / (double)m->packed_bytes;
    if (progress && progress(progress_data, done))
      return kr_fail(err, KR_E_CANCELLED, "loading was cancelled");
  }
  if (progress) progress(progress_data, 1);
  return KR_OK;
}
