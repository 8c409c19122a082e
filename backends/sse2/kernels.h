/* The SSE2 kernels, for entry.c. */
#ifndef KR_SSE2_KERNELS_H
#define KR_SSE2_KERNELS_H

#include "../common/scalar.h"
#include <emmintrin.h>
#include <stdbool.h>

/* For bodies that are made for several constant arguments. */
#define KR_INLINE static inline __attribute__((always_inline))

kr_product_fn kr_sse2_vector_q4_0, kr_sse2_matrix_q4_0;
kr_product_fn kr_sse2_vector_q4_1, kr_sse2_matrix_q4_1;
kr_product_fn kr_sse2_vector_q8_0, kr_sse2_matrix_q8_0;
kr_product_fn kr_sse2_product_f16, kr_sse2_product_bf16, kr_sse2_product_f32;
kr_quantize_fn kr_sse2_quantize;
kr_rms_norm_fn kr_sse2_rms_norm;
kr_softmax_fn kr_sse2_softmax;
kr_gate_fn kr_sse2_silu_gate, kr_sse2_gelu_gate;
kr_rope_fn kr_sse2_rope_pairs, kr_sse2_rope_halves;
kr_add_fn kr_sse2_add;
kr_to_f16_fn kr_sse2_to_f16;
kr_values_q8_fn kr_sse2_values_q8;

#endif
