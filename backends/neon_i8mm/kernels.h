/* The kernels by smmla, for entry.c. */
#ifndef KR_NEON_I8MM_KERNELS_H
#define KR_NEON_I8MM_KERNELS_H

#include <krafla/backend.h>

kr_product_fn kr_i8mm_matrix_q4_0, kr_i8mm_matrix_q4_1, kr_i8mm_matrix_q8_0;

#endif
