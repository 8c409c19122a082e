/* The values that cases are made of. */
#include "check.h"
#include <string.h>

/* splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014). */
uint64_t kr_check_next(kr_check_random *random) {
  uint64_t z = random->state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

kr_check_random kr_check_seed(uint64_t seed, uint64_t kernel, uint64_t index) {
  kr_check_random random = {seed};
  random.state = kr_check_next(&random) ^ kernel;
  random.state = kr_check_next(&random) ^ index;
  return random;
}

int64_t kr_check_below(kr_check_random *random, int64_t n) {
  return (int64_t)(kr_check_next(random) % (uint64_t)n);
}

kr_check_style kr_check_pick_style(kr_check_random *random) {
  /* half of the cases are ordinary: the rest would hide a wrong sum behind zeros and infinities */
  if (kr_check_below(random, 2)) return KR_CHECK_ORDINARY;
  return (kr_check_style)kr_check_below(random, KR_CHECK_STYLES);
}

const char *kr_check_style_name(kr_check_style style) {
  static const char *const names[KR_CHECK_STYLES] = {"ordinary", "wide",  "tiny",      "zeros",
                                                     "extreme",  "edges", "non-finite"};
  return names[style];
}

static float from_bits(uint32_t bits) {
  float f;
  memcpy(&f, &bits, sizeof f);
  return f;
}

/* Sign and fraction random, exponent field in [low, high]. */
static float with_exponent(kr_check_random *random, int low, int high) {
  uint32_t r = (uint32_t)kr_check_next(random);
  uint32_t exponent = (uint32_t)(low + kr_check_below(random, high - low + 1));
  return from_bits((r & 0x807fffff) | exponent << 23);
}

static float ordinary(kr_check_random *random) { /* a sum of four: bell-shaped, within -4 .. 4 */
  uint64_t r = kr_check_next(random);
  int32_t sum = (int32_t)(r & 0xffff) + (int32_t)(r >> 16 & 0xffff) + (int32_t)(r >> 32 & 0xffff) +
                (int32_t)(r >> 48);
  return (float)(sum - 131070) * 0x1p-15f;
}

static const float edges[] = {
    0.0f,           -0.0f,
    1.0f,           -1.0f,
    0.5f,           -0.5f,
    1.5f,           -2.5f,
    126.5f,         -127.0f,
    127.0f,         -86.9999f,
    -87.0f,         -87.00001f,
    87.99999f,      88.0f,
    88.00001f,      -104.0f,
    0x1p-14f,       0x1.ffep-15f,
    0x1p-24f,       0x1p-25f,
    0x1.8p-24f,     0x1.000002p-25f,
    65504.0f,       65519.996f,
    65520.0f,       -65536.0f,
    0x1.002p0f,     0x1.006p0f,
    0x1.002002p0f,  0x1p-126f,
    -0x1p-126f,     0x1p-100f,
    0x1p22f,        0x1.fffffep21f,
    0x1.62e430p-1f, 0x1.715476p0f,
    0x1p-149f,      -0x1.fffffcp-127f,
    0x1p-12f,       3.1415927f,
    0x1.004p-14f,   0x1.ffcp-15f,
    1e-6f,          0x1.fffffep-101f,
    40.0f,          -40.0f,
};

static float one_value(kr_check_random *random, kr_check_style style) {
  switch (style) {
  case KR_CHECK_WIDE:
    return with_exponent(random, 90, 160);
  case KR_CHECK_TINY:
    return with_exponent(random, 0, kr_check_below(random, 4) ? 40 : 3);
  case KR_CHECK_ZEROS: {
    int64_t r = kr_check_below(random, 16);
    return r == 0 ? ordinary(random) : r & 1 ? -0.0f : 0.0f;
  }
  case KR_CHECK_EXTREME:
    return with_exponent(random, 170, 200);
  case KR_CHECK_EDGES:
    return edges[kr_check_below(random, sizeof edges / sizeof *edges)];
  case KR_CHECK_NONFINITE: {
    int64_t r = kr_check_below(random, 64);
    if (r == 0) return from_bits(0x7f800000);
    if (r == 1) return from_bits(0xff800000);
    if (r == 2) return from_bits(0x7fc00000 | (uint32_t)kr_check_below(random, 0x400000));
    return ordinary(random);
  }
  default:
    return ordinary(random);
  }
}

void kr_check_fill_f32(kr_check_random *random, kr_check_style style, float *x, int64_t n) {
  for (int64_t i = 0; i < n; i++) x[i] = one_value(random, style);
}

void kr_check_fill_q(kr_check_random *random, kr_check_style style, int8_t *q, int64_t n) {
  int64_t sign = kr_check_below(random, 3);
  for (int64_t i = 0; i < n; i++)
    if (style == KR_CHECK_ZEROS)
      q[i] = (int8_t)(kr_check_below(random, 16) ? 0 : 1);
    else if (style == KR_CHECK_EXTREME) /* all of one sign give the largest sums */
      q[i] = sign == 0 || (sign == 1 && kr_check_below(random, 2)) ? -127 : 127;
    else
      q[i] = (int8_t)(kr_check_below(random, 255) - 127);
}

void kr_check_fill_d(kr_check_random *random, kr_check_style style, float *d, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    float f = style == KR_CHECK_TINY      ? with_exponent(random, 20, 40) /* 127 d >= 2^-100 */
              : style == KR_CHECK_EXTREME ? with_exponent(random, 160, 190)
              : style == KR_CHECK_WIDE    ? with_exponent(random, 90, 160)
              : style == KR_CHECK_ZEROS   ? ordinary(random) * (float)kr_check_below(random, 2)
                                          : ordinary(random) * 0.01f;
    d[i] = f < 0 ? -f : f;
  }
}

static uint16_t half(kr_check_random *random, kr_check_style style) {
  uint16_t r = (uint16_t)kr_check_next(random), sign = r & 0x8000, fraction = r & 1023;
  int64_t pick = kr_check_below(random, 8);
  switch (style) {
  case KR_CHECK_WIDE: /* every finite half, subnormals too */
    return (uint16_t)(sign | (uint16_t)kr_check_below(random, 31) << 10 | fraction);
  case KR_CHECK_TINY:
    return (uint16_t)(sign | (pick ? 0 : 1) << 10 | fraction);
  case KR_CHECK_ZEROS:
    return (uint16_t)(pick ? sign : 0x1c00 | fraction);
  case KR_CHECK_EXTREME:
    return (uint16_t)(sign | 0x7bff);
  case KR_CHECK_EDGES: {
    static const uint16_t bits[8] = {0, 0x8000, 1, 0x83ff, 0x400, 0x3c00, 0x7bff, 0xbc01};
    return bits[pick];
  }
  case KR_CHECK_NONFINITE:
    if (kr_check_below(random, 64) == 0)
      return (uint16_t)(sign | 0x7c00 | (pick & 1 ? 0x200 | fraction : 0));
    return (uint16_t)(sign | 0x2000 | (r & 0x0fff));
  default: /* exponents as scales have them: 2^-11 .. 2^-4 */
    return (uint16_t)(sign | 0x1000 | (r & 0x1fff));
  }
}

int64_t kr_check_group_bytes(const kr_check_format *format, int64_t k) {
  if (format->pair_bytes) return k / KR_PAIR * format->pair_bytes;
  return (k * KR_GROUP * format->bytes + 63) / 64 * 64;
}

static void fill_bytes(kr_check_random *random, kr_check_style style, uint8_t *bytes, int64_t n) {
  static const uint8_t same[] = {0x80, 0x7f, 0xff, 0x00, 0x88, 0x0f, 0xf0, 0x81};
  uint8_t byte = same[kr_check_below(random, sizeof same)];
  bool all_same =
      (style == KR_CHECK_EXTREME || style == KR_CHECK_ZEROS) && kr_check_below(random, 4) != 0;
  for (int64_t i = 0; i < n; i += 8) {
    uint64_t r = kr_check_next(random);
    if (all_same) r = UINT64_C(0x0101010101010101) * byte;
    memcpy(bytes + i, &r, (size_t)(n - i < 8 ? n - i : 8));
  }
}

void kr_check_fill_group(kr_check_random *random, kr_check_style style,
                         const kr_check_format *format, int64_t k, uint8_t *group) {
  if (format->pair_bytes) {
    for (int64_t b = 0; b < k; b += KR_PAIR, group += format->pair_bytes) {
      for (int64_t i = 0; i < format->halves; i++) {
        uint16_t h = half(random, style);
        group[2 * i] = (uint8_t)h, group[2 * i + 1] = (uint8_t)(h >> 8);
      }
      fill_bytes(random, style, group + 2 * format->halves,
                 format->pair_bytes - 2 * format->halves);
    }
    return;
  }
  for (int64_t i = 0; i < k * KR_GROUP; i++) {
    float f = 0;
    uint16_t h = 0;
    if (format->bytes == 2 && format->name[0] == 'f')
      h = half(random, style);
    else
      kr_check_fill_f32(random, style, &f, 1);
    if (format->bytes == 2 && format->name[0] == 'b') {
      uint32_t bits;
      memcpy(&bits, &f, sizeof bits);
      h = (uint16_t)(bits >> 16);
    }
    memcpy(group + i * format->bytes, format->bytes == 2 ? (void *)&h : &f, (size_t)format->bytes);
  }
}
