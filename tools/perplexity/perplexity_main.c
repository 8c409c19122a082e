/* krafla-perplexity: how well a model predicts a text.
 *
 * The text is cut into chunks of --ctx tokens that do not overlap, each computed from position 0.
 * The first token of a chunk is replaced by BOS where the model begins texts with it; every other
 * token is predicted from those before it in the chunk, and scored. With --llama-cpp the first half
 * of a chunk is context alone: only the logits of positions ctx / 2 to ctx - 2 are scored. That is
 * how llama-perplexity counts, so that the numbers can be compared. */
#include "front_error.h"
#include "front_files.h"
#include "front_parse.h"
#include "front_signals.h"
#include "perplexity_score.h"
#include <stdio.h>
#include <string.h>

static struct {
  kr_front_backend_options backend;
  kr_front_engine_options engine;
  gboolean llama_cpp, json;
  char *chunks_text, **rest;
  int32_t chunks; /* 0: as many as the text has */
} options;

typedef struct {
  kr_front front;
  kr_session *session;
  int32_t *tokens;
  gsize n_tokens;
  gsize n_ctx;
  int32_t bos; /* begins each chunk, or -1 */
  kr_score score;
  GString *running; /* perplexities after each chunk, for --json */
} perplexity_run;

static const GOptionEntry entries[] = {
    {"chunks", 0, 0, G_OPTION_ARG_FILENAME, &options.chunks_text,
     "Chunks of the text to score (default: all)", "N"},
    {"llama-cpp", 0, 0, G_OPTION_ARG_NONE, &options.llama_cpp,
     "Score the second half of each chunk, as llama-perplexity does", NULL},
    {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print one JSON object", NULL},
    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.rest, NULL, NULL},
    {0},
};

static gboolean parse(int argc, char **argv, GError **error) {
  GOptionContext *context = g_option_context_new("MODEL TEXT");
  g_option_context_set_summary(
      context, "Measures how well a model predicts the text of a file: the perplexity.\n"
               "The context is 512 tokens unless --ctx says otherwise.");
  g_option_context_add_main_entries(context, entries, NULL);
  g_option_context_add_main_entries(context, kr_front_version_entries, NULL);
  g_option_context_add_group(context, kr_front_engine_group(&options.engine));
  g_option_context_add_group(context, kr_front_backend_group(&options.backend));
  gboolean ok =
      kr_front_parse(context, &argc, &argv, error) &&
      kr_front_int32("--chunks", options.chunks_text, 1, G_MAXINT32, &options.chunks, error);
  g_option_context_free(context);
  if (!ok) return FALSE;
  if (!options.rest || g_strv_length(options.rest) != 2)
    return kr_front_fail(error, KR_EXIT_USAGE, "give a model and a text; %s --help shows more",
                         g_get_prgname());
  if (options.engine.engine.n_ctx == 0) options.engine.engine.n_ctx = 512;
  if (options.engine.engine.n_ctx < 4)
    return kr_front_usage(error, "--ctx", options.engine.ctx, "at least 4 positions");
  return TRUE;
}

/* Encodes the text whole, and notes whether it got a BOS in front. */
static gboolean encode(perplexity_run *run, const GString *text, GError **error) {
  const kr_vocab *vocab = run->front.vocab;
  kr_error err;
  if (kr_vocab_encode(vocab, text->str, text->len, KR_ENCODE_SPECIAL, &run->tokens, &run->n_tokens,
                      &err) != KR_OK)
    return kr_front_fail_library(error, &err, run->front.path);
  int32_t bos = kr_vocab_bos(vocab);
  run->bos = bos >= 0 && run->n_tokens > 0 && run->tokens[0] == bos ? bos : -1;
  return TRUE;
}

static gboolean open_run(perplexity_run *run, const char *model, const char *path, GError **error) {
  kr_error err;
  g_autoptr(GString) text = kr_front_read_file(path, error);
  if (!text || !kr_front_open(model, &options.backend, &options.engine, &run->front, error) ||
      !encode(run, text, error))
    return FALSE;
  run->n_ctx = (gsize)kr_engine_n_ctx(run->front.engine);
  if (run->n_tokens < run->n_ctx)
    return kr_front_fail(error, KR_EXIT_FAILED,
                         "%s: %" G_GSIZE_FORMAT " tokens do not fill one chunk of %" G_GSIZE_FORMAT
                         "; --ctx N makes chunks smaller",
                         path, run->n_tokens, run->n_ctx);
  if (kr_session_new(run->front.engine, &run->session, &err) != KR_OK)
    return kr_front_fail_library(error, &err, model);
  return TRUE;
}

static gboolean score(perplexity_run *run, GError **error) {
  gsize chunks = run->n_tokens / run->n_ctx;
  gsize first = options.llama_cpp ? run->n_ctx / 2 : 0;
  if (options.chunks > 0) chunks = MIN(chunks, (gsize)options.chunks);
  for (gsize c = 0; c < chunks; c++) {
    int32_t *tokens = run->tokens + c * run->n_ctx;
    int32_t replaced = tokens[0];
    if (run->bos >= 0) tokens[0] = run->bos;
    gboolean ok =
        kr_score_chunk(&run->front, run->session, tokens, run->n_ctx, first, &run->score, error);
    tokens[0] = replaced;
    if (!ok) return FALSE;
    double perplexity = kr_score_perplexity(&run->score);
    if (!options.json) printf("[%" G_GSIZE_FORMAT "]%.4f,", c + 1, perplexity);
    g_string_append_printf(run->running, "%s%.6f", c ? ", " : "", perplexity);
    fflush(stdout);
  }
  return TRUE;
}

static void show(const perplexity_run *run, double seconds) {
  double perplexity = kr_score_perplexity(&run->score), error = kr_score_error(&run->score);
  if (options.json)
    printf("{\"perplexity\": %.6f, \"error\": %.6f, \"tokens\": %" G_GINT64_FORMAT
           ", \"scoring\": \"%s\", \"isa\": \"%s\", \"running\": [%s]}\n",
           perplexity, error, run->score.count, options.llama_cpp ? "llama-cpp" : "all",
           kr_backends_isa(run->front.backends), run->running->str);
  else
    printf("\nperplexity: %.4f +/- %.5f over %" G_GINT64_FORMAT " tokens\n", perplexity, error,
           run->score.count);
  fprintf(stderr, "%.1f s, threads: %d, isa: %s, kv: %s\n", seconds,
          kr_engine_threads(run->front.engine), kr_backends_isa(run->front.backends),
          kr_front_kv_name(options.engine.engine.kv));
}

int main(int argc, char **argv) {
  perplexity_run run = {.running = g_string_new(NULL)};
  GError *error = NULL;
  g_set_prgname("krafla-perplexity");
  gboolean ok = parse(argc, argv, &error);
  if (ok) kr_front_signals_init(options.rest[0]);
  ok = ok && open_run(&run, options.rest[0], options.rest[1], &error);
  gint64 started = g_get_monotonic_time();
  ok = ok && score(&run, &error);
  if (ok) show(&run, (double)(g_get_monotonic_time() - started) / 1e6);
  kr_session_free(run.session);
  kr_ids_free(run.tokens);
  kr_front_close(&run.front);
  g_string_free(run.running, TRUE);
  return ok ? 0 : kr_front_report(error);
}
