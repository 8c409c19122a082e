/* Rotary tables against long double libm, and their growth by pages. */
#include "forward/rope.h"
#include <glib.h>
#include <math.h>

static void check(const kr_hparams *hp, const float *factors, int32_t n_ctx) {
  kr_rope rope;
  g_assert_cmpint(kr_rope_init(&rope, hp, factors, n_ctx, NULL), ==, KR_OK);
  g_assert_cmpint(rope.pairs, ==, hp->n_rot / 2);
  static const int32_t positions[] = {0, 1, 2, 17, 255, 256, 257, 511, 512, 999};
  for (size_t i = 0; i < G_N_ELEMENTS(positions) && positions[i] < n_ctx; i++) {
    int32_t p = positions[i];
    g_assert_cmpint(kr_rope_reach(&rope, p, NULL), ==, KR_OK);
    const float *c = kr_rope_cos(&rope, p), *s = kr_rope_sin(&rope, p);
    for (int64_t k = 0; k < rope.pairs; k++) {
      long double angle = (long double)p / (long double)hp->rope_factor *
                          powl((long double)hp->rope_base, -2.0L * k / hp->n_rot);
      if (factors) angle /= factors[k];
      /* half a unit in the last place of 1, and a little for the double before */
      g_assert_cmpfloat(fabsl(c[k] - cosl(angle)), <=, 0x1.001p-25L);
      g_assert_cmpfloat(fabsl(s[k] - sinl(angle)), <=, 0x1.001p-25L);
    }
  }
  kr_rope_clear(&rope);
  g_assert_null(rope.pages);
}

static void test_tables(void) {
  check(&(kr_hparams){.n_rot = 64, .rope_base = 10000, .rope_factor = 1}, NULL, 1000);
  check(&(kr_hparams){.n_rot = 128, .rope_base = 500000, .rope_factor = 1}, NULL, 600);
  check(&(kr_hparams){.n_rot = 20, .rope_base = 1e6, .rope_factor = 4}, NULL, 1000);
  check(&(kr_hparams){.n_rot = 2, .rope_base = 10000, .rope_factor = 1}, NULL, 1);
  static const float factors[8] = {1, 1, 1.5f, 2, 3, 5, 8, 8};
  check(&(kr_hparams){.n_rot = 16, .rope_base = 10000, .rope_factor = 1}, factors, 1000);
}

/* Position 0 turns nothing, exactly. */
static void test_origin(void) {
  kr_rope rope;
  kr_hparams hp = {.n_rot = 64, .rope_base = 10000, .rope_factor = 1};
  g_assert_cmpint(kr_rope_init(&rope, &hp, NULL, 256, NULL), ==, KR_OK);
  g_assert_cmpint(kr_rope_reach(&rope, 0, NULL), ==, KR_OK);
  for (int k = 0; k < 32; k++)
    g_assert_true(kr_rope_cos(&rope, 0)[k] == 1 && kr_rope_sin(&rope, 0)[k] == 0);
  kr_rope_clear(&rope);
}

/* Tables are made when they are reached, with all before them, and stay where they are. */
static void test_pages(void) {
  kr_rope rope;
  kr_hparams hp = {.n_rot = 8, .rope_base = 10000, .rope_factor = 1};
  g_assert_cmpint(kr_rope_init(&rope, &hp, NULL, 1025, NULL), ==, KR_OK);
  g_assert_cmpint(rope.n_pages, ==, 5);
  for (int i = 0; i < 5; i++) g_assert_null(rope.pages[i]);
  g_assert_cmpint(kr_rope_reach(&rope, 255, NULL), ==, KR_OK);
  const float *first = rope.pages[0];
  g_assert_true(first && !rope.pages[1]);
  g_assert_cmpint(kr_rope_reach(&rope, 1024, NULL), ==, KR_OK);
  for (int i = 0; i < 5; i++) g_assert_nonnull(rope.pages[i]);
  g_assert_true(rope.pages[0] == first);
  kr_rope_clear(&rope);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/rope/tables", test_tables);
  g_test_add_func("/rope/origin", test_origin);
  g_test_add_func("/rope/pages", test_pages);
  return g_test_run();
}
