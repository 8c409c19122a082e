/* The SSE4.1 backend: what SSSE3 and SSE4.1 make faster than the SSE2 backend, from which the rest
 * comes. This file alone is compiled without ISA flags, so that reading the descriptor runs nothing
 * that an older CPU lacks. */
#include "kernels.h"

static const kr_kernels kernels = {
    .struct_size = sizeof kernels,
    .vector_q4_0 = kr_sse41_vector_q4_0,
    .matrix_q4_0 = kr_sse41_matrix_q4_0,
    .vector_q4_1 = kr_sse41_vector_q4_1,
    .matrix_q4_1 = kr_sse41_matrix_q4_1,
    .vector_q8_0 = kr_sse41_vector_q8_0,
    .quantize = kr_sse41_quantize,
    .to_f16 = kr_sse41_to_f16,
    .values_q8 = kr_sse41_values_q8,
};

KR_BACKEND_EXPORT const kr_backend krafla_backend = {KR_BACKEND_DESCRIPTOR,
                                                     .rank = 200,
                                                     .name = "sse41",
                                                     .features = "ssse3 sse4.1",
                                                     .provenance = "1.0, MIT, Krafla",
                                                     .kernels = &kernels};
