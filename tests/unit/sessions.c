/* Sessions and steps: results depend on each session's tokens alone, bit by bit, whatever the
 * batches, the neighbours and the history of the pages; a step that fails leaves no trace. */
#include "engine/engine.h"
#include "test_model.h"
#include <string.h>

/* More than two pages; widths that no block divides. */
#define MODEL "--type F16 --dim 72 --heads 6 --kv-heads 2 --ff 100 --vocab 301 --ctx 700"

enum { LENGTH = 600 };

static kr_model *model;
static kr_backends *backends;
static int n_vocab;
static int32_t *tokens; /* [LENGTH] */
static float *truth[3]; /* of a kv type: f32 [LENGTH][n_vocab], one token at a time */

static const float *logits_at(int kv, int position) {
  return truth[kv] + (gsize)position * (gsize)n_vocab;
}

static void assert_same(const float *a, const float *b) {
  g_assert_cmpmem(a, (gsize)n_vocab * sizeof *a, b, (gsize)n_vocab * sizeof *b);
}

/* Appends tokens[from..to) and expects what one token at a time gave. */
static void append_checked(kr_session *s, int kv, int from, int to) {
  g_autofree float *logits = g_new(float, n_vocab);
  g_assert_cmpint(kr_session_length(s), ==, from);
  kr_test_append(s, tokens + from, to - from, logits);
  g_assert_cmpint(kr_session_length(s), ==, to);
  assert_same(logits, logits_at(kv, to - 1));
}

static void make_truth(void) {
  for (int kv = 0; kv < 3; kv++) {
    kr_engine *e = kr_test_engine(model, backends, 1, 1, kv);
    kr_session *s = kr_test_session(e);
    truth[kv] = g_new(float, (gsize)LENGTH *(gsize)n_vocab);
    for (int i = 0; i < LENGTH; i++)
      kr_test_append(s, tokens + i, 1, truth[kv] + (gsize)i * (gsize)n_vocab);
    kr_session_free(s);
    kr_engine_free(e);
  }
  for (int kv = 1; kv < 3; kv++) /* the types really differ */
    g_assert_cmpint(
        memcmp(logits_at(0, LENGTH - 1), logits_at(kv, LENGTH - 1), (gsize)n_vocab * sizeof(float)),
        !=, 0);
}

static void test_splits(void) {
  static const int splits[][8] = {{600},
                                  {1, 599},
                                  {599, 1},
                                  {255, 1, 1, 343},
                                  {256, 256, 88},
                                  {257, 254, 2, 87},
                                  {16, 17, 31, 33, 127, 129, 200, 47}};
  static const int batches[] = {1, 7, 128, 600};
  for (int kv = 0; kv < 3; kv++)
    for (size_t b = 0; b < G_N_ELEMENTS(batches); b++)
      for (size_t i = b ? 0 : 6; i < G_N_ELEMENTS(splits); i++) {
        /* emulators are slow: a third of the combinations, each part of them once */
        if (g_getenv("KRAFLA_TEST_SHORT") && (i + b) % 3 != (size_t)kv) continue;
        kr_engine *e = kr_test_engine(model, backends, b % 2 ? 2 : 3, batches[b], kv);
        kr_session *s = kr_test_session(e);
        for (int k = 0, at = 0; at < LENGTH; at += splits[i][k++])
          append_checked(s, kv, at, at + splits[i][k]);
        kr_session_free(s);
        kr_engine_free(e);
      }
}

/* Logits of every row of one big step, which goes through several batches. */
static void test_all_logits(void) {
  g_autofree float *logits = g_new(float, (gsize)LENGTH *(gsize)n_vocab);
  g_autofree kr_row *rows = g_new(kr_row, LENGTH);
  for (int kv = 0; kv < 3; kv++) {
    kr_engine *e = kr_test_engine(model, backends, 2, 64, kv);
    kr_session *s = kr_test_session(e);
    for (int i = 0; i < LENGTH; i++) rows[i] = (kr_row){s, tokens[i], i % 5 != 3};
    kr_error err;
    if (kr_engine_step(e, rows, LENGTH, logits, &err)) g_error("%s", err.message);
    for (int i = 0, at = 0; i < LENGTH; i++)
      if (i % 5 != 3) assert_same(logits + (gsize)at++ * (gsize)n_vocab, logits_at(kv, i));
    kr_session_free(s);
    kr_engine_free(e);
  }
}

/* Five sessions at different lengths, mixed in one step: prompt parts and single tokens. */
static void test_many_sessions(void) {
  enum { N = 5 };
  static const int lengths[N] = {0, 100, 255, 256, 511}, rows_of[N] = {40, 1, 3, 2, 1};
  for (int kv = 0; kv < 3; kv++) {
    kr_engine *e = kr_test_engine(model, backends, 2, 29, kv);
    kr_session *s[N];
    kr_row rows[64];
    size_t n = 0;
    for (int i = 0; i < N; i++) {
      s[i] = kr_test_session(e);
      if (lengths[i]) append_checked(s[i], kv, 0, lengths[i]);
    }
    for (int i = 0; i < N; i++)
      for (int k = 0; k < rows_of[i]; k++)
        rows[n++] = (kr_row){s[i], tokens[lengths[i] + k], k == rows_of[i] - 1};
    g_autofree float *logits = g_new(float, N *(gsize)n_vocab);
    kr_error err;
    if (kr_engine_step(e, rows, n, logits, &err)) g_error("%s", err.message);
    for (int i = 0; i < N; i++) {
      assert_same(logits + (gsize)i * (gsize)n_vocab, logits_at(kv, lengths[i] + rows_of[i] - 1));
      g_assert_cmpint(kr_session_length(s[i]), ==, lengths[i] + rows_of[i]);
      kr_session_free(s[i]);
    }
    kr_engine_free(e);
  }
}

/* A fork shares pages; what either side writes afterwards must not reach the other. */
static void test_fork(void) {
  static const int at[] = {1, 15, 16, 255, 256, 257, 300, 512, 513};
  g_autofree int32_t *other = kr_test_tokens(LENGTH, n_vocab, 99);
  for (int kv = 0; kv < 3; kv++) {
    kr_engine *e = kr_test_engine(model, backends, 2, 128, kv);
    kr_session *s = kr_test_session(e), *twin;
    append_checked(s, kv, 0, 550);
    for (size_t i = 0; i < G_N_ELEMENTS(at); i++) {
      kr_error err;
      if (kr_session_fork(s, at[i], &twin, &err)) g_error("%s", err.message);
      g_assert_cmpint(kr_session_length(twin), ==, at[i]);
      kr_session *second;
      if (kr_session_fork(twin, at[i], &second, &err)) g_error("%s", err.message);
      kr_test_append(second, other, 20, NULL); /* another continuation, first */
      append_checked(twin, kv, at[i], at[i] + 30);
      kr_session_free(second);
      append_checked(twin, kv, at[i] + 30, at[i] + 40);
      kr_session_free(twin);
    }
    append_checked(s, kv, 550, LENGTH); /* the original saw nothing of it */
    kr_session_free(s);
    kr_engine_free(e);
  }
}

/* The original goes on, and even ends, before its fork does. */
static void test_fork_outlives(void) {
  kr_engine *e = kr_test_engine(model, backends, 1, 128, KR_KV_F32);
  kr_session *s = kr_test_session(e), *twin;
  g_autofree int32_t *other = kr_test_tokens(100, n_vocab, 5);
  append_checked(s, KR_KV_F32, 0, 300);
  g_assert_cmpint(kr_session_fork(s, 270, &twin, NULL), ==, KR_OK);
  g_assert_cmpint(kr_session_truncate(s, 260, NULL), ==, KR_OK);
  kr_test_append(s, other, 100, NULL);
  kr_session_free(s);
  append_checked(twin, KR_KV_F32, 270, 300);
  kr_session_free(twin);
  kr_engine_free(e);
}

static void test_truncate(void) {
  static const int to[] = {590, 513, 512, 511, 300, 257, 256, 255, 17, 16, 1, 0};
  g_autofree int32_t *other = kr_test_tokens(LENGTH, n_vocab, 77);
  for (int kv = 0; kv < 3; kv++) {
    kr_engine *e = kr_test_engine(model, backends, 2, 128, kv);
    kr_session *s = kr_test_session(e);
    append_checked(s, kv, 0, LENGTH);
    for (size_t i = 0; i < G_N_ELEMENTS(to); i++) {
      g_assert_cmpint(kr_session_truncate(s, to[i], NULL), ==, KR_OK);
      g_assert_cmpint(kr_session_length(s), ==, to[i]);
      kr_test_append(s, other, 10, NULL); /* other tokens lie in the pages for a while */
      g_assert_cmpint(kr_session_truncate(s, to[i], NULL), ==, KR_OK);
      append_checked(s, kv, to[i], MIN(to[i] + 60, LENGTH));
      g_assert_cmpint(kr_session_truncate(s, to[i], NULL), ==, KR_OK);
    }
    kr_session_free(s);
    kr_engine_free(e);
  }
}

static void test_lengths_out_of_range(void) {
  kr_engine *e = kr_test_engine(model, backends, 1, 0, KR_KV_F32);
  kr_session *s = kr_test_session(e), *twin = NULL;
  kr_test_append(s, tokens, 20, NULL);
  static const int bad[] = {-1, 21, INT32_MAX, INT32_MIN};
  for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
    kr_error err = {0};
    g_assert_cmpint(kr_session_truncate(s, bad[i], &err), ==, KR_E_ARGUMENT);
    g_assert_nonnull(strstr(err.message, "0..20"));
    g_assert_cmpint(kr_session_fork(s, bad[i], &twin, &err), ==, KR_E_ARGUMENT);
    g_assert_null(twin);
  }
  g_assert_cmpint(kr_session_fork(s, 0, &twin, NULL), ==, KR_OK);
  append_checked(twin, KR_KV_F32, 0, 10);
  append_checked(s, KR_KV_F32, 20, 30);
  kr_session_free(twin);
  kr_session_free(s);
  kr_session_free(NULL);
  kr_engine_free(e);
}

/* ---- failures ------------------------------------------------------------------------------- */

static void expect_failure(kr_engine *e, const kr_row *rows, size_t n, float *logits, int code,
                           const char *message) {
  kr_error err = {0};
  g_assert_cmpint(kr_engine_step(e, rows, n, logits, &err), ==, code);
  g_assert_cmpint(err.code, ==, code);
  g_test_message("%s", err.message);
  g_assert_nonnull(strstr(err.message, message));
}

static void test_bad_rows(void) {
  kr_engine *e = kr_test_engine(model, backends, 2, 3, KR_KV_F32);
  kr_engine *f = kr_test_engine(model, backends, 1, 3, KR_KV_F32);
  kr_session *s = kr_test_session(e), *u = kr_test_session(e), *foreign = kr_test_session(f);
  append_checked(s, KR_KV_F32, 0, 255);
  g_autofree float *logits = g_new(float, 8 * (gsize)n_vocab);
  kr_row rows[6];
  for (int i = 0; i < 6; i++) rows[i] = (kr_row){i < 3 ? s : u, tokens[i < 3 ? 255 + i : i - 3], 0};
  static const int bad[] = {-1, -2000000000, 301, INT32_MAX};
  for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
    rows[4].token = bad[i];
    expect_failure(e, rows, 6, NULL, KR_E_ARGUMENT, "0..300");
  }
  rows[4].token = tokens[1];
  rows[5].session = foreign;
  expect_failure(e, rows, 6, NULL, KR_E_ARGUMENT, "session");
  rows[5].session = NULL;
  expect_failure(e, rows, 6, NULL, KR_E_ARGUMENT, "session");
  rows[5].session = u, rows[5].wants_logits = 1;
  expect_failure(e, rows, 6, NULL, KR_E_ARGUMENT, "logits");
  g_assert_cmpint(kr_session_length(s), ==, 255);
  g_assert_cmpint(kr_session_length(u), ==, 0);
  g_assert_cmpint(kr_engine_step(e, rows, 0, NULL, NULL), ==, KR_OK);
  g_assert_cmpint(kr_session_append(s, NULL, 0, NULL, NULL, NULL, NULL), ==, KR_OK);
  g_assert_cmpint(kr_session_append(s, NULL, 0, NULL, NULL, logits, NULL), ==, KR_E_ARGUMENT);
  append_checked(s, KR_KV_F32, 255, 270);
  append_checked(u, KR_KV_F32, 0, 20);
  kr_session_free(s), kr_session_free(u), kr_session_free(foreign);
  kr_engine_free(e), kr_engine_free(f);
}

/* One session of a step runs out of context: the others go back too. */
static void test_full_context(void) {
  kr_engine_options o = {.threads = 2, .batch = 16, .n_ctx = 300};
  kr_engine *e;
  g_assert_cmpint(kr_engine_new(model, backends, &o, &e, NULL), ==, KR_OK);
  g_assert_cmpint(kr_engine_n_ctx(e), ==, 300);
  kr_session *s = kr_test_session(e), *u = kr_test_session(e);
  append_checked(s, KR_KV_F32, 0, 299);
  append_checked(u, KR_KV_F32, 0, 40);
  kr_row rows[40];
  for (int i = 0; i < 40; i++)
    rows[i] = (kr_row){i < 38 ? u : s, tokens[i < 38 ? 40 + i : 261 + i], 0};
  expect_failure(e, rows, 40, NULL, KR_E_FULL, "300");
  g_assert_cmpint(kr_session_length(s), ==, 299);
  g_assert_cmpint(kr_session_length(u), ==, 40);
  kr_error err;
  g_assert_cmpint(kr_session_append(u, tokens + 40, 261, NULL, NULL, NULL, &err), ==, KR_E_FULL);
  g_assert_cmpint(kr_session_length(u), ==, 40);
  append_checked(s, KR_KV_F32, 299, 300);
  append_checked(u, KR_KV_F32, 40, 300);
  kr_session_free(s), kr_session_free(u);
  kr_engine_free(e);
}

/* A bound on the cache: two pages. */
static void test_kv_bound(void) {
  kr_engine *e = kr_test_engine(model, backends, 1, 64, KR_KV_F32);
  int64_t page = (int64_t)e->kv.layout.page_bytes;
  kr_engine_free(e);
  kr_engine_options o = {.threads = 1, .kv_bytes = page - 1};
  kr_error err = {0};
  g_assert_cmpint(kr_engine_new(model, backends, &o, &e, &err), ==, KR_E_ARGUMENT);
  g_assert_nonnull(strstr(err.message, "kv_bytes"));
  o.kv_bytes = 3 * page - 1;
  g_assert_cmpint(kr_engine_new(model, backends, &o, &e, NULL), ==, KR_OK);
  g_assert_cmpint(kr_engine_kv_bytes(e), ==, 0);
  kr_session *s = kr_test_session(e), *u = kr_test_session(e), *twin;
  append_checked(s, KR_KV_F32, 0, 256);
  g_assert_cmpint(kr_engine_kv_bytes(e), ==, page);
  append_checked(u, KR_KV_F32, 0, 10);
  g_assert_cmpint(kr_engine_kv_bytes(e), ==, 2 * page);
  g_assert_cmpint(kr_session_append(s, tokens + 256, 1, NULL, NULL, NULL, &err), ==, KR_E_FULL);
  g_assert_nonnull(strstr(err.message, "pages"));
  g_assert_cmpint(kr_session_length(s), ==, 256);
  /* a fork takes no page until one side writes to the shared one */
  g_assert_cmpint(kr_session_fork(u, 10, &twin, NULL), ==, KR_OK);
  g_assert_cmpint(kr_session_append(twin, tokens + 10, 1, NULL, NULL, NULL, &err), ==, KR_E_FULL);
  g_assert_cmpint(kr_session_length(twin), ==, 10);
  kr_session_free(u); /* now the page is the twin's own */
  append_checked(twin, KR_KV_F32, 10, 30);
  kr_session_free(twin);
  append_checked(s, KR_KV_F32, 256, 300); /* in the page that was given back */
  g_assert_cmpint(kr_engine_kv_bytes(e), ==, 2 * page);
  kr_session_free(s);
  kr_engine_free(e);
}

typedef struct stopper {
  int calls, stop_at;
  double last;
} stopper;

static int stop_now(void *data, double fraction) {
  stopper *s = data;
  g_assert_cmpfloat(fraction, >, s->last);
  g_assert_cmpfloat(fraction, <, 1);
  s->last = fraction;
  return ++s->calls == s->stop_at;
}

static void test_cancel(void) {
  kr_engine *e = kr_test_engine(model, backends, 1, 50, KR_KV_F32);
  kr_session *s = kr_test_session(e);
  append_checked(s, KR_KV_F32, 0, 100);
  for (int stop_at = 1; stop_at < 4; stop_at++) {
    stopper stop = {.stop_at = stop_at};
    kr_error err;
    g_assert_cmpint(kr_session_append(s, tokens + 100, 400, stop_now, &stop, NULL, &err), ==,
                    KR_E_CANCELLED);
    g_assert_cmpint(stop.calls, ==, stop_at);
    g_assert_cmpint(kr_session_length(s), ==, 100);
  }
  stopper never = {0};
  g_autofree float *logits = g_new(float, n_vocab);
  g_assert_cmpint(kr_session_append(s, tokens + 100, 400, stop_now, &never, logits, NULL), ==,
                  KR_OK);
  g_assert_cmpint(never.calls, ==, 7); /* between batches, not after the last */
  assert_same(logits, logits_at(0, 499));
  kr_session_free(s);
  kr_engine_free(e);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  model = kr_test_model(MODEL);
  backends = kr_test_backends(NULL);
  n_vocab = kr_model_get_info(model)->n_vocab;
  tokens = kr_test_tokens(LENGTH, n_vocab, 1);
  make_truth();
  g_test_add_func("/sessions/splits", test_splits);
  g_test_add_func("/sessions/all-logits", test_all_logits);
  g_test_add_func("/sessions/many", test_many_sessions);
  g_test_add_func("/sessions/fork", test_fork);
  g_test_add_func("/sessions/fork-outlives", test_fork_outlives);
  g_test_add_func("/sessions/truncate", test_truncate);
  g_test_add_func("/sessions/lengths-out-of-range", test_lengths_out_of_range);
  g_test_add_func("/sessions/bad-rows", test_bad_rows);
  g_test_add_func("/sessions/full-context", test_full_context);
  g_test_add_func("/sessions/kv-bound", test_kv_bound);
  g_test_add_func("/sessions/cancel", test_cancel);
  int code = g_test_run();
  for (int kv = 0; kv < 3; kv++) g_free(truth[kv]);
  g_free(tokens);
  kr_backends_free(backends);
  kr_model_free(model);
  return kr_test_clean(code);
}
