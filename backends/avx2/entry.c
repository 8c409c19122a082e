/* The AVX2 backend: the whole table. This file alone is compiled without ISA flags, so that reading
 * the descriptor runs nothing that an older CPU lacks. fma is part of the level that is asked for
 * (no CPU has AVX2 without it), though no kernel fuses a product and a sum. */
#include "kernels.h"

static const kr_kernels kernels = {
    .struct_size = sizeof kernels,
    .vector_q4_0 = kr_avx2_vector_q4_0,
    .matrix_q4_0 = kr_avx2_matrix_q4_0,
    .vector_q4_1 = kr_avx2_vector_q4_1,
    .matrix_q4_1 = kr_avx2_matrix_q4_1,
    .vector_q8_0 = kr_avx2_vector_q8_0,
    .matrix_q8_0 = kr_avx2_matrix_q8_0,
    .vector_f16 = kr_avx2_vector_f16,
    .matrix_f16 = kr_avx2_matrix_f16,
    .vector_bf16 = kr_avx2_vector_bf16,
    .matrix_bf16 = kr_avx2_matrix_bf16,
    .vector_f32 = kr_avx2_vector_f32,
    .matrix_f32 = kr_avx2_matrix_f32,
    .quantize = kr_avx2_quantize,
    .rms_norm = kr_avx2_rms_norm,
    .softmax = kr_avx2_softmax,
    .silu_gate = kr_avx2_silu_gate,
    .gelu_gate = kr_avx2_gelu_gate,
    .rope_pairs = kr_avx2_rope_pairs,
    .rope_halves = kr_avx2_rope_halves,
    .add = kr_avx2_add,
    .to_f16 = kr_avx2_to_f16,
    .values_q8 = kr_avx2_values_q8,
};

KR_BACKEND_EXPORT const kr_backend krafla_backend = {KR_BACKEND_DESCRIPTOR,
                                                     .rank = 300,
                                                     .name = "avx2",
                                                     .features = "avx2 f16c fma",
                                                     .provenance = "1.0, MIT, Krafla",
                                                     .kernels = &kernels};
