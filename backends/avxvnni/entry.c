/* The AVX-VNNI backend: products with quantized weights by vpdpbusd of 256 bits, as VEX encodes it;
 * the rest comes from the AVX2 backend. This file alone is compiled without ISA flags, so that
 * reading the descriptor runs nothing that an older CPU lacks. No kernel fuses a product and a sum
 * of floats. */
#include "kernels.h"

static const kr_kernels kernels = {
    .struct_size = sizeof kernels,
    .vector_q4_0 = kr_avxvnni_vector_q4_0,
    .matrix_q4_0 = kr_avxvnni_matrix_q4_0,
    .vector_q4_1 = kr_avxvnni_vector_q4_1,
    .matrix_q4_1 = kr_avxvnni_matrix_q4_1,
    .vector_q8_0 = kr_avxvnni_vector_q8_0,
    .matrix_q8_0 = kr_avxvnni_matrix_q8_0,
};

KR_BACKEND_EXPORT const kr_backend krafla_backend = {KR_BACKEND_DESCRIPTOR,
                                                     .rank = 350,
                                                     .name = "avxvnni",
                                                     .features = "avx2 f16c fma avx-vnni",
                                                     .provenance = "1.0, MIT, Krafla",
                                                     .kernels = &kernels};
