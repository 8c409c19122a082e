/* The tensor types without outside data: sizes, decoded blocks, quantized blocks. */
#include "base/float_state.h"
#include "base/half.h"
#include "quant/types.h"
#include <glib.h>
#include <math.h>
#include <string.h>

static void test_table(void) {
  static const struct {
    uint32_t type;
    const char *name;
    int block, bytes;
    int weights;
  } want[] = {
      {KR_TYPE_F32, "F32", 1, 4, 1},       {KR_TYPE_F16, "F16", 1, 2, 1},
      {KR_TYPE_BF16, "BF16", 1, 2, 1},     {KR_TYPE_Q4_0, "Q4_0", 32, 18, 1},
      {KR_TYPE_Q8_1, "Q8_1", 32, 36, 0},   {KR_TYPE_Q4_K, "Q4_K", 256, 144, 1},
      {KR_TYPE_Q8_K, "Q8_K", 256, 292, 0}, {KR_TYPE_IQ1_M, "IQ1_M", 256, 56, 1},
      {KR_TYPE_I8, "I8", 1, 1, 0},         {KR_TYPE_I16, "I16", 1, 2, 0},
      {KR_TYPE_I32, "I32", 1, 4, 0},       {KR_TYPE_I64, "I64", 1, 8, 0},
      {KR_TYPE_F64, "F64", 1, 8, 0},       {KR_TYPE_NVFP4, "NVFP4", 64, 36, 1},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(want); i++) {
    const kr_type_info *info = kr_type_get(want[i].type);
    g_assert_nonnull(info);
    g_assert_cmpstr(info->name, ==, want[i].name);
    g_assert_cmpint(info->block, ==, want[i].block);
    g_assert_cmpint(info->bytes, ==, want[i].bytes);
    g_assert_cmpint(info->dequantize != NULL, ==, want[i].weights);
  }
  int known = 0;
  for (uint32_t type = 0; type < 64; type++) known += kr_type_get(type) != NULL;
  g_assert_cmpint(known, ==, 33);
  static const uint32_t removed[] = {4, 5, 31, 32, 33, 36, 37, 38, 41, 1000, UINT32_MAX};
  for (size_t i = 0; i < G_N_ELEMENTS(removed); i++) g_assert_null(kr_type_get(removed[i]));
}

/* Patterned bytes: byte i of the n blocks is 37 i + 11 + 5 (i >> 8), except that the halves at the
 * given offsets of a block are 0x3555 and 0x2e66 (with their sign in the second block), and that
 * IQ1_M's scattered half is 0x3555 likewise. Expected, from gguf 0.19.0's decoders: the bits of
 * values 1, 18 and the last, and the 64-bit FNV-1a hash of all of them (little-endian words). */
static const struct {
  uint32_t type;
  int n;
  int halves[2];
  uint32_t at[3];
  uint64_t hash;
} patterned[] = {
    {KR_TYPE_Q4_0, 2, {0, -1}, {0x3f2aa000, 0x3eaaa000, 0x40154c00}, 0xd37b348b5e7afcea},
    {KR_TYPE_Q4_1, 2, {0, 2}, {0x3fb76c00, 0x40987f00, 0xc05bae00}, 0x4c45332d30059f47},
    {KR_TYPE_Q5_0, 2, {0, -1}, {0xbf2aa000, 0x3f7ff000, 0xbfaaa000}, 0x653e000d06ecb611},
    {KR_TYPE_Q5_1, 2, {0, 2}, {0x41019180, 0x401bb200, 0xc11c3a80}, 0x5991db91ddc52647},
    {KR_TYPE_Q8_0, 2, {0, -1}, {0x4222a080, 0xc0b54a00, 0x41ba9f00}, 0xc5db2f812b73c84d},
    {KR_TYPE_Q2_K, 2, {80, 82}, {0x00000000, 0xbe999000, 0xc0c54900}, 0x8c8ab3be87f34f06},
    {KR_TYPE_Q3_K, 2, {108, -1}, {0xc20ff700, 0xc12aa000, 0xbffff000}, 0xaae2e40eaf611ed3},
    {KR_TYPE_Q4_K, 2, {0, 2}, {0xc0a32900, 0x423a38a0, 0xc30e5d80}, 0x9bb16ea7494dd415},
    {KR_TYPE_Q5_K, 2, {0, 2}, {0xc0a32900, 0x4353d928, 0xc2adf520}, 0xf9d2e6e8319af153},
    {KR_TYPE_Q6_K, 2, {208, -1}, {0x440d4c80, 0x426a9c00, 0x440da1d0}, 0xebc4c8cd25e34f5a},
    {KR_TYPE_IQ2_XXS, 2, {0, -1}, {0x419da0d0, 0xc13749e0, 0xc1254b00}, 0xd813445476b450fe},
    {KR_TYPE_IQ2_XS, 2, {0, -1}, {0x413749e0, 0xc0ca9e00, 0xc03ff400}, 0xaee15567bbfab5ff},
    {KR_TYPE_IQ2_S, 2, {0, -1}, {0x41e0f1f0, 0xc0f54600, 0xc0ca9e00}, 0x506ae6f459b326be},
    {KR_TYPE_IQ3_XXS, 2, {0, -1}, {0x403ff400, 0xc0a54b00, 0xc182a280}, 0x00f61457fde877f5},
    {KR_TYPE_IQ3_S, 2, {0, -1}, {0x42a1f5e0, 0xc1d7f280, 0xc0f54600}, 0xe3c89fb0242d3eac},
    {KR_TYPE_IQ1_S, 2, {0, -1}, {0x3dfff000, 0x3f8ff700, 0xbeea9c00}, 0xc9158a99400cc8d6},
    {KR_TYPE_IQ1_M, 2, {-1, -1}, {0x4002a280, 0x40b3f4c0, 0xc002a280}, 0x754494aebd17ddd8},
    {KR_TYPE_IQ4_NL, 2, {0, -1}, {0x41054d00, 0x408aa200, 0x420aa200}, 0x2fb679b709f9df99},
    {KR_TYPE_IQ4_XS, 2, {0, -1}, {0xbeaaa000, 0x40554800, 0xc3e371c8}, 0xf35bfa03ce45e03d},
    {KR_TYPE_TQ1_0, 2, {52, -1}, {0xbeaaa000, 0x00000000, 0xbeaaa000}, 0x8629b4a6ebb35245},
    {KR_TYPE_TQ2_0, 2, {64, -1}, {0xbeaaa000, 0x00000000, 0xbeaaa000}, 0x361f4f0d791f7ba2},
    {KR_TYPE_MXFP4, 2, {-1, -1}, {0x06400000, 0x06c00000, 0xc0c00000}, 0xf4b86755dcf418c0},
    {KR_TYPE_NVFP4, 2, {-1, -1}, {0x3d300000, 0x3e800000, 0x3f600000}, 0xd16555fd22d8469d},
    {KR_TYPE_BF16, 64, {-1, -1}, {0x7a550000, 0x643f0000, 0x66410000}, 0xe842c31ebe1124a5},
};

static void put_half(uint8_t *p, unsigned half) {
  p[0] = (uint8_t)half, p[1] = (uint8_t)(half >> 8);
}

static void fill_pattern(size_t i, const kr_type_info *info, uint8_t *blocks) {
  for (int k = 0; k < patterned[i].n * info->bytes; k++)
    blocks[k] = (uint8_t)(k * 37 + 11 + (k >> 8) * 5);
  for (int k = 0; k < patterned[i].n && k < 2; k++, blocks += info->bytes) {
    unsigned sign = k ? 0x8000 : 0;
    if (patterned[i].halves[0] >= 0) put_half(blocks + patterned[i].halves[0], sign | 0x3555);
    if (patterned[i].halves[1] >= 0) put_half(blocks + patterned[i].halves[1], sign | 0x2e66);
    for (int j = 0; patterned[i].type == KR_TYPE_IQ1_M && j < 4; j++)
      blocks[49 + 2 * j] =
          (uint8_t)((blocks[49 + 2 * j] & 15) | ((sign | 0x3555) >> (4 * j) & 15) << 4);
  }
}

static void test_patterns(void) {
  for (size_t i = 0; i < G_N_ELEMENTS(patterned); i++) {
    const kr_type_info *info = kr_type_get(patterned[i].type);
    int n = patterned[i].n * info->block;
    g_autofree uint8_t *blocks = g_malloc((gsize)(patterned[i].n * info->bytes));
    g_autofree float *values = g_new(float, n);
    fill_pattern(i, info, blocks);
    info->dequantize(blocks, n, values);
    uint64_t hash = 0xcbf29ce484222325u;
    for (int k = 0; k < n; k++)
      for (int s = 0; s < 32; s += 8)
        hash = (hash ^ (kr_float_bits(values[k]) >> s & 255)) * 0x100000001b3u;
    g_test_message("%s", info->name);
    g_assert_cmphex(kr_float_bits(values[1]), ==, patterned[i].at[0]);
    g_assert_cmphex(kr_float_bits(values[18]), ==, patterned[i].at[1]);
    g_assert_cmphex(kr_float_bits(values[n - 1]), ==, patterned[i].at[2]);
    g_assert_cmphex(hash, ==, patterned[i].hash);
  }
}

/* MXFP4's two lowest exponents, where scale and values are subnormal, flushed or not. */
static void test_mxfp4_lowest(void) {
  static const double levels[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  for (uint8_t e = 0; e < 4; e++) {
    uint8_t block[17] = {e};
    for (int j = 0; j < 16; j++) block[1 + j] = (uint8_t)(j | (15 - j) << 4);
    float kept[32], flushed[32];
    kr_type_get(KR_TYPE_MXFP4)->dequantize(block, 32, kept);
    uint64_t state = kr_float_state_set();
    kr_type_get(KR_TYPE_MXFP4)->dequantize(block, 32, flushed);
    kr_float_state_restore(state);
    g_assert_cmpmem(flushed, sizeof flushed, kept, sizeof kept);
    for (int j = 0; j < 16; j++) {
      g_assert_true((double)kept[j] == ldexp(levels[j], e - 128));
      g_assert_true((double)kept[j + 16] == ldexp(levels[15 - j], e - 128));
    }
    g_assert_cmphex(kr_float_bits(kept[8]), ==, 0);
  }
}

/* Float types keep every bit, subnormals and NaN payloads included. */
static void test_float_words(void) {
  static const uint8_t words[] = {1, 0, 0, 0x80, 1, 0, 0x80, 0x7f, 0xff, 0xff, 0x7f, 0};
  float values[6];
  uint64_t state = kr_float_state_set();
  kr_type_get(KR_TYPE_F32)->dequantize(words, 3, values);
  kr_type_get(KR_TYPE_BF16)->dequantize(words, 3, values + 3);
  kr_float_state_restore(state);
  static const uint32_t want[6] = {0x80000001, 0x7f800001, 0x007fffff,
                                   0x00010000, 0x80000000, 0x00010000};
  g_assert_cmpmem(values, sizeof values, want, sizeof want);
}

static void test_q8_0(void) {
  float values[64] = {0};
  uint8_t blocks[68];
  values[0] = 127, values[1] = -127, values[2] = 0.5f, values[3] = -0.5f, values[4] = 2.5f;
  values[5] = 0.49999997f, values[6] = -1.5f, values[31] = -0.25f;
  values[32 + 9] = -254;
  kr_quantize_q8_0(values, 64, blocks);
  static const uint8_t first[] = {0x00, 0x3c, 127, 129, 1, 255, 3, 0, 254, 0};
  g_assert_cmpmem(blocks, sizeof first, first, sizeof first);
  g_assert_cmpint(blocks[33], ==, 0);
  static const uint8_t second[] = {0x00, 0x40};
  g_assert_cmpmem(blocks + 34, 2, second, 2);
  g_assert_cmpint(blocks[36 + 9], ==, 129);
}

static void test_q4(void) {
  float values[32] = {0};
  uint8_t block[20];
  values[0] = -8, values[16] = 7, values[1] = 8, values[17] = 0.5f;
  kr_quantize_q4_0(values, 32, block);
  static const uint8_t q4_0[] = {0x00, 0x3c, 0xf0, 0x9f, 0x88, 0x88}; /* d = 1 */
  g_assert_cmpmem(block, sizeof q4_0, q4_0, sizeof q4_0);
  for (int i = 0; i < 32; i++) values[i] = 2 + (float)(i & 15) / 2;
  kr_quantize_q4_1(values, 32, block);
  g_assert_cmphex(block[0] | block[1] << 8, ==, 0x3800); /* d = 1/2, m = 2 */
  g_assert_cmphex(block[2] | block[3] << 8, ==, 0x4000);
  for (int j = 0; j < 16; j++) g_assert_cmphex(block[4 + j], ==, (unsigned)(j * 17));
}

/* What no block can express, and what is too small for any scale, has one outcome. */
static void test_extremes(void) {
  static const struct {
    void (*quantize)(const float *, int64_t, uint8_t *);
    uint32_t type;
  } kinds[] = {{kr_quantize_q8_0, KR_TYPE_Q8_0},
               {kr_quantize_q4_0, KR_TYPE_Q4_0},
               {kr_quantize_q4_1, KR_TYPE_Q4_1}};
  static const uint32_t bad[] = {0x7f800000, 0xff800000, 0x7fc00000, 0xffbfffff, 0x7f7fffff};
  static const uint32_t tiny[] = {0x00000001, 0x807fffff, 0x00800000, 0x8e7fffff};
  for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
    const kr_type_info *info = kr_type_get(kinds[k].type);
    float values[32], decoded[32];
    uint8_t block[34], again[34];
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
      for (int j = 0; j < 32; j++) values[j] = (float)(j - 7);
      values[11] = kr_bits_float(bad[i]);
      kinds[k].quantize(values, 32, block);
      info->dequantize(block, 32, decoded);
      for (int j = 0; j < 32; j++) g_assert_true(isnan(decoded[j]));
    }
    for (size_t i = 0; i < G_N_ELEMENTS(tiny); i++) {
      for (int j = 0; j < 32; j++) values[j] = 0;
      values[5] = kr_bits_float(tiny[i]);
      kinds[k].quantize(values, 32, block);
      uint64_t state = kr_float_state_set();
      kinds[k].quantize(values, 32, again);
      kr_float_state_restore(state);
      g_assert_cmpmem(block, (gsize)info->bytes, again, (gsize)info->bytes);
      info->dequantize(block, 32, decoded);
      for (int j = 0; j < 32; j++) g_assert_true(decoded[j] == 0);
    }
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/quant/table", test_table);
  g_test_add_func("/quant/patterns", test_patterns);
  g_test_add_func("/quant/mxfp4-lowest", test_mxfp4_lowest);
  g_test_add_func("/quant/float-words", test_float_words);
  g_test_add_func("/quant/q8_0", test_q8_0);
  g_test_add_func("/quant/q4", test_q4);
  g_test_add_func("/quant/extremes", test_extremes);
  return g_test_run();
}
