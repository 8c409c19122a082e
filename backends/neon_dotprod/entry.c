/* The NEON backend with dot products: int8 and nibble products by sdot, over neon. */
#include "kernels.h"

static const kr_kernels kernels = {
    .struct_size = sizeof kernels,
    .vector_q4_0 = kr_dotprod_vector_q4_0,
    .matrix_q4_0 = kr_dotprod_matrix_q4_0,
    .vector_q4_1 = kr_dotprod_vector_q4_1,
    .matrix_q4_1 = kr_dotprod_matrix_q4_1,
    .vector_q8_0 = kr_dotprod_vector_q8_0,
    .matrix_q8_0 = kr_dotprod_matrix_q8_0,
};

KR_BACKEND_EXPORT const kr_backend krafla_backend = {KR_BACKEND_DESCRIPTOR,
                                                     .rank = 200,
                                                     .name = "neon_dotprod",
                                                     .features = "neon dotprod",
                                                     .provenance = "1.0, MIT, Krafla",
                                                     .kernels = &kernels};
