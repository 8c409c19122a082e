/* The kernels by sdot, for entry.c. */
#ifndef KR_NEON_DOTPROD_KERNELS_H
#define KR_NEON_DOTPROD_KERNELS_H

#include <krafla/backend.h>

kr_product_fn kr_dotprod_vector_q4_0, kr_dotprod_matrix_q4_0;
kr_product_fn kr_dotprod_vector_q4_1, kr_dotprod_matrix_q4_1;
kr_product_fn kr_dotprod_vector_q8_0, kr_dotprod_matrix_q8_0;

#endif
