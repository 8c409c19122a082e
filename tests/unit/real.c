/* The core's binary64 functions, against values computed with 300 bits, and their exact bits. */
#include "base/real.h"
#include "base/float_state.h"
#include <glib.h>
#include <math.h>
#include <string.h>

static const double exponentials[][2] = {
    {0.0, 1.0},
    {1.0, 2.7182818284590452354},
    {-1.0, 0.3678794411714423216},
    {0.5, 1.6487212707001281468},
    {-0.34657359027997264, 0.7071067811865475326},
    {1e-09, 1.0000000010000000005},
    {10.0, 22026.465794806716517},
    {-20.25, 1.6052280551856116087e-9},
    {88.0, 1.6516362549940018555e+38},
    {-104.0, 6.8135568215452985134e-46},
    {300.5, 3.2025197146036328367e+130},
    {-690.0, 2.1717382813898270085e-300},
    {699.0, 3.7311512151407716017e+303},
};

static const double logarithms[][2] = {
    {1.0, 0.0},
    {2.0, 0.69314718055994530942},
    {0.5, -0.69314718055994530942},
    {10.0, 2.302585092994045684},
    {0.001, -6.9077552789821370312},
    {1.0000001, 9.9999995058387045178e-8},
    {0.99999, -1.0000050000287825116e-5},
    {1.4142135623730951, 0.34657359027997272307},
    {3.0, 1.0986122886681096914},
    {1e+100, 230.25850929940456842},
    {1e-300, -690.77552789821370518},
    {2.2250738585072014e-308, -708.39641853226410622},
    {65504.0, 11.089866488461016076},
};

static const double powers[][3] = {
    {10000.0, -0.5, 0.01},
    {10000.0, -0.96875, 1.3335214321633240257e-4},
    {500000.0, -0.984375, 2.4551407911316088712e-6},
    {1000000.0, -0.25, 0.03162277660168379332},
    {2.0, 10.0, 1024.0},
    {1.5, -300.0, 1.4880663064957112514e-53},
    {1000000000000000.0, -0.75, 5.6234132519034908039e-12},
    {1.0, 123.0, 1.0},
    {7.0, 0.0, 1.0},
};

static const double circle[][3] = {
    {0.0, 0.0, 1.0},
    {1e-05, 9.9999999998333341514e-6, 0.99999999995},
    {0.5, 0.47942553860420300027, 0.87758256189037271612},
    {0.7853981633974483, 0.70710678118654750275, 0.70710678118654754605},
    {1.0, 0.84147098480789650665, 0.5403023058681397174},
    {1.5707963267948966, 1.0, 6.1232339957367658861e-17},
    {2.0, 0.9092974268256816954, -0.416146836547142387},
    {3.141592653589793, 1.2246467991473531772e-16, -1.0},
    {-3.0, -0.1411200080598672221, -0.98999249660044545727},
    {4.0, -0.75680249530792825137, -0.65364362086361191464},
    {5.0, -0.95892427466313846889, 0.28366218546322626447},
    {6.283185307179586, -2.4492935982947063545e-16, 1.0},
    {-22.0, 8.8513092904038759217e-3, -0.99996082639463712645},
    {100.0, -0.50636564110975879366, 0.8623188722876839341},
    {355.0, -3.0144353359488449214e-5, -0.99999999954565898017},
    {4095.0, -0.99782121037697440247, -0.065975996558064896289},
    {-131071.0, 0.57524168375478937114, -0.81798349938794908071},
    {1000003.25, 0.24658690448402957272, -0.96912068316437456798},
    {8388607.0, 0.99234509376961249836, -0.12349580912475928184},
};

/* Past 2^23 the reduction loses bits, but stays far below what shows in f32. */
static const double circle_far[][3] = {
    {16777213.0, 0.68337548265770040592, -0.73006708575469625246},
    {100000000.0, 0.93163902710972600803, -0.36338508935569055387},
    {1073741823.0, -0.99553410301939732302, -0.094402593848707345054},
};

static void assert_near(double value, double want, double bound) {
  if (!(fabs(value - want) <= bound)) g_error("%.17g, expected %.17g", value, want);
}

static void test_exp(void) {
  for (size_t i = 0; i < G_N_ELEMENTS(exponentials); i++)
    assert_near(kr_real_exp(exponentials[i][0]), exponentials[i][1], exponentials[i][1] * 1e-15);
  g_assert_true(kr_real_exp(0) == 1);
}

static void test_log(void) {
  for (size_t i = 0; i < G_N_ELEMENTS(logarithms); i++)
    assert_near(kr_real_log(logarithms[i][0]), logarithms[i][1], fabs(logarithms[i][1]) * 1e-15);
}

static void test_pow(void) {
  for (size_t i = 0; i < G_N_ELEMENTS(powers); i++)
    assert_near(kr_real_pow(powers[i][0], powers[i][1]), powers[i][2], powers[i][2] * 1e-14);
}

static void test_sin_cos(void) {
  for (size_t i = 0; i < G_N_ELEMENTS(circle); i++) {
    double s, c;
    kr_real_sin_cos(circle[i][0], &s, &c);
    assert_near(s, circle[i][1], 1e-15);
    assert_near(c, circle[i][2], 1e-15);
  }
  for (size_t i = 0; i < G_N_ELEMENTS(circle_far); i++) {
    double s, c;
    kr_real_sin_cos(circle_far[i][0], &s, &c);
    assert_near(s, circle_far[i][1], 1e-7);
    assert_near(c, circle_far[i][2], 1e-7);
  }
}

static void add(uint64_t *hash, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  for (int s = 0; s < 64; s += 8) *hash = (*hash ^ (bits >> s & 255)) * 0x100000001b3u;
}

static uint64_t hash_all(void) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (int i = -2000; i <= 2000; i++) {
    double x = i * 0.34375, s, c;
    add(&hash, kr_real_exp(x));
    add(&hash, kr_real_log((i + 2001) * 1.625));
    add(&hash, kr_real_pow(500000, i / 2048.0));
    kr_real_sin_cos(x * 128, &s, &c);
    add(&hash, s), add(&hash, c);
  }
  return hash;
}

/* Rotary tables and sampled tokens are made of these: not one bit may move, on any machine. */
static void test_same_bits(void) {
  uint64_t hash = hash_all();
  g_test_message("hash 0x%016" G_GINT64_MODIFIER "x", hash);
  g_assert_cmphex(hash, ==, UINT64_C(0x960d95aee1902cbc));
  uint64_t state = kr_float_state_set(); /* nor does the flush mode matter */
  uint64_t flushed = hash_all();
  kr_float_state_restore(state);
  g_assert_cmphex(flushed, ==, hash);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/real/exp", test_exp);
  g_test_add_func("/real/log", test_log);
  g_test_add_func("/real/pow", test_pow);
  g_test_add_func("/real/sin-cos", test_sin_cos);
  g_test_add_func("/real/same-bits", test_same_bits);
  return g_test_run();
}
