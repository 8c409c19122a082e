/* The SSE2 backend: every kernel, for any x86-64 and for 32-bit x86 since 2001. */
#include "kernels.h"

static const kr_kernels kernels = {
    .struct_size = sizeof kernels,
    .vector_q4_0 = kr_sse2_vector_q4_0,
    .matrix_q4_0 = kr_sse2_matrix_q4_0,
    .vector_q4_1 = kr_sse2_vector_q4_1,
    .matrix_q4_1 = kr_sse2_matrix_q4_1,
    .vector_q8_0 = kr_sse2_vector_q8_0,
    .matrix_q8_0 = kr_sse2_matrix_q8_0,
    .vector_f16 = kr_sse2_product_f16,
    .matrix_f16 = kr_sse2_product_f16,
    .vector_bf16 = kr_sse2_product_bf16,
    .matrix_bf16 = kr_sse2_product_bf16,
    .vector_f32 = kr_sse2_product_f32,
    .matrix_f32 = kr_sse2_product_f32,
    .quantize = kr_sse2_quantize,
    .rms_norm = kr_sse2_rms_norm,
    .softmax = kr_sse2_softmax,
    .silu_gate = kr_sse2_silu_gate,
    .gelu_gate = kr_sse2_gelu_gate,
    .rope_pairs = kr_sse2_rope_pairs,
    .rope_halves = kr_sse2_rope_halves,
    .add = kr_sse2_add,
    .to_f16 = kr_sse2_to_f16,
    .values_q8 = kr_sse2_values_q8,
};

KR_BACKEND_EXPORT const kr_backend krafla_backend = {KR_BACKEND_DESCRIPTOR,
                                                     .rank = 100,
                                                     .name = "sse2",
                                                     .features = "sse2",
                                                     .provenance = "1.0, MIT, Krafla",
                                                     .kernels = &kernels};
