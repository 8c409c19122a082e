/* Q8_0 products; the body is in product_int8.h. */
#include "product_int8.h"

void kr_neon_vector_q8_0(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  (void)ldy;
  kr_neon_vector(KR_PACKED_Q8_0, w, first, last, x, y);
}

void kr_neon_matrix_q8_0(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                         float *y, int64_t ldy) {
  kr_neon_matrix(KR_PACKED_Q8_0, w, first, last, x, y, ldy);
}
