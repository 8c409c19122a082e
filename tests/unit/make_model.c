/* krafla-make-model's files, read back by the core. KRAFLA_MAKE_MODEL is the program. */
#include "formats/source.h"
#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>

static char *folder, *path; /* a scratch folder, a file in it */

/* Runs the program with options (space-separated) and path. Returns the exit code. */
static int make(const char *options) {
  g_autofree char *all = g_strdup_printf("%s %s %s", g_getenv("KRAFLA_MAKE_MODEL"), options, path);
  g_auto(GStrv) argv = g_strsplit(all, " ", -1);
  g_autoptr(GError) error = NULL;
  int status = 0;
  g_spawn_sync(NULL, argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, NULL, NULL, &status,
               &error);
  g_assert_no_error(error);
  if (g_spawn_check_wait_status(status, &error)) return 0;
  g_assert_true(error->domain == G_SPAWN_EXIT_ERROR);
  return error->code;
}

static kr_source *make_and_open(const char *options) {
  g_assert_cmpint(make(options), ==, 0);
  kr_source *source = NULL;
  kr_error err = {0};
  if (kr_source_open(path, &source, &err)) g_error("%s", err.message);
  return source;
}

static int files_in_folder(void) {
  g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
  int n = 0;
  while (g_dir_read_name(dir)) n++;
  return n;
}

/* Root mean square of a tensor, all of it finite. */
static double rms(const kr_source *source, const char *name, int64_t k, int64_t rows) {
  const kr_tensor *tensor = kr_source_tensor(source, name);
  g_assert_nonnull(tensor);
  g_assert_cmpint(tensor->dims[0], ==, k);
  g_assert_cmpint(tensor->dims[1], ==, rows);
  g_autofree float *values = g_new(float, k *rows);
  kr_type_get(tensor->type)->dequantize(tensor->data, k * rows, values);
  double sum = 0;
  for (int64_t i = 0; i < k * rows; i++) {
    g_assert_true(isfinite(values[i]));
    sum += (double)values[i] * (double)values[i];
  }
  return sqrt(sum / (double)(k * rows));
}

static void assert_near(double value, double want) {
  g_assert_cmpfloat(fabs(value / want - 1), <, 0.08);
}

static void test_type(gconstpointer data) {
  const kr_type_info *info = data;
  g_autofree char *options = g_strdup_printf(
      "--type %s --dim 256 --heads 8 --kv-heads 2 --ff 512 --layers 1 --vocab 300", info->name);
  kr_source *source = make_and_open(options);
  g_assert_true(kr_type_get(kr_source_tensor(source, "output.weight")->type) == info);
  assert_near(rms(source, "token_embd.weight", 256, 300), 1);
  assert_near(rms(source, "output.weight", 256, 300), 2 / 16.0);
  assert_near(rms(source, "blk.0.attn_q.weight", 256, 256), 1 / 16.0);
  assert_near(rms(source, "blk.0.attn_k.weight", 256, 64), 1 / 16.0);
  assert_near(rms(source, "blk.0.attn_v.weight", 256, 64), 1 / 16.0);
  assert_near(rms(source, "blk.0.attn_output.weight", 256, 256), 1 / 16.0 / sqrt(2));
  assert_near(rms(source, "blk.0.ffn_up.weight", 256, 512), 1 / 16.0);
  assert_near(rms(source, "blk.0.ffn_gate.weight", 256, 512), 1 / 16.0);
  assert_near(rms(source, "blk.0.ffn_down.weight", 512, 256), 1 / sqrt(512) / sqrt(2));
  assert_near(rms(source, "output_norm.weight", 256, 1), 1);
  g_assert_cmpuint(kr_source_n_tensors(source), ==, 12);
  kr_source_close(source);
}

/* The bytes are fixed: models are named by their options in other tests. */
static char *checksum(const char *options) {
  g_assert_cmpint(make(options), ==, 0);
  char *bytes;
  gsize n;
  g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
  char *sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (guchar *)bytes, n);
  g_free(bytes);
  return sum;
}

static void test_same_bytes(void) {
  static const char *const want[][2] = {
      {"--seed 1", "f1e3dd82cec30205770825619f15b3236fd68c490d2be958cd10c02e318a5396"},
      {"--type Q4_1 --tied --bias --rope-factors --head-dim 32 --seed 7",
       "8f7834800e0b1057943925de86b1d06d2d55bd1e797953e2b9999a8285194f88"},
      {"--type Q4_0 --layers 1",
       "6d7a77c9fdf30e060a0fc388e5a16916856b355d44f6d16c2096db49981ca4d0"},
      {"--type Q8_0 --layers 1",
       "03b16775f8e4d6e4ab1b1314cf086ca107f6c2dec1bb3c3878ca60331501fd50"},
      {"--type BF16 --layers 1",
       "5168456d0a12ebd908cf53ec73d0eb5e90908111162085680de6cdf3cdddee51"},
      {"--type Q4_K --layers 1 --dim 256 --ff 256",
       "923ac625ce7548a5d1a02fc4c7159b474e0a292e8bc789bae0b5c5e474009eaf"},
      {"--type NVFP4 --layers 1",
       "68ed39dce6ca51d698b13e7ad50aa85adec4f65ba8afae37fefa209bfc23e000"},
  };
  for (gsize i = 0; i < G_N_ELEMENTS(want); i++) {
    g_autofree char *sum = checksum(want[i][0]);
    g_assert_cmpstr(sum, ==, want[i][1]);
  }
  g_autofree char *first = checksum("--layers 1 --seed 1"),
                  *second = checksum("--layers 1 --seed 2");
  g_assert_cmpstr(first, !=, second);
  g_assert_cmpint(files_in_folder(), ==, 1);
}

static void test_variants(void) {
  kr_source *source = make_and_open("--tied --bias --rope-factors --head-dim 32 --dim 96");
  g_assert_null(kr_source_tensor(source, "output.weight"));
  assert_near(rms(source, "token_embd.weight", 96, 320), 2 / sqrt(96));
  g_assert_cmpfloat(rms(source, "blk.1.attn_k.bias", 64, 1), >, 0.05);
  g_assert_cmpfloat(rms(source, "blk.1.attn_output.bias", 96, 1), <, 0.3);
  assert_near(rms(source, "blk.1.attn_output.weight", 128, 96), 1 / sqrt(128) / 2);
  const kr_tensor *factors = kr_source_tensor(source, "rope_freqs.weight");
  g_assert_cmpint(factors->dims[0], ==, 16);
  float values[16];
  kr_type_get(factors->type)->dequantize(factors->data, 16, values);
  g_assert_true(values[0] == 1 && values[15] == 8);
  for (int i = 1; i < 16; i++) g_assert_cmpfloat(values[i], >, values[i - 1]);
  int64_t n = 0;
  g_assert_cmpint(kr_source_int(source, "llama.attention.key_length", 0, 999, &n, NULL), ==, 0);
  g_assert_cmpint(n, ==, 32);
  kr_source_close(source);

  source = make_and_open("--layers 3");
  g_assert_null(kr_source_tensor(source, "rope_freqs.weight"));
  g_assert_null(kr_source_tensor(source, "blk.0.attn_q.bias"));
  g_assert_nonnull(kr_source_tensor(source, "blk.2.ffn_down.weight"));
  kr_source_close(source);
}

static GHashTable *token_set(const kr_source *source, guint want) {
  const kr_value *tokens = kr_source_get(source, "tokenizer.ggml.tokens");
  g_assert_cmpuint(tokens->n, ==, want);
  GHashTable *set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  size_t at = 0;
  kr_text text;
  while (kr_value_next(tokens, &at, &text))
    g_assert_true(g_hash_table_add(set, g_strndup(text.data, text.n))); /* no token twice */
  return set;
}

/* Every merge joins two tokens to a third, in vocabularies of any size. */
static void test_tokenizer(void) {
  static const guint sizes[] = {259, 270, 320, 1000};
  for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
    g_autofree char *options = g_strdup_printf("--layers 1 --vocab %u", sizes[i]);
    kr_source *source = make_and_open(options);
    GHashTable *tokens = token_set(source, sizes[i]);
    const kr_value *merges = kr_source_get(source, "tokenizer.ggml.merges");
    g_assert_cmpuint(merges->n, <=, sizes[i] - 259);
    g_assert_true(sizes[i] == 259 || merges->n > 10);
    size_t at = 0;
    kr_text text;
    while (kr_value_next(merges, &at, &text)) {
      g_autofree char *pair = g_strndup(text.data, text.n);
      g_auto(GStrv) halves = g_strsplit(pair, " ", -1);
      g_assert_cmpuint(g_strv_length(halves), ==, 2);
      g_autofree char *whole = g_strconcat(halves[0], halves[1], NULL);
      g_assert_true(g_hash_table_contains(tokens, halves[0]));
      g_assert_true(g_hash_table_contains(tokens, halves[1]));
      g_assert_true(g_hash_table_contains(tokens, whole));
    }
    g_assert_true(g_hash_table_contains(tokens, "<|im_end|>"));
    g_assert_true(g_hash_table_contains(tokens, "\304\240")); /* U+0120, the space */
    g_hash_table_unref(tokens);
    kr_source_close(source);
  }
}

static void test_refused(void) {
  g_unlink(path);
  static const char *const usage[] = {"--type Q9",    "--type I8",    "--type Q4_0 --dim 80",
                                      "--dim 0",      "--vocab 258",  "--heads 3",
                                      "--kv-heads 3", "--dim x",      "--no-such-option",
                                      "extra",        "--head-dim 7", "--type Q6_K"};
  for (gsize i = 0; i < G_N_ELEMENTS(usage); i++) g_assert_cmpint(make(usage[i]), ==, 2);
  g_assert_cmpint(files_in_folder(), ==, 0);
  g_autofree char *kept = g_steal_pointer(&path);
  path = g_build_filename(folder, "none", "a.gguf", NULL);
  g_assert_cmpint(make("--layers 1"), ==, 1);
  g_free(path);
  path = g_steal_pointer(&kept);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  folder = g_dir_make_tmp("krafla-XXXXXX", NULL);
  path = g_build_filename(folder, "a.gguf", NULL);
  for (uint32_t type = 0; type < 64; type++) {
    const kr_type_info *info = kr_type_get(type);
    if (!info || !info->dequantize) continue;
    g_autofree char *name = g_strconcat("/make-model/type/", info->name, NULL);
    g_test_add_data_func(name, info, test_type);
  }
  g_test_add_func("/make-model/same-bytes", test_same_bytes);
  g_test_add_func("/make-model/variants", test_variants);
  g_test_add_func("/make-model/tokenizer", test_tokenizer);
  g_test_add_func("/make-model/refused", test_refused);
  int status = g_test_run();
  g_unlink(path);
  g_rmdir(folder);
  g_free(path);
  g_free(folder);
  return status;
}
