#include "run_generate.h"
#include "front_error.h"
#include "front_signals.h"
#include <stdio.h>
#include <string.h>

gboolean kr_run_open(kr_run *run, const kr_run_options *options, GError **error) {
  memset(run, 0, sizeof *run);
  run->options = options;
  run->pending = run->stop = -1;
  if (!kr_run_logits_open(&run->logits, options->dump_logits, options->fingerprint, error) ||
      !kr_front_open(options->model, &options->backend, &options->engine, &run->front, error))
    return FALSE;
  int32_t n_vocab = kr_vocab_size(run->front.vocab);
  kr_error err;
  if (kr_session_new(run->front.engine, &run->session, &err) != KR_OK ||
      kr_sampler_new(&options->sampling.sampler, n_vocab, &run->sampler, &err) != KR_OK)
    return kr_front_fail_library(error, &err, NULL);
  kr_run_text_init(&run->text, run->front.vocab);
  run->text.stops = (const char *const *)options->stops;
  run->text.ids = options->ids;
  run->next = g_try_new(float, n_vocab);
  return run->next || kr_front_fail(error, KR_EXIT_FAILED, "out of memory for logits");
}

void kr_run_close(kr_run *run) {
  g_free(run->next);
  kr_run_text_clear(&run->text);
  kr_run_logits_clear(&run->logits);
  kr_sampler_free(run->sampler);
  kr_session_free(run->session);
  kr_front_close(&run->front);
}

int32_t kr_run_room(const kr_run *run) {
  return kr_engine_n_ctx(run->front.engine) - kr_session_length(run->session);
}

char *kr_run_full_advice(const kr_run *run) {
  int32_t most = kr_model_get_info(run->front.model)->n_ctx;
  if (kr_engine_n_ctx(run->front.engine) >= most) return g_strdup("this model has no more");
  return g_strdup_printf("--ctx N gives more, up to %d with this model", most);
}

void kr_run_note_full(const kr_run *run) {
  g_autofree char *advice = kr_run_full_advice(run);
  fprintf(stderr, "note: the context of %d positions is full; %s\n",
          kr_engine_n_ctx(run->front.engine), advice);
}

/* As kr_session_append, but every position's logits are wanted. */
static int append_with_logits(kr_run *run, const int32_t *tokens, gsize n, GError **error,
                              kr_error *err) {
  gsize n_vocab = (gsize)kr_vocab_size(run->front.vocab);
  gsize batch = (gsize)kr_engine_batch(run->front.engine);
  kr_row *rows = g_new0(kr_row, batch);
  float *logits = g_try_malloc_n(MIN(batch, n), n_vocab * sizeof *logits);
  int status = KR_OK;
  if (!logits) {
    status = err->code = KR_E_MEMORY;
    g_strlcpy(err->message, "out of memory for logits", sizeof err->message);
  }
  for (gsize done = 0; status == KR_OK && done < n;) {
    gsize part = MIN(batch, n - done);
    for (gsize i = 0; i < part; i++) rows[i] = (kr_row){run->session, tokens[done + i], 1};
    status = kr_engine_step(run->front.engine, rows, part, logits, err);
    if (status != KR_OK) break;
    if (!kr_run_logits_add(&run->logits, logits, part * n_vocab, error)) {
      status = KR_E_IO;
      break;
    }
    done += part;
    memcpy(run->next, logits + (part - 1) * n_vocab, n_vocab * sizeof *logits);
    if (done < n && kr_front_interrupted()) status = err->code = KR_E_CANCELLED;
  }
  g_free(rows);
  g_free(logits);
  return status;
}

gboolean kr_run_prompt(kr_run *run, const int32_t *tokens, gsize n, GError **error) {
  int32_t before = kr_session_length(run->session);
  kr_error err = {0};
  if (n > (gsize)kr_run_room(run)) {
    g_autofree char *advice = kr_run_full_advice(run);
    return kr_front_fail(error, KR_EXIT_FAILED,
                         "the prompt of %" G_GSIZE_FORMAT
                         " tokens does not fit in the context of %d positions; %s",
                         n, kr_engine_n_ctx(run->front.engine), advice);
  }
  gint64 started = g_get_monotonic_time();
  int status =
      kr_run_logits_wanted(&run->logits)
          ? append_with_logits(run, tokens, n, error, &err)
          : kr_session_append(run->session, tokens, n, kr_front_stop, NULL, run->next, &err);
  if (status != KR_OK) {
    kr_session_truncate(run->session, before, NULL);
    if (error && *error) return FALSE;
    return kr_front_fail_library(error, &err, run->front.path);
  }
  run->prompt_time += g_get_monotonic_time() - started;
  run->prompt_tokens += (gint64)n;
  for (gsize i = 0; i < n; i++) kr_sampler_accept(run->sampler, tokens[i]);
  return TRUE;
}

static gboolean is_end(const kr_run *run, int32_t token) {
  const GArray *eos = run->options->eos;
  for (guint i = 0; i < eos->len; i++)
    if (g_array_index(eos, int32_t, i) == token) return TRUE;
  return !run->options->ignore_eos &&
         (token == run->stop || kr_vocab_is_end(run->front.vocab, token));
}

/* Puts the pending token into the session. */
static gboolean compute_pending(kr_run *run, GError **error) {
  kr_row row = {run->session, run->pending, 1};
  kr_error err;
  gint64 started = g_get_monotonic_time();
  if (kr_engine_step(run->front.engine, &row, 1, run->next, &err) != KR_OK)
    return kr_front_fail_library(error, &err, run->front.path);
  run->step_time += g_get_monotonic_time() - started;
  run->steps++;
  run->pending = -1;
  return kr_run_logits_add(&run->logits, run->next, (gsize)kr_vocab_size(run->front.vocab), error);
}

/* The next token of the reply, pending; or *ret_end is set to why there is none. */
static gboolean draw(kr_run *run, gboolean *ret_ended, kr_run_end *ret_end, GError **error) {
  kr_error err;
  int32_t token;
  gint64 started = g_get_monotonic_time();
  if (kr_sampler_draw(run->sampler, run->next, &token, &err) != KR_OK)
    return kr_front_fail_library(error, &err, run->front.path);
  *ret_ended = is_end(run, token);
  *ret_end = KR_END_TOKEN;
  if (*ret_ended) return TRUE;
  kr_sampler_accept(run->sampler, token);
  run->step_time += g_get_monotonic_time() - started;
  run->reply_tokens++;
  run->pending = token;
  if (run->said) g_array_append_val(run->said, token);
  gboolean stopped;
  if (!kr_run_text_token(&run->text, token, &stopped, error)) return FALSE;
  *ret_ended = stopped || run->text.closed;
  *ret_end = stopped ? KR_END_STOP : KR_END_CLOSED;
  return TRUE;
}

gboolean kr_run_reply(kr_run *run, gint64 limit, kr_run_end *ret_end, GError **error) {
  int32_t room = kr_run_room(run);
  gboolean ended = FALSE;
  for (gint64 i = 0; !ended; i++) {
    ended = TRUE;
    if (i >= limit) {
      *ret_end = KR_END_LIMIT;
    } else if (i >= room) {
      *ret_end = KR_END_CONTEXT;
    } else if (kr_front_interrupted()) {
      *ret_end = KR_END_INTERRUPTED;
    } else if ((run->pending >= 0 && !compute_pending(run, error)) ||
               !draw(run, &ended, ret_end, error)) {
      return FALSE;
    }
  }
  return TRUE;
}

static double per_second(gint64 count, gint64 microseconds) {
  return microseconds > 0 ? (double)count * 1e6 / (double)microseconds : 0;
}

static void show_profile(const kr_engine *engine) {
  kr_profile p;
  kr_engine_profile(engine, &p);
  double share = p.total > 0 ? 100 / p.total : 0;
  fprintf(stderr,
          "profile: qkv %.1f %%, attention %.1f %%, output %.1f %%, feed-forward %.1f %%, "
          "classifier %.1f %%, other %.1f %% of %.1f ms\n",
          p.qkv * share, p.attention * share, p.output * share, p.feed_forward * share,
          p.classifier * share, p.other * share, p.total * 1e3);
}

void kr_run_show_statistics(const kr_run *run) {
  const kr_run_options *o = run->options;
  /* the seed only matters, and is only told, where something is drawn */
  if (o->sampling.sampler.temperature > 0)
    fprintf(stderr, "seed: %" G_GUINT64_FORMAT "\n", o->sampling.sampler.seed);
  if (o->profile) show_profile(run->front.engine);
  fprintf(stderr, "prefill: %" G_GINT64_FORMAT " tokens in %.1f ms (%.1f tok/s)\n",
          run->prompt_tokens, (double)run->prompt_time / 1e3,
          per_second(run->prompt_tokens, run->prompt_time));
  fprintf(stderr, "positions: %" G_GINT64_FORMAT ", tok/s: %.2f, threads: %d, isa: %s, kv: %s\n",
          run->prompt_tokens + run->reply_tokens, per_second(run->steps, run->step_time),
          kr_engine_threads(run->front.engine), kr_backends_isa(run->front.backends),
          kr_front_kv_name(o->engine.engine.kv));
}
