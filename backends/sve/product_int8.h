/* The body of the three products with quantized weights, by sdot.
 *
 * A vector of weights holds a unit, 4 consecutive k, of each row of a piece; 16 k of a column, four
 * units, are repeated in every 128 bits of another vector. sdot by element multiplies the bytes of
 * every row's unit by those of one of the four and adds the four products to the row's int32 lane.
 * So lane i is row i of the piece, and no sum is made across lanes. A block's 32 products are
 * within 2^19: exact, in any order. The f32 accumulator of each row and column is one lane, takes
 * one block after the other, ascending, in the steps of the scalar backend.
 *
 * Nibbles are multiplied as they stand, 0 .. 15; Q4_0's sums begin with -8 times the column's. */
#ifndef KR_SVE_PRODUCT_INT8_H
#define KR_SVE_PRODUCT_INT8_H

#include "../common/packed.h"
#include "kernels.h"
#include "pieces.h"

enum { PIECES = 4, COLUMNS = 4, AHEAD = 1024 /* bytes */ };

/* A block of one column. */
typedef struct column {
  const int8_t *q;
  const float *d;
  const int32_t *s;
} column;

KR_INLINE column get_column(const kr_columns *x, int64_t blocks, int64_t c) {
  return (column){x->q + c * blocks * KR_BLOCK, x->d + c * blocks, x->s + c * blocks};
}

KR_INLINE svint8_t load_units(const int8_t *q) {
  return svld1rq_s8(svptrue_b8(), q);
}

/* Sums begin with the bits of 1.5 * 2^23, less 8 s for Q4_0: as a float such a sum is 1.5 * 2^23 +
 * isum, since |isum| < 2^22, so that a subtraction converts it, exactly; CPUs have more units for
 * that than for scvtf. */
#define START 0x4b400000 /* the bits of KR_ROUND_MAGIC */

KR_INLINE svint32_t start_sum(kr_packed format, int32_t s) {
  return svdup_n_s32(START - (format == KR_PACKED_Q4_0 ? 8 * s : 0));
}

/* What four units hold for the first 16 k of a block, and, of the bytes from which it is taken, for
 * the last. */
KR_INLINE svint8_t first_values(kr_packed format, svuint8_t bytes) {
  if (format == KR_PACKED_Q8_0) return svreinterpret_s8_u8(bytes);
  return svreinterpret_s8_u8(svand_n_u8_x(svptrue_b8(), bytes, 15));
}
KR_INLINE svint8_t last_values(kr_packed format, svbool_t pg, svuint8_t bytes,
                               const uint8_t *unit) {
  if (format == KR_PACKED_Q8_0) return svreinterpret_s8_u8(svld1_u8(pg, unit + 4 * KR_PACKED_UNIT));
  return svreinterpret_s8_u8(svlsr_n_u8_x(svptrue_b8(), bytes, 4));
}

/* acc + (float)isum * (dw * dx), then for Q4_1 the minimum's term. */
KR_INLINE svfloat32_t add_sum(kr_packed format, svfloat32_t acc, svint32_t sum, svfloat32_t scale,
                              svfloat32_t minimum, float d, int32_t s) {
  const svbool_t all = svptrue_b32();
  svfloat32_t factor = svmul_n_f32_x(all, scale, d);
  svfloat32_t isum = svsub_n_f32_x(all, svreinterpret_f32_s32(sum), KR_ROUND_MAGIC);
  acc = svadd_f32_x(all, acc, svmul_f32_x(all, isum, factor));
  if (format != KR_PACKED_Q4_1) return acc;
  return svadd_f32_x(all, acc, svmul_n_f32_x(all, svmul_n_f32_x(all, minimum, d), (float)s));
}

/* ---- one column ----------------------------------------------------------------------------- */

/* The sum of a block of one piece: two chains of four sdots. */
KR_INLINE svint32_t piece_sum(kr_packed format, svbool_t pg, const uint8_t *unit, svint8_t low,
                              svint8_t high, svint32_t start) {
  svuint8_t b0 = svld1_u8(pg, unit), b1 = svld1_u8(pg, unit + KR_PACKED_UNIT);
  svuint8_t b2 = svld1_u8(pg, unit + 2 * KR_PACKED_UNIT);
  svuint8_t b3 = svld1_u8(pg, unit + 3 * KR_PACKED_UNIT);
  svint32_t first = svdot_lane_s32(start, first_values(format, b0), low, 0);
  svint32_t last = svdot_lane_s32(svdup_n_s32(0), last_values(format, pg, b0, unit), high, 0);
  first = svdot_lane_s32(first, first_values(format, b1), low, 1);
  last = svdot_lane_s32(last, last_values(format, pg, b1, unit + KR_PACKED_UNIT), high, 1);
  first = svdot_lane_s32(first, first_values(format, b2), low, 2);
  last = svdot_lane_s32(last, last_values(format, pg, b2, unit + 2 * KR_PACKED_UNIT), high, 2);
  first = svdot_lane_s32(first, first_values(format, b3), low, 3);
  last = svdot_lane_s32(last, last_values(format, pg, b3, unit + 3 * KR_PACKED_UNIT), high, 3);
  return svadd_s32_x(svptrue_b32(), first, last);
}

/* A block of one piece: pair is that of the piece's group. */
KR_INLINE svfloat32_t piece_block(kr_packed format, const piece *p, const uint8_t *pair, int block,
                                  svint8_t low, svint8_t high, const column *x, svfloat32_t acc) {
  svbool_t rows = piece_rows(p);
  const uint8_t *halves = pair + block * KR_PACKED_SCALES + 2 * p->row;
  const uint8_t *unit = pair + kr_packed_quants(format, block) + 4 * p->row;
  svint32_t sum =
      piece_sum(format, piece_bytes(p), unit, low, high, start_sum(format, x->s[block]));
  svfloat32_t scale = load_halves(rows, halves), minimum = scale;
  if (format == KR_PACKED_Q4_1) minimum = load_halves(rows, halves + KR_PACKED_MINIMA);
  return add_sum(format, acc, sum, scale, minimum, x->d[block], x->s[block]);
}

/* One column by some pieces, PIECES or 1: all blocks. */
KR_INLINE void vector_pieces(kr_packed format, int pieces, const piece *p, int64_t blocks,
                             column x) {
  svfloat32_t acc0 = svdup_n_f32(0), acc1 = acc0, acc2 = acc0, acc3 = acc0;
  for (int64_t at = 0, b = 0; b < blocks; b += 2, at += kr_packed_pair(format)) {
    for (int i = 0; i < kr_packed_pair(format); i += 64)
      __builtin_prefetch(p->group + at + AHEAD + i);
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
      svint8_t low = load_units(x.q + i * KR_BLOCK), high = load_units(x.q + i * KR_BLOCK + 16);
      acc0 = piece_block(format, &p[0], p[0].group + at, i, low, high, &x, acc0);
      if (pieces == 1) continue;
      acc1 = piece_block(format, &p[1], p[1].group + at, i, low, high, &x, acc1);
      acc2 = piece_block(format, &p[2], p[2].group + at, i, low, high, &x, acc2);
      acc3 = piece_block(format, &p[3], p[3].group + at, i, low, high, &x, acc3);
    }
    x.q += 2 * KR_BLOCK, x.d += 2, x.s += 2;
  }
  svst1_f32(piece_rows(&p[0]), p[0].y, acc0);
  if (pieces == 1) return;
  svst1_f32(piece_rows(&p[1]), p[1].y, acc1);
  svst1_f32(piece_rows(&p[2]), p[2].y, acc2);
  svst1_f32(piece_rows(&p[3]), p[3].y, acc3);
}

KR_INLINE void vector_product(kr_packed format, const kr_panel *w, int64_t first, int64_t last,
                              const kr_columns *x, float *y) {
  int64_t blocks = w->k / KR_BLOCK, n = (last - first) * group_pieces(), i = 0;
  column only = get_column(x, blocks, 0);
  for (; i + PIECES <= n; i += PIECES) {
    piece p[PIECES];
    for (int j = 0; j < PIECES; j++) p[j] = get_piece(w, first, i + j, y);
    vector_pieces(format, PIECES, p, blocks, only);
  }
  for (; i < n; i++) {
    piece p = get_piece(w, first, i, y);
    vector_pieces(format, 1, &p, blocks, only);
  }
}

/* ---- several columns ------------------------------------------------------------------------ */

/* sum + four units, of which this is the one that lane names, by a column's 16 k. */
#define ADD_UNIT(lane, w, x0, x1, x2, x3)                                                          \
  do {                                                                                             \
    svint8_t unit_of_rows = (w);                                                                   \
    sum0 = svdot_lane_s32(sum0, unit_of_rows, x0, lane);                                           \
    if (columns > 1) sum1 = svdot_lane_s32(sum1, unit_of_rows, x1, lane);                          \
    if (columns > 2) sum2 = svdot_lane_s32(sum2, unit_of_rows, x2, lane);                          \
    if (columns > 3) sum3 = svdot_lane_s32(sum3, unit_of_rows, x3, lane);                          \
  } while (0)

/* One piece by columns <= COLUMNS: all blocks. */
KR_INLINE void tile(kr_packed format, int columns, const piece *p, int64_t blocks, column x,
                    int64_t ldy) {
  const svbool_t rows = piece_rows(p), bytes = piece_bytes(p);
  const int64_t c1 = columns > 1 ? 1 : 0, c2 = columns > 2 ? 2 : 0, c3 = columns > 3 ? 3 : 0;
  svfloat32_t acc0 = svdup_n_f32(0), acc1 = acc0, acc2 = acc0, acc3 = acc0;
  const uint8_t *pair = p->group;
  for (int64_t b = 0; b < blocks; b++, x.q += KR_BLOCK, x.d++, x.s++) {
    const int block = (int)(b % 2);
    const uint8_t *unit = pair + kr_packed_quants(format, block) + 4 * p->row;
    const uint8_t *halves = pair + block * KR_PACKED_SCALES + 2 * p->row;
    const int8_t *q1 = x.q + c1 * blocks * KR_BLOCK, *q2 = x.q + c2 * blocks * KR_BLOCK;
    const int8_t *q3 = x.q + c3 * blocks * KR_BLOCK;
    svint8_t low0 = load_units(x.q), low1 = load_units(q1);
    svint8_t low2 = load_units(q2), low3 = load_units(q3);
    svint32_t sum0 = start_sum(format, x.s[0]), sum1 = start_sum(format, x.s[c1 * blocks]);
    svint32_t sum2 = start_sum(format, x.s[c2 * blocks]);
    svint32_t sum3 = start_sum(format, x.s[c3 * blocks]);
    svuint8_t b0 = svld1_u8(bytes, unit), b1 = svld1_u8(bytes, unit + KR_PACKED_UNIT);
    svuint8_t b2 = svld1_u8(bytes, unit + 2 * KR_PACKED_UNIT);
    svuint8_t b3 = svld1_u8(bytes, unit + 3 * KR_PACKED_UNIT);
    ADD_UNIT(0, first_values(format, b0), low0, low1, low2, low3);
    ADD_UNIT(1, first_values(format, b1), low0, low1, low2, low3);
    ADD_UNIT(2, first_values(format, b2), low0, low1, low2, low3);
    ADD_UNIT(3, first_values(format, b3), low0, low1, low2, low3);
    svint8_t high0 = load_units(x.q + 16), high1 = load_units(q1 + 16);
    svint8_t high2 = load_units(q2 + 16), high3 = load_units(q3 + 16);
    ADD_UNIT(0, last_values(format, bytes, b0, unit), high0, high1, high2, high3);
    unit += KR_PACKED_UNIT;
    ADD_UNIT(1, last_values(format, bytes, b1, unit), high0, high1, high2, high3);
    unit += KR_PACKED_UNIT;
    ADD_UNIT(2, last_values(format, bytes, b2, unit), high0, high1, high2, high3);
    unit += KR_PACKED_UNIT;
    ADD_UNIT(3, last_values(format, bytes, b3, unit), high0, high1, high2, high3);
    svfloat32_t scale = load_halves(rows, halves), minimum = scale;
    if (format == KR_PACKED_Q4_1) minimum = load_halves(rows, halves + KR_PACKED_MINIMA);
    acc0 = add_sum(format, acc0, sum0, scale, minimum, x.d[0], x.s[0]);
    if (columns > 1) acc1 = add_sum(format, acc1, sum1, scale, minimum, x.d[blocks], x.s[blocks]);
    if (columns > 2)
      acc2 = add_sum(format, acc2, sum2, scale, minimum, x.d[2 * blocks], x.s[2 * blocks]);
    if (columns > 3)
      acc3 = add_sum(format, acc3, sum3, scale, minimum, x.d[3 * blocks], x.s[3 * blocks]);
    if (block == 1) pair += kr_packed_pair(format);
  }
  svst1_f32(rows, p->y, acc0);
  if (columns > 1) svst1_f32(rows, p->y + ldy, acc1);
  if (columns > 2) svst1_f32(rows, p->y + 2 * ldy, acc2);
  if (columns > 3) svst1_f32(rows, p->y + 3 * ldy, acc3);
}

#undef ADD_UNIT

KR_INLINE void matrix_product(kr_packed format, const kr_panel *w, int64_t first, int64_t last,
                              const kr_columns *x, float *y, int64_t ldy) {
  int64_t blocks = w->k / KR_BLOCK, pieces = (last - first) * group_pieces();
  int64_t step = kr_packed_columns(x->n, w->k, COLUMNS);
  for (int64_t start = 0; start < x->n; start += step) {
    int64_t end = x->n - start < step ? x->n : start + step;
    for (int64_t i = 0; i < pieces; i++) {
      int64_t c = start;
      piece p = get_piece(w, first, i, y + start * ldy);
      for (; c + COLUMNS <= end; c += COLUMNS, p.y += COLUMNS * ldy)
        tile(format, COLUMNS, &p, blocks, get_column(x, blocks, c), ldy);
      if (end - c == 3) tile(format, 3, &p, blocks, get_column(x, blocks, c), ldy);
      if (end - c == 2) tile(format, 2, &p, blocks, get_column(x, blocks, c), ldy);
      if (end - c == 1) tile(format, 1, &p, blocks, get_column(x, blocks, c), ldy);
    }
  }
}

#endif
