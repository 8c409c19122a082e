#include "random_blocks.h"
#include "base/half.h"
#include <math.h>

/* Where a block has its f16 scale, and its f16 minimum; -1 for none. min is the minimum that goes
 * with scale 1 so that the mean of random codes is 0. */
typedef struct scale_place {
  uint32_t type;
  int d, m;
  float min;
} scale_place;

static const scale_place places[] = {
    {KR_TYPE_Q5_0, 0, -1, 0},   {KR_TYPE_Q5_1, 0, 2, -15.5f}, {KR_TYPE_Q2_K, 80, 82, 1.5f},
    {KR_TYPE_Q3_K, 108, -1, 0}, {KR_TYPE_Q4_K, 0, 2, 7.5f},   {KR_TYPE_Q5_K, 0, 2, 15.5f},
    {KR_TYPE_Q6_K, 208, -1, 0}, {KR_TYPE_IQ2_XXS, 0, -1, 0},  {KR_TYPE_IQ2_XS, 0, -1, 0},
    {KR_TYPE_IQ2_S, 0, -1, 0},  {KR_TYPE_IQ3_XXS, 0, -1, 0},  {KR_TYPE_IQ3_S, 0, -1, 0},
    {KR_TYPE_IQ1_S, 0, -1, 0},  {KR_TYPE_IQ4_NL, 0, -1, 0},   {KR_TYPE_IQ4_XS, 0, -1, 0},
    {KR_TYPE_TQ1_0, 52, -1, 0}, {KR_TYPE_TQ2_0, 64, -1, 0},
};

static void put_half(uint8_t *p, float value) {
  uint16_t half = kr_float_to_half(value);
  p[0] = (uint8_t)half, p[1] = (uint8_t)(half >> 8);
}

/* IQ1_M keeps its f16 scale in the upper halves of bytes 49, 51, 53 and 55, lowest four bits first.
 */
static void set_scattered(uint8_t *block, float d) {
  uint16_t half = kr_float_to_half(d);
  for (int k = 0; k < 4; k++)
    block[49 + 2 * k] = (uint8_t)((block[49 + 2 * k] & 15) | (half >> (4 * k) & 15) << 4);
}

/* MXFP4 and NVFP4 begin with bytes that are small floats. What they stand for is found by decoding:
 * code 1 is the value 1. */
static int scale_bytes(uint32_t type) {
  return type == KR_TYPE_MXFP4 ? 1 : type == KR_TYPE_NVFP4 ? 4 : 0;
}

static void find_levels(kr_row_maker *maker) {
  int n = scale_bytes(maker->type);
  uint8_t probe[64] = {0};
  float values[64];
  probe[n] = 1;
  for (int byte = 0; n && byte < 256; byte++) {
    probe[0] = (uint8_t)byte;
    maker->info->dequantize(probe, maker->info->block, values);
    maker->levels[byte] = values[0];
  }
}

static void set_bytes(const kr_row_maker *maker, uint8_t *block, int n, float d) {
  uint8_t best = 0;
  for (int byte = 1; byte < 256; byte++)
    if (fabsf(maker->levels[byte] - d) < fabsf(maker->levels[best] - d)) best = (uint8_t)byte;
  for (int i = 0; i < n; i++) block[i] = best;
}

static void set_scale(const kr_row_maker *maker, uint8_t *block, float d) {
  if (maker->type == KR_TYPE_IQ1_M) set_scattered(block, d);
  int n = scale_bytes(maker->type);
  if (n) set_bytes(maker, block, n, d);
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    if (places[i].type != maker->type) continue;
    put_half(block + places[i].d, d);
    if (places[i].m >= 0) put_half(block + places[i].m, d * places[i].min);
  }
}

static void random_bytes(kr_random *random, int n, uint8_t *bytes) {
  uint64_t r = 0;
  for (int i = 0; i < n; i++, r >>= 8) {
    if (i % 8 == 0) r = kr_random_next(random);
    bytes[i] = (uint8_t)r;
  }
}

static void random_block(const kr_row_maker *maker, kr_random *random, uint8_t *block) {
  random_bytes(random, maker->info->bytes, block);
  /* TQ2_0's code 3 is no ternary digit: it becomes 1 */
  for (int i = 0; maker->type == KR_TYPE_TQ2_0 && i < 64; i++)
    block[i] = (uint8_t)(block[i] ^ (block[i] & block[i] >> 1 & 0x55) << 1);
}

static int is_converted(uint32_t type) {
  return type == KR_TYPE_F32 || type == KR_TYPE_F16 || type == KR_TYPE_BF16 ||
         type == KR_TYPE_Q8_0 || type == KR_TYPE_Q4_0 || type == KR_TYPE_Q4_1;
}

kr_row_maker kr_row_maker_for(uint32_t type) {
  kr_row_maker maker = {.type = type, .info = kr_type_get(type)};
  if (is_converted(type)) return maker;
  find_levels(&maker);
  enum { SAMPLES = 256 };
  kr_random random = {type};
  double squares = 0;
  for (int i = 0; i < SAMPLES; i++) {
    uint8_t block[512];
    float values[256];
    random_block(&maker, &random, block);
    set_scale(&maker, block, 1);
    maker.info->dequantize(block, maker.info->block, values);
    for (int j = 0; j < maker.info->block; j++) squares += (double)values[j] * (double)values[j];
  }
  maker.unit = sqrt(squares / (SAMPLES * maker.info->block));
  return maker;
}

static void put_word(uint8_t *p, uint32_t word) {
  for (int i = 0; i < 4; i++) p[i] = (uint8_t)(word >> (8 * i));
}

static void convert(uint32_t type, const float *values, int64_t n, uint8_t *row) {
  switch (type) {
  case KR_TYPE_F32:
    for (int64_t i = 0; i < n; i++) put_word(row + 4 * i, kr_float_bits(values[i]));
    break;
  case KR_TYPE_F16:
    for (int64_t i = 0; i < n; i++) put_half(row + 2 * i, values[i]);
    break;
  case KR_TYPE_BF16:
    for (int64_t i = 0; i < n; i++) {
      uint16_t word = kr_float_to_bfloat(values[i]);
      row[2 * i] = (uint8_t)word, row[2 * i + 1] = (uint8_t)(word >> 8);
    }
    break;
  case KR_TYPE_Q8_0:
    kr_quantize_q8_0(values, n, row);
    break;
  case KR_TYPE_Q4_0:
    kr_quantize_q4_0(values, n, row);
    break;
  default:
    kr_quantize_q4_1(values, n, row);
    break;
  }
}

void kr_make_row(const kr_row_maker *maker, kr_random *random, int64_t n, float mean,
                 float deviation, float *values, uint8_t *row) {
  if (maker->unit == 0) {
    for (int64_t i = 0; i < n; i++) values[i] = mean + deviation * kr_random_normal(random);
    convert(maker->type, values, n, row);
    return;
  }
  const kr_type_info *info = maker->info;
  float d = (float)((double)deviation / maker->unit);
  for (int64_t i = 0; i < n; i += info->block, row += info->bytes) {
    random_block(maker, random, row);
    /* between 3/4 and 5/4, so that no two blocks have to have the same scale */
    float factor = 0.75f + (float)(kr_random_next(random) >> 48) * 0x1p-17f;
    set_scale(maker, row, d * factor);
  }
}
