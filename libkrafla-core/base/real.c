/* Elementary functions in binary64, by range reduction and power series: not the fastest way, but
 * one that anybody can check, in code that only multiplies, adds and divides. */
#include "base/real.h"
#include <stdint.h>
#include <string.h>

/* ln 2 and pi / 2 as sums of parts with few bits, so that small integer multiples are exact. */
#define LN2_HI   0x1.62e42fee00000p-1
#define LN2_LO   0x1.a39ef35793c76p-33
#define PIO2_A   0x1.921fb54400000p+0
#define PIO2_B   0x1.0b4611a600000p-34
#define PIO2_C   0x1.3198a2e037073p-69
#define TWO_O_PI 0x1.45f306dc9c883p-1
#define MAGIC    0x1.8p52 /* adding it rounds |x| < 2^51 to an integer */

static double nearest(double x) {
  return (x + MAGIC) - MAGIC;
}

static double power_of_two(int n) { /* -1022 <= n <= 1023 */
  uint64_t bits = (uint64_t)(n + 1023) << 52;
  double d;
  memcpy(&d, &bits, sizeof d);
  return d;
}

double kr_real_exp(double x) {
  double n = nearest(x * 0x1.71547652b82fep+0);
  double r = (x - n * LN2_HI) - n * LN2_LO; /* |r| <= 0.35 */
  double sum = 0;
  for (int i = 14; i > 0; i--) { /* Horner: 1 + r/1 (1 + r/2 (1 + ...)) */
    sum = r / i * (1 + sum);
  }
  return (1 + sum) * power_of_two((int)n);
}

double kr_real_log(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int n = (int)(bits >> 52 & 2047) - 1023;
  bits = (bits & 0xfffffffffffffull) | 1023ull << 52;
  double m;
  memcpy(&m, &bits, sizeof m);
  if (m > 1.4142135623730951) m /= 2, n++;
  /* ln m = 2 atanh(t), t = (m - 1) / (m + 1), |t| <= 0.1716 */
  double t = (m - 1) / (m + 1), t2 = t * t, sum = 0;
  for (int i = 21; i >= 3; i -= 2) sum = t2 * (1.0 / i + sum);
  return n * LN2_HI + (2 * t + (2 * t * sum + n * LN2_LO));
}

double kr_real_pow(double base, double exponent) {
  return kr_real_exp(exponent * kr_real_log(base));
}

void kr_real_sin_cos(double x, double *ret_sin, double *ret_cos) {
  double n = nearest(x * TWO_O_PI);
  double r = ((x - n * PIO2_A) - n * PIO2_B) - n * PIO2_C; /* |r| <= 0.79 */
  double r2 = r * r, s = 0, c = 0;
  for (int i = 18; i >= 2; i -= 2) {
    s = -r2 / (i * (i + 1)) * (1 + s);
    c = -r2 / (i * (i - 1)) * (1 + c);
  }
  s = r + r * s, c = 1 + c;
  switch ((int64_t)n & 3) {
  case 0:
    *ret_sin = s, *ret_cos = c;
    break;
  case 1:
    *ret_sin = c, *ret_cos = -s;
    break;
  case 2:
    *ret_sin = -s, *ret_cos = -c;
    break;
  default:
    *ret_sin = -c, *ret_cos = s;
    break;
  }
}
