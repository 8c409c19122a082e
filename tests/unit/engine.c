/* Engines: options, the caller's float state, results that are not finite, and the profile. */
#include "base/float_state.h"
#include "base/half.h"
#include "gguf_edit.h"
#include "test_model.h"
#include <fenv.h>
#include <string.h>

#define MODEL "--type Q8_0 --dim 64 --vocab 300 --ctx 400"

static kr_model *model;
static kr_backends *backends;

static void expect_refusal(kr_engine_options options, const char *words) {
  kr_engine *engine = NULL;
  kr_error err = {0};
  g_assert_cmpint(kr_engine_new(model, backends, &options, &engine, &err), ==, KR_E_ARGUMENT);
  g_assert_null(engine);
  g_assert_nonnull(strstr(err.message, words));
}

static void test_options(void) {
  expect_refusal((kr_engine_options){.threads = -1}, "threads");
  expect_refusal((kr_engine_options){.threads = 1025}, "threads");
  expect_refusal((kr_engine_options){.batch = -1}, "batch");
  expect_refusal((kr_engine_options){.batch = 4097}, "batch");
  expect_refusal((kr_engine_options){.kv = -1}, "kv");
  expect_refusal((kr_engine_options){.kv = 3}, "kv");
  expect_refusal((kr_engine_options){.n_ctx = -1}, "ctx");
  expect_refusal((kr_engine_options){.n_ctx = 401}, "400");
  expect_refusal((kr_engine_options){.kv_bytes = -1}, "kv_bytes");
  expect_refusal((kr_engine_options){.kv_bytes = 100}, "kv_bytes");
  kr_engine_free(NULL);
}

static void test_defaults(void) {
  kr_engine *e;
  g_assert_cmpint(kr_engine_new(model, backends, NULL, &e, NULL), ==, KR_OK);
  g_assert_cmpint(kr_engine_n_ctx(e), ==, 400);
  g_assert_cmpint(kr_engine_batch(e), ==, 128);
  g_assert_cmpint(kr_engine_threads(e), ==, kr_default_threads());
  g_assert_cmpint(kr_engine_kv_bytes(e), ==, 0);
  kr_engine_free(e);
  kr_engine_options o = {.n_ctx = 9, .threads = 3};
  g_assert_cmpint(kr_engine_new(model, backends, &o, &e, NULL), ==, KR_OK);
  g_assert_cmpint(kr_engine_batch(e), ==, 9); /* no more than there are positions */
  g_assert_cmpint(kr_engine_threads(e), ==, 3);
  kr_engine_free(e);
}

/* What a program computes, from the file to the logits; Q5_0 is quantized anew on the way. */
static void run_all(float *logits, int kv) {
  kr_model *m = kr_test_model("--type Q5_0 --vocab 300 --rope-factors");
  kr_engine *e = kr_test_engine(m, backends, 1, 16, kv);
  kr_session *s = kr_test_session(e);
  g_autofree int32_t *tokens = kr_test_tokens(60, 300, 3);
  kr_test_append(s, tokens, 60, logits);
  kr_session_free(s);
  kr_engine_free(e);
  kr_model_free(m);
}

/* A caller with a float state of its own gets the same bits, and its state back. */
static void test_caller_float_state(void) {
  float want[300], got[300];
  for (int kv = 0; kv < 3; kv++) {
    run_all(want, kv);
    g_assert_cmpint(fesetround(FE_UPWARD), ==, 0);
#if defined(__SSE2__)
    uint32_t state = (_mm_getcsr() & ~0x3fu) | 0x40; /* denormals are zero, no flushing */
    _mm_setcsr(state);
#endif
    run_all(got, kv);
#if defined(__SSE2__)
    g_assert_cmphex(_mm_getcsr() & ~0x3fu, ==, state);
    _mm_setcsr(_mm_getcsr() & ~0x40u);
#endif
    g_assert_cmpint(fegetround(), ==, FE_UPWARD);
    fesetround(FE_TONEAREST);
    g_assert_cmpmem(got, sizeof got, want, sizeof want);
  }
}

/* The file with one value of one row of the token embedding replaced. */
static kr_model *poisoned(int token, float value) {
  g_autofree char *path = kr_test_path("poisoned.gguf");
  kr_edit *edit = kr_edit_open(kr_test_model_path(MODEL));
  kr_edit_widen(edit);
  uint8_t *data = kr_edit_data(edit, "token_embd.weight");
  memcpy(data + (64 * token + 5) * 4, &value, sizeof value);
  kr_edit_save(edit, path);
  kr_model *m;
  kr_error err;
  if (kr_model_open(path, NULL, &m, &err)) g_error("%s", err.message);
  return m;
}

/* A token whose embedding is not finite: an error, the session as before, and no harm to sessions
 * that get its pages later. */
static void test_not_finite(void) {
  static const uint32_t values[] = {0x7fc00000, 0x7f800000, 0xff800000};
  g_autofree int32_t *tokens = kr_test_tokens(200, 300, 3);
  for (int i = 0; i < 200; i++)
    if (tokens[i] == 7) tokens[i] = 8;
  for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
    for (int kv = 0; kv < 3; kv++) {
      kr_model *m = poisoned(7, kr_bits_float(values[i]));
      kr_engine *e = kr_test_engine(m, backends, 2, 64, kv);
      kr_session *s = kr_test_session(e), *bad = kr_test_session(e);
      float want[300], got[300];
      kr_test_append(s, tokens, 200, want);
      kr_session_free(s); /* its page goes to the next one */
      g_autofree int32_t *poison = g_memdup2(tokens, 200 * sizeof *tokens);
      for (int k = 20; k < 200; k += 3) poison[k] = 7;
      kr_error err = {0};
      g_test_message("value %08x, kv %d", values[i], kv);
      g_assert_cmpint(kr_session_append(bad, poison, 200, NULL, NULL, got, &err), ==, KR_E_NUMERIC);
      g_assert_nonnull(strstr(err.message, "finite"));
      g_assert_cmpint(kr_session_length(bad), ==, 0);
      s = kr_test_session(e);
      for (int k = 0; k < 200; k++) kr_test_append(s, tokens + k, 1, got);
      g_assert_cmpmem(got, sizeof got, want, sizeof want);
      kr_test_append(bad, tokens, 200, got);
      g_assert_cmpmem(got, sizeof got, want, sizeof want);
      kr_session_free(s), kr_session_free(bad);
      kr_engine_free(e);
      kr_model_free(m);
    }
}

static void test_profile(void) {
  kr_engine *e = kr_test_engine(model, backends, 1, 0, KR_KV_F32);
  kr_session *s = kr_test_session(e);
  kr_profile p;
  kr_engine_profile(e, &p);
  g_assert_true(p.total == 0 && p.qkv == 0 && p.other == 0);
  g_autofree int32_t *tokens = kr_test_tokens(100, 300, 3);
  float logits[300];
  kr_test_append(s, tokens, 100, logits);
  kr_engine_profile(e, &p);
  g_assert_true(p.qkv > 0 && p.attention > 0 && p.output > 0 && p.feed_forward > 0);
  g_assert_true(p.classifier > 0 && p.total > 0 && p.other > -1e-9);
  double sum = p.qkv + p.attention + p.output + p.feed_forward + p.classifier + p.other;
  g_assert_cmpfloat_with_epsilon(sum, p.total, 1e-9);
  kr_session_free(s);
  kr_engine_free(e);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  model = kr_test_model(MODEL);
  backends = kr_test_backends(NULL);
  g_test_add_func("/engine/options", test_options);
  g_test_add_func("/engine/defaults", test_defaults);
  g_test_add_func("/engine/caller-float-state", test_caller_float_state);
  g_test_add_func("/engine/not-finite", test_not_finite);
  g_test_add_func("/engine/profile", test_profile);
  int code = g_test_run();
  kr_backends_free(backends);
  kr_model_free(model);
  return kr_test_clean(code);
}
