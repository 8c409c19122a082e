/* Whole models against Hugging Face transformers: every fixture of KRAFLA_SHARED/golden that ships
 * a GGUF of an architecture that runs here, on every backend, within the fixture's own tolerance.
 *
 * The files hold 16-bit matrices; the same values as F32 must give the very same bits. */
#include "gguf_edit.h"
#include "test_model.h"
#include <jansson.h>
#include <math.h>
#include <string.h>

typedef struct fixture {
  char *folder, *name;
  int n, n_vocab, n_greedy;
  int32_t *tokens, *greedy;
  float *logits, *greedy_logits; /* f32 [n][n_vocab], [n_greedy][n_vocab] */
  double max_abs, max_kl;
  double f16_kv, q8_weights; /* max abs that rounding of these kinds was found to make */
} fixture;

static char *shared; /* the golden folder, or NULL */

static int32_t *ids_of(const json_t *root, const char *key, int *ret_n) {
  const json_t *array = json_object_get(root, key);
  *ret_n = (int)json_array_size(array);
  g_assert_cmpint(*ret_n, >, 0);
  int32_t *ids = g_new(int32_t, *ret_n);
  for (int i = 0; i < *ret_n; i++)
    ids[i] = (int32_t)json_integer_value(json_array_get(array, (size_t)i));
  return ids;
}

static float *floats_of(const fixture *f, const json_t *root, const char *key, int rows) {
  g_autofree char *path =
      g_build_filename(f->folder, json_string_value(json_object_get(root, key)), NULL);
  char *data = NULL;
  gsize bytes = 0;
  g_assert_true(g_file_get_contents(path, &data, &bytes, NULL));
  g_assert_cmpuint(bytes, ==, (gsize)rows * (gsize)f->n_vocab * sizeof(float));
  return (float *)data; /* little-endian, as this machine must be */
}

static fixture load(const char *name) {
  fixture f = {.name = g_strdup(name), .folder = g_build_filename(shared, name, NULL)};
  g_autofree char *path = g_build_filename(f.folder, "golden.json", NULL);
  json_error_t error;
  json_t *root = json_load_file(path, 0, &error);
  if (!root) g_error("%s: %s", path, error.text);
  f.n_vocab = (int)json_integer_value(json_object_get(root, "vocab"));
  f.tokens = ids_of(root, "token_ids", &f.n);
  f.greedy = ids_of(root, "greedy_ids", &f.n_greedy);
  f.logits = floats_of(&f, root, "logits_file", f.n);
  f.greedy_logits = floats_of(&f, root, "greedy_logits_file", f.n_greedy);
  const json_t *tolerance = json_object_get(root, "tolerance");
  f.max_abs = json_number_value(json_object_get(tolerance, "max_abs"));
  f.max_kl = json_number_value(json_object_get(tolerance, "max_kl"));
  g_assert_true(f.max_abs > 0 && f.max_abs < 0.01 && f.max_kl > 0 && f.max_kl < 1e-3);
  const json_t *rounded = json_object_get(root, "expected_when");
  f.f16_kv =
      json_number_value(json_object_get(json_object_get(rounded, "f16_kv_cache"), "max_abs"));
  f.q8_weights =
      json_number_value(json_object_get(json_object_get(rounded, "q8_0_weights"), "max_abs"));
  json_decref(root);
  return f;
}

static void clear(fixture *f) {
  g_free(f->folder), g_free(f->name), g_free(f->tokens), g_free(f->greedy);
  g_free(f->logits), g_free(f->greedy_logits);
}

static int argmax(const float *x, int n) {
  int best = 0;
  for (int i = 1; i < n; i++)
    if (x[i] > x[best]) best = i;
  return best;
}

/* Infinite for a NaN. (A loop of fmax, besides passing over it, is more than GCC 12 for AArch64 can
 * compile.) */
static double largest_difference(const float *a, const float *b, int n) {
  double largest = 0;
  for (int i = 0; i < n; i++) {
    double d = fabs((double)a[i] - (double)b[i]);
    if (!(d <= largest)) largest = isnan(d) ? INFINITY : d;
  }
  return largest;
}

/* sum of p log(p / q) for the distributions of two rows of logits */
static double divergence(const float *p, const float *q, int n) {
  double p_max = p[argmax(p, n)], q_max = q[argmax(q, n)], p_sum = 0, q_sum = 0, kl = 0;
  for (int i = 0; i < n; i++) p_sum += exp(p[i] - p_max), q_sum += exp(q[i] - q_max);
  for (int i = 0; i < n; i++) {
    double lp = p[i] - p_max - log(p_sum), lq = q[i] - q_max - log(q_sum);
    kl += exp(lp) * (lp - lq);
  }
  return kl;
}

static void compare(const fixture *f, const char *what, const float *got, const float *want,
                    int rows) {
  double abs = 0, kl = 0;
  for (int i = 0; i < rows; i++) {
    const float *a = got + i * f->n_vocab, *b = want + i * f->n_vocab;
    abs = fmax(abs, largest_difference(a, b, f->n_vocab));
    kl = fmax(kl, divergence(b, a, f->n_vocab));
  }
  g_test_message("%s: max abs %.2e of %.2e, max KL %.2e of %.2e", what, abs, f->max_abs, kl,
                 f->max_kl);
  g_assert_cmpfloat(abs, <=, f->max_abs);
  g_assert_cmpfloat(kl, <=, f->max_kl);
}

/* Logits of the prompt's rows in one step, then token by token, greedily: f32
 * [n + n_greedy - 1][n_vocab]. The caller frees them. */
static float *run(const fixture *f, const kr_model *model, const char *isa) {
  kr_backends *backends = kr_test_backends(isa);
  kr_engine *e = kr_test_engine(model, backends, 2, 0, KR_KV_F32);
  kr_session *s = kr_test_session(e);
  g_autofree kr_row *rows = g_new(kr_row, f->n);
  float *logits = g_new(float, (gsize)(f->n + f->n_greedy) * (gsize)f->n_vocab);
  kr_error err;
  for (int i = 0; i < f->n; i++) rows[i] = (kr_row){s, f->tokens[i], 1};
  if (kr_engine_step(e, rows, (size_t)f->n, logits, &err)) g_error("%s", err.message);
  float *last = logits + (f->n - 1) * f->n_vocab;
  for (int i = 0; i < f->n_greedy; i++) {
    int32_t token = argmax(last, f->n_vocab);
    g_assert_cmpint(token, ==, f->greedy[i]);
    if (i == f->n_greedy - 1) break;
    last += f->n_vocab;
    kr_test_append(s, &token, 1, last);
  }
  kr_session_free(s);
  kr_engine_free(e);
  kr_backends_free(backends);
  return logits;
}

/* Rounded caches: as far away as rounding the same values elsewhere, with some room; an error in
 * scales or layout is much farther. */
static void check_caches(const fixture *f, const kr_model *model) {
  static const char *const names[] = {[KR_KV_F16] = "f16", [KR_KV_Q8] = "q8"};
  kr_backends *backends = kr_test_backends(NULL);
  g_autofree float *got = g_new(float, f->n_vocab);
  for (int kv = KR_KV_F16; kv <= KR_KV_Q8; kv++) {
    kr_engine *e = kr_test_engine(model, backends, 1, 0, kv);
    kr_session *s = kr_test_session(e);
    double worst = 0, bound = kv == KR_KV_F16 ? 4 * f->f16_kv : f->q8_weights;
    for (int i = 0; i < f->n; i++) {
      kr_test_append(s, f->tokens + i, 1, got);
      worst = fmax(worst, largest_difference(got, f->logits + i * f->n_vocab, f->n_vocab));
    }
    g_test_message("%s, %s cache: max abs %.2e of %.2e", f->name, names[kv], worst, bound);
    g_assert_cmpfloat(worst, <=, bound);
    g_assert_cmpfloat(worst, >, f->max_abs / 50); /* it was rounded */
    kr_session_free(s);
    kr_engine_free(e);
  }
  kr_backends_free(backends);
}

/* The fixture's own file, or skips with the reason for which it is refused. */
static kr_model *open_or_skip(const fixture *f) {
  g_autofree char *path = g_build_filename(f->folder, "model.gguf", NULL);
  kr_model *model = NULL;
  kr_error err = {0};
  int code = kr_model_open(path, NULL, &model, &err);
  if (!code) return model;
  bool dense_llama = !strcmp(f->name, "llama2") || !strcmp(f->name, "llama3_rope");
  if (code != KR_E_UNSUPPORTED || dense_llama) g_error("%s", err.message);
  g_test_skip(err.message + strlen(f->folder) + 1);
  return NULL;
}

static void test_fixture(gconstpointer name) {
  fixture f = load(name);
  kr_model *model = open_or_skip(&f);
  if (!model) {
    clear(&f);
    return;
  }
  g_assert_cmpint(kr_model_get_info(model)->n_vocab, ==, f.n_vocab);
  g_autofree char *source = g_build_filename(f.folder, "model.gguf", NULL);
  g_autofree char *wide_path = kr_test_path("wide.gguf");
  kr_edit *edit = kr_edit_open(source);
  kr_edit_widen(edit);
  kr_edit_save(edit, wide_path);
  kr_model *wide;
  kr_error err;
  if (kr_model_open(wide_path, NULL, &wide, &err)) g_error("%s", err.message);
  g_assert_cmpstr(kr_model_get_info(wide)->types, ==, "F32");
  size_t bytes = (size_t)(f.n + f.n_greedy - 1) * (size_t)f.n_vocab * sizeof(float);
  g_autofree float *first = NULL;
  g_auto(GStrv) isas = kr_test_isas();
  for (int i = 0; isas[i]; i++)
    for (int w = 0; w < 2; w++) {
      kr_model *m = w ? wide : model;
      g_autofree char *what =
          g_strdup_printf("%s, %s, %s", f.name, isas[i], kr_model_get_info(m)->types);
      float *got = run(&f, m, isas[i]);
      compare(&f, what, got, f.logits, f.n);
      compare(&f, what, got + (f.n - 1) * f.n_vocab, f.greedy_logits, f.n_greedy);
      if (first) g_assert_cmpint(memcmp(first, got, bytes), ==, 0);
      if (first)
        g_free(got);
      else
        first = got;
    }
  check_caches(&f, model);
  kr_model_free(wide);
  kr_model_free(model);
  clear(&f);
}

/* Files that llama.cpp quantized; with their own kind of tolerance. */
static void test_quantized(gconstpointer path) {
  kr_model *model = NULL;
  kr_error err = {0};
  int code = kr_model_open(path, NULL, &model, &err);
  if (code == KR_E_UNSUPPORTED) {
    g_test_skip(err.message);
    return;
  }
  if (code) g_error("%s", err.message);
  kr_model_free(model);
  g_error("%s is of an architecture that runs now: compare its logits here", (const char *)path);
}

static void add_fixtures(void) {
  GDir *dir = g_dir_open(shared, 0, NULL);
  g_assert_nonnull(dir);
  for (const char *name; (name = g_dir_read_name(dir));) {
    g_autofree char *gguf = g_build_filename(shared, name, "model.gguf", NULL);
    if (!g_file_test(gguf, G_FILE_TEST_EXISTS)) continue;
    g_autofree char *test = g_strconcat("/golden/", name, NULL);
    g_test_add_data_func_full(test, g_strdup(name), test_fixture, g_free);
  }
  g_dir_close(dir);
  g_autofree char *e2e = g_build_filename(shared, "quant_e2e", NULL);
  dir = g_dir_open(e2e, 0, NULL);
  for (const char *name; dir && (name = g_dir_read_name(dir));) {
    if (!g_str_has_suffix(name, ".gguf")) continue;
    g_autofree char *test = g_strconcat("/quant_e2e/", name, NULL);
    g_test_add_data_func_full(test, g_build_filename(e2e, name, NULL), test_quantized, g_free);
  }
  if (dir) g_dir_close(dir);
}

static void test_no_data(void) {
  g_test_skip("skipped: no shared data");
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  const char *root = g_getenv("KRAFLA_SHARED");
  if (root && *root) {
    shared = g_build_filename(root, "golden", NULL);
    add_fixtures();
  } else {
    g_test_add_func("/golden/llama", test_no_data);
  }
  int code = kr_test_clean(g_test_run());
  g_free(shared);
  return code;
}
