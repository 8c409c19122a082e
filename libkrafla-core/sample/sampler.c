/* Sampling: repetition penalty, temperature, top-k, min-p, top-p, and the draw.
 *
 * Probabilities are computed in binary64 by the core's own exp, so a seed gives the same tokens on
 * every machine. Candidates are cut before they are sorted: only what can survive is.
 *
 * Sources  top-p: Holtzman et al., arXiv:1904.09751; min-p: Nguyen et al., arXiv:2407.01082;
 *          penalty: Keskar et al., arXiv:1909.05858, in the form that Hugging Face gave it;
 *          xorshift64*: Vigna, arXiv:1402.6246. */
#include "base/float_state.h"
#include "base/memory.h"
#include "base/real.h"
#include "base/size.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct candidate {
  double p; /* not normalized: 1 for the most likely */
  int32_t id;
} candidate;

struct kr_sampler {
  kr_sampler_options options;
  uint64_t state;
  int32_t n_vocab, n_recent, next; /* recent is a ring */
  int32_t *recent;                 /* [options.repeat_last_n] */
  float *logits;                   /* [n_vocab] after the penalty */
  candidate *candidates;           /* [n_vocab] */
};

void kr_sampler_options_init(kr_sampler_options *o) {
  *o = (kr_sampler_options){.seed = 1, .repeat_penalty = 1, .repeat_last_n = 64};
}

static int check(const kr_sampler_options *o, int32_t n_vocab, kr_error *err) {
  if (n_vocab < 1) return kr_fail(err, KR_E_ARGUMENT, "n_vocab: %d", n_vocab);
  if (!(o->temperature >= 0 && o->temperature <= 1e6f))
    return kr_fail(err, KR_E_ARGUMENT, "temperature: %g is not in 0..1e6", (double)o->temperature);
  if (!(o->top_p >= 0 && o->top_p <= 1))
    return kr_fail(err, KR_E_ARGUMENT, "top_p: %g is not in 0..1", (double)o->top_p);
  if (!(o->min_p >= 0 && o->min_p <= 1))
    return kr_fail(err, KR_E_ARGUMENT, "min_p: %g is not in 0..1", (double)o->min_p);
  if (!(o->repeat_penalty > 0 && o->repeat_penalty <= 1e6f))
    return kr_fail(err, KR_E_ARGUMENT, "repeat_penalty: %g is not in 0..1e6",
                   (double)o->repeat_penalty);
  if (o->top_k < 0) return kr_fail(err, KR_E_ARGUMENT, "top_k: %d is negative", o->top_k);
  if (o->repeat_last_n < 0 || o->repeat_last_n > 1 << 24)
    return kr_fail(err, KR_E_ARGUMENT, "repeat_last_n: %d is not in 0..%d", o->repeat_last_n,
                   1 << 24);
  return KR_OK;
}

/* A seed of any value gives a state that is not 0, and seeds that are close give far states
 * (the mixing function of splitmix64). */
static uint64_t mix(uint64_t seed) {
  uint64_t z = seed + UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  z ^= z >> 31;
  return z ? z : 1;
}

static double uniform(kr_sampler *s) { /* in [0, 1), 53 bits; xorshift64* */
  s->state ^= s->state >> 12;
  s->state ^= s->state << 25;
  s->state ^= s->state >> 27;
  return (double)(s->state * UINT64_C(0x2545f4914f6cdd1d) >> 11) * 0x1p-53;
}

int kr_sampler_new(const kr_sampler_options *options, int32_t n_vocab, kr_sampler **ret_sampler,
                   kr_error *err) {
  int code = check(options, n_vocab, err);
  if (code) return code;
  kr_sampler *s = kr_alloc(1, sizeof *s);
  if (!s) return kr_fail_memory(err, "sampler");
  s->options = *options, s->n_vocab = n_vocab, s->state = mix(options->seed);
  s->recent = kr_alloc((size_t)options->repeat_last_n, sizeof *s->recent);
  s->logits = kr_alloc((size_t)n_vocab, sizeof *s->logits);
  s->candidates = kr_alloc((size_t)n_vocab, sizeof *s->candidates);
  if (!s->recent || !s->logits || !s->candidates) {
    kr_sampler_free(s);
    return kr_fail_memory(err, "sampler");
  }
  *ret_sampler = s;
  return KR_OK;
}

void kr_sampler_free(kr_sampler *s) {
  if (!s) return;
  kr_free(s->recent);
  kr_free(s->logits);
  kr_free(s->candidates);
  kr_free(s);
}

void kr_sampler_accept(kr_sampler *s, int32_t token) {
  int32_t room = s->options.repeat_last_n;
  if (!room || token < 0 || token >= s->n_vocab) return;
  s->recent[s->next] = token;
  s->next = (s->next + 1) % room;
  if (s->n_recent < room) s->n_recent++;
}

void kr_sampler_forget(kr_sampler *s) {
  s->n_recent = s->next = 0;
}

/* Every recent token once, however often it stands there: logits come from the caller's copy. */
static void penalize(kr_sampler *s, const float *logits) {
  float penalty = s->options.repeat_penalty;
  if (penalty == 1) return;
  for (int32_t i = 0; i < s->n_recent; i++) {
    float l = logits[s->recent[i]];
    l = l > 0 ? l / penalty : l * penalty;
    s->logits[s->recent[i]] = l > FLT_MAX ? FLT_MAX : l < -FLT_MAX ? -FLT_MAX : l;
  }
}

static int32_t argmax(const float *x, int32_t n) {
  int32_t best = 0;
  for (int32_t i = 1; i < n; i++)
    if (x[i] > x[best]) best = i;
  return best;
}

/* More likely first; of equals the lower id. */
static int compare(const void *a, const void *b) {
  const candidate *x = a, *y = b;
  if (x->p != y->p) return x->p < y->p ? 1 : -1;
  return x->id < y->id ? -1 : 1;
}

/* Candidates in order of likelihood, as many as the filters can let through: all of p >= least, and
 * the total of what was left out in *ret_rest. */
static int32_t select_above(kr_sampler *s, double least, double *ret_total) {
  float top = s->logits[argmax(s->logits, s->n_vocab)];
  double scale = 1 / (double)s->options.temperature, total = 0;
  int32_t n = 0;
  for (int32_t i = 0; i < s->n_vocab; i++) {
    double x = ((double)s->logits[i] - (double)top) * scale, p = x > -700 ? kr_real_exp(x) : 0;
    total += p;
    if (p >= least && p > 0) s->candidates[n++] = (candidate){p, i};
  }
  qsort(s->candidates, (size_t)n, sizeof *s->candidates, compare);
  *ret_total = total;
  return n;
}

/* Cuts by top-k, min-p and top-p, in that order; *n candidates stay. Returns their total. */
static double cut(kr_sampler *s, int32_t *n, double total) {
  const kr_sampler_options *o = &s->options;
  if (o->top_k && *n > o->top_k) {
    *n = o->top_k;
    total = 0;
    for (int32_t i = 0; i < *n; i++) total += s->candidates[i].p;
  }
  if (o->min_p > 0) {
    int32_t kept = 1;
    double sum = s->candidates[0].p;
    while (kept < *n && s->candidates[kept].p >= (double)o->min_p * s->candidates[0].p)
      sum += s->candidates[kept++].p;
    *n = kept, total = sum;
  }
  if (o->top_p > 0 && o->top_p < 1) {
    int32_t kept = 0;
    double sum = 0;
    while (kept < *n && sum < (double)o->top_p * total) sum += s->candidates[kept++].p;
    *n = kept, total = sum;
  }
  return total;
}

/* The smallest p, relative to the most likely token's, that top-p can let through: the tokens below
 * (1 - top_p) / n_vocab of the total cannot add up to 1 - top_p. The total is at most n_vocab. */
static double least_of(const kr_sampler *s) {
  const kr_sampler_options *o = &s->options;
  double least = 0;
  if (o->min_p > 0) least = (double)o->min_p;
  if (!o->top_k && o->top_p > 0 && o->top_p < 1) {
    double by_p = (1 - (double)o->top_p) / s->n_vocab; /* the total is 1 or more */
    if (by_p > least) least = by_p;
  }
  return least;
}

static int32_t draw(kr_sampler *s) {
  if (s->options.temperature == 0 || s->options.top_k == 1) return argmax(s->logits, s->n_vocab);
  double total;
  int32_t n = select_above(s, least_of(s), &total);
  total = cut(s, &n, total);
  double left = uniform(s) * total;
  int32_t i = 0;
  while (i < n - 1 && left >= s->candidates[i].p) left -= s->candidates[i++].p;
  return s->candidates[i].id;
}

int kr_sampler_draw(kr_sampler *s, const float *logits, int32_t *ret_token, kr_error *err) {
  for (int32_t i = 0; i < s->n_vocab; i++)
    if (!isfinite(logits[i])) return kr_fail(err, KR_E_NUMERIC, "logits are not finite");
  memcpy(s->logits, logits, (size_t)s->n_vocab * sizeof *logits);
  uint64_t state = kr_float_state_set(); /* the caller may round in another way */
  penalize(s, logits);
  *ret_token = draw(s);
  kr_float_state_restore(state);
  return KR_OK;
}
