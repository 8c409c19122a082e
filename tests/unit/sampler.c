/* Sampling: each filter against the distribution that it should give, and exact tokens for a seed.
 *
 * Frequencies are held by a chi-square statistic. Seeds are fixed, so a test passes always or
 * never; the bounds are those that a right sampler passes with all but one seed in 10^6. */
#include <fenv.h>
#include <glib.h>
#include <krafla/krafla.h>
#include <math.h>
#include <string.h>

enum { N = 12, DRAWS = 20000 };

/* Probabilities 0.30, 0.20, 0.15, ... in no order of ids. */
static const double base_p[N] = {0.02, 0.10, 0.30, 0.01, 0.15, 0.05,
                                 0.20, 0.04, 0.03, 0.06, 0.03, 0.01};

static void make_logits(float *logits) {
  for (int i = 0; i < N; i++) logits[i] = (float)(log(base_p[i]) + 3);
}

static kr_sampler *start(const kr_sampler_options *o, int n) {
  kr_sampler *s;
  kr_error err;
  if (kr_sampler_new(o, n, &s, &err)) g_error("%s", err.message);
  return s;
}

static int draw(kr_sampler *s, const float *logits) {
  int32_t token = -1;
  kr_error err;
  if (kr_sampler_draw(s, logits, &token, &err)) g_error("%s", err.message);
  return token;
}

/* Draws, and holds the counts to p, which need not add up to 1; tokens with p 0 must not come. */
static void expect_distribution(const kr_sampler_options *o, const double *p) {
  float logits[N], before[N];
  int counts[N] = {0}, kept = 0;
  double total = 0, statistic = 0;
  make_logits(logits);
  memcpy(before, logits, sizeof logits);
  kr_sampler *s = start(o, N);
  for (int i = 0; i < DRAWS; i++) {
    int token = draw(s, logits);
    g_assert_true(token >= 0 && token < N);
    counts[token]++;
  }
  kr_sampler_free(s);
  g_assert_cmpmem(logits, sizeof logits, before, sizeof before);
  for (int i = 0; i < N; i++) total += p[i], kept += p[i] > 0;
  for (int i = 0; i < N; i++) {
    double want = DRAWS * p[i] / total;
    if (p[i] == 0)
      g_assert_cmpint(counts[i], ==, 0);
    else
      statistic += (counts[i] - want) * (counts[i] - want) / want;
  }
  double free = kept - 1; /* Wilson and Hilferty's cube: normal; 4.8 deviations */
  double bound = free ? free * pow(1 - 2 / (9 * free) + 4.8 * sqrt(2 / (9 * free)), 3) : 1e-9;
  g_test_message("chi-square %.2f, bound %.2f, %d tokens", statistic, bound, kept);
  g_assert_cmpfloat(statistic, <=, bound);
}

static kr_sampler_options options(void) {
  kr_sampler_options o;
  kr_sampler_options_init(&o);
  o.temperature = 1, o.seed = 42;
  return o;
}

static void test_temperature(void) {
  static const float temperatures[] = {1, 0.5f, 2, 0.1f};
  for (size_t t = 0; t < G_N_ELEMENTS(temperatures); t++) {
    double p[N];
    kr_sampler_options o = options();
    o.temperature = temperatures[t];
    for (int i = 0; i < N; i++) p[i] = pow(base_p[i] / 0.3, 1 / (double)o.temperature);
    for (int i = 0; i < N; i++) /* what is hardly ever drawn tells nothing: one token of it all */
      if (p[i] < 1e-3) p[i] = 1e-12;
    if (o.temperature > 0.2f) {
      expect_distribution(&o, p);
    } else {
      float logits[N];
      make_logits(logits);
      kr_sampler *s = start(&o, N);
      int top = 0;
      for (int i = 0; i < 1000; i++) top += draw(s, logits) == 2;
      g_assert_cmpint(top, >, 950); /* 0.98 */
      kr_sampler_free(s);
    }
  }
}

/* Keeps the tokens whose probability is at least this one; ties at the edge are no part of it. */
static void keep(double *p, double least) {
  for (int i = 0; i < N; i++) p[i] = base_p[i] >= least ? base_p[i] : 0;
}

static void test_top_k(void) {
  static const struct {
    int k;
    double least;
  } cases[] = {{2, 0.2}, {4, 0.1}, {6, 0.05}, {12, 0}, {1000, 0}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    double p[N];
    kr_sampler_options o = options();
    o.top_k = cases[i].k;
    keep(p, cases[i].least);
    expect_distribution(&o, p);
  }
}

/* The smallest set that reaches top_p: 0.30 0.50 0.65 0.75 0.81 0.86 0.90 ... */
static void test_top_p(void) {
  static const struct {
    float p;
    double least;
  } cases[] = {{0.1f, 0.3},  {0.29f, 0.3},  {0.31f, 0.2},  {0.49f, 0.2}, {0.51f, 0.15},
               {0.7f, 0.10}, {0.80f, 0.06}, {0.85f, 0.05}, {1, 0},       {0, 0}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    double p[N];
    kr_sampler_options o = options();
    o.top_p = cases[i].p;
    keep(p, cases[i].least);
    expect_distribution(&o, p);
  }
}

static void test_min_p(void) {
  static const struct {
    float p;
    double least;
  } cases[] = {{0, 0}, {0.11f, 0.04}, {0.3f, 0.1}, {0.6f, 0.2}, {0.99f, 0.3}, {1, 0.3}};
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    double p[N];
    kr_sampler_options o = options();
    o.min_p = cases[i].p;
    keep(p, cases[i].least);
    expect_distribution(&o, p);
  }
}

/* The order is fixed: temperature, top-k, min-p, top-p; each sees what is left, made whole again.
 */
static void test_together(void) {
  double p[N];
  kr_sampler_options o = options();
  o.top_k = 4, o.top_p = 0.6f; /* of 0.40, 0.27, 0.20, 0.13 the first two are enough */
  keep(p, 0.2);
  expect_distribution(&o, p);
  o.min_p = 0.4f, o.top_k = 0, o.top_p = 0.9f; /* of 0.46, 0.31, 0.23 all three are needed */
  keep(p, 0.15);
  expect_distribution(&o, p);
  o.top_p = 0.75f;
  keep(p, 0.2);
  expect_distribution(&o, p);
  o = options();
  o.temperature = 2, o.min_p = 0.7f; /* after the temperature 0.15 is 0.71 of the top */
  for (int i = 0; i < N; i++) p[i] = base_p[i] >= 0.15 ? sqrt(base_p[i]) : 0;
  expect_distribution(&o, p);
}

static void test_greedy(void) {
  float logits[] = {-3, 2, 7, 7, -1, 7};
  kr_sampler_options o;
  kr_sampler_options_init(&o);
  kr_sampler *s = start(&o, 6);
  g_assert_cmpint(draw(s, logits), ==, 2); /* ties: the lowest id */
  logits[0] = 7;
  g_assert_cmpint(draw(s, logits), ==, 0);
  for (int i = 0; i < 6; i++) logits[i] = -5;
  g_assert_cmpint(draw(s, logits), ==, 0);
  kr_sampler_free(s);
  o.temperature = 1.5f, o.top_k = 1;
  s = start(&o, 6);
  logits[4] = -4;
  for (int i = 0; i < 50; i++) g_assert_cmpint(draw(s, logits), ==, 4);
  kr_sampler_free(s);
  /* with equal logits top-k keeps the lower ids */
  o.top_k = 2;
  logits[4] = -5;
  s = start(&o, 6);
  for (int i = 0; i < 200; i++) g_assert_cmpint(draw(s, logits), <, 2);
  kr_sampler_free(s);
}

/* Divides a positive logit, multiplies a negative one, once however often the token came. */
static void test_penalty(void) {
  float logits[] = {4, 3, -1, 2.9f, -1.2f};
  kr_sampler_options o;
  kr_sampler_options_init(&o);
  o.repeat_penalty = 1.35f, o.repeat_last_n = 3;
  kr_sampler *s = start(&o, 5);
  g_assert_cmpint(draw(s, logits), ==, 0);
  kr_sampler_accept(s, 0);
  g_assert_cmpint(draw(s, logits), ==, 1); /* 2.96 < 3 */
  kr_sampler_accept(s, 0);
  logits[1] = 2.95f;
  g_assert_cmpint(draw(s, logits), ==, 0); /* not 4 / 1.35^2 */
  kr_sampler_accept(s, 1);
  kr_sampler_accept(s, 2);
  g_assert_cmpint(draw(s, logits), ==, 0); /* 0, 1, 2 looked at: 2.963, 2.19, -1.35 */
  kr_sampler_accept(s, 4);
  g_assert_cmpint(draw(s, logits), ==, 0); /* now 1, 2, 4: 0 is itself again */
  kr_sampler_free(s);
  float negative[] = {-9, -8, -1, -9, -1.2f};
  s = start(&o, 5);
  kr_sampler_accept(s, 2);
  g_assert_cmpint(draw(s, negative), ==, 4); /* -1.35 < -1.2 */
  kr_sampler_accept(s, -1);
  kr_sampler_accept(s, 5); /* no tokens: not remembered */
  kr_sampler_accept(s, INT32_MAX);
  g_assert_cmpint(draw(s, negative), ==, 4);
  kr_sampler_forget(s);
  g_assert_cmpint(draw(s, negative), ==, 2);
  kr_sampler_accept(s, 2);
  g_assert_cmpint(draw(s, negative), ==, 4);
  kr_sampler_free(s);
  o.repeat_last_n = 0;
  s = start(&o, 5);
  kr_sampler_accept(s, 2);
  g_assert_cmpint(draw(s, negative), ==, 2);
  kr_sampler_free(s);
}

/* Extreme but finite logits with an extreme penalty still give a token that may be chosen. */
static void test_penalty_extreme(void) {
  static const float penalties[] = {1e-30f, 1e6f};
  float logits[] = {3e38f, -3e38f, 1, -1e38f};
  for (size_t p = 0; p < G_N_ELEMENTS(penalties); p++)
    for (int t = 0; t < 2; t++) {
      kr_sampler_options o = options();
      o.repeat_penalty = penalties[p], o.temperature = (float)t;
      kr_sampler *s = start(&o, 4);
      for (int i = 0; i < 4; i++) kr_sampler_accept(s, i);
      for (int i = 0; i < 20; i++) {
        int token = draw(s, logits);
        g_assert_true(token == 0 || (p == 0 && token == 2));
      }
      kr_sampler_free(s);
    }
}

static void test_not_finite(void) {
  static const float bad[] = {NAN, INFINITY, -INFINITY};
  float logits[] = {1, 2, 3};
  for (size_t b = 0; b < G_N_ELEMENTS(bad); b++)
    for (int i = 0; i < 3; i++)
      for (int t = 0; t < 2; t++) {
        kr_sampler_options o = options();
        o.temperature = (float)t;
        kr_sampler *s = start(&o, 3);
        float spoilt[] = {1, 2, 3};
        spoilt[i] = bad[b];
        int32_t token = -7;
        kr_error err = {0};
        g_assert_cmpint(kr_sampler_draw(s, spoilt, &token, &err), ==, KR_E_NUMERIC);
        g_assert_cmpint(err.code, ==, KR_E_NUMERIC);
        g_assert_cmpint(token, ==, -7);
        g_assert_cmpint(draw(s, logits), >=, 0); /* and goes on */
        kr_sampler_free(s);
      }
}

static void test_option_ranges(void) {
  static const struct {
    size_t offset;
    float value;
    const char *name;
  } floats[] = {
#define BAD(field, value) {offsetof(kr_sampler_options, field), value, #field}
      BAD(temperature, -1),
      BAD(temperature, NAN),
      BAD(temperature, 1e7f),
      BAD(temperature, INFINITY),
      BAD(top_p, -0.1f),
      BAD(top_p, 1.01f),
      BAD(top_p, NAN),
      BAD(min_p, -0.1f),
      BAD(min_p, 2),
      BAD(min_p, NAN),
      BAD(repeat_penalty, 0),
      BAD(repeat_penalty, -1),
      BAD(repeat_penalty, NAN),
      BAD(repeat_penalty, 1e7f),
#undef BAD
  };
  kr_sampler *s = NULL;
  kr_error err;
  for (size_t i = 0; i < G_N_ELEMENTS(floats); i++) {
    kr_sampler_options o = options();
    memcpy((char *)&o + floats[i].offset, &floats[i].value, sizeof(float));
    g_assert_cmpint(kr_sampler_new(&o, 10, &s, &err), ==, KR_E_ARGUMENT);
    g_assert_nonnull(strstr(err.message, floats[i].name));
  }
  kr_sampler_options o = options();
  o.top_k = -1;
  g_assert_cmpint(kr_sampler_new(&o, 10, &s, &err), ==, KR_E_ARGUMENT);
  o = options(), o.repeat_last_n = -1;
  g_assert_cmpint(kr_sampler_new(&o, 10, &s, &err), ==, KR_E_ARGUMENT);
  o.repeat_last_n = INT32_MAX;
  g_assert_cmpint(kr_sampler_new(&o, 10, &s, &err), ==, KR_E_ARGUMENT);
  o = options();
  g_assert_cmpint(kr_sampler_new(&o, 0, &s, &err), ==, KR_E_ARGUMENT);
  g_assert_cmpint(kr_sampler_new(&o, -5, &s, &err), ==, KR_E_ARGUMENT);
  g_assert_null(s);
  kr_sampler_free(NULL);
}

static void draw_many(uint64_t seed, int n, int32_t *tokens) {
  float logits[1000];
  kr_sampler_options o = options();
  o.seed = seed, o.temperature = 0.8f, o.top_p = 0.95f, o.top_k = 40, o.repeat_penalty = 1.1f;
  kr_sampler *s = start(&o, 1000);
  uint32_t state = 12345;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 1000; k++) {
      state = state * 1664525u + 1013904223u;
      logits[k] = (float)(state >> 16) * 0x1p-12f - 8;
    }
    tokens[i] = draw(s, logits);
    kr_sampler_accept(s, tokens[i]);
  }
  kr_sampler_free(s);
}

/* The tokens of a seed, as they must be on every machine and for every caller. */
static void test_exact_sequence(void) {
  static const int32_t want[16] = {323, 533, 451, 240, 912, 470, 898, 733,
                                   502, 831, 468, 894, 707, 655, 192, 671};
  int32_t tokens[16], again[16];
  draw_many(20240607, 16, tokens);
  for (int i = 0; i < 16; i++) g_test_message("%d", tokens[i]);
  g_assert_cmpmem(tokens, sizeof tokens, want, sizeof want);
  fesetround(FE_UPWARD);
  draw_many(20240607, 16, again);
  fesetround(FE_TONEAREST);
  g_assert_cmpmem(again, sizeof again, want, sizeof want);
}

static void test_seeds(void) {
  static const uint64_t seeds[] = {0,
                                   1,
                                   2,
                                   3,
                                   1u << 31,
                                   UINT64_MAX,
                                   UINT64_MAX - 1,
                                   UINT64_C(0x61c8864680b583eb)}; /* the one that mixes to 0 */
  int32_t tokens[G_N_ELEMENTS(seeds)][64], again[64];
  for (size_t i = 0; i < G_N_ELEMENTS(seeds); i++) {
    draw_many(seeds[i], 64, tokens[i]);
    draw_many(seeds[i], 64, again);
    g_assert_cmpmem(tokens[i], sizeof again, again, sizeof again);
    for (size_t k = 0; k < i; k++) { /* near seeds, far sequences */
      int same = 0;
      for (int j = 0; j < 64; j++) same += tokens[i][j] == tokens[k][j];
      g_assert_cmpint(same, <, 32);
    }
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/sampler/temperature", test_temperature);
  g_test_add_func("/sampler/top-k", test_top_k);
  g_test_add_func("/sampler/top-p", test_top_p);
  g_test_add_func("/sampler/min-p", test_min_p);
  g_test_add_func("/sampler/together", test_together);
  g_test_add_func("/sampler/greedy", test_greedy);
  g_test_add_func("/sampler/penalty", test_penalty);
  g_test_add_func("/sampler/penalty-extreme", test_penalty_extreme);
  g_test_add_func("/sampler/not-finite", test_not_finite);
  g_test_add_func("/sampler/option-ranges", test_option_ranges);
  g_test_add_func("/sampler/exact-sequence", test_exact_sequence);
  g_test_add_func("/sampler/seeds", test_seeds);
  return g_test_run();
}
