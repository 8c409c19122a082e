/* The Q4_0 product of many columns; the body is in matrix.h. */
#include "matrix.h"

void kr_i8mm_matrix_q4_0(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  matrix_product(KR_PACKED_Q4_0, w, first, last, x, y, ldy);
}
