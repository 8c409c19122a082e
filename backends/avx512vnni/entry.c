/* The AVX-512 VNNI backend: the whole table. This file alone is compiled without ISA flags, so that
 * reading the descriptor runs nothing that an older CPU lacks. Of AVX2, F16C and FMA the compiler
 * may use instructions; no kernel fuses a product and a sum. */
#include "kernels.h"

static const kr_kernels kernels = {
    .struct_size = sizeof kernels,
    .vector_q4_0 = kr_avx512vnni_vector_q4_0,
    .matrix_q4_0 = kr_avx512vnni_matrix_q4_0,
    .vector_q4_1 = kr_avx512vnni_vector_q4_1,
    .matrix_q4_1 = kr_avx512vnni_matrix_q4_1,
    .vector_q8_0 = kr_avx512vnni_vector_q8_0,
    .matrix_q8_0 = kr_avx512vnni_matrix_q8_0,
    .vector_f16 = kr_avx512vnni_product_f16,
    .matrix_f16 = kr_avx512vnni_product_f16,
    .vector_bf16 = kr_avx512vnni_product_bf16,
    .matrix_bf16 = kr_avx512vnni_product_bf16,
    .vector_f32 = kr_avx512vnni_product_f32,
    .matrix_f32 = kr_avx512vnni_product_f32,
    .quantize = kr_avx512vnni_quantize,
    .rms_norm = kr_avx512vnni_rms_norm,
    .softmax = kr_avx512vnni_softmax,
    .silu_gate = kr_avx512vnni_silu_gate,
    .gelu_gate = kr_avx512vnni_gelu_gate,
    .rope_pairs = kr_avx512vnni_rope_pairs,
    .rope_halves = kr_avx512vnni_rope_halves,
    .add = kr_avx512vnni_add,
    .to_f16 = kr_avx512vnni_to_f16,
    .values_q8 = kr_avx512vnni_values_q8,
};

KR_BACKEND_EXPORT const kr_backend krafla_backend = {
    KR_BACKEND_DESCRIPTOR,
    .rank = 400,
    .name = "avx512vnni",
    .features = "avx512f avx512bw avx512vl avx512dq avx512-vnni avx2 f16c fma",
    .provenance = "1.0, MIT, Krafla",
    .kernels = &kernels};
