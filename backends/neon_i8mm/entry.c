/* The NEON backend with matrix products: those of many columns by smmla, over neon_dotprod or sve.
 */
#include "kernels.h"

static const kr_kernels kernels = {
    .struct_size = sizeof kernels,
    .matrix_q4_0 = kr_i8mm_matrix_q4_0,
    .matrix_q4_1 = kr_i8mm_matrix_q4_1,
    .matrix_q8_0 = kr_i8mm_matrix_q8_0,
};

KR_BACKEND_EXPORT const kr_backend krafla_backend = {KR_BACKEND_DESCRIPTOR,
                                                     .rank = 300,
                                                     .name = "neon_i8mm",
                                                     .features = "neon dotprod i8mm",
                                                     .provenance = "1.0, MIT, Krafla",
                                                     .kernels = &kernels};
