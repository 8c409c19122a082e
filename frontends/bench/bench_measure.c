#include "bench_measure.h"
#include "bench_system.h"
#include "front_error.h"
#include "front_open.h"
#include "front_signals.h"
#include <string.h>

typedef struct {
  kr_bench *bench;
  kr_engine *engine;
  kr_session *session;
} runner;

static void result_free(gpointer data) {
  kr_bench_result *result = data;
  g_array_free(result->speeds, TRUE);
  g_free(result);
}

static void group_free(gpointer data) {
  kr_bench_group *group = data;
  g_ptr_array_free(group->results, TRUE);
  g_free(group->isa);
  g_free(group);
}

static void runner_close(runner *r) {
  kr_session_free(r->session);
  kr_engine_free(r->engine);
}

static gboolean runner_open(runner *r, kr_bench *bench, const kr_backends *backends,
                            int32_t threads, GError **error) {
  kr_engine_options options = bench->options->engine;
  kr_error err;
  *r = (runner){.bench = bench};
  options.threads = threads;
  if (kr_engine_new(bench->model, backends, &options, &r->engine, &err) == KR_OK &&
      kr_session_new(r->engine, &r->session, &err) == KR_OK)
    return TRUE;
  return kr_front_fail_library(error, &err, bench->options->model);
}

/* The same ids on every machine and for every program that follows the rule: Knuth's generator
 * from 1, the upper bits, modulo the vocabulary. */
static void make_tokens(int32_t *tokens, int32_t n, int32_t n_vocab) {
  guint64 x = 1;
  for (int32_t i = 0; i < n; i++) {
    x = x * G_GUINT64_CONSTANT(6364136223846793005) + G_GUINT64_CONSTANT(1442695040888963407);
    tokens[i] = (int32_t)((x >> 33) % (guint64)n_vocab);
  }
}

gboolean kr_bench_open(kr_bench *bench, const kr_backends *backends, gint64 started,
                       GError **error) {
  const kr_bench_options *o = bench->options;
  int32_t threads = g_array_index(o->threads, int32_t, 0);
  gint64 before = g_get_monotonic_time();
  if (!kr_front_open_model(o->model, threads, &bench->model, error)) return FALSE;
  bench->load = (double)(g_get_monotonic_time() - before) * 1e-6;
  const kr_model_info *info = kr_model_get_info(bench->model);
  if (o->engine.n_ctx > info->n_ctx)
    return kr_front_fail(error, KR_EXIT_USAGE,
                         "-p, --depth and -n need %d positions, but %s has %d", o->engine.n_ctx,
                         o->model, info->n_ctx);
  bench->prints = g_hash_table_new_full(NULL, NULL, NULL, g_free);
  bench->groups = g_ptr_array_new_with_free_func(group_free);
  bench->tokens = g_new(int32_t, o->engine.n_ctx);
  bench->logits = g_new(float, info->n_vocab);
  make_tokens(bench->tokens, o->engine.n_ctx, info->n_vocab);
  runner r;
  kr_error err;
  gboolean ok = runner_open(&r, bench, backends, threads, error);
  if (ok && kr_session_append(r.session, bench->tokens, 1, NULL, NULL, bench->logits, &err))
    ok = kr_front_fail_library(error, &err, o->model);
  bench->first = (double)(g_get_monotonic_time() - started) * 1e-6;
  bench->peak = kr_bench_memory_peak();
  runner_close(&r);
  return ok;
}

void kr_bench_clear(kr_bench *bench) {
  if (bench->groups) g_ptr_array_free(bench->groups, TRUE);
  if (bench->prints) g_hash_table_destroy(bench->prints);
  g_free(bench->tokens);
  g_free(bench->logits);
  kr_model_free(bench->model);
}

/* The logits after a number of positions depend on these alone: not on the repetition, threads or
 * backend, and not on whether they were a prompt or were decoded. */
static void check_logits(kr_bench *bench, kr_bench_result *result) {
  gsize n_vocab = (gsize)kr_model_get_info(bench->model)->n_vocab;
  gpointer positions = GINT_TO_POINTER(result->depth + result->tokens);
  GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA256);
  result->next = 0;
  for (gsize i = 0; i < n_vocab; i++) {
    guint32 word;
    memcpy(&word, bench->logits + i, sizeof word);
    word = GUINT32_TO_LE(word);
    g_checksum_update(sum, (const guchar *)&word, sizeof word);
    if (bench->logits[i] > bench->logits[result->next]) result->next = (int32_t)i;
  }
  const char *print = g_checksum_get_string(sum);
  const char *known = g_hash_table_lookup(bench->prints, positions);
  if (!known) g_hash_table_insert(bench->prints, positions, g_strdup(print));
  if (known && strcmp(known, print) != 0) result->differs = bench->differs = TRUE;
  /* that of the repetition that differs is the one to show */
  if (!result->print[0] || result->differs) g_strlcpy(result->print, print, sizeof result->print);
  g_checksum_free(sum);
}

static int decode(runner *r, const kr_bench_result *result, kr_error *err) {
  int status = KR_OK;
  for (int32_t i = 0; status == KR_OK && i < result->tokens; i++) {
    kr_row row = {r->session, r->bench->tokens[result->depth + i], 1};
    status = kr_engine_step(r->engine, &row, 1, r->bench->logits, err);
    if (kr_front_interrupted()) break;
  }
  return status;
}

/* One repetition; its time in seconds. */
static gboolean repeat(runner *r, const kr_bench_result *result, double *ret_seconds,
                       GError **error) {
  kr_bench *bench = r->bench;
  kr_error err;
  int status = kr_session_truncate(r->session, result->depth, &err);
  gint64 before = g_get_monotonic_time();
  if (status == KR_OK)
    status = result->decode ? decode(r, result, &err)
                            : kr_session_append(r->session, bench->tokens, (gsize)result->tokens,
                                                kr_front_stop, NULL, bench->logits, &err);
  *ret_seconds = (double)MAX(g_get_monotonic_time() - before, 1) * 1e-6;
  if (kr_front_interrupted()) return kr_front_fail(error, KR_EXIT_INTERRUPTED, "ended by Ctrl-C");
  return status == KR_OK || kr_front_fail_library(error, &err, bench->options->model);
}

/* Keys and values of one position in all layers. q8: keys have an f16 scale for 32 values, values
 * an f32 one. */
static double position_bytes(const kr_model_info *info, int32_t kv) {
  double values = (double)info->n_layers * info->n_kv_heads * info->head_dim;
  return values * (kv == KR_KV_F32 ? 8.0 : kv == KR_KV_F16 ? 4.0 : (34.0 + 36.0) / 32);
}

static void summarize(const runner *r, kr_bench_result *result) {
  const kr_model_info *info = kr_model_get_info(r->bench->model);
  g_autofree double *sorted = g_new(double, result->speeds->len);
  memcpy(sorted, result->speeds->data, result->speeds->len * sizeof *sorted);
  result->median = kr_bench_median(sorted, result->speeds->len);
  result->min = sorted[0];
  result->max = sorted[result->speeds->len - 1];
  result->memory = kr_bench_memory();
  result->kv_bytes = kr_engine_kv_bytes(r->engine);
  if (result->decode)
    result->read_bytes =
        (double)info->weight_bytes + position_bytes(info, r->bench->options->engine.kv) *
                                         (result->depth + (result->tokens + 1) / 2.0);
}

static gboolean measure(runner *r, kr_bench_result *result, GError **error) {
  kr_bench *bench = r->bench;
  kr_error err;
  if (kr_session_truncate(r->session, 0, &err) != KR_OK ||
      (result->depth > 0 && kr_session_append(r->session, bench->tokens, (gsize)result->depth,
                                              kr_front_stop, NULL, NULL, &err) != KR_OK))
    return kr_front_fail_library(error, &err, bench->options->model);
  for (int32_t i = -1; i < bench->options->repetitions; i++) { /* -1: to warm up */
    double seconds;
    if (!repeat(r, result, &seconds, error)) return FALSE;
    double speed = result->tokens / seconds;
    if (i >= 0) g_array_append_val(result->speeds, speed);
    check_logits(bench, result);
  }
  summarize(r, result);
  return TRUE;
}

static gboolean add_test(runner *r, kr_bench_group *group, gboolean decode_test, int32_t tokens,
                         int32_t depth, GError **error) {
  kr_bench_result *result = g_new0(kr_bench_result, 1);
  result->decode = decode_test;
  result->tokens = tokens;
  result->depth = depth;
  result->speeds = g_array_new(FALSE, FALSE, sizeof(double));
  g_ptr_array_add(group->results, result);
  return measure(r, result, error);
}

gboolean kr_bench_run(kr_bench *bench, const kr_backends *backends, int32_t threads,
                      const kr_bench_group **ret_group, GError **error) {
  const kr_bench_options *o = bench->options;
  kr_bench_group *group = g_new0(kr_bench_group, 1);
  group->isa = g_strdup(kr_backends_isa(backends));
  group->threads = threads;
  group->results = g_ptr_array_new_with_free_func(result_free);
  g_ptr_array_add(bench->groups, group);
  runner r;
  gboolean ok = runner_open(&r, bench, backends, threads, error);
  if (ok) group->before = kr_bench_read_bandwidth(threads);
  for (guint i = 0; ok && i < o->prompts->len; i++) {
    int32_t length = g_array_index(o->prompts, int32_t, i);
    if (length > 0) ok = add_test(&r, group, FALSE, length, 0, error);
  }
  for (guint i = 0; ok && i < o->depths->len && o->tokens > 0; i++)
    ok = add_test(&r, group, TRUE, o->tokens, g_array_index(o->depths, int32_t, i), error);
  if (ok) group->after = kr_bench_read_bandwidth(threads);
  runner_close(&r);
  *ret_group = group;
  return ok;
}
