/* The AVX-512 VNNI kernels, for entry.c. */
#ifndef KR_AVX512VNNI_KERNELS_H
#define KR_AVX512VNNI_KERNELS_H

#include <krafla/backend.h>

kr_product_fn kr_avx512vnni_vector_q4_0, kr_avx512vnni_matrix_q4_0;
kr_product_fn kr_avx512vnni_vector_q4_1, kr_avx512vnni_matrix_q4_1;
kr_product_fn kr_avx512vnni_vector_q8_0, kr_avx512vnni_matrix_q8_0;
kr_product_fn kr_avx512vnni_product_f16, kr_avx512vnni_product_bf16, kr_avx512vnni_product_f32;
kr_quantize_fn kr_avx512vnni_quantize;
kr_rms_norm_fn kr_avx512vnni_rms_norm;
kr_softmax_fn kr_avx512vnni_softmax;
kr_gate_fn kr_avx512vnni_silu_gate, kr_avx512vnni_gelu_gate;
kr_rope_fn kr_avx512vnni_rope_pairs, kr_avx512vnni_rope_halves;
kr_add_fn kr_avx512vnni_add;
kr_to_f16_fn kr_avx512vnni_to_f16;
kr_values_q8_fn kr_avx512vnni_values_q8;

#endif
