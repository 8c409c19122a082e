/* The NEON backend: every kernel, for ARMv7 with NEON and for any AArch64. */
#include "kernels.h"

static const kr_kernels kernels = {
    .struct_size = sizeof kernels,
    .vector_q4_0 = kr_neon_vector_q4_0,
    .matrix_q4_0 = kr_neon_matrix_q4_0,
    .vector_q4_1 = kr_neon_vector_q4_1,
    .matrix_q4_1 = kr_neon_matrix_q4_1,
    .vector_q8_0 = kr_neon_vector_q8_0,
    .matrix_q8_0 = kr_neon_matrix_q8_0,
    .vector_f16 = kr_neon_vector_f16,
    .matrix_f16 = kr_neon_matrix_f16,
    .vector_bf16 = kr_neon_vector_bf16,
    .matrix_bf16 = kr_neon_matrix_bf16,
    .vector_f32 = kr_neon_vector_f32,
    .matrix_f32 = kr_neon_matrix_f32,
    .quantize = kr_neon_quantize,
    .rms_norm = kr_neon_rms_norm,
    .softmax = kr_neon_softmax,
    .silu_gate = kr_neon_silu_gate,
    .gelu_gate = kr_neon_gelu_gate,
    .rope_pairs = kr_neon_rope_pairs,
    .rope_halves = kr_neon_rope_halves,
    .add = kr_neon_add,
    .to_f16 = kr_neon_to_f16,
    .values_q8 = kr_neon_values_q8,
};

KR_BACKEND_EXPORT const kr_backend krafla_backend = {KR_BACKEND_DESCRIPTOR,
                                                     .rank = 100,
                                                     .name = "neon",
                                                     .features = "neon",
                                                     .provenance = "1.0, MIT, Krafla",
                                                     .kernels = &kernels};
