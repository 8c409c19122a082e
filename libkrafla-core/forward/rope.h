/* Cosines and sines of the rotary position encoding, made a page of positions at a time. */
#ifndef KR_FORWARD_ROPE_H
#define KR_FORWARD_ROPE_H

#include "model/model.h"

typedef struct kr_rope {
  int64_t pairs;
  double *frequencies; /* [pairs], radians a position */
  float **pages;       /* [n_pages], each f32 [2][KR_PAGE][pairs] or NULL */
  int64_t n_pages;
} kr_rope;

/* factors: f32 [pairs] by which the wavelengths are stretched, or NULL. */
int kr_rope_init(kr_rope *rope, const kr_hparams *hp, const float *factors, int32_t n_ctx,
                 kr_error *err);
void kr_rope_clear(kr_rope *rope);

/* Makes the tables for positions up to and with this one. */
int kr_rope_reach(kr_rope *rope, int32_t position, kr_error *err);

static inline const float *kr_rope_cos(const kr_rope *rope, int32_t position) {
  return rope->pages[position / KR_PAGE] + position % KR_PAGE * rope->pairs;
}
static inline const float *kr_rope_sin(const kr_rope *rope, int32_t position) {
  return kr_rope_cos(rope, position) + KR_PAGE * rope->pairs;
}

#endif
