/* krafla/backend.h - what a kernel backend gives the core.
 *
 * A backend is one constant, krafla_backend, in a shared object backend-<name>.so (or linked into
 * the core). The core reads it before it runs any code of the backend: a plug-in for another ABI,
 * another numerics contract or a CPU that this machine is not, is skipped and never executed.
 *
 * How this header may change (tests/abi holds us to it): members are only appended, each marked
 * "since 1.N"; a member never changes meaning; NULL, or a table too short to hold a member, means
 * "not mine, ask the backend below".
 *
 * Every kernel returns the bits that the scalar backend returns (backends/scalar is the
 * specification, docs/numerics.md the prose). A kernel never allocates, starts threads, keeps state
 * or changes the floating-point environment: the caller runs it with subnormals flushed. Pointers
 * to activations and results may have any alignment; buffers never overlap unless it is said. */
#ifndef KRAFLA_BACKEND_H
#define KRAFLA_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KR_BACKEND_MAGIC     UINT32_C(0x4b524231) /* "KRB1" */
#define KR_BACKEND_ABI_MAJOR 1
#define KR_BACKEND_ABI_MINOR 0
#define KR_NUMERICS          1 /* the contract of docs/numerics.md that every kernel here keeps */

#define KR_GROUP 16  /* rows interleaved in a packed matrix */
#define KR_BLOCK 32  /* values that share one scale */
#define KR_PAIR  64  /* values in a pair of blocks, the unit of a packed quantized row */
#define KR_PAGE  256 /* positions in a page of the KV cache */

/* A packed matrix w [rows][k]. Rows stand in groups of KR_GROUP, padded with zero rows; group g
 * starts at data + g * group_bytes, 64-byte aligned.
 *
 * Quantized rows are padded with zeros to whole pairs of blocks: k is a multiple of KR_PAIR.
 * A pair of blocks of one group, r the row in the group, b the block of the pair:
 *
 *   Q4_0   576 bytes   0  f16 d[2][16]         scale of row r in block b
 *                     64  u8  q[2][4][16][4]   block, unit u, row, j: low nibble is k = 4u + j of
 *                                              the block, high nibble k = 16 + 4u + j
 *                                              value = d * (nibble - 8)
 *   Q4_1   640 bytes   0  f16 d[2][16]
 *                     64  f16 m[2][16]         value = d * nibble + m
 *                    128  u8  q[2][4][16][4]   as Q4_0
 *   Q8_0  1088 bytes   0  f16 d[2][16]
 *                     64  i8  q[2][8][16][4]   block, unit u, row, j: k = 4u + j; value = d * q
 *
 * Float rows are not padded: [k][16] of f32, f16 or bf16 (the upper half of an f32), and
 * group_bytes is rounded up to 64. */
typedef struct kr_panel {
  const uint8_t *data;
  int64_t group_bytes;
  int64_t k;
} kr_panel;

/* n columns of activations. For quantized weights q, d and s are set, x[c][i] ~ q[c][i] * d[c][i /
 * 32]; for float weights f and ldf.
 *   q    int8  [n][k]       in -127..127, k as in the panel, padding included
 *   d    f32   [n][k / 32]  scale of each block, >= 0
 *   s    int32 [n][k / 32]  sum of each block's q
 *   f    f32   [n][ldf]     the first k of each ldf are read */
typedef struct kr_columns {
  const int8_t *q;
  const float *d;
  const int32_t *s;
  const float *f;
  int64_t ldf;
  int64_t n;
} kr_columns;

/* y[c][r] = sum over k of w[r][k] * x[c][k], for the rows of groups first <= g < last and every
 * column c; y is f32 [n][ldy], indexed by the row in the matrix. Rows outside the groups are not
 * touched; the padding rows of the last group are written.
 *
 * Numerics  quantized: the sum of a block is an exact integer isum (for Q4_0 of (nibble - 8) * q,
 *           for Q4_1 of nibble * q); each row has one f32 accumulator, blocks ascending:
 *             acc = acc + (float)isum * (d * dx)          then, for Q4_1,
 *             acc = acc + (float)s * (m * dx)
 *           float: acc = acc + w * x, k ascending. Weights of f16 and bf16 are widened exactly. */
typedef void kr_product_fn(const kr_panel *w, int64_t first, int64_t last, const kr_columns *x,
                           float *y, int64_t ldy);

/* Quantizes n rows x f32 [n][ldx], of which the first k count, into q int8 [n][kp], d f32 [n][kp /
 * 32] and s int32 [n][kp / 32]; kp >= k is a multiple of 32, what lies past k is zero.
 *
 * Numerics  per block: amax = the largest |x|, compared as bit patterns so that a NaN or an
 * infinity reaches d; d = amax / 127 and r = 127 / amax, but both 0 when amax < 2^-100; q = x * r
 *           rounded to nearest even. With a non-finite d, q and s are unspecified. */
typedef void kr_quantize_fn(const float *x, int64_t ldx, int64_t n, int64_t k, int64_t kp,
                            int8_t *q, float *d, int32_t *s);

/* y[i] = (x[i] * r) * w[i], r = 1 / sqrt(sum of x[j]^2 / n + eps). x, w, y f32 [n]; y may be x.
 *
 * Numerics  the sum in sixteen lanes, element j into lane j mod 16, lanes folded 8, 4, 2, 1;
 *           sum / (float)n, + eps, square root, 1 / that: each rounded.
 * Source    Zhang and Sennrich, arXiv:1910.07467 (2019). */
typedef void kr_rms_norm_fn(const float *x, const float *w, int64_t n, float eps, float *y);

/* Softmax of one row of attention scores, not yet divided by its sum. x f32 [n], n a multiple of
 * 16, 0 <= first < last <= n:
 *   t[i] = x[i] * scale; max = max of t over first <= i < last; x[i] = exp(t[i] - max) there and 0
 *   elsewhere; sum = sum of x. ret f32 [2] = {max, sum}.
 *
 * Numerics  exp as kr_scalar_exp (backends/common/scalar.h); the sum in sixteen lanes as in
 *           rms_norm; max is returned as max + 0 so that its zero has one sign. */
typedef void kr_softmax_fn(float *x, int64_t first, int64_t last, int64_t n, float scale,
                           float *ret);

/* y[i] = act(gate[i]) * up[i] for i < n; y may be gate or up.
 *   silu  z / (1 + exp(-z))                                         Ramachandran et al. 2017
 *   gelu  z / (1 + exp(-2u)), u = sqrt(2/pi) (z + 0.044715 z^3)      the tanh form, exact
 * Numerics  the expressions of kr_scalar_silu and kr_scalar_gelu. */
typedef void kr_gate_fn(const float *gate, const float *up, int64_t n, float *y);

/* Rotates n heads x f32 [n][ldx] in place by the angles of one position, c and s f32 [pairs] their
 * cosines and sines. The members of pair i are
 *   rope_pairs   x[2i] and x[2i + 1]        (GPT-J order, what GGUF files of llama hold)
 *   rope_halves  x[i] and x[i + pairs]      (GPT-NeoX order)
 * (a, b) becomes (a c - b s, b c + a s): two products, one difference or sum, each rounded.
 * Source    Su et al., arXiv:2104.09864 (2021). */
typedef void kr_rope_fn(float *x, int64_t ldx, int64_t n, int64_t pairs, const float *c,
                        const float *s);

/* x[i] = x[i] + y[i] for i < n. */
typedef void kr_add_fn(float *x, const float *y, int64_t n);

/* y[i] = x[i] as f16, to nearest even; subnormal halves are kept, overflow gives infinity. */
typedef void kr_to_f16_fn(const float *x, int64_t n, uint16_t *y);

/* The values of attention from a q8 cache, for n rows of probabilities x f32 [n][ldx]:
 *   y[r][e] = sum over first <= p < last of (x[r][p] * d[p][e / 32]) * v[p][e],  e < dim
 *   v  int8  [dim / 16][KR_PAGE][16]   dim a multiple of 32
 *   d  f32   [KR_PAGE][dim / 32]
 *   y  f32   [n][ldy]
 * Numerics  one accumulator a dimension, positions ascending. */
typedef void kr_values_q8_fn(const int8_t *v, const float *d, int64_t dim, int64_t first,
                             int64_t last, const float *x, int64_t ldx, int64_t n, float *y,
                             int64_t ldy);

/* The kernel table. Of each product, vector_* is called with one column (decode, bound by memory)
 * and matrix_* with any number >= 1 (prefill, bound by the arithmetic units); a backend may bring
 * either. Attention scores and values are products too: a page of the KV cache is a panel. */
typedef struct kr_kernels {
  uint32_t struct_size;
  uint32_t reserved;
  kr_product_fn *vector_q4_0, *matrix_q4_0;
  kr_product_fn *vector_q4_1, *matrix_q4_1;
  kr_product_fn *vector_q8_0, *matrix_q8_0;
  kr_product_fn *vector_f16, *matrix_f16;
  kr_product_fn *vector_bf16, *matrix_bf16;
  kr_product_fn *vector_f32, *matrix_f32;
  kr_quantize_fn *quantize;
  kr_rms_norm_fn *rms_norm;
  kr_softmax_fn *softmax;
  kr_gate_fn *silu_gate, *gelu_gate;
  kr_rope_fn *rope_pairs, *rope_halves;
  kr_add_fn *add;
  kr_to_f16_fn *to_f16;
  kr_values_q8_fn *values_q8;
} kr_kernels;

typedef struct kr_backend {
  uint32_t magic, struct_size;
  uint16_t abi_major, abi_minor, numerics;
  uint16_t rank;          /* of the usable backends, the highest that has a kernel gives it */
  const char *name;       /* as in the file's name */
  const char *features;   /* of the CPU, all needed: "avx2 f16c fma"; "" = any */
  const char *provenance; /* "1.0, MIT, who" */
  const kr_kernels *kernels;
} kr_backend;

#if defined(KR_BACKEND_BUILTIN) /* linked into the core: its name is nobody's business */
#define KR_BACKEND_EXPORT
#elif defined(_WIN32)
#define KR_BACKEND_EXPORT __declspec(dllexport)
#else
#define KR_BACKEND_EXPORT __attribute__((visibility("default")))
#endif

/* The descriptor, to stand alone in the file that is compiled without ISA flags. */
#define KR_BACKEND_DESCRIPTOR                                                                      \
  .magic = KR_BACKEND_MAGIC, .struct_size = sizeof(kr_backend), .abi_major = KR_BACKEND_ABI_MAJOR, \
  .abi_minor = KR_BACKEND_ABI_MINOR, .numerics = KR_NUMERICS

#ifdef __cplusplus
}
#endif

#endif
