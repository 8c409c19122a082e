/* The KV cache: sizes, what a stored position reads back as, and the count of pages. */
#include "forward/kv.h"
#include "base/half.h"
#include "test_model.h"
#include <math.h>
#include <string.h>

static const kr_kernels *table;

static kr_kv_cache start(kr_kv_type type, int64_t k_dim, int64_t v_dim, int64_t max_bytes) {
  kr_hparams hp = {.n_layers = 3, .n_kv_heads = 2, .head_dim = k_dim, .value_dim = v_dim};
  kr_kv_cache cache;
  kr_error err;
  if (kr_kv_init(&cache, &hp, type, max_bytes, &err)) g_error("%s", err.message);
  return cache;
}

static float value_at(int layer, int head, int at, int i) {
  return sinf((float)(layer * 7919 + head * 613 + at * 31 + i) * 0.37f) * (float)(1 + i % 5);
}

/* The same values as the panels hold them. */
static float key_of(const kr_kv_layout *l, kr_panel panel, int at, int i) {
  const uint8_t *group = panel.data + at / 16 * panel.group_bytes;
  if (l->type == KR_KV_F32) return ((const float *)group)[i * 16 + at % 16];
  if (l->type == KR_KV_F16) return kr_half_to_float(((const uint16_t *)group)[i * 16 + at % 16]);
  const uint8_t *pair = group + i / 64 * 1088;
  int block = i % 64 / 32, k = i % 32;
  uint16_t d;
  memcpy(&d, pair + block * 32 + at % 16 * 2, 2);
  int8_t q = (int8_t)pair[64 + block * 512 + k / 4 * 64 + at % 16 * 4 + k % 4];
  return kr_half_to_float(d) * (float)q;
}

static float held_value(const kr_kv_layout *l, kr_panel panel, const float *scales, int at, int i) {
  const uint8_t *group = panel.data + i / 16 * panel.group_bytes;
  if (l->type == KR_KV_F32) return ((const float *)group)[at * 16 + i % 16];
  if (l->type == KR_KV_F16) return kr_half_to_float(((const uint16_t *)group)[at * 16 + i % 16]);
  return scales[at * (l->v_row / 32) + i / 32] * (float)(int8_t)group[at * 16 + i % 16];
}

static float bound(kr_kv_type type, float x) { /* of the rounding */
  if (type == KR_KV_F32) return 0;
  if (type == KR_KV_F16) return fabsf(x) * 0x1p-11f;
  return 5.0f / 127 * 0.51f + fabsf(x) * 0x1p-10f;
}

static void check_position(const kr_kv_layout *l, const kr_kv_page *page, int layer, int at) {
  for (int h = 0; h < 2; h++) {
    kr_panel keys = kr_kv_keys(l, page, layer, h), values = kr_kv_values(l, page, layer, h);
    const float *scales = kr_kv_scales(l, page, layer, h);
    g_assert_cmpuint((uintptr_t)keys.data % 64, ==, 0);
    g_assert_cmpuint((uintptr_t)values.data % 64, ==, 0);
    g_assert_cmpint(keys.k, ==, l->k_row);
    g_assert_cmpint(values.k, ==, KR_PAGE);
    for (int i = 0; i < l->k_row; i++) {
      float want = i < l->k_dim ? value_at(layer, h, at, i) : 0;
      g_assert_cmpfloat(fabsf(key_of(l, keys, at, i) - want), <=, bound(l->type, want));
    }
    for (int i = 0; i < l->v_row; i++) {
      float want = i < l->v_dim ? value_at(layer, h, at, i + 1000) : 0;
      g_assert_cmpfloat(fabsf(held_value(l, values, scales, at, i) - want), <=,
                        bound(l->type, want));
    }
  }
}

static void store(const kr_kv_layout *l, kr_kv_page *page, int layer, int at) {
  g_autofree float *k = g_new(float, 2 * l->k_dim), *v = g_new(float, 2 * l->v_dim);
  g_autofree float *scratch = g_new(float, kr_kv_scratch(l));
  for (int h = 0; h < 2; h++) {
    for (int i = 0; i < l->k_dim; i++) k[h * l->k_dim + i] = value_at(layer, h, at, i);
    for (int i = 0; i < l->v_dim; i++) v[h * l->v_dim + i] = value_at(layer, h, at, i + 1000);
  }
  kr_kv_store(l, table, page, layer, at, k, v, scratch);
}

/* Every position of every layer: nothing overlaps anything. */
static void test_store(void) {
  static const int64_t dims[][2] = {{16, 16}, {64, 64}, {24, 24}, {128, 80}, {20, 33}, {2, 2}};
  for (int type = 0; type < 3; type++)
    for (size_t d = 0; d < G_N_ELEMENTS(dims); d++) {
      kr_kv_cache cache = start((kr_kv_type)type, dims[d][0], dims[d][1], 0);
      kr_kv_page *page;
      g_assert_cmpint(kr_kv_take(&cache, &page, NULL), ==, KR_OK);
      for (int layer = 2; layer >= 0; layer--)
        for (int at = 0; at < KR_PAGE; at++) store(&cache.layout, page, layer, (at * 77) % KR_PAGE);
      for (int layer = 0; layer < 3; layer++)
        for (int at = 0; at < KR_PAGE; at++) check_position(&cache.layout, page, layer, at);
      kr_kv_unref(&cache, page);
      kr_kv_clear(&cache);
    }
}

static void test_sizes(void) {
  static const struct {
    kr_kv_type type;
    int64_t k, v;
    size_t page_bytes;
  } cases[] = {
      {KR_KV_F32, 64, 64, 6 * 256 * (64 + 64) * 4},
      {KR_KV_F16, 64, 64, 6 * 256 * (64 + 64) * 2},
      {KR_KV_Q8, 64, 64, 6 * (16 * 1088 + 256 * 64 + 256 * 2 * 4)},
      {KR_KV_F32, 20, 33, 6 * (256 * 20 * 4 + 48 * 256 * 4)},
      {KR_KV_Q8, 20, 33, 6 * (16 * 1088 + 64 * 256 + 256 * 2 * 4)},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    kr_kv_cache cache = start(cases[i].type, cases[i].k, cases[i].v, 0);
    g_assert_cmpuint(cache.layout.page_bytes, ==, cases[i].page_bytes);
    kr_kv_clear(&cache);
  }
}

/* References, reuse, and a bound that is kept. */
static void test_pages(void) {
  kr_kv_cache cache = start(KR_KV_F32, 16, 16, 0);
  int64_t bytes = (int64_t)cache.layout.page_bytes;
  kr_kv_clear(&cache);
  cache = start(KR_KV_F32, 16, 16, 3 * bytes);
  kr_kv_page *p[4] = {NULL};
  kr_error err = {0};
  for (int i = 0; i < 3; i++) g_assert_cmpint(kr_kv_take(&cache, &p[i], &err), ==, KR_OK);
  g_assert_cmpint(kr_kv_take(&cache, &p[3], &err), ==, KR_E_FULL);
  g_assert_null(p[3]);
  g_assert_nonnull(strstr(err.message, "3 pages"));
  kr_kv_ref(p[1]);
  kr_kv_unref(&cache, p[1]);
  g_assert_cmpint(kr_kv_take(&cache, &p[3], &err), ==, KR_E_FULL); /* somebody still has it */
  kr_kv_unref(&cache, p[1]);
  g_assert_cmpint(kr_kv_take(&cache, &p[3], &err), ==, KR_OK);
  g_assert_true(p[3] == p[1] && p[3]->refs == 1);
  g_assert_cmpuint(cache.n_pages, ==, 3);
  kr_kv_unref(&cache, NULL);
  for (int i = 0; i < 3; i++) kr_kv_unref(&cache, p[i]);
  kr_kv_clear(&cache);
}

static void test_impossible(void) {
  kr_hparams hp = {
      .n_layers = 512, .n_kv_heads = 1 << 14, .head_dim = 1 << 14, .value_dim = 1 << 14};
  kr_kv_cache cache;
  kr_error err;
  int code = kr_kv_init(&cache, &hp, KR_KV_F32, 0, &err); /* 2^58 bytes a page */
  kr_kv_page *page = NULL;
  if (!code) code = kr_kv_take(&cache, &page, &err);
  g_assert_cmpint(code, ==, KR_E_MEMORY);
  g_assert_null(page);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  kr_backends *backends = kr_test_backends("scalar");
  table = kr_backends_table(backends);
  g_test_add_func("/kv/store", test_store);
  g_test_add_func("/kv/sizes", test_sizes);
  g_test_add_func("/kv/pages", test_pages);
  g_test_add_func("/kv/impossible", test_impossible);
  int code = g_test_run();
  kr_backends_free(backends);
  return code;
}
