/* Arithmetic of templates. */
#include "text/jinja/jinja_number.h"
#include "base/real.h"
#include "text/jinja/jinja_float.h"
#include <math.h>

enum { MAX_DIGITS = 4300 }; /* sys.get_int_max_str_digits() */

typedef struct integer {
  bool negative;
  kr_big size;
} integer;

kr_jvalue kr_jnumber_plain(kr_jvalue v) {
  return v.type == KR_J_BOOL ? kr_jint(v.b) : v;
}

bool kr_jnumber_is(kr_jvalue v) {
  return kr_jis_integer(v) || v.type == KR_J_FLOAT;
}

static void load(kr_jvalue v, integer *ret) {
  v = kr_jnumber_plain(v);
  if (v.type == KR_J_INT) {
    ret->negative = v.i < 0;
    kr_big_set(&ret->size, v.i < 0 ? -(uint64_t)v.i : (uint64_t)v.i);
    return;
  }
  ret->negative = v.big->negative;
  ret->size.n = v.big->n;
  memcpy(ret->size.limb, v.big->limb, v.big->n * sizeof(uint32_t));
}

static bool store(kr_jctx *c, const integer *x, kr_jvalue *ret) {
  const kr_big *a = &x->size;
  if (a->n <= 2) {
    uint64_t low = (a->n ? a->limb[0] : 0) | (uint64_t)(a->n > 1 ? a->limb[1] : 0) << 32;
    if (low <= (uint64_t)INT64_MAX + x->negative) {
      *ret = kr_jint(x->negative ? (int64_t)-low : (int64_t)low);
      return true;
    }
  }
  kr_jbig *big = kr_jalloc(c, 1, sizeof *big + a->n * sizeof(uint32_t));
  if (!big || !kr_jcharge(c, 0)) return false;
  big->negative = x->negative, big->n = a->n;
  memcpy(big->limb, a->limb, a->n * sizeof(uint32_t));
  *ret = kr_jobject(KR_J_BIG, big);
  return true;
}

static bool too_large(kr_jctx *c) {
  return kr_jfail(c, "OverflowError", "an integer of more than %d bits", 32 * KR_BIG_LIMBS);
}

double kr_jbig_float(const kr_jbig *big) {
  integer x;
  load(kr_jobject(KR_J_BIG, (void *)(uintptr_t)big), &x);
  double size = kr_float_of_big(&x.size);
  return x.negative ? -size : size;
}

bool kr_jnumber_float(kr_jctx *c, kr_jvalue v, double *ret) {
  v = kr_jnumber_plain(v);
  *ret = v.type == KR_J_FLOAT ? v.f : v.type == KR_J_INT ? (double)v.i : kr_jbig_float(v.big);
  if (v.type == KR_J_BIG && *ret - *ret != 0)
    return kr_jfail(c, "OverflowError", "int too large to convert to float");
  return true;
}

/* ---- order ------------------------------------------------------------------------------------
 */

static int compare_integers(kr_jvalue a, kr_jvalue b) {
  if (a.type == KR_J_INT && b.type == KR_J_INT) return a.i < b.i ? -1 : a.i > b.i;
  integer x, y;
  load(a, &x), load(b, &y);
  if (x.negative != y.negative) return x.negative ? -1 : 1;
  int order = kr_big_compare(&x.size, &y.size);
  return x.negative ? -order : order;
}

static int compare_mixed(kr_jvalue a, double f) {
  integer x, y = {.negative = f < 0};
  if (f != f) return 2;
  if (f - f != 0) return f < 0 ? 1 : -1;
  load(a, &x);
  kr_float_to_big(f, &y.size);
  bool has_fraction = f > -9007199254740992.0 && f < 9007199254740992.0 && f != (double)(int64_t)f;
  if (x.negative != y.negative && (x.size.n || y.size.n || has_fraction))
    return x.negative ? -1 : 1;
  int order = kr_big_compare(&x.size, &y.size);
  if (!order && has_fraction) order = -1; /* the float is the larger of the two in size */
  return y.negative ? -order : order;
}

int kr_jnumber_compare(kr_jvalue a, kr_jvalue b) {
  a = kr_jnumber_plain(a), b = kr_jnumber_plain(b);
  if (a.type == KR_J_FLOAT && b.type == KR_J_FLOAT)
    return a.f < b.f ? -1 : a.f > b.f ? 1 : a.f == b.f ? 0 : 2;
  if (b.type == KR_J_FLOAT) return compare_mixed(a, b.f);
  if (a.type == KR_J_FLOAT) {
    int order = compare_mixed(b, a.f);
    return order == 2 ? 2 : -order;
  }
  return compare_integers(a, b);
}

/* ---- integers ---------------------------------------------------------------------------------
 */

static bool add(const integer *a, const integer *b, integer *ret) {
  if (a->negative == b->negative) {
    *ret = *a;
    return kr_big_add(&ret->size, &b->size);
  }
  bool larger = kr_big_compare(&a->size, &b->size) >= 0;
  *ret = larger ? *a : *b;
  kr_big_subtract(&ret->size, larger ? &b->size : &a->size);
  return true;
}

/* Quotient rounded down, and the remainder that has b's sign. */
static bool divide(const integer *a, const integer *b, integer *quotient, integer *rest) {
  integer one = {.negative = true}, q, r;
  kr_big_divide(&a->size, &b->size, &q.size, &r.size);
  q.negative = a->negative != b->negative;
  r.negative = a->negative;
  kr_big_set(&one.size, 1);
  if (!r.size.n || !q.negative) return *quotient = q, *rest = r, true;
  return add(&q, &one, quotient) && add(&r, b, rest);
}

static bool power(const integer *base, int64_t exponent, integer *ret) {
  integer square = *base, product;
  kr_big_set(&ret->size, 1);
  ret->negative = base->negative && exponent % 2;
  if (square.size.n <= 1 && (!square.size.n || square.size.limb[0] == 1)) {
    if (exponent) kr_big_copy(&ret->size, &square.size); /* 0 and 1: any exponent */
    return true;
  }
  while (exponent) {
    if (exponent & 1) {
      if (!kr_big_multiply(&ret->size, &square.size, &product.size)) return false;
      kr_big_copy(&ret->size, &product.size);
    }
    if (exponent >>= 1) {
      if (!kr_big_multiply(&square.size, &square.size, &product.size)) return false;
      kr_big_copy(&square.size, &product.size);
    }
  }
  return true;
}

static bool big_binary(kr_jctx *c, char op, kr_jvalue a, kr_jvalue b, kr_jvalue *ret) {
  integer x, y, z = {0}, other;
  bool ok = true;
  load(a, &x), load(b, &y);
  if (!kr_jcharge(c, ((size_t)x.size.n + 1) * (y.size.n + 1) + 512)) return false;
  switch (op) {
  case '-':
    y.negative = !y.negative; /* fall through */
  case '+':
    ok = add(&x, &y, &z);
    break;
  case '*':
    z.negative = x.negative != y.negative;
    ok = kr_big_multiply(&x.size, &y.size, &z.size);
    break;
  case KR_J_FLOORDIV:
    ok = divide(&x, &y, &z, &other);
    break;
  case '%':
    ok = divide(&x, &y, &other, &z);
    break;
  default: /* KR_J_POW, b >= 0 */
    ok = kr_jcharge(c, 1 << 16);
    if (ok && b.type != KR_J_INT && (x.size.n > 1 || (x.size.n && x.size.limb[0] != 1)))
      return too_large(c);
    ok = ok && power(&x, b.type == KR_J_INT ? b.i : 2 + (int64_t)(y.size.limb[0] & 1), &z);
  }
  return ok ? store(c, &z, ret) : c->code ? false : too_large(c);
}

static bool small_binary(char op, int64_t a, int64_t b, int64_t *ret) {
  switch (op) {
  case '+':
    return !__builtin_add_overflow(a, b, ret);
  case '-':
    return !__builtin_sub_overflow(a, b, ret);
  case '*':
    return !__builtin_mul_overflow(a, b, ret);
  case KR_J_FLOORDIV:
    if (b == -1) return false; /* INT64_MIN / -1 */
    *ret = a / b - (a % b && (a < 0) != (b < 0));
    return true;
  case '%':
    *ret = b == -1 ? 0 : a % b;
    if (*ret && (*ret < 0) != (b < 0)) *ret += b;
    return true;
  default:
    return false;
  }
}

/* a / b of integers, rounded once. */
static bool true_divide(kr_jctx *c, kr_jvalue a, kr_jvalue b, kr_jvalue *ret) {
  integer x, y;
  load(a, &x), load(b, &y);
  if (!kr_jcharge(c, 256)) return false;
  double ratio = x.size.n ? kr_float_ratio(&x.size, &y.size) : 0;
  if (ratio - ratio != 0)
    return kr_jfail(c, "OverflowError", "integer division result too large for a float");
  *ret = kr_jfloat(x.negative != y.negative && x.size.n ? -ratio : ratio);
  return true;
}

/* ---- floats -----------------------------------------------------------------------------------
 */

static double round_down(double x) {
  if (!(x > -4503599627370496.0 && x < 4503599627370496.0)) return x;
  double whole = (double)(int64_t)x;
  return whole > x ? whole - 1 : whole == 0 && x == 0 ? x : whole;
}

static double modulo(double a, double b) {
  double rest = fmod(a, b);
  if (rest == 0) return b < 0 ? -0.0 : 0.0;
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

static double floor_divide(double a, double b) {
  double rest = fmod(a, b), quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return a / b < 0 ? -0.0 : 0.0;
  double whole = round_down(quotient);
  return quotient - whole > 0.5 ? whole + 1 : whole;
}

enum { EXACT_POWER = 280 }; /* 53 bits to this power fit */

/* a^n, rounded once; false if that needs too many digits. */
static bool whole_power(double a, int64_t n, double *ret) {
  uint64_t size = (uint64_t)(n < 0 ? -n : n);
  int exponent;
  double fraction = frexp(a < 0 ? -a : a, &exponent);
  int64_t mantissa = (int64_t)(fraction * 9007199254740992.0), scale = exponent - 53;
  while (mantissa % 2 == 0) mantissa /= 2, scale++;
  if (size > EXACT_POWER && mantissa > 1) return false;
  integer base = {0}, power_of, one;
  kr_big_set(&base.size, (uint64_t)mantissa), kr_big_set(&one.size, 1);
  if (!power(&base, (int64_t)size, &power_of)) return false;
  int64_t bits = kr_big_bits(&power_of.size), shift = n < 0 ? bits : bits - 1;
  if (!kr_big_shift_left(&one.size, (uint32_t)shift)) return false;
  double near_1 =
      n < 0 ? kr_float_ratio(&one.size, &power_of.size) : kr_float_ratio(&power_of.size, &one.size);
  shift = n < 0 ? -shift - scale * (int64_t)size : shift + scale * (int64_t)size;
  *ret = ldexp(near_1, (int)(shift < -9999 ? -9999 : shift > 9999 ? 9999 : shift));
  if (a < 0 && n % 2) *ret = -*ret;
  return true;
}

static bool float_power(kr_jctx *c, double a, double b, kr_jvalue *ret) {
  double x;
  if (b == 0 || a == 1) return *ret = kr_jfloat(1), true;
  if (a == 0 && b < 0)
    return kr_jfail(c, "ZeroDivisionError", "0.0 cannot be raised to a negative power");
  bool whole = b == round_down(b) && b > -1e15 && b < 1e15, finite = a - a == 0 && a != 0;
  if (whole && finite && !kr_jcharge(c, 1 << 16)) return false;
  if (whole && finite && whole_power(a, (int64_t)b, &x)) {
    if (x - x != 0) return kr_jfail(c, "OverflowError", "Numerical result out of range");
    return *ret = kr_jfloat(x), true;
  }
  if (a == 0 && b > 0) return *ret = kr_jfloat(whole && fmod(b, 2) != 0 ? a : 0), true;
  if ((b == 0.5 || b == -0.5) && a > 0)
    return *ret = kr_jfloat(b < 0 ? 1 / __builtin_sqrt(a) : __builtin_sqrt(a)), true;
  if (a < 0 || a - a != 0 || b - b != 0 || a == 0)
    return kr_jfail_code(c, KR_E_UNSUPPORTED, "** of these floats is not supported");
  double logarithm = kr_real_log(a) * b;
  if (logarithm > 709.78) return kr_jfail(c, "OverflowError", "Numerical result out of range");
  *ret = kr_jfloat(logarithm < -690 ? 0 : kr_real_pow(a, b));
  return true;
}

static bool float_binary(kr_jctx *c, char op, double a, double b, kr_jvalue *ret) {
  switch (op) {
  case '+':
    *ret = kr_jfloat(a + b);
    return true;
  case '-':
    *ret = kr_jfloat(a - b);
    return true;
  case '*':
    *ret = kr_jfloat(a * b);
    return true;
  case '/':
    *ret = kr_jfloat(a / b);
    return true;
  case '%':
    *ret = kr_jfloat(modulo(a, b));
    return true;
  case KR_J_FLOORDIV:
    *ret = kr_jfloat(floor_divide(a, b));
    return true;
  default:
    return float_power(c, a, b, ret);
  }
}

bool kr_jnumber_binary(kr_jctx *c, char op, kr_jvalue a, kr_jvalue b, kr_jvalue *ret) {
  a = kr_jnumber_plain(a), b = kr_jnumber_plain(b);
  bool divides = op == '/' || op == '%' || op == KR_J_FLOORDIV;
  bool floats = a.type == KR_J_FLOAT || b.type == KR_J_FLOAT;
  if (divides && !kr_jtruth(b))
    return kr_jfail(c, "ZeroDivisionError", "%s",
                    floats      ? "float division or modulo by zero"
                    : op == '/' ? "division by zero"
                                : "integer division or modulo by zero");
  if (!floats && op == KR_J_POW && kr_jnumber_compare(b, kr_jint(0)) < 0) {
    if (!kr_jtruth(a))
      return kr_jfail(c, "ZeroDivisionError", "0.0 cannot be raised to a negative power");
    floats = true;
  }
  if (floats) {
    double x, y;
    return kr_jnumber_float(c, a, &x) && kr_jnumber_float(c, b, &y) &&
           float_binary(c, op, x, y, ret);
  }
  if (op == '/') return true_divide(c, a, b, ret);
  if (a.type == KR_J_INT && b.type == KR_J_INT) {
    int64_t result;
    if (small_binary(op, a.i, b.i, &result)) return *ret = kr_jint(result), true;
  }
  return big_binary(c, op, a, b, ret);
}

bool kr_jnumber_negate(kr_jctx *c, kr_jvalue a, kr_jvalue *ret) {
  if (a.type == KR_J_FLOAT) return *ret = kr_jfloat(-a.f), true;
  return kr_jnumber_binary(c, '-', kr_jint(0), a, ret);
}

/* ---- text -------------------------------------------------------------------------------------
 */

static uint32_t digit_of(char ch) {
  if (ch >= '0' && ch <= '9') return (uint32_t)(ch - '0');
  ch |= 0x20;
  return ch >= 'a' && ch <= 'z' ? (uint32_t)(ch - 'a' + 10) : 99;
}

bool kr_jinteger_parse(kr_jctx *c, const char *text, size_t n, uint32_t base, kr_jvalue *ret,
                       bool *ret_ok) {
  integer x = {.negative = n && *text == '-'};
  size_t i = n && (*text == '-' || *text == '+'), digits = 0;
  bool after_digit = false;
  *ret_ok = false;
  for (; i < n; i++) {
    if (text[i] == '_' && after_digit) {
      after_digit = false;
      continue;
    }
    uint32_t digit = digit_of(text[i]);
    if (digit >= base) return true;
    after_digit = true;
    if (++digits > MAX_DIGITS)
      return kr_jfail(c, "ValueError",
                      "Exceeds the limit (%d digits) for integer string conversion", MAX_DIGITS);
    if (!kr_big_multiply_small(&x.size, base, digit)) return too_large(c);
    if (!kr_jcharge(c, x.size.n * 4)) return false;
  }
  *ret_ok = after_digit;
  return !after_digit || store(c, &x, ret);
}

bool kr_jinteger_of_float(kr_jctx *c, double x, kr_jvalue *ret) {
  integer whole = {.negative = x < 0};
  kr_float_to_big(x, &whole.size);
  return store(c, &whole, ret);
}

bool kr_jnumber_write(kr_jctx *c, kr_jvalue v) {
  char text[KR_BIG_TEXT + 1];
  size_t n = 0;
  if (v.type == KR_J_FLOAT) return kr_jout(c, text, kr_float_repr(v.f, text));
  if (v.type == KR_J_INT) { /* digits from the end */
    uint64_t size = v.i < 0 ? -(uint64_t)v.i : (uint64_t)v.i;
    char *end = text + 24, *p = end;
    do *--p = (char)('0' + size % 10);
    while (size /= 10);
    if (v.i < 0) *--p = '-';
    return kr_jout(c, p, (size_t)(end - p));
  }
  integer x;
  load(v, &x);
  if (x.negative) text[n++] = '-';
  n += kr_big_decimal(&x.size, text + n);
  if (n > MAX_DIGITS + (size_t)x.negative)
    return kr_jfail(c, "ValueError", "Exceeds the limit (%d digits) for integer string conversion",
                    MAX_DIGITS);
  return kr_jcharge(c, 8192) && kr_jout(c, text, n);
}
