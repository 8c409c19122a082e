/* The descriptor: what the core reads before it calls anything here. */
#include <krafla/backend.h>

#ifndef RANK
#define RANK 50
#endif

kr_product_fn kr_example_vector_q8_0;

/* What is not named is NULL: the backends below give it. */
static const kr_kernels kernels = {.struct_size = sizeof kernels,
                                   .vector_q8_0 = kr_example_vector_q8_0};

KR_BACKEND_EXPORT const kr_backend krafla_backend = {KR_BACKEND_DESCRIPTOR,
                                                     .rank = RANK,
                                                     .name = "example",
                                                     .features = "",
                                                     .provenance = "1.0, MIT, Krafla's example",
                                                     .kernels = &kernels};
