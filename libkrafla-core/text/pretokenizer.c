/* Pre-tokenizers. The regular expressions, with L for \p{L} and so on, (i:...) without regard to
 * case, and WS for the tail that all share, \s+(?!\S)|\s+ :
 *
 *   GPT2      's|'t|'re|'ve|'m|'ll|'d| ?L+| ?N+| ?[^\sLN]+|WS
 *
 *   SMOLLM    digits are split off one by one, then GPT2 on what is between
 *
 *   QWEN2     (i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\nLN]?L+|N| ?[^\sLN]+[\r\n]*|\s*[\r\n]+|WS
 *
 *   LLAMA3    QWEN2 with N{1,3}
 *
 *   QWEN35    QWEN2 with [LM]+ for L+ and [^\sLMN]+ for [^\sLN]+
 *
 *   DEEPSEEK  N{1,3} are split off; then [U+4E00-U+9FA5 U+3040-U+30FF]+; then, on each part,
 *
 *             A[A-Za-z]+|[^\r\nLPS]?[LM]+| ?[PS]+[\r\n]*|\s*[\r\n]+|WS
 *
 *             with A the ASCII punctuation; what none of these matches stays a piece
 *
 *   TEKKEN    [^\r\nLN]?U*W+|[^\r\nLN]?U+W*|N| ?[^\sLN]+[\r\n/]*|\s*[\r\n]+|WS
 *             with U = [Lu Lt Lm Lo M] and W = [Ll Lm Lo M]
 *
 *   O200K     TEKKEN with (i:'s|'t|'re|'ve|'m|'ll|'d)? behind both letter parts, and N{1,3}
 *
 * Alternatives are tried in order, each is greedy. "\s*[\r\n]+" ends behind the last line break of
 * a run of white space; "\s+(?!\S)|\s+" takes a run to the end of the text, or all but its last
 * character, or a single one. */
#include "text/pretokenizer.h"
#include "base/utf8.h"
#include "text/unicode.h"

#define LN    (KR_CLASS_L | KR_CLASS_N)
#define LM    (KR_CLASS_L | KR_CLASS_M)
#define PS    (KR_CLASS_P | KR_CLASS_S)
#define BOTH  (KR_CLASS_LM | KR_CLASS_LO | KR_CLASS_M) /* U and W */
#define UPPER (BOTH | KR_CLASS_LU | KR_CLASS_LT)       /* U */
#define LOWER (BOTH | KR_CLASS_LL)                     /* W */
#define END   (UINT32_C(1) << 31)                      /* the class of the end of the text */

/* The classes of the character at at, and where the next one starts. */
static inline uint32_t look(const kr_splitter *s, size_t at, size_t *ret_next) {
  if (at >= s->limit) return *ret_next = at, END;
  uint32_t code = s->text[at];
  if (code < 0x80) return *ret_next = at + 1, kr_class(code);
  *ret_next = at + kr_utf8_next(s->text + at, s->limit - at, &code);
  return kr_class(code == KR_UTF8_INVALID ? 0xfffd : code);
}

/* The end of the run of characters from at on that have a class of mask. */
static inline size_t run_of(const kr_splitter *s, size_t at, uint32_t mask) {
  size_t next;
  while (look(s, at, &next) & mask) at = next;
  return at;
}

/* The same of those that have none of mask's classes. */
static inline size_t run_without(const kr_splitter *s, size_t at, uint32_t mask) {
  size_t next;
  while (!(look(s, at, &next) & (mask | END))) at = next;
  return at;
}

static inline bool is_break(const kr_splitter *s, size_t at) {
  return s->text[at] == '\r' || s->text[at] == '\n';
}

static size_t breaks(const kr_splitter *s, size_t at, bool slash) {
  while (at < s->limit && (is_break(s, at) || (slash && s->text[at] == '/'))) at++;
  return at;
}

/* The end of up to most numerals; the one at at is known. */
static size_t numerals(const kr_splitter *s, size_t at, int most) {
  size_t next;
  for (int i = 0; i < most && look(s, at, &next) & KR_CLASS_N; i++) at = next;
  return at;
}

/* The end of one of 's 't 're 've 'm 'll 'd at at, or at. Without regard to case, U+017F is an s.
 */
static size_t contraction(const kr_splitter *s, size_t at, bool fold) {
  const uint8_t *t = s->text + at;
  size_t n = s->limit - at;
  if (n < 2 || t[0] != '\'') return at;
  uint8_t bit = fold ? 0x20 : 0; /* only letters are compared, so this only folds case */
  uint8_t a = t[1] | bit, b = n > 2 ? t[2] | bit : 0;
  if (a == 's' || a == 't' || a == 'm' || a == 'd') return at + 2;
  if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return at + 3;
  if (fold && n > 2 && t[1] == 0xc5 && t[2] == 0xbf) return at + 3;
  return at;
}

/* The piece of white space at at, with or without "\s*[\r\n]+" before the other two. */
static size_t white_space(const kr_splitter *s, size_t at, bool with_breaks) {
  size_t end = at, last = at, after_break = at, next;
  for (; look(s, end, &next) & KR_CLASS_SPACE; end = next) {
    last = end;
    if (is_break(s, end)) after_break = next;
  }
  if (with_breaks && after_break > at) return after_break;
  return end == s->limit || last == at ? end : last;
}

static size_t scan_gpt2(const kr_splitter *s, size_t at) {
  static const uint32_t other = KR_CLASS_SPACE | LN;
  size_t next, word = contraction(s, at, false);
  if (word > at) return word;
  uint32_t class = look(s, at, &next);
  word = at;
  if (s->text[at] == ' ') word = next, class = look(s, word, &next);
  if (class & KR_CLASS_L) return run_of(s, next, KR_CLASS_L);
  if (class & KR_CLASS_N) return run_of(s, next, KR_CLASS_N);
  if (!(class & (other | END))) return run_without(s, next, other);
  return white_space(s, at, false);
}

/* What the other families have in common: letter parts have been tried. */
static size_t scan_rest(const kr_splitter *s, size_t at, int most, uint32_t other, bool slash) {
  size_t next;
  uint32_t class = look(s, at, &next);
  if (class & KR_CLASS_N) return numerals(s, at, most);
  if (s->text[at] == ' ') class = look(s, next, &next);
  if (!(class & (other | END))) return breaks(s, run_without(s, next, other), slash);
  return white_space(s, at, true);
}

static size_t scan_qwen(const kr_splitter *s, size_t at, uint32_t letters, int most) {
  size_t next, after, word = contraction(s, at, true);
  if (word > at) return word;
  uint32_t class = look(s, at, &next);
  if (!(class & LN) && !is_break(s, at) && look(s, next, &after) & letters)
    return run_of(s, after, letters);
  if (class & letters) return run_of(s, next, letters);
  return scan_rest(s, at, most, KR_CLASS_SPACE | KR_CLASS_N | letters, false);
}

/* U*W+ at at, or at. Where no W follows the U, the W+ is the last of them that is of both. */
static size_t lower_word(const kr_splitter *s, size_t at) {
  size_t end = at, after_both = at, next;
  uint32_t class;
  for (; (class = look(s, end, &next)) & UPPER; end = next)
    if (class & BOTH) after_both = next;
  return class & LOWER ? run_of(s, next, LOWER) : after_both;
}

static size_t scan_cased(const kr_splitter *s, size_t at, bool endings, int most) {
  size_t next, end = at;
  bool prefix = !(look(s, at, &next) & LN) && !is_break(s, at);
  if (prefix && (end = lower_word(s, next)) == next) end = at;
  if (end == at) end = lower_word(s, at);
  /* of U+W*, where U*W+ found nothing there is no W */
  if (end == at && prefix && (end = run_of(s, next, UPPER)) == next) end = at;
  if (end == at) end = run_of(s, at, UPPER);
  if (end > at) return endings ? contraction(s, end, true) : end;
  return scan_rest(s, at, most, KR_CLASS_SPACE | LN, true);
}

static bool is_ascii_letter(const kr_splitter *s, size_t at) {
  return at < s->limit && (s->text[at] | 0x20) >= 'a' && (s->text[at] | 0x20) <= 'z';
}

/* DeepSeek's third expression; at where it does not match. */
static size_t match_deepseek(const kr_splitter *s, size_t at) {
  size_t next, after;
  uint32_t class = look(s, at, &next);
  if (s->text[at] < 0x80 && class & PS && is_ascii_letter(s, next)) {
    while (is_ascii_letter(s, next)) next++;
    return next;
  }
  if (!(class & (KR_CLASS_L | PS)) && !is_break(s, at) && look(s, next, &after) & LM)
    return run_of(s, after, LM);
  if (class & LM) return run_of(s, next, LM);
  uint32_t sign = s->text[at] == ' ' ? look(s, next, &after) : (after = next, class);
  if (sign & PS) return breaks(s, run_of(s, after, PS), false);
  return class & KR_CLASS_SPACE ? white_space(s, at, true) : at;
}

static size_t scan_deepseek(const kr_splitter *s, size_t at) {
  size_t end = match_deepseek(s, at);
  if (end > at) return end;
  do (void)look(s, end, &end); /* a gap between matches is one piece */
  while (end < s->limit && match_deepseek(s, end) == end);
  return end;
}

static inline bool is_cjk(const kr_splitter *s, size_t at) {
  uint32_t code = s->text[at];
  if (code < 0xe3) return false;
  (void)kr_utf8_next(s->text + at, s->n - at, &code);
  return (code >= 0x4e00 && code <= 0x9fa5) || (code >= 0x3040 && code <= 0x30ff);
}

/* Sets s->limit to the end of the part that the splits before the last one leave at s->at.
 * Returns whether that part is a piece as it is. */
static bool next_part(kr_splitter *s) {
  uint32_t apart = s->split == KR_SPLIT_SMOLLM ? KR_CLASS_DIGIT : KR_CLASS_N;
  bool smollm = s->split == KR_SPLIT_SMOLLM;
  size_t next;
  s->limit = s->n;
  if (look(s, s->at, &next) & apart) {
    s->limit = smollm ? next : numerals(s, s->at, 3);
    return true;
  }
  size_t end = s->at;
  bool cjk = !smollm && is_cjk(s, end);
  while (!(look(s, end, &next) & (apart | END)) && (smollm || is_cjk(s, end) == cjk)) end = next;
  s->limit = end;
  return false;
}

void kr_split_start(kr_splitter *splitter, kr_split split, const char *text, size_t n) {
  bool parts = split == KR_SPLIT_SMOLLM || split == KR_SPLIT_DEEPSEEK;
  parts |= split == KR_SPLIT_DEEPSEEK_LLM || split == KR_SPLIT_DEEPSEEK_CODER;
  *splitter = (kr_splitter){(const uint8_t *)text, n, 0, parts ? 0 : n, split, {0}};
}

static size_t scan(const kr_splitter *s, size_t at) {
  switch (s->split) {
  case KR_SPLIT_GPT2:
  case KR_SPLIT_SMOLLM:
    return scan_gpt2(s, at);
  case KR_SPLIT_QWEN2:
    return scan_qwen(s, at, KR_CLASS_L, 1);
  case KR_SPLIT_LLAMA3:
    return scan_qwen(s, at, KR_CLASS_L, 3);
  case KR_SPLIT_QWEN35:
    return scan_qwen(s, at, LM, 1);
  case KR_SPLIT_DEEPSEEK:
    return scan_deepseek(s, at);
  case KR_SPLIT_DEEPSEEK_LLM:
  case KR_SPLIT_DEEPSEEK_CODER: /* not by this way */
    break;
  case KR_SPLIT_TEKKEN:
    return scan_cased(s, at, false, 1);
  case KR_SPLIT_O200K:
    return scan_cased(s, at, true, 3);
  }
  return s->limit;
}

bool kr_split_next(kr_splitter *splitter, const uint8_t **ret_piece, size_t *ret_n) {
  kr_splitter *s = splitter;
  if (s->at >= s->n) return false;
  size_t end;
  if (s->split == KR_SPLIT_DEEPSEEK_LLM || s->split == KR_SPLIT_DEEPSEEK_CODER)
    end = kr_split_first(s);
  else if (s->at == s->limit && next_part(s))
    end = s->limit;
  else
    end = scan(s, s->at);
  *ret_piece = s->text + s->at, *ret_n = end - s->at;
  s->at = end;
  return true;
}
