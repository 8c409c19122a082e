/* base/half.h without outside data: exhaustive over the 16-bit patterns, and the rounding of what
 * lies between two neighbours. */
#include "base/half.h"
#include "base/float_state.h"
#include <glib.h>
#include <math.h>

/* The value of a finite half by its definition. */
static double half_value(uint16_t h) {
  int exponent = h >> 10 & 31, mantissa = h & 1023;
  double magnitude = exponent ? ldexp(1024 + mantissa, exponent - 25) : ldexp(mantissa, -24);
  return h & 0x8000 ? -magnitude : magnitude;
}

static void test_to_float(void) {
  for (uint32_t h = 0; h < 65536; h++) {
    float f = kr_half_to_float((uint16_t)h);
    if ((h & 0x7c00) != 0x7c00) {
      g_assert_true((double)f == half_value((uint16_t)h));
      g_assert_cmpint(signbit(f) != 0, ==, h >> 15);
    } else {
      uint32_t want = (h & 0x8000) << 16 | 0x7f800000 | (h & 1023) << 13;
      g_assert_cmphex(kr_float_bits(f), ==, want);
    }
    g_assert_cmphex(kr_float_bits(kr_bfloat_to_float((uint16_t)h)), ==, h << 16);
  }
}

/* Every finite half and its upper neighbour: the middle goes to the even one, a float step to
 * either side goes to the nearer. */
static void test_from_float(void) {
  for (uint32_t h = 0; h < 0x7c00; h++) {
    for (uint32_t sign = 0; sign <= 0x8000; sign += 0x8000) {
      uint16_t low = (uint16_t)(h | sign), high = (uint16_t)(low + 1);
      float f = kr_half_to_float(low);
      g_assert_cmphex(kr_float_to_half(f), ==, low);
      double next = h == 0x7bff ? copysign(65536.0, f) : half_value(high);
      float middle = (float)((half_value(low) + next) / 2); /* exact */
      g_assert_cmphex(kr_float_to_half(middle), ==, low & 1 ? high : low);
      g_assert_cmphex(kr_float_to_half(nextafterf(middle, 0)), ==, low);
      g_assert_cmphex(kr_float_to_half(nextafterf(middle, copysignf(INFINITY, f))), ==, high);
    }
  }
}

static void test_bfloat(void) {
  for (uint32_t h = 0; h < 0x7f80; h++) {
    uint32_t low = h << 16;
    g_assert_cmphex(kr_float_to_bfloat(kr_bits_float(low)), ==, h);
    g_assert_cmphex(kr_float_to_bfloat(kr_bits_float(low | 0x7fff)), ==, h);
    g_assert_cmphex(kr_float_to_bfloat(kr_bits_float(low | 0x8000)), ==, h + (h & 1));
    g_assert_cmphex(kr_float_to_bfloat(kr_bits_float(low | 0x8001)), ==, h + 1);
    g_assert_cmphex(kr_float_to_bfloat(kr_bits_float(low | 0x80008001)), ==, (h + 1) | 0x8000);
  }
}

static void test_not_a_number(void) {
  g_assert_cmphex(kr_float_to_half(kr_bits_float(0x7f800001)), ==, 0x7e00);
  g_assert_cmphex(kr_float_to_half(kr_bits_float(0xffc02000)), ==, 0xfe01);
  g_assert_cmphex(kr_float_to_half(INFINITY), ==, 0x7c00);
  g_assert_cmphex(kr_float_to_half(-1e30f), ==, 0xfc00);
  g_assert_cmphex(kr_float_to_bfloat(kr_bits_float(0x7f800001)), ==, 0x7fc0);
  g_assert_cmphex(kr_float_to_bfloat(kr_bits_float(0xffffffff)), ==, 0xffff);
  g_assert_cmphex(kr_float_to_bfloat(-INFINITY), ==, 0xff80);
}

/* The same bits on a thread that flushes subnormals. */
static void test_flushed(void) {
  uint64_t state = kr_float_state_set();
  for (uint32_t h = 0; h < 2048; h++) {
    float f = kr_half_to_float((uint16_t)h);
    g_assert_cmphex(kr_float_to_half(f), ==, h);
    g_assert_cmphex(kr_float_to_half(kr_bits_float(h << 12)), ==, 0);
    g_assert_cmphex(kr_float_to_bfloat(kr_bits_float(h << 16)), ==, h);
  }
  kr_float_state_restore(state);
  for (uint32_t h = 1; h < 1024; h++)
    g_assert_true((double)kr_half_to_float((uint16_t)h) == half_value((uint16_t)h));
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/half/to-float", test_to_float);
  g_test_add_func("/half/from-float", test_from_float);
  g_test_add_func("/half/bfloat", test_bfloat);
  g_test_add_func("/half/not-a-number", test_not_a_number);
  g_test_add_func("/half/flushed", test_flushed);
  return g_test_run();
}
