/* Conversion of binary64 by long arithmetic. */
#include "text/jinja/jinja_float.h"
#include <string.h>

/* |x| = *ret * 2^(returned) */
static int32_t take_apart(double x, uint64_t *ret) {
  uint64_t bits;
  memcpy(&bits, &x, 8);
  uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
  int32_t exponent = (int32_t)(bits >> 52 & 0x7ff);
  *ret = exponent ? fraction | UINT64_C(1) << 52 : fraction;
  return exponent ? exponent - 1075 : -1074;
}

static bool is_negative(double x) {
  uint64_t bits;
  memcpy(&bits, &x, 8);
  return bits >> 63;
}

static double infinity(void) {
  return __builtin_inf();
}

/* ---- to digits --------------------------------------------------------------------------------
 */

/* The decimal point of f * 2^e: the least k with f * 2^e < 10^k, or one less. */
static int32_t estimate_point(uint64_t f, int32_t e) {
  int64_t log2 = e + 63 - __builtin_clzll(f);
  /* log10(2) from below, for either sign */
  int64_t scaled = log2 * 30102;
  int64_t k = scaled >= 0 ? scaled / 100000 : -((-log2 * 30103 + 99999) / 100000);
  return (int32_t)k;
}

/* The fewest digits that are read back as f * 2^e. Burger and Dybvig, Printing Floating-Point
 * Numbers Quickly and Accurately (1996), free-format algorithm. r / s is what is left to write,
 * m_low and m_high (over s) are half the distances to the neighbours. */
static size_t shortest(uint64_t f, int32_t e, char *out, int32_t *ret_point) {
  kr_big r, s, high, low, sum;
  bool even = !(f & 1), narrow = f == UINT64_C(1) << 52 && e > -1074;
  int32_t k = estimate_point(f, e);
  uint32_t up = (uint32_t)(e > 0 ? e : 0), down = (uint32_t)(e < 0 ? -e : 0);
  kr_big_set(&r, f), kr_big_set(&s, 1), kr_big_set(&high, 1), kr_big_set(&low, 1);
  bool ok = kr_big_shift_left(&r, up + 1 + narrow) && kr_big_shift_left(&s, down + 1 + narrow) &&
            kr_big_shift_left(&high, up + narrow) && kr_big_shift_left(&low, up);
  if (k >= 0)
    ok = ok && kr_big_times_power_of_10(&s, (uint32_t)k);
  else
    ok = ok && kr_big_times_power_of_10(&r, (uint32_t)-k) &&
         kr_big_times_power_of_10(&high, (uint32_t)-k) &&
         kr_big_times_power_of_10(&low, (uint32_t)-k);
  for (;;) { /* at most twice: the estimate is low by one or two */
    kr_big_copy(&sum, &r);
    ok = ok && kr_big_add(&sum, &high);
    int order = kr_big_compare(&sum, &s);
    if (!ok || (order < 0 || (order == 0 && !even))) break;
    ok = kr_big_multiply_small(&s, 10, 0);
    k++;
  }
  size_t n = 0;
  for (bool more = ok; more;) {
    kr_big_multiply_small(&r, 10, 0);
    kr_big_multiply_small(&high, 10, 0);
    kr_big_multiply_small(&low, 10, 0);
    int digit = 0;
    for (; kr_big_compare(&r, &s) >= 0; digit++) kr_big_subtract(&r, &s);
    int below = kr_big_compare(&r, &low);
    kr_big_copy(&sum, &r);
    kr_big_add(&sum, &high);
    int above = kr_big_compare(&sum, &s);
    bool may_stop = below < 0 || (below == 0 && even),
         may_round = above > 0 || (above == 0 && even);
    if (may_stop && may_round) {
      kr_big_shift_left(&r, 1);
      int half = kr_big_compare(&r, &s);
      may_stop = half < 0 || (half == 0 && digit % 2 == 0), may_round = !may_stop;
    }
    out[n++] = (char)('0' + digit + may_round);
    more = !may_stop && !may_round && n < 18;
  }
  *ret_point = k;
  return n;
}

static size_t write_exponent(int32_t exponent, char *out) {
  size_t n = 0;
  uint32_t e = (uint32_t)(exponent < 0 ? -exponent : exponent);
  out[n++] = 'e', out[n++] = exponent < 0 ? '-' : '+';
  if (e >= 100) out[n++] = (char)('0' + e / 100);
  out[n++] = (char)('0' + e / 10 % 10), out[n++] = (char)('0' + e % 10);
  return n;
}

size_t kr_float_repr(double x, char out[KR_FLOAT_TEXT]) {
  char digits[32];
  size_t n = 0, n_digits = 1;
  int32_t point = 1;
  uint64_t f;
  int32_t e = take_apart(x, &f);
  if (x != x) return memcpy(out, "nan", 3), 3;
  if (is_negative(x)) out[n++] = '-';
  if (e == 0x7ff - 1075) return memcpy(out + n, "inf", 3), n + 3;
  digits[0] = '0';
  if (f) n_digits = shortest(f, e, digits, &point);
  if (point > 16 || point < -3) {
    out[n++] = digits[0];
    if (n_digits > 1) out[n++] = '.';
    memcpy(out + n, digits + 1, n_digits - 1);
    n += n_digits - 1;
    return n + write_exponent(point - 1, out + n);
  }
  if (point <= 0) {
    out[n++] = '0', out[n++] = '.';
    for (int32_t i = point; i < 0; i++) out[n++] = '0';
    memcpy(out + n, digits, n_digits);
    return n + n_digits;
  }
  for (size_t i = 0; i < (size_t)point; i++) out[n++] = i < n_digits ? digits[i] : '0';
  out[n++] = '.';
  if (n_digits <= (size_t)point) out[n++] = '0';
  for (size_t i = (size_t)point; i < n_digits; i++) out[n++] = digits[i];
  return n;
}

/* f * 2^e * 10^power to the nearest integer, ties to even. */
static bool scale(uint64_t f, int32_t e, int64_t power, kr_big *ret) {
  kr_big numerator, denominator, rest;
  kr_big_set(&numerator, f), kr_big_set(&denominator, 1);
  if (!kr_big_shift_left(e >= 0 ? &numerator : &denominator, (uint32_t)(e >= 0 ? e : -e)) ||
      !kr_big_times_power_of_10(power >= 0 ? &numerator : &denominator,
                                (uint32_t)(power >= 0 ? power : -power)))
    return false;
  kr_big_divide(&numerator, &denominator, ret, &rest);
  kr_big_shift_left(&rest, 1);
  int half = kr_big_compare(&rest, &denominator);
  bool odd = ret->n && (ret->limb[0] & 1);
  if (half > 0 || (half == 0 && odd)) {
    kr_big one;
    kr_big_set(&one, 1);
    return kr_big_add(ret, &one);
  }
  return true;
}

size_t kr_float_fixed(double x, uint32_t decimals, char out[KR_FLOAT_FIXED]) {
  uint64_t f;
  int32_t e = take_apart(x, &f);
  kr_big scaled;
  char digits[KR_BIG_TEXT];
  size_t n = 0, i = 0;
  if (!scale(f, e, decimals, &scaled)) return 0;
  size_t n_digits = kr_big_decimal(&scaled, digits);
  if (is_negative(x)) out[n++] = '-';
  size_t whole = n_digits > decimals ? n_digits - decimals : 0;
  if (!whole) out[n++] = '0';
  for (; i < whole; i++) out[n++] = digits[i];
  if (!decimals) return n;
  out[n++] = '.';
  for (size_t zeros = n_digits; zeros < decimals; zeros++) out[n++] = '0';
  for (; i < n_digits; i++) out[n++] = digits[i];
  return n;
}

void kr_float_digits(double x, uint32_t digits, char *out, int32_t *ret_point) {
  uint64_t f;
  int32_t e = take_apart(x, &f), point = estimate_point(f, e);
  char text[KR_BIG_TEXT];
  kr_big scaled;
  for (;; point++) { /* the estimate is low by two at most; rounding may add a digit */
    if (!scale(f, e, (int64_t)digits - point, &scaled)) break;
    size_t n = kr_big_decimal(&scaled, text);
    if (n <= digits) break;
  }
  memcpy(out, text, digits);
  *ret_point = point;
}

double kr_float_round(double x, int64_t decimals) {
  uint64_t f;
  int32_t e = take_apart(x, &f);
  kr_big scaled;
  char text[KR_BIG_TEXT + 16];
  if (x != x || e == 0x7ff - 1075 || !f || decimals > 323) return x;
  if (decimals < -308) return is_negative(x) ? -0.0 : 0.0;
  if (!scale(f, e, decimals, &scaled)) return x;
  size_t n = kr_big_decimal(&scaled, text);
  n += write_exponent((int32_t)-decimals, text + n);
  double rounded;
  kr_float_parse(text, n, &rounded);
  return is_negative(x) ? -rounded : rounded;
}

/* ---- from digits ------------------------------------------------------------------------------
 */

double kr_float_ratio(kr_big *numerator, kr_big *denominator) {
  kr_big quotient, rest;
  /* so many bits that the quotient has 64 or 65: the lowest of them only matter as not 0 */
  int64_t shift = 64 - (kr_big_bits(numerator) - kr_big_bits(denominator));
  if (!kr_big_shift_left(shift > 0 ? numerator : denominator,
                         (uint32_t)(shift > 0 ? shift : -shift)))
    return infinity();
  kr_big_divide(numerator, denominator, &quotient, &rest);
  int64_t n_bits = kr_big_bits(&quotient), drop = n_bits - 53;
  if (-shift + drop < -1074) drop = -1074 + shift; /* subnormal */
  if (drop > n_bits + 1) return 0;
  uint64_t kept = 0, half = 0, sticky = rest.n != 0;
  for (int64_t i = n_bits - 1; i >= 0; i--) {
    uint64_t bit = quotient.limb[i / 32] >> (i % 32) & 1;
    if (i >= drop)
      kept = kept << 1 | bit;
    else if (i == drop - 1)
      half = bit;
    else
      sticky |= bit;
  }
  kept += half && (sticky || (kept & 1));
  int64_t exponent = drop - shift; /* of kept's lowest bit */
  if (kept >> 53) kept >>= 1, exponent++;
  if (exponent > 971) return infinity();
  uint64_t bits =
      kept >> 52 ? (uint64_t)(exponent + 1075) << 52 | (kept & ~(UINT64_C(1) << 52)) : kept;
  double x;
  memcpy(&x, &bits, 8);
  return x;
}

double kr_float_of_big(const kr_big *a) {
  kr_big numerator, one;
  if (!a->n) return 0;
  kr_big_copy(&numerator, a);
  kr_big_set(&one, 1);
  return kr_float_ratio(&numerator, &one);
}

void kr_float_to_big(double x, kr_big *ret) {
  uint64_t f;
  int32_t e = take_apart(x, &f);
  kr_big_set(ret, e <= -64 ? 0 : e < 0 ? f >> -e : f);
  if (e > 0) (void)!kr_big_shift_left(ret, (uint32_t)e);
}

enum { MAX_DIGITS = 800 }; /* more never decide between two doubles, but whether they are 0 */

typedef struct decimal {
  char digits[MAX_DIGITS + 1];
  size_t n;
  int64_t exponent; /* of the last digit */
} decimal;

/* Digits with single underscores between them. Returns how many bytes; 0 if there are none. */
static size_t scan_digits(const char *p, size_t n, decimal *d, bool fraction) {
  size_t i = 0;
  for (;; i++) {
    if (i < n && p[i] == '_' && i && i + 1 < n && p[i - 1] != '_' && p[i + 1] != '_') continue;
    if (i >= n || p[i] < '0' || p[i] > '9') break;
    if (d->n || p[i] != '0') {
      if (d->n < MAX_DIGITS)
        d->digits[d->n++] = p[i];
      else if (d->n == MAX_DIGITS && p[i] != '0')
        d->digits[MAX_DIGITS - 1] |= 1, d->exponent++; /* odd: never taken for a tie */
      else
        d->exponent++;
    }
    d->exponent -= fraction;
  }
  return i && p[i - 1] == '_' ? 0 : i;
}

static bool scan_exponent(const char *p, size_t n, int64_t *ret) {
  bool negative = n && *p == '-';
  int64_t e = 0;
  if (n && (*p == '-' || *p == '+')) p++, n--;
  if (!n) return false;
  for (size_t i = 0; i < n; i++) {
    if (p[i] == '_' && i && i + 1 < n && p[i - 1] != '_') continue;
    if (p[i] < '0' || p[i] > '9') return false;
    if (e < 1000000) e = e * 10 + (p[i] - '0');
  }
  *ret = negative ? -e : e;
  return true;
}

static double convert(const decimal *d) {
  kr_big numerator, denominator;
  int64_t top = (int64_t)d->n + d->exponent; /* the number is below 10^top */
  if (!d->n || top < -330) return 0;
  if (top > 310) return infinity();
  kr_big_set(&numerator, 0), kr_big_set(&denominator, 1);
  for (size_t i = 0; i < d->n; i++)
    if (!kr_big_multiply_small(&numerator, 10, (uint32_t)(d->digits[i] - '0'))) return 0;
  if (!kr_big_times_power_of_10(d->exponent > 0 ? &numerator : &denominator,
                                (uint32_t)(d->exponent > 0 ? d->exponent : -d->exponent)))
    return 0;
  return kr_float_ratio(&numerator, &denominator);
}

bool kr_float_parse(const char *text, size_t n, double *ret) {
  decimal d = {.n = 0};
  bool negative = n && *text == '-';
  size_t i = n && (*text == '-' || *text == '+'), digits = scan_digits(text + i, n - i, &d, false);
  i += digits;
  if (i < n && text[i] == '.') {
    size_t more = scan_digits(text + i + 1, n - i - 1, &d, true);
    if (!digits && !more) return false;
    i += 1 + more, digits += more;
  }
  if (!digits) return false;
  if (i < n && (text[i] == 'e' || text[i] == 'E')) {
    int64_t e;
    if (!scan_exponent(text + i + 1, n - i - 1, &e)) return false;
    d.exponent += e, i = n;
  }
  if (i < n) return false;
  double x = convert(&d);
  *ret = negative ? -x : x;
  return true;
}
