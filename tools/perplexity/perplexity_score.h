/* Scoring a text: how well a model predicts each next token. */
#ifndef KR_PERPLEXITY_SCORE_H
#define KR_PERPLEXITY_SCORE_H

#include "front_open.h"

/* The sum of -ln p over count predicted tokens, and of its square. */
typedef struct kr_score {
  double nll, nll_squared;
  gint64 count;
} kr_score;

/* exp(nll / count). */
double kr_score_perplexity(const kr_score *score);
/* Its standard error, the tokens taken as independent: sqrt(variance of nll / (count - 1)) times
 * the perplexity; 0 for fewer than two. */
double kr_score_error(const kr_score *score);

/* -ln of the softmax of logits f32 [n] at token, in binary64. */
double kr_score_token(const float *logits, gsize n, int32_t token);

/* Computes one chunk of n tokens from position 0 on and adds the predictions of tokens[i + 1] by
 * the logits of position i, first <= i < n - 1. session is emptied before. */
gboolean kr_score_chunk(const kr_front *front, kr_session *session, const int32_t *tokens, gsize n,
                        gsize first, kr_score *score, GError **error);

#endif
