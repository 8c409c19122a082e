/* Checked sizes: right where they fit, refused without a write where they do not. */
#include "base/size.h"
#include <glib.h>

#define UNTOUCHED 0x5a5a5a5a

static void test_mul_size(void) {
  size_t r = UNTOUCHED;
  g_assert_false(kr_mul_size(SIZE_MAX, 2, &r));
  g_assert_false(kr_mul_size(SIZE_MAX / 2 + 1, 2, &r));
  g_assert_false(kr_mul_size((size_t)1 << (sizeof r * 4), (size_t)1 << (sizeof r * 4), &r));
  g_assert_cmpuint(r, ==, UNTOUCHED);
  g_assert_true(kr_mul_size(SIZE_MAX / 2, 2, &r));
  g_assert_cmpuint(r, ==, SIZE_MAX - 1);
  g_assert_true(kr_mul_size(SIZE_MAX, 0, &r));
  g_assert_cmpuint(r, ==, 0);
  g_assert_true(kr_mul_size(123456, 789, &r));
  g_assert_cmpuint(r, ==, 97406784);
}

static void test_add_size(void) {
  size_t r = UNTOUCHED;
  g_assert_false(kr_add_size(SIZE_MAX, 1, &r));
  g_assert_false(kr_add_size(SIZE_MAX - 5, 6, &r));
  g_assert_cmpuint(r, ==, UNTOUCHED);
  g_assert_true(kr_add_size(SIZE_MAX - 5, 5, &r));
  g_assert_cmpuint(r, ==, SIZE_MAX);
}

static void test_u64(void) {
  uint64_t r = UNTOUCHED;
  g_assert_false(kr_mul_u64(UINT64_C(1) << 42, (UINT64_C(1) << 22) + 1, &r));
  g_assert_false(kr_add_u64(UINT64_MAX, 1, &r));
  g_assert_cmpuint(r, ==, UNTOUCHED);
  g_assert_true(kr_mul_u64(UINT64_C(1) << 42, (UINT64_C(1) << 22) - 1, &r));
  g_assert_cmpuint(r, ==, (UINT64_C(1) << 42) * ((UINT64_C(1) << 22) - 1));
  g_assert_true(kr_add_u64(UINT64_MAX - 1, 1, &r));
  g_assert_cmpuint(r, ==, UINT64_MAX);
}

static void test_align(void) {
  static const struct {
    uint64_t a, step, want;
  } cases[] = {{0, 32, 0}, {1, 32, 32}, {32, 32, 32}, {33, 32, 64}, {7, 1, 7}, {100, 64, 128}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    uint64_t r;
    g_assert_true(kr_align_u64(cases[i].a, cases[i].step, &r));
    g_assert_cmpuint(r, ==, cases[i].want);
    g_assert_cmpint(kr_round_up((int64_t)cases[i].a, (int64_t)cases[i].step), ==,
                    (int64_t)cases[i].want);
  }
  uint64_t r = UNTOUCHED;
  g_assert_false(kr_align_u64(UINT64_MAX - 30, 64, &r));
  g_assert_cmpuint(r, ==, UNTOUCHED);
  g_assert_true(kr_align_u64(UINT64_MAX - 63, 64, &r));
  g_assert_cmpuint(r, ==, UINT64_MAX - 63);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/size/mul-size", test_mul_size);
  g_test_add_func("/size/add-size", test_add_size);
  g_test_add_func("/size/u64", test_u64);
  g_test_add_func("/size/align", test_align);
  return g_test_run();
}
