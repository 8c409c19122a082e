/* The SVE backend: products, quantization, norm and softmax for vectors of any length, over neon or
 * neon_dotprod. neon_i8mm ranks above it: smmla does twice the work of sdot in the same bits. */
#include "kernels.h"

static const kr_kernels kernels = {
    .struct_size = sizeof kernels,
    .vector_q4_0 = kr_sve_vector_q4_0,
    .matrix_q4_0 = kr_sve_matrix_q4_0,
    .vector_q4_1 = kr_sve_vector_q4_1,
    .matrix_q4_1 = kr_sve_matrix_q4_1,
    .vector_q8_0 = kr_sve_vector_q8_0,
    .matrix_q8_0 = kr_sve_matrix_q8_0,
    .vector_f16 = kr_sve_vector_f16,
    .matrix_f16 = kr_sve_matrix_f16,
    .vector_bf16 = kr_sve_vector_bf16,
    .matrix_bf16 = kr_sve_matrix_bf16,
    .vector_f32 = kr_sve_vector_f32,
    .matrix_f32 = kr_sve_matrix_f32,
    .quantize = kr_sve_quantize,
    .rms_norm = kr_sve_rms_norm,
    .softmax = kr_sve_softmax,
};

KR_BACKEND_EXPORT const kr_backend krafla_backend = {KR_BACKEND_DESCRIPTOR,
                                                     .rank = 250,
                                                     .name = "sve",
                                                     .features = "sve",
                                                     .provenance = "1.0, MIT, Krafla",
                                                     .kernels = &kernels};
