/* Q4_1 products; the body is in product_int8.h. Layout and numerics:
 * backends/scalar/product_q4_1.c. */
#include "kernels.h"
#include "product_int8.h"

void kr_avxvnni_vector_q4_1(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                            float *y, int64_t ldy) {
  vector_product(FORMAT_Q4_1, w, first, last, x, y, ldy);
}

void kr_avxvnni_matrix_q4_1(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                            float *y, int64_t ldy) {
  matrix_product(FORMAT_Q4_1, w, first, last, x, y, ldy);
}
