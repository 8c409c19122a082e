/* Q4_1 products; the body is in product_int8.h. */
#include "product_int8.h"

void kr_neon_vector_q4_1(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  (void)ldy;
  kr_neon_vector(KR_PACKED_Q4_1, w, first, last, x, y);
}

void kr_neon_matrix_q4_1(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  kr_neon_matrix(KR_PACKED_Q4_1, w, first, last, x, y, ldy);
}
