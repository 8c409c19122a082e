/* The NEON kernels, for entry.c. */
#ifndef KR_NEON_KERNELS_H
#define KR_NEON_KERNELS_H

#include <krafla/backend.h>

kr_product_fn kr_neon_vector_q4_0, kr_neon_matrix_q4_0;
kr_product_fn kr_neon_vector_q4_1, kr_neon_matrix_q4_1;
kr_product_fn kr_neon_vector_q8_0, kr_neon_matrix_q8_0;
kr_product_fn kr_neon_vector_f16, kr_neon_matrix_f16;
kr_product_fn kr_neon_vector_bf16, kr_neon_matrix_bf16;
kr_product_fn kr_neon_vector_f32, kr_neon_matrix_f32;
kr_quantize_fn kr_neon_quantize;
kr_rms_norm_fn kr_neon_rms_norm;
kr_softmax_fn kr_neon_softmax;
kr_gate_fn kr_neon_silu_gate, kr_neon_gelu_gate;
kr_rope_fn kr_neon_rope_pairs, kr_neon_rope_halves;
kr_add_fn kr_neon_add;
kr_to_f16_fn kr_neon_to_f16;
kr_values_q8_fn kr_neon_values_q8;

#endif
