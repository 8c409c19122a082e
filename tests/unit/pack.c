/* Packed matrices: every value where krafla/backend.h says, zeros in the padding, and products of
 * them against the plain sum. */
#include "base/half.h"
#include "base/size.h"
#include "model/model.h"
#include "test_model.h"
#include <math.h>
#include <string.h>

static const kr_kernels *table;

/* Blocks of a type with values of many sizes; the same for the same arguments. */
static uint8_t *make_rows(uint32_t type, int64_t rows, int64_t k, size_t *ret_bytes) {
  const kr_type_info *info = kr_type_get(type);
  size_t bytes = (size_t)(rows * k / info->block * info->bytes);
  uint8_t *data = g_malloc(bytes);
  g_autofree float *values = g_new(float, rows *k);
  uint32_t state = type + 1;
  for (int64_t i = 0; i < rows * k; i++) {
    state = state * 1664525u + 1013904223u;
    values[i] = ((float)(state >> 8) * 0x1p-23f - 1) * (float)(1 + i / 32 % 7);
  }
  for (int64_t i = 0; i < rows * k; i++) {
    uint16_t half =
        type == KR_TYPE_F16 ? kr_float_to_half(values[i]) : kr_float_to_bfloat(values[i]);
    if (type == KR_TYPE_F32) memcpy(data + 4 * i, &values[i], 4);
    if (type == KR_TYPE_F16 || type == KR_TYPE_BF16) memcpy(data + 2 * i, &half, 2);
  }
  if (type == KR_TYPE_Q8_0) kr_quantize_q8_0(values, rows * k, data);
  if (type == KR_TYPE_Q4_0) kr_quantize_q4_0(values, rows * k, data);
  if (type == KR_TYPE_Q4_1) kr_quantize_q4_1(values, rows * k, data);
  if (type == KR_TYPE_Q5_0) /* any bytes, with a scale that is a number */
    for (size_t i = 0; i < bytes; i++)
      data[i] = (uint8_t)(i % 22 == 0 ? 0x55 : i % 22 == 1 ? 0x2d : i * 37 + i / 22);
  *ret_bytes = bytes;
  return data;
}

static float half_at(const uint8_t *p) {
  return kr_half_to_float((uint16_t)(p[0] | p[1] << 8));
}

/* Element r, k of a packed matrix, read as backend.h describes it. */
static float packed_value(const kr_matrix *m, int64_t r, int64_t k) {
  const uint8_t *group = m->panel.data + r / 16 * m->panel.group_bytes;
  int64_t lane = r % 16, b = k % 64 / 32, i = k % 32;
  const uint8_t *pair;
  int code;
  switch (m->format) {
  case KR_FORMAT_F32: {
    float f;
    memcpy(&f, group + (k * 16 + lane) * 4, 4);
    return f;
  }
  case KR_FORMAT_F16:
    return half_at(group + (k * 16 + lane) * 2);
  case KR_FORMAT_BF16:
    pair = group + (k * 16 + lane) * 2;
    return kr_bfloat_to_float((uint16_t)(pair[0] | pair[1] << 8));
  case KR_FORMAT_Q8_0:
    pair = group + k / 64 * 1088;
    code = (int8_t)pair[64 + b * 512 + i / 4 * 64 + lane * 4 + i % 4];
    return half_at(pair + b * 32 + lane * 2) * (float)code;
  case KR_FORMAT_Q4_0:
    pair = group + k / 64 * 576;
    code = pair[64 + b * 256 + i % 16 / 4 * 64 + lane * 4 + i % 4] >> (i < 16 ? 0 : 4) & 15;
    return half_at(pair + b * 32 + lane * 2) * (float)(code - 8);
  case KR_FORMAT_Q4_1:
    pair = group + k / 64 * 640;
    code = pair[128 + b * 256 + i % 16 / 4 * 64 + lane * 4 + i % 4] >> (i < 16 ? 0 : 4) & 15;
    return half_at(pair + b * 32 + lane * 2) * (float)code + half_at(pair + 64 + b * 32 + lane * 2);
  }
  g_assert_not_reached();
}

typedef struct packed {
  kr_matrix matrix;
  kr_tensor tensor;
  uint8_t *rows, *scratch;
} packed;

static packed pack(uint32_t type, int64_t rows, int64_t k) {
  packed p = {.tensor = {.type = type, .n_dims = 2, .dims = {k, rows, 1, 1}}};
  p.rows = make_rows(type, rows, k, &p.tensor.bytes);
  p.tensor.data = p.rows;
  kr_format format = kr_format_of(type);
  p.matrix =
      (kr_matrix){.format = format,
                  .rows = rows,
                  .k = k,
                  .groups = (rows + 15) / 16,
                  .panel = {NULL, kr_format_group_bytes(format, k), kr_format_row(format, k)}};
  g_assert_cmpint(p.matrix.panel.group_bytes % 64, ==, 0);
  p.matrix.panel.data = kr_alloc((size_t)p.matrix.groups, (size_t)p.matrix.panel.group_bytes);
  size_t scratch = kr_pack_scratch(&p.matrix, &p.tensor);
  g_assert_cmpint(scratch != 0, ==, type == KR_TYPE_Q5_0);
  if (scratch) p.scratch = kr_alloc(scratch, 1);
  int64_t middle = p.matrix.groups / 2; /* in two parts, the second first */
  kr_pack_groups(&p.matrix, &p.tensor, middle, p.matrix.groups, p.scratch);
  kr_pack_groups(&p.matrix, &p.tensor, 0, middle, p.scratch);
  return p;
}

static void clear(packed *p) {
  kr_free((void *)p->matrix.panel.data);
  kr_free(p->scratch);
  g_free(p->rows);
}

/* The rows as the file has them; of a type that is kept as Q8_0, as that rounds them. */
static float *expected_values(const packed *p) {
  int64_t n = p->matrix.rows * p->matrix.k;
  float *values = g_new(float, n);
  kr_type_get(p->tensor.type)->dequantize(p->rows, n, values);
  if (!p->scratch) return values;
  g_autofree uint8_t *blocks = g_malloc((gsize)(n / 32 * 34));
  kr_quantize_q8_0(values, n, blocks);
  kr_type_get(KR_TYPE_Q8_0)->dequantize(blocks, n, values);
  return values;
}

static const uint32_t types[] = {KR_TYPE_F32,  KR_TYPE_F16,  KR_TYPE_BF16, KR_TYPE_Q4_0,
                                 KR_TYPE_Q4_1, KR_TYPE_Q8_0, KR_TYPE_Q5_0};
static const int64_t shapes[][2] = {{16, 64}, {1, 32}, {17, 96}, {50, 160}, {15, 224}, {33, 64}};

static void test_layout(void) {
  for (size_t t = 0; t < G_N_ELEMENTS(types); t++)
    for (size_t s = 0; s < G_N_ELEMENTS(shapes); s++) {
      packed p = pack(types[t], shapes[s][0], shapes[s][1]);
      const kr_matrix *m = &p.matrix;
      g_autofree float *want = expected_values(&p);
      for (int64_t r = 0; r < m->groups * 16; r++)
        for (int64_t k = 0; k < m->panel.k; k++) {
          bool inside = r < m->rows && k < m->k;
          float w = inside ? want[r * m->k + k] : 0, got = packed_value(m, r, k);
          if (!(got == w))
            g_error("%s [%d, %d]: %g, expected %g", kr_format_name(m->format), (int)r, (int)k,
                    (double)got, (double)w);
        }
      clear(&p);
    }
}

/* Widths that no block has: float types only. */
static void test_odd_widths(void) {
  static const int64_t widths[] = {1, 7, 33, 100};
  for (size_t t = 0; t < 3; t++)
    for (size_t w = 0; w < G_N_ELEMENTS(widths); w++) {
      packed p = pack(types[t], 21, widths[w]);
      g_autofree float *want = expected_values(&p);
      for (int64_t r = 0; r < 32; r++)
        for (int64_t k = 0; k < widths[w]; k++)
          g_assert_cmpfloat(packed_value(&p.matrix, r, k), ==,
                            r < 21 ? want[r * widths[w] + k] : 0);
      clear(&p);
    }
}

/* Against sums in double of the very operands: what is left is the rounding of the sums. */
static void test_products(void) {
  enum { N = 3 };
  for (size_t t = 0; t < G_N_ELEMENTS(types); t++)
    for (size_t s = 0; s < G_N_ELEMENTS(shapes); s++) {
      packed p = pack(types[t], shapes[s][0], shapes[s][1]);
      const kr_matrix *m = &p.matrix;
      int64_t k = m->k, kp = kr_round_up(k, KR_PAIR), ldy = m->groups * 16;
      g_autofree float *w = expected_values(&p), *x = g_new(float, N *k), *d = g_new(float, N *kp);
      g_autofree int8_t *q = g_new(int8_t, N * kp);
      g_autofree int32_t *sums = g_new(int32_t, N * kp);
      g_autofree float *y = g_new(float, N *ldy);
      for (int64_t i = 0; i < N * k; i++) x[i] = sinf((float)i * 0.7f) * (float)(1 + i % 3);
      table->quantize(x, k, N, k, kp, q, d, sums);
      kr_columns columns = {.q = q, .d = d, .s = sums, .f = x, .ldf = k, .n = N};
      kr_format_product(table, m->format, N)(&m->panel, 0, m->groups, &columns, y, ldy);
      for (int c = 0; c < N; c++)
        for (int64_t r = 0; r < m->rows; r++) {
          double sum = 0, size = 0;
          for (int64_t i = 0; i < k; i++) {
            double xi = kr_format_is_quantized(m->format)
                            ? (double)q[c * kp + i] * (double)d[c * kp / 32 + i / 32]
                            : (double)x[c * k + i];
            sum += (double)w[r * k + i] * xi;
            size += fabs((double)w[r * k + i] * xi);
          }
          g_assert_cmpfloat(fabs(y[c * ldy + r] - sum), <=, size * 0x1p-20);
        }
      for (int64_t i = 0; i < N * k; i++) { /* and activations are near what they were */
        int64_t c = i / k, j = i % k;
        float back = (float)q[c * kp + j] * d[c * kp / 32 + j / 32];
        g_assert_cmpfloat(fabsf(back - x[i]), <=, d[c * kp / 32 + j / 32] * 0.501f);
      }
      clear(&p);
    }
}

static void test_formats(void) {
  static const struct {
    uint32_t type;
    const char *name;
    int64_t row, group_bytes; /* for k = 160 */
  } cases[] = {
      {KR_TYPE_F32, "F32", 160, 160 * 64},   {KR_TYPE_F16, "F16", 160, 160 * 32},
      {KR_TYPE_BF16, "BF16", 160, 160 * 32}, {KR_TYPE_Q4_0, "Q4_0", 192, 3 * 576},
      {KR_TYPE_Q4_1, "Q4_1", 192, 3 * 640},  {KR_TYPE_Q8_0, "Q8_0", 192, 3 * 1088},
      {KR_TYPE_Q6_K, "Q8_0", 192, 3 * 1088}, {KR_TYPE_MXFP4, "Q8_0", 192, 3 * 1088},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    kr_format format = kr_format_of(cases[i].type);
    g_assert_cmpstr(kr_format_name(format), ==, cases[i].name);
    g_assert_cmpint(kr_format_row(format, 160), ==, cases[i].row);
    g_assert_cmpint(kr_format_group_bytes(format, 160), ==, cases[i].group_bytes);
  }
  g_assert_cmpint(kr_format_group_bytes(KR_FORMAT_F16, 1), ==, 64);
  g_assert_true(kr_format_product(table, KR_FORMAT_Q4_1, 1) == table->vector_q4_1);
  g_assert_true(kr_format_product(table, KR_FORMAT_Q4_1, 2) == table->matrix_q4_1);
  g_assert_true(kr_format_product(table, KR_FORMAT_F32, 1) == table->vector_f32);
  g_assert_true(kr_format_product(table, KR_FORMAT_BF16, 9) == table->matrix_bf16);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  kr_backends *backends = kr_test_backends("scalar");
  table = kr_backends_table(backends);
  g_test_add_func("/pack/layout", test_layout);
  g_test_add_func("/pack/odd-widths", test_odd_widths);
  g_test_add_func("/pack/products", test_products);
  g_test_add_func("/pack/formats", test_formats);
  int code = g_test_run();
  kr_backends_free(backends);
  return code;
}
