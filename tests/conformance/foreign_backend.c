/* A backend for a CPU feature that no machine has, for the test of krafla-check: it must be
 * reported and never be run. */
#include <krafla/backend.h>

static void add(float *x, const float *y, int64_t n) {
  (void)x, (void)y, (void)n;
  __builtin_trap();
}

static const kr_kernels kernels = {.struct_size = sizeof kernels, .add = add};

KR_BACKEND_EXPORT const kr_backend krafla_backend = {KR_BACKEND_DESCRIPTOR,
                                                     .rank = 1,
                                                     .name = "foreign",
                                                     .features = "avx9000",
                                                     .provenance = "1.0, MIT, Krafla's tests",
                                                     .kernels = &kernels};
