/* Every decoder against the values that gguf-py and ggml give, bit for bit, and the quantizers and
 * half conversions against their bytes. Data: KRAFLA_SHARED/golden/quant (README.md there). */
#include "base/float_state.h"
#include "base/half.h"
#include "quant/types.h"
#include <glib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static char *folder; /* NULL: no shared data */

typedef struct buffer {
  uint8_t *data;
  size_t bytes;
} buffer;

static bool have_data(void) {
  if (!folder) g_test_skip("skipped: no shared data");
  return folder != NULL;
}

static buffer load(const char *name) {
  g_autofree char *path = g_build_filename(folder, name, NULL);
  g_autoptr(GError) error = NULL;
  char *data = NULL;
  gsize bytes = 0;
  g_file_get_contents(path, &data, &bytes, &error);
  g_assert_no_error(error);
  return (buffer){(uint8_t *)data, bytes};
}

static buffer load_type(const char *type, const char *suffix) {
  g_autofree char *name = g_strconcat(type, suffix, NULL);
  return load(name);
}

static uint32_t word(buffer b, size_t i) { /* little-endian */
  const uint8_t *p = b.data + 4 * i;
  return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint16_t half_word(buffer b, size_t i) {
  return (uint16_t)(b.data[2 * i] | b.data[2 * i + 1] << 8);
}

static void assert_values(const char *type, const float *values, buffer expected) {
  for (size_t i = 0; i < expected.bytes / 4; i++)
    if (kr_float_bits(values[i]) != word(expected, i))
      g_error("%s value %zu: %08x, expected %08x", type, i, kr_float_bits(values[i]),
              word(expected, i));
}

/* Decodes from an odd address into an array of exactly the right size, with subnormals kept and
 * with subnormals flushed. */
static void check_decoder(const kr_type_info *info, buffer blocks, buffer expected) {
  g_assert_cmpuint(blocks.bytes % (size_t)info->bytes, ==, 0);
  size_t n = blocks.bytes / (size_t)info->bytes * (size_t)info->block;
  g_assert_cmpuint(n * 4, ==, expected.bytes);
  g_assert_cmpuint(n, >, 0);
  g_autofree uint8_t *odd = g_malloc(blocks.bytes + 1);
  memcpy(odd + 1, blocks.data, blocks.bytes);
  for (int flush = 0; flush < 2; flush++) {
    g_autofree float *values = g_malloc(n * sizeof *values);
    memset(values, 0xa5, n * sizeof *values);
    uint64_t state = flush ? kr_float_state_set() : 0;
    info->dequantize(odd + 1, (int64_t)n, values);
    if (flush) kr_float_state_restore(state);
    assert_values(info->name, values, expected);
  }
}

typedef struct listed {
  uint32_t type;
  int64_t block, bytes;
} listed;

static void test_type(gconstpointer data) {
  const listed *want = data;
  const kr_type_info *info = kr_type_get(want->type);
  g_assert_nonnull(info);
  g_assert_cmpint(info->block, ==, want->block);
  g_assert_cmpint(info->bytes, ==, want->bytes);
  g_assert_nonnull(info->dequantize);
  static const char *const suffixes[][2] = {{".bin", ".f32"}, {".rand.bin", ".rand.f32"}};
  for (int i = 0; i < 2; i++) {
    buffer blocks = load_type(info->name, suffixes[i][0]);
    buffer expected = load_type(info->name, suffixes[i][1]);
    check_decoder(info, blocks, expected);
    g_free(blocks.data);
    g_free(expected.data);
  }
}

/* One test for each type of index.json, so that a type which the data has and the table lacks
 * fails. */
static void add_types(void) {
  buffer index = load("index.json");
  g_autoptr(GRegex) regex = g_regex_new("\"(\\w+)\": *\\{\\s*\"ggml_type\": *(\\d+),\\s*"
                                        "\"block_elems\": *(\\d+),\\s*\"block_bytes\": *(\\d+)",
                                        0, 0, NULL);
  g_autoptr(GMatchInfo) match = NULL;
  int n_types = 0;
  g_regex_match_full(regex, (char *)index.data, (gssize)index.bytes, 0, 0, &match, NULL);
  for (; g_match_info_matches(match); g_match_info_next(match, NULL), n_types++) {
    g_auto(GStrv) parts = g_match_info_fetch_all(match);
    listed *want = g_new(listed, 1);
    want->type = (uint32_t)atoi(parts[2]);
    want->block = atoi(parts[3]), want->bytes = atoi(parts[4]);
    g_autofree char *path = g_strconcat("/quant/decode/", parts[1], NULL);
    g_test_add_data_func_full(path, want, test_type, g_free);
    const kr_type_info *info = kr_type_get(want->type);
    g_assert_true(info && strcmp(info->name, parts[1]) == 0);
  }
  g_assert_cmpint(n_types, >=, 24);
  g_free(index.data);
}

static void test_float_types(void) {
  if (!have_data()) return;
  buffer inputs = load("inputs.f32");
  check_decoder(kr_type_get(KR_TYPE_F32), inputs, inputs);
  g_free(inputs.data);

  buffer all = load("F16.all.f32");
  uint8_t *patterns = g_malloc(2 * 65536);
  for (int i = 0; i < 65536; i++) patterns[2 * i] = (uint8_t)i, patterns[2 * i + 1] = i >> 8;
  check_decoder(kr_type_get(KR_TYPE_F16), (buffer){patterns, 2 * 65536}, all);
  g_free(patterns);
  g_free(all.data);
}

static void test_half_conversions(void) {
  if (!have_data()) return;
  buffer in = load("halfconv.in.u32"), f16 = load("halfconv.f16.u16"),
         bf16 = load("halfconv.bf16.u16");
  size_t n = in.bytes / 4;
  g_assert_cmpuint(n, >, 8000);
  g_assert_cmpuint(f16.bytes, ==, 2 * n);
  g_assert_cmpuint(bf16.bytes, ==, 2 * n);
  for (int flush = 0; flush < 2; flush++) {
    uint64_t state = flush ? kr_float_state_set() : 0;
    for (size_t i = 0; i < n; i++) {
      float f = kr_bits_float(word(in, i));
      g_assert_cmphex(kr_float_to_half(f), ==, half_word(f16, i));
      g_assert_cmphex(kr_float_to_bfloat(f), ==, half_word(bf16, i));
    }
    if (flush) kr_float_state_restore(state);
  }
  g_free(in.data);
  g_free(f16.data);
  g_free(bf16.data);
}

static void check_quantizer(const char *type, int bytes,
                            void (*quantize)(const float *, int64_t, uint8_t *)) {
  buffer inputs = load("inputs.f32"), expected = load_type(type, ".bin");
  size_t n = inputs.bytes / 4;
  g_assert_cmpuint(n / 32 * (size_t)bytes, ==, expected.bytes);
  g_autofree float *values = g_new(float, n);
  for (size_t i = 0; i < n; i++) values[i] = kr_bits_float(word(inputs, i));
  g_autofree uint8_t *blocks = g_malloc(expected.bytes);
  for (int flush = 0; flush < 2; flush++) {
    memset(blocks, 0x5a, expected.bytes);
    uint64_t state = flush ? kr_float_state_set() : 0;
    quantize(values, (int64_t)n, blocks);
    if (flush) kr_float_state_restore(state);
    for (size_t i = 0; i < expected.bytes; i++)
      if (blocks[i] != expected.data[i])
        g_error("%s block %zu byte %zu: %02x, expected %02x", type, i / (size_t)bytes,
                i % (size_t)bytes, blocks[i], expected.data[i]);
  }
  g_free(inputs.data);
  g_free(expected.data);
}

static void test_quantizers(void) {
  if (!have_data()) return;
  check_quantizer("Q8_0", 34, kr_quantize_q8_0);
  check_quantizer("Q4_0", 18, kr_quantize_q4_0);
  check_quantizer("Q4_1", 20, kr_quantize_q4_1);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  const char *shared = g_getenv("KRAFLA_SHARED");
  if (shared && *shared) folder = g_build_filename(shared, "golden", "quant", NULL);
  if (folder) add_types();
  g_test_add_func("/quant/float-types", test_float_types);
  g_test_add_func("/quant/half-conversions", test_half_conversions);
  g_test_add_func("/quant/quantizers", test_quantizers);
  int status = g_test_run();
  g_free(folder);
  return status;
}
