/* How kernels for vectors of any length meet groups of sixteen rows.
 *
 * A piece is as many rows of a group as a vector has f32 lanes: four pieces a group at 128 bits,
 * two at 256, one at 512. Longer vectors use sixteen of their lanes; where the length does not
 * divide sixteen, a group's last piece is shorter. Kernels take pieces, four at a time, whatever
 * group they are of: so the number of independent sums does not depend on the length. */
#ifndef KR_SVE_PIECES_H
#define KR_SVE_PIECES_H

#include "../common/scalar.h"
#include <arm_sve.h>
#include <stdbool.h>

#define KR_INLINE static inline __attribute__((always_inline))

/* Pieces in a group. */
KR_INLINE int64_t group_pieces(void) {
  int64_t lanes = (int64_t)svcntw();
  return (KR_GROUP + lanes - 1) / lanes;
}

typedef struct piece {
  const uint8_t *group;
  int64_t row; /* the first, in its group */
  float *y;    /* where its rows stand in the first column */
} piece;

/* Piece i of the groups from first on. */
KR_INLINE piece get_piece(const kr_panel *w, int64_t first, int64_t i, float *y) {
  int64_t pieces = group_pieces(), g = first + i / pieces;
  int64_t row = i % pieces * (int64_t)svcntw();
  return (piece){w->data + g * w->group_bytes, row, y + g * KR_GROUP + row};
}

/* The lanes that are rows, and the bytes of their units. */
KR_INLINE svbool_t piece_rows(const piece *p) {
  return svwhilelt_b32_s64(p->row, KR_GROUP);
}
KR_INLINE svbool_t piece_bytes(const piece *p) {
  return svwhilelt_b8_s64(4 * p->row, 4 * KR_GROUP);
}

/* Halves as f32, exactly: flushing spares them. */
KR_INLINE svfloat32_t load_halves(svbool_t rows, const uint8_t *p) {
  svuint32_t h = svld1uh_u32(rows, (const uint16_t *)(const void *)p);
  return svcvt_f32_f16_x(rows, svreinterpret_f16_u32(h));
}

#endif
