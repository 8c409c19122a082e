/* Q8_0 products; the body is in product_int8.h. */
#include "product_int8.h"

void kr_sve_vector_q8_0(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                        float *y, int64_t ldy) {
  (void)ldy;
  vector_product(KR_PACKED_Q8_0, w, first, last, x, y);
}

void kr_sve_matrix_q8_0(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                        float *y, int64_t ldy) {
  matrix_product(KR_PACKED_Q8_0, w, first, last, x, y, ldy);
}
