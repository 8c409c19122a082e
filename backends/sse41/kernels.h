/* The SSE4.1 kernels, for entry.c. */
#ifndef KR_SSE41_KERNELS_H
#define KR_SSE41_KERNELS_H

#include <krafla/backend.h>

kr_product_fn kr_sse41_vector_q4_0, kr_sse41_matrix_q4_0;
kr_product_fn kr_sse41_vector_q4_1, kr_sse41_matrix_q4_1;
kr_product_fn kr_sse41_vector_q8_0;
kr_quantize_fn kr_sse41_quantize;
kr_to_f16_fn kr_sse41_to_f16;
kr_values_q8_fn kr_sse41_values_q8;

#endif
