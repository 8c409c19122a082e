/* Products with F32, F16 and BF16 weights.
 *
 * A vector holds the same k of each row of a piece: a row keeps its one accumulator, a lane of its
 * own, and k goes up one at a time, product and sum rounded apart: scalar's order exactly, for
 * every length. Several pieces (one column) or columns (one piece) go side by side, to have
 * independent sums enough while an addition takes its time. */
#include "kernels.h"
#include "pieces.h"

enum { PIECES = 4, COLUMNS = 8, AHEAD = 1024 /* bytes */ };

typedef enum weight_type { F32, F16, BF16 } weight_type;

KR_INLINE int k_bytes(weight_type type) { /* of one k of a group */
  return KR_GROUP * (type == F32 ? 4 : 2);
}

/* The same k of a piece's rows, widened exactly. */
KR_INLINE svfloat32_t load_weights(weight_type type, svbool_t rows, const uint8_t *p) {
  if (type == F32) return svld1_f32(rows, (const float *)(const void *)p);
  if (type == F16) return load_halves(rows, p);
  svuint32_t h = svld1uh_u32(rows, (const uint16_t *)(const void *)p);
  return svreinterpret_f32_u32(svlsl_n_u32_x(rows, h, 16));
}

/* ---- one column ----------------------------------------------------------------------------- */

KR_INLINE svfloat32_t add_weights(weight_type type, const piece *p, int64_t at, float x,
                                  svfloat32_t acc) {
  const uint8_t *w = p->group + at + p->row * k_bytes(type) / KR_GROUP;
  svfloat32_t weights = load_weights(type, piece_rows(p), w);
  return svadd_f32_x(svptrue_b32(), acc, svmul_n_f32_x(svptrue_b32(), weights, x));
}

/* PIECES pieces, or 1. */
KR_INLINE void vector_pieces(weight_type type, int pieces, const piece *p, int64_t k,
                             const float *x) {
  svfloat32_t acc0 = svdup_n_f32(0), acc1 = acc0, acc2 = acc0, acc3 = acc0;
  for (int64_t i = 0, at = 0; i < k; i++, at += k_bytes(type)) {
    __builtin_prefetch(p[0].group + at + AHEAD);
    acc0 = add_weights(type, &p[0], at, x[i], acc0);
    if (pieces == 1) continue;
    acc1 = add_weights(type, &p[1], at, x[i], acc1);
    acc2 = add_weights(type, &p[2], at, x[i], acc2);
    acc3 = add_weights(type, &p[3], at, x[i], acc3);
  }
  svst1_f32(piece_rows(&p[0]), p[0].y, acc0);
  if (pieces == 1) return;
  svst1_f32(piece_rows(&p[1]), p[1].y, acc1);
  svst1_f32(piece_rows(&p[2]), p[2].y, acc2);
  svst1_f32(piece_rows(&p[3]), p[3].y, acc3);
}

KR_INLINE void vector_product(weight_type type, const kr_panel *w, int64_t first, int64_t last,
                              const kr_columns *x, float *y) {
  int64_t n = (last - first) * group_pieces(), i = 0;
  for (; i + PIECES <= n; i += PIECES) {
    piece p[PIECES];
    for (int j = 0; j < PIECES; j++) p[j] = get_piece(w, first, i + j, y);
    vector_pieces(type, PIECES, p, w->k, x->f);
  }
  for (; i < n; i++) {
    piece p = get_piece(w, first, i, y);
    vector_pieces(type, 1, &p, w->k, x->f);
  }
}

/* ---- several columns ------------------------------------------------------------------------ */

/* What is done for each column of a tile. */
#define EACH_COLUMN(DO)                                                                            \
  DO(0);                                                                                           \
  if (columns > 1) DO(1);                                                                          \
  if (columns > 2) DO(2);                                                                          \
  if (columns > 3) DO(3);                                                                          \
  if (columns > 4) DO(4);                                                                          \
  if (columns > 5) DO(5);                                                                          \
  if (columns > 6) DO(6);                                                                          \
  if (columns > 7) DO(7)

#define ADD_LANE(c, lane) acc##c = svadd_f32_x(all, acc##c, svmul_lane_f32(weight, x##c, lane))
#define ADD_LANE_0(c)     ADD_LANE(c, 0)
#define ADD_LANE_1(c)     ADD_LANE(c, 1)
#define ADD_LANE_2(c)     ADD_LANE(c, 2)
#define ADD_LANE_3(c)     ADD_LANE(c, 3)
#define TIMES_ONE(c)      svmul_n_f32_x(all, weight, x[c * ldx + i])
#define ADD_ONE(c)        acc##c = svadd_f32_x(all, acc##c, TIMES_ONE(c))
#define LOAD_FOUR(c)      x##c = svld1rq_f32(all, x + c * ldx + i)
#define STORE(c)          svst1_f32(rows, p->y + c * ldy, acc##c)

/* One piece by columns <= COLUMNS. Four k of a column are repeated in every 128 bits of a vector;
 * each multiplies all rows from there. */
KR_INLINE void tile(weight_type type, int columns, const piece *p, int64_t k, const float *x,
                    int64_t ldx, int64_t ldy) {
  const svbool_t all = svptrue_b32(), rows = piece_rows(p);
  const uint8_t *w = p->group + p->row * k_bytes(type) / KR_GROUP;
  svfloat32_t zero = svdup_n_f32(0), acc0 = zero, acc1 = zero, acc2 = zero, acc3 = zero;
  svfloat32_t acc4 = zero, acc5 = zero, acc6 = zero, acc7 = zero, weight;
  svfloat32_t x0 = zero, x1 = zero, x2 = zero, x3 = zero, x4 = zero, x5 = zero, x6 = zero,
              x7 = zero;
  int64_t i = 0;
  for (; i + 4 <= k; i += 4) {
    EACH_COLUMN(LOAD_FOUR);
    weight = load_weights(type, rows, w);
    EACH_COLUMN(ADD_LANE_0);
    weight = load_weights(type, rows, w + k_bytes(type));
    EACH_COLUMN(ADD_LANE_1);
    weight = load_weights(type, rows, w + 2 * k_bytes(type));
    EACH_COLUMN(ADD_LANE_2);
    weight = load_weights(type, rows, w + 3 * k_bytes(type));
    EACH_COLUMN(ADD_LANE_3);
    w += 4 * k_bytes(type);
  }
  for (; i < k; i++, w += k_bytes(type)) {
    weight = load_weights(type, rows, w);
    EACH_COLUMN(ADD_ONE);
  }
  EACH_COLUMN(STORE);
}

/* Groups are outermost: all columns meet a group while it is in the first-level cache. */
KR_INLINE void matrix_product(weight_type type, const kr_panel *w, int64_t first, int64_t last,
                              const kr_columns *x, float *y, int64_t ldy) {
  int64_t pieces = (last - first) * group_pieces();
  for (int64_t i = 0; i < pieces; i++) {
    piece p = get_piece(w, first, i, y);
    const float *f = x->f;
    int64_t n = x->n;
    for (; n >= COLUMNS; n -= COLUMNS, f += COLUMNS * x->ldf, p.y += COLUMNS * ldy)
      tile(type, COLUMNS, &p, w->k, f, x->ldf, ldy);
    for (; n >= 4; n -= 4, f += 4 * x->ldf, p.y += 4 * ldy) tile(type, 4, &p, w->k, f, x->ldf, ldy);
    for (; n >= 1; n--, f += x->ldf, p.y += ldy) tile(type, 1, &p, w->k, f, x->ldf, ldy);
  }
}

void kr_sve_vector_f32(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                       float *y, int64_t ldy) {
  (void)ldy;
  vector_product(F32, w, first, last, x, y);
}
void kr_sve_matrix_f32(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                       float *y, int64_t ldy) {
  matrix_product(F32, w, first, last, x, y, ldy);
}
void kr_sve_vector_f16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                       float *y, int64_t ldy) {
  (void)ldy;
  vector_product(F16, w, first, last, x, y);
}
void kr_sve_matrix_f16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                       float *y, int64_t ldy) {
  matrix_product(F16, w, first, last, x, y, ldy);
}
void kr_sve_vector_bf16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                        float *y, int64_t ldy) {
  (void)ldy;
  vector_product(BF16, w, first, last, x, y);
}
void kr_sve_matrix_bf16(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                        float *y, int64_t ldy) {
  matrix_product(BF16, w, first, last, x, y, ldy);
}
