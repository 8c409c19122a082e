/* Rotary position encoding: angles in binary64, their cosines and sines rounded once to f32.
 *
 *   angle(position, i) = position / factor * base^(-2 i / n_rot) / factors[i]
 *
 * Source  Su et al., arXiv:2104.09864 (2021); linear scaling: Chen et al., arXiv:2306.15595; the
 *         factors are what converters make of Llama 3.1's scaling. */
#include "forward/rope.h"
#include "base/real.h"

int kr_rope_init(kr_rope *rope, const kr_hparams *hp, const float *factors, int32_t n_ctx,
                 kr_error *err) {
  *rope = (kr_rope){.pairs = hp->n_rot / 2, .n_pages = (n_ctx + KR_PAGE - 1) / KR_PAGE};
  rope->frequencies = kr_alloc((size_t)rope->pairs, sizeof *rope->frequencies);
  rope->pages = kr_alloc((size_t)rope->n_pages, sizeof *rope->pages);
  if (!rope->frequencies || !rope->pages) {
    kr_rope_clear(rope);
    return kr_fail_memory(err, "rotary tables");
  }
  for (int64_t i = 0; i < rope->pairs; i++) {
    double exponent = -2.0 * (double)i / (double)hp->n_rot;
    rope->frequencies[i] = kr_real_pow(hp->rope_base, exponent) / hp->rope_factor;
    if (factors) rope->frequencies[i] /= (double)factors[i];
  }
  return KR_OK;
}

void kr_rope_clear(kr_rope *rope) {
  for (int64_t i = 0; rope->pages && i < rope->n_pages; i++) kr_free(rope->pages[i]);
  kr_free(rope->pages);
  kr_free(rope->frequencies);
  *rope = (kr_rope){0};
}

static float *make_page(const kr_rope *rope, int64_t page) {
  float *c = kr_alloc((size_t)(2 * KR_PAGE * rope->pairs), sizeof *c);
  float *s = c ? c + KR_PAGE * rope->pairs : NULL;
  for (int64_t p = 0; c && p < KR_PAGE; p++)
    for (int64_t i = 0; i < rope->pairs; i++) {
      double sine, cosine;
      kr_real_sin_cos((double)(page * KR_PAGE + p) * rope->frequencies[i], &sine, &cosine);
      c[p * rope->pairs + i] = (float)cosine, s[p * rope->pairs + i] = (float)sine;
    }
  return c;
}

int kr_rope_reach(kr_rope *rope, int32_t position, kr_error *err) {
  for (int64_t page = position / KR_PAGE; page >= 0 && !rope->pages[page]; page--) {
    rope->pages[page] = make_page(rope, page);
    if (!rope->pages[page]) return kr_fail_memory(err, "rotary tables");
  }
  return KR_OK;
}
