/* The assembly backend: one kernel over the AVX2 backend, from which the rest comes. README.md says
 * what it gains. This file alone is compiled without ISA flags, so that reading the descriptor runs
 * nothing that an older CPU lacks. */
#include "kernels.h"

static const kr_kernels kernels = {.struct_size = sizeof kernels,
                                   .matrix_q8_0 = kr_avx2_asm_matrix_q8_0};

KR_BACKEND_EXPORT const kr_backend krafla_backend = {KR_BACKEND_DESCRIPTOR,
                                                     .rank = 310,
                                                     .name = "avx2_asm",
                                                     .features = "avx2 f16c fma",
                                                     .provenance = "1.0, MIT, Krafla",
                                                     .kernels = &kernels};
