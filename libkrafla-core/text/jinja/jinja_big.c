/* Long arithmetic by the schoolbook. */
#include "text/jinja/jinja_big.h"
#include <string.h>

static void trim(kr_big *a) {
  while (a->n && !a->limb[a->n - 1]) a->n--;
}

void kr_big_set(kr_big *a, uint64_t value) {
  a->limb[0] = (uint32_t)value, a->limb[1] = (uint32_t)(value >> 32);
  a->n = 2;
  trim(a);
}

void kr_big_copy(kr_big *a, const kr_big *b) {
  a->n = b->n;
  memcpy(a->limb, b->limb, b->n * sizeof *b->limb);
}

int kr_big_compare(const kr_big *a, const kr_big *b) {
  if (a->n != b->n) return a->n < b->n ? -1 : 1;
  for (uint32_t i = a->n; i-- > 0;)
    if (a->limb[i] != b->limb[i]) return a->limb[i] < b->limb[i] ? -1 : 1;
  return 0;
}

int64_t kr_big_bits(const kr_big *a) {
  return a->n ? 32 * (int64_t)a->n - __builtin_clz(a->limb[a->n - 1]) : 0;
}

static bool push(kr_big *a, uint32_t limb) {
  if (!limb) return true;
  if (a->n == KR_BIG_LIMBS) return false;
  a->limb[a->n++] = limb;
  return true;
}

bool kr_big_add(kr_big *a, const kr_big *b) {
  uint64_t carry = 0;
  while (a->n < b->n) a->limb[a->n++] = 0;
  for (uint32_t i = 0; i < a->n; i++) {
    carry += (uint64_t)a->limb[i] + (i < b->n ? b->limb[i] : 0);
    a->limb[i] = (uint32_t)carry;
    carry >>= 32;
  }
  return push(a, (uint32_t)carry);
}

void kr_big_subtract(kr_big *a, const kr_big *b) {
  uint64_t borrow = 0;
  for (uint32_t i = 0; i < a->n; i++) {
    uint64_t take = (i < b->n ? b->limb[i] : 0) + borrow;
    borrow = a->limb[i] < take;
    a->limb[i] = (uint32_t)(a->limb[i] - take);
  }
  trim(a);
}

bool kr_big_multiply(const kr_big *a, const kr_big *b, kr_big *ret) {
  ret->n = 0;
  if (!a->n || !b->n) return true;
  if (a->n + b->n > KR_BIG_LIMBS) return false;
  ret->n = a->n + b->n;
  memset(ret->limb, 0, ret->n * sizeof *ret->limb);
  for (uint32_t i = 0; i < a->n; i++) {
    uint64_t carry = 0;
    for (uint32_t j = 0; j < b->n; j++) {
      carry += (uint64_t)a->limb[i] * b->limb[j] + ret->limb[i + j];
      ret->limb[i + j] = (uint32_t)carry;
      carry >>= 32;
    }
    ret->limb[i + b->n] = (uint32_t)carry;
  }
  trim(ret);
  return true;
}

bool kr_big_multiply_small(kr_big *a, uint32_t factor, uint32_t add) {
  uint64_t carry = add;
  for (uint32_t i = 0; i < a->n; i++) {
    carry += (uint64_t)a->limb[i] * factor;
    a->limb[i] = (uint32_t)carry;
    carry >>= 32;
  }
  bool ok = push(a, (uint32_t)carry);
  trim(a);
  return ok;
}

bool kr_big_times_power_of_10(kr_big *a, uint32_t power) {
  for (; power >= 9; power -= 9)
    if (!kr_big_multiply_small(a, 1000000000, 0)) return false;
  for (; power > 0; power--)
    if (!kr_big_multiply_small(a, 10, 0)) return false;
  return true;
}

bool kr_big_shift_left(kr_big *a, uint32_t bits) {
  uint32_t limbs = bits / 32, rest = bits % 32;
  if (!a->n) return true;
  if (limbs > KR_BIG_LIMBS || a->n + limbs > KR_BIG_LIMBS) return false;
  memmove(a->limb + limbs, a->limb, a->n * sizeof *a->limb);
  memset(a->limb, 0, limbs * sizeof *a->limb);
  a->n += limbs;
  return !rest || kr_big_multiply_small(a, UINT32_C(1) << rest, 0);
}

uint32_t kr_big_divide_small(kr_big *a, uint32_t by) {
  uint64_t rest = 0;
  for (uint32_t i = a->n; i-- > 0;) {
    rest = rest << 32 | a->limb[i];
    a->limb[i] = (uint32_t)(rest / by);
    rest %= by;
  }
  trim(a);
  return (uint32_t)rest;
}

/* One limb of the quotient: u[0..n] holds the top of the dividend, v[0..n) the divisor with its
 * highest bit set. Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D, steps D3 to D6. */
static uint32_t divide_step(uint32_t *u, const uint32_t *v, uint32_t n) {
  uint64_t top = (uint64_t)u[n] << 32 | u[n - 1];
  uint64_t q = u[n] >= v[n - 1] ? UINT32_MAX : top / v[n - 1], rest = top - q * v[n - 1];
  while (rest <= UINT32_MAX && q * v[n - 2] > (rest << 32 | u[n - 2])) q--, rest += v[n - 1];
  uint64_t borrow = 0, carry = 0;
  for (uint32_t i = 0; i <= n; i++) {
    carry += i < n ? q * v[i] : 0;
    uint64_t take = (uint32_t)carry + borrow;
    carry >>= 32;
    borrow = u[i] < take;
    u[i] = (uint32_t)(u[i] - take);
  }
  if (!borrow) return (uint32_t)q;
  for (uint32_t i = 0; i <= n; i++) {
    carry += (uint64_t)u[i] + (i < n ? v[i] : 0);
    u[i] = (uint32_t)carry;
    carry >>= 32;
  }
  return (uint32_t)q - 1;
}

void kr_big_divide(const kr_big *a, const kr_big *b, kr_big *ret_quotient, kr_big *ret_remainder) {
  uint32_t u[KR_BIG_LIMBS + 1], v[KR_BIG_LIMBS], n = b->n;
  if (kr_big_compare(a, b) < 0) {
    ret_quotient->n = 0;
    if (ret_remainder) kr_big_copy(ret_remainder, a);
    return;
  }
  if (n == 1) {
    kr_big_copy(ret_quotient, a);
    uint32_t rest = kr_big_divide_small(ret_quotient, b->limb[0]);
    if (ret_remainder) kr_big_set(ret_remainder, rest);
    return;
  }
  int shift = __builtin_clz(b->limb[n - 1]);
  for (uint32_t i = n; i-- > 0;)
    v[i] = (uint32_t)(((uint64_t)b->limb[i] << 32 | (i ? b->limb[i - 1] : 0)) << shift >> 32);
  u[a->n] = (uint32_t)((uint64_t)a->limb[a->n - 1] << shift >> 32);
  for (uint32_t i = a->n; i-- > 0;)
    u[i] = (uint32_t)(((uint64_t)a->limb[i] << 32 | (i ? a->limb[i - 1] : 0)) << shift >> 32);
  ret_quotient->n = a->n - n + 1;
  for (uint32_t j = ret_quotient->n; j-- > 0;) ret_quotient->limb[j] = divide_step(u + j, v, n);
  trim(ret_quotient);
  if (!ret_remainder) return;
  for (uint32_t i = 0; i < n; i++)
    ret_remainder->limb[i] = (uint32_t)(((uint64_t)u[i + 1] << 32 | u[i]) >> shift);
  ret_remainder->n = n;
  trim(ret_remainder);
}

size_t kr_big_decimal(const kr_big *a, char *out) {
  kr_big rest;
  char reversed[KR_BIG_TEXT];
  size_t n = 0;
  kr_big_copy(&rest, a);
  while (rest.n) {
    uint32_t group = kr_big_divide_small(&rest, 1000000000);
    for (int i = 0; i < 9 && (rest.n || group); i++) {
      reversed[n++] = (char)('0' + group % 10);
      group /= 10;
    }
  }
  if (!n) reversed[n++] = '0';
  for (size_t i = 0; i < n; i++) out[i] = reversed[n - 1 - i];
  return n;
}
