/* SentencePiece's BPE by scores.
 *
 * Nothing splits the text into words here, and a merge may reach across a space. To keep pieces
 * short all the same, the pairs of neighbouring characters of all tokens are noted (in a Bloom
 * filter of one bit): where two characters of the text are no such pair, no token can cover both.
 * A false hit only makes a piece longer. */
#include "text/model_spm.h"
#include "base/utf8.h"
#include <math.h>

#define KEY         "tokenizer.ggml.scores"
#define INSIDE_BITS 20

static inline uint32_t pair_bit(uint32_t a, uint32_t b) {
  uint64_t h = ((uint64_t)a << 32 | b) * UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)(h >> (64 - INSIDE_BITS));
}

/* Tokens that stand for text: not control, unknown or byte tokens. */
static bool is_text(const kr_tokens *tokens, int32_t id) {
  int kind = tokens->kind[id];
  return !tokens->raw[id] && (kind == KR_TOKEN_UNDEFINED || kind == KR_TOKEN_NORMAL ||
                              kind == KR_TOKEN_USER || kind == KR_TOKEN_UNUSED);
}

/* Scores in descending order as ascending integers, infinity as 0x7fffff. */
static uint32_t priority_of(float score) {
  uint32_t bits;
  score = score + 0.0f; /* -0 is 0 */
  memcpy(&bits, &score, 4);
  bits = bits & UINT32_C(0x80000000) ? ~bits : bits | UINT32_C(0x80000000); /* ascending */
  return ~bits;
}

static void note_pairs(kr_spm *spm, int32_t id) {
  size_t n;
  const uint8_t *s = kr_tokens_bytes(spm->tokens, id, &n);
  uint32_t before = 0, code;
  for (size_t at = 0; at < n; before = code) {
    size_t start = at;
    at += kr_utf8_next(s + at, n - at, &code);
    uint32_t bit = pair_bit(before, code);
    if (start) spm->inside[bit / 64] |= UINT64_C(1) << bit % 64;
  }
}

size_t kr_spm_piece(const kr_spm *spm, const uint8_t *text, size_t n) {
  uint32_t before, code;
  size_t at = kr_utf8_next(text, n, &before);
  for (; at < n; before = code) {
    size_t length = kr_utf8_next(text + at, n - at, &code);
    uint32_t bit = pair_bit(before, code);
    if (!(spm->inside[bit / 64] >> bit % 64 & 1)) return at;
    at += length;
  }
  return n;
}

kr_pair kr_spm_pair(const void *rules, const uint8_t *piece, const kr_symbol *a,
                    const kr_symbol *b) {
  const kr_spm *spm = rules;
  kr_pair none = {KR_PAIR_NONE, -1};
  /* bytes and unknown characters stay apart */
  if (spm->priority[a->id] == KR_PAIR_NONE || spm->priority[b->id] == KR_PAIR_NONE) return none;
  int32_t id = kr_tokens_find(spm->tokens, piece + a->at, (size_t)a->n + b->n, false);
  return id < 0 ? none : (kr_pair){spm->priority[id], id};
}

size_t kr_spm_symbols(const kr_spm *spm, const uint8_t *piece, size_t n, kr_symbol *ret_symbols) {
  const kr_tokens *t = spm->tokens;
  size_t kept = 0;
  for (size_t at = 0, length; at < n; at += length) {
    uint32_t code;
    length = kr_utf8_next(piece + at, n - at, &code);
    int32_t id = kr_tokens_find(t, piece + at, length, false);
    if (id >= 0 && spm->priority[id] != KR_PAIR_NONE) {
      ret_symbols[kept++] = (kr_symbol){id, (uint32_t)at, (uint32_t)length};
      continue;
    }
    bool bytes = true;
    for (size_t i = 0; i < length; i++) bytes &= t->byte[piece[at + i]] >= 0;
    if (!bytes && spm->unknown >= 0)
      ret_symbols[kept++] = (kr_symbol){spm->unknown, (uint32_t)at, (uint32_t)length};
    for (size_t i = 0; bytes && i < length; i++)
      ret_symbols[kept++] = (kr_symbol){t->byte[piece[at + i]], (uint32_t)(at + i), 1};
  }
  return kept;
}

static int find_scores(const kr_source *source, const kr_tokens *tokens,
                       const kr_value **ret_scores, kr_error *err) {
  uint32_t numbers = 1 << KR_VALUE_F32 | 1 << KR_VALUE_F64 | 0x3f | 3 << KR_VALUE_U64;
  const kr_value *scores;
  int code = kr_source_array(source, KEY, numbers, &scores, err);
  if (code) return code;
  if (!scores) return kr_fail(err, KR_E_FORMAT, KEY " is missing");
  if (scores->n != (uint64_t)tokens->n)
    return kr_fail(err, KR_E_FORMAT, KEY ": has %llu values for %ld tokens",
                   (unsigned long long)scores->n, (long)tokens->n);
  *ret_scores = scores;
  return KR_OK;
}

int kr_spm_read(const kr_source *source, const kr_tokens *tokens, int32_t unknown, bool pairs,
                kr_spm *spm, kr_error *err) {
  const kr_value *scores = NULL;
  int code = pairs ? KR_OK : find_scores(source, tokens, &scores, err);
  if (code) return code;
  spm->tokens = tokens;
  spm->unknown = unknown;
  spm->priority = kr_alloc((size_t)tokens->n, sizeof *spm->priority);
  spm->inside = kr_alloc(1 << (INSIDE_BITS - 6), sizeof *spm->inside);
  if (!spm->priority || !spm->inside) return kr_fail_memory(err, "scores");
  for (int32_t i = 0; i < tokens->n; i++) {
    if (pairs) { /* any token may be a merge's, whatever else it is */
      bool text = !tokens->raw[i] && tokens->kind[i] != KR_TOKEN_BYTE;
      spm->priority[i] = text ? 0 : KR_PAIR_NONE;
      if (text) note_pairs(spm, i);
      continue;
    }
    double score = kr_value_float(scores, (uint64_t)i);
    if (isnan(score)) return kr_fail(err, KR_E_FORMAT, KEY "[%ld]: is not a number", (long)i);
    bool text = is_text(tokens, i);
    spm->priority[i] = text ? priority_of((float)score) : KR_PAIR_NONE;
    if (kr_tokens_is_spaces(tokens, i)) { /* before all scores, long ones first */
      uint32_t n = tokens->at[i + 1] - tokens->at[i];
      spm->priority[i] = n < 0x7fffff ? 0x7fffff - n : 0;
    }
    if (text) note_pairs(spm, i);
  }
  return KR_OK;
}

void kr_spm_clear(kr_spm *spm) {
  kr_free(spm->priority);
  kr_free(spm->inside);
  *spm = (kr_spm){0};
}
