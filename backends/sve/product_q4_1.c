/* Q4_1 products; the body is in product_int8.h. */
#include "product_int8.h"

void kr_sve_vector_q4_1(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                        float *y, int64_t ldy) {
  (void)ldy;
  vector_product(KR_PACKED_Q4_1, w, first, last, x, y);
}

void kr_sve_matrix_q4_1(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                        float *y, int64_t ldy) {
  matrix_product(KR_PACKED_Q4_1, w, first, last, x, y, ldy);
}
