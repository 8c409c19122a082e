#include "perplexity_score.h"
#include "front_error.h"
#include "front_signals.h"
#include <math.h>

double kr_score_perplexity(const kr_score *score) {
  return exp(score->nll / (double)score->count);
}

double kr_score_error(const kr_score *score) {
  if (score->count < 2) return 0;
  double n = (double)score->count, mean = score->nll / n;
  double variance = score->nll_squared / n - mean * mean;
  return variance > 0 ? sqrt(variance / (n - 1)) * kr_score_perplexity(score) : 0;
}

double kr_score_token(const float *logits, gsize n, int32_t token) {
  float max = logits[0];
  double sum = 0;
  for (gsize i = 1; i < n; i++) max = MAX(max, logits[i]);
  for (gsize i = 0; i < n; i++) sum += exp((double)(logits[i] - max));
  return log(sum) - (double)(logits[token] - max);
}

static void add(kr_score *score, double nll) {
  score->nll += nll;
  score->nll_squared += nll * nll;
  score->count++;
}

gboolean kr_score_chunk(const kr_front *front, kr_session *session, const int32_t *tokens, gsize n,
                        gsize first, kr_score *score, GError **error) {
  gsize n_vocab = (gsize)kr_vocab_size(front->vocab);
  gsize batch = (gsize)kr_engine_batch(front->engine);
  g_autofree kr_row *rows = g_new(kr_row, batch);
  g_autofree float *logits = g_try_malloc_n(MIN(batch, n), n_vocab * sizeof *logits);
  kr_error err;
  if (!logits) return kr_front_fail(error, KR_EXIT_FAILED, "out of memory for logits");
  if (kr_session_truncate(session, 0, &err) != KR_OK)
    return kr_front_fail_library(error, &err, front->path);
  for (gsize done = 0; done < n; done += batch) {
    gsize part = MIN(batch, n - done);
    for (gsize i = 0; i < part; i++) {
      gsize position = done + i;
      rows[i] = (kr_row){session, tokens[position], position >= first && position + 1 < n};
    }
    if (kr_front_interrupted()) return kr_front_fail(error, KR_EXIT_INTERRUPTED, "interrupted");
    if (kr_engine_step(front->engine, rows, part, logits, &err) != KR_OK)
      return kr_front_fail_library(error, &err, front->path);
    const float *next = logits;
    for (gsize i = 0; i < part; i++) {
      if (!rows[i].wants_logits) continue;
      add(score, kr_score_token(next, n_vocab, tokens[done + i + 1]));
      next += n_vocab;
    }
  }
  return TRUE;
}
