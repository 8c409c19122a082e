/* The kernel of the assembly backend, for entry.c. */
#ifndef KR_AVX2_ASM_KERNELS_H
#define KR_AVX2_ASM_KERNELS_H

#include <krafla/backend.h>

kr_product_fn kr_avx2_asm_matrix_q8_0;

#endif
