/* The float state of the numerics contract: subnormals flushed inside, the caller's state after. */
#include "base/float_state.h"
#include "base/half.h"
#include <fenv.h>
#include <glib.h>

static volatile float tiny, half_of_it, sum; /* volatile: computed when the state is what it is */

static void test_flush(void) {
  tiny = kr_bits_float(0x00800000); /* 2^-126 */
  half_of_it = tiny * 0.5f;
  g_assert_cmphex(kr_float_bits(half_of_it), ==, 0x00400000);
#if defined(__SSE2__) || defined(__aarch64__) || defined(__arm__)
  uint64_t state = kr_float_state_set();
  volatile float out = tiny * 0.5f; /* a result */
  sum = half_of_it + half_of_it;    /* operands */
  kr_float_state_restore(state);
  g_assert_cmphex(kr_float_bits(out), ==, 0);
  g_assert_cmphex(kr_float_bits(sum), ==, 0);
#endif
  sum = half_of_it + half_of_it;
  g_assert_cmphex(kr_float_bits(sum), ==, 0x00800000);
}

/* Whatever rounding the caller has, ours is to nearest; and the caller's comes back. */
static void test_rounding(void) {
  volatile float one = 1, ulp = 0x1p-24f, x;
  g_assert_cmpint(fesetround(FE_UPWARD), ==, 0);
  uint64_t state = kr_float_state_set();
#if defined(__SSE2__) || defined(__aarch64__) || defined(__arm__)
  x = one + ulp;
  g_assert_cmphex(kr_float_bits(x), ==, 0x3f800000); /* a tie, to even */
#endif
  kr_float_state_restore(state);
  x = one + ulp;
  g_assert_cmphex(kr_float_bits(x), ==, 0x3f800001);
  fesetround(FE_TONEAREST);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/float-state/flush", test_flush);
  g_test_add_func("/float-state/rounding", test_rounding);
  return g_test_run();
}
