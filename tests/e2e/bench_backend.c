/* A backend whose sums of rows are one unit in the last place too large: krafla-bench must see that
 * its logits are not those of the others. */
#include "krafla/backend.h"
#include <string.h>

static void add(float *x, const float *y, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    float sum = x[i] + y[i];
    uint32_t word;
    memcpy(&word, &sum, sizeof word);
    word++;
    memcpy(x + i, &word, sizeof word);
  }
}

static const kr_kernels kernels = {.struct_size = sizeof kernels, .add = add};

KR_BACKEND_EXPORT const kr_backend krafla_backend = {KR_BACKEND_DESCRIPTOR,
                                                     .rank = 1,
                                                     .name = "inexact",
                                                     .features = "",
                                                     .provenance = "1.0, MIT, Krafla's tests",
                                                     .kernels = &kernels};
