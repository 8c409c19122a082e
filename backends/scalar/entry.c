/* The scalar backend: the whole table, built into the core, the specification of every kernel. */
#include "kernels.h"

static const kr_kernels kernels = {
    .struct_size = sizeof kernels,
    .vector_q4_0 = kr_scalar_product_q4_0,
    .matrix_q4_0 = kr_scalar_product_q4_0,
    .vector_q4_1 = kr_scalar_product_q4_1,
    .matrix_q4_1 = kr_scalar_product_q4_1,
    .vector_q8_0 = kr_scalar_product_q8_0,
    .matrix_q8_0 = kr_scalar_product_q8_0,
    .vector_f16 = kr_scalar_product_f16,
    .matrix_f16 = kr_scalar_product_f16,
    .vector_bf16 = kr_scalar_product_bf16,
    .matrix_bf16 = kr_scalar_product_bf16,
    .vector_f32 = kr_scalar_product_f32,
    .matrix_f32 = kr_scalar_product_f32,
    .quantize = kr_scalar_quantize,
    .rms_norm = kr_scalar_rms_norm,
    .softmax = kr_scalar_softmax,
    .silu_gate = kr_scalar_silu_gate,
    .gelu_gate = kr_scalar_gelu_gate,
    .rope_pairs = kr_scalar_rope_pairs,
    .rope_halves = kr_scalar_rope_halves,
    .add = kr_scalar_add,
    .to_f16 = kr_scalar_to_f16,
    .values_q8 = kr_scalar_values_q8,
};

KR_BACKEND_EXPORT const kr_backend krafla_backend = {KR_BACKEND_DESCRIPTOR,
                                                     .rank = 0,
                                                     .name = "scalar",
                                                     .features = "",
                                                     .provenance = "1.0, MIT, Krafla",
                                                     .kernels = &kernels};
