/* The pre-tokenizers of the first DeepSeek models: splits in sequence, each of all pieces that the
 * one before it makes, the matched ones too.
 *
 *   CODER   [\r\n]; \s?L+; \s?P+; [scripts]+; N
 *   LLM     [\r\n]; \s?[letters]+; \s?[signs]+; \s+$; [scripts]+; N+
 *
 * with the letters, signs and scripts that are listed here. */
#include "base/utf8.h"
#include "text/pretokenizer.h"
#include "text/unicode.h"

/* Letters with case, as they were when the models were made. */
static const uint32_t letters[][2] = {
    {0x41, 0x5a},       {0x61, 0x7a},       {0xb5, 0xb5},       {0xc0, 0xd6},
    {0xd8, 0xf6},       {0xf8, 0x1ba},      {0x1bc, 0x1bf},     {0x1c4, 0x293},
    {0x295, 0x2af},     {0x370, 0x373},     {0x376, 0x377},     {0x37b, 0x37d},
    {0x37f, 0x37f},     {0x386, 0x386},     {0x388, 0x38a},     {0x38c, 0x38c},
    {0x38e, 0x3a1},     {0x3a3, 0x3f5},     {0x3f7, 0x481},     {0x48a, 0x52f},
    {0x531, 0x556},     {0x10a0, 0x10c5},   {0x13a0, 0x13f5},   {0x13f8, 0x13fd},
    {0x1c90, 0x1cba},   {0x1cbd, 0x1cbf},   {0x1d00, 0x1d2b},   {0x1d6b, 0x1d77},
    {0x1d79, 0x1d9a},   {0x1e00, 0x1f15},   {0x1f18, 0x1f1d},   {0x1f20, 0x1f45},
    {0x1f48, 0x1f4d},   {0x1f50, 0x1f57},   {0x1f59, 0x1f59},   {0x1f5b, 0x1f5b},
    {0x1f5d, 0x1f5d},   {0x1f5f, 0x1f7d},   {0x1f80, 0x1fb4},   {0x1fb6, 0x1fbc},
    {0x1fbe, 0x1fbe},   {0x1fc2, 0x1fc4},   {0x1fc6, 0x1fcc},   {0x1fd0, 0x1fd3},
    {0x1fd6, 0x1fdb},   {0x1fe0, 0x1fec},   {0x1ff2, 0x1ff4},   {0x1ff6, 0x1ffc},
    {0x2102, 0x2102},   {0x2107, 0x2107},   {0x210a, 0x2113},   {0x2115, 0x2115},
    {0x2119, 0x211d},   {0x2124, 0x2124},   {0x2126, 0x2126},   {0x2128, 0x2128},
    {0x212a, 0x212d},   {0x212f, 0x2134},   {0x2139, 0x2139},   {0x213c, 0x213f},
    {0x2145, 0x2149},   {0x214e, 0x214e},   {0x2183, 0x2184},   {0x2c00, 0x2c7b},
    {0x2c7e, 0x2ce4},   {0x2ceb, 0x2cee},   {0x2cf2, 0x2cf3},   {0xa640, 0xa66d},
    {0xa680, 0xa69b},   {0xa722, 0xa76f},   {0xa771, 0xa787},   {0xa78b, 0xa78e},
    {0xab70, 0xabbf},   {0xfb00, 0xfb06},   {0xfb13, 0xfb17},   {0xff21, 0xff3a},
    {0xff41, 0xff5a},   {0x10400, 0x1044f}, {0x104b0, 0x104d3}, {0x104d8, 0x104fb},
    {0x10c80, 0x10cb2}, {0x10cc0, 0x10cf2}, {0x118a0, 0x118df}, {0x1e900, 0x1e943}};

/* ASCII punctuation, the same in full width, quotation marks, U+3000 to U+3002. */
static const uint32_t signs[][2] = {{0x21, 0x2f},     {0x3a, 0x7e},     {0x2018, 0x201f},
                                    {0x3000, 0x3002}, {0xff01, 0xff0f}, {0xff1a, 0xff5e}};

static const uint32_t scripts[][2] = {{0x800, 0x9fa5}, {0xac00, 0xd7ff}};

static bool among(const uint32_t (*ranges)[2], size_t n, uint32_t code) {
  size_t low = 0, high = n; /* the first range that ends at code or behind it */
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (ranges[middle][1] < code)
      low = middle + 1;
    else
      high = middle;
  }
  return low < n && ranges[low][0] <= code;
}

#define AMONG(ranges, code) among(ranges, sizeof(ranges) / sizeof *(ranges), code)

typedef enum char_set { BREAKS, L, P, N, LETTERS, SIGNS, SCRIPTS, TAIL } char_set;

/* One split: \s?[set]+, without the \s? or the + where space is false or one is true; or \s+$. */
typedef struct split_step {
  char_set set;
  bool space, one;
} split_step;

static const split_step coder[] = {{BREAKS, false, true},
                                   {L, true, false},
                                   {P, true, false},
                                   {SCRIPTS, false, false},
                                   {N, false, true}};
static const split_step llm[KR_SPLIT_STEPS] = {{BREAKS, false, true},   {LETTERS, true, false},
                                               {SIGNS, true, false},    {TAIL, false, false},
                                               {SCRIPTS, false, false}, {N, false, false}};

static uint32_t code_at(const kr_splitter *s, size_t at, size_t *ret_next) {
  uint32_t code;
  *ret_next = at + kr_utf8_next(s->text + at, s->n - at, &code);
  return code == KR_UTF8_INVALID ? 0xfffd : code;
}

static bool is_space(const kr_splitter *s, size_t at, size_t *ret_next) {
  return kr_class(code_at(s, at, ret_next)) & KR_CLASS_SPACE;
}

/* Whether the character at at, before limit, is in a set. */
static bool is_in(const kr_splitter *s, char_set set, size_t at, size_t limit, size_t *ret_next) {
  if (at >= limit) return false;
  uint32_t code = code_at(s, at, ret_next);
  switch (set) {
  case BREAKS:
    return code == '\r' || code == '\n';
  case L:
    return kr_class(code) & KR_CLASS_L;
  case P:
    return kr_class(code) & KR_CLASS_P;
  case N:
    return kr_class(code) & KR_CLASS_N;
  case LETTERS:
    return AMONG(letters, code);
  case SIGNS:
    return AMONG(signs, code);
  case SCRIPTS:
    return AMONG(scripts, code);
  case TAIL:
    return false;
  }
  return false;
}

/* The end of the match at at, or at. */
static size_t match(const kr_splitter *s, const split_step *step, size_t at, size_t limit) {
  size_t next, after;
  if (step->space && is_space(s, at, &next) && is_in(s, step->set, next, limit, &after)) at = next;
  for (; is_in(s, step->set, at, limit, &next); at = next)
    if (step->one) return next;
  return at;
}

/* Where the white space at the end of a piece begins. */
static size_t tail_of(const kr_splitter *s, size_t at, size_t limit) {
  size_t tail = limit, next;
  while (tail > at) {
    size_t before = tail;
    do before--;
    while (before > at && (s->text[before] & 0xc0) == 0x80);
    if (!is_space(s, before, &next)) break;
    tail = before;
  }
  return tail;
}

/* The end of the piece that a split makes at at: a match, or what is before the next one. */
static size_t piece_end(const kr_splitter *s, const split_step *step, size_t at, size_t limit) {
  if (step->set == TAIL) {
    size_t tail = tail_of(s, at, limit);
    return tail > at ? tail : limit;
  }
  size_t end = match(s, step, at, limit);
  if (end > at) return end;
  do (void)code_at(s, at, &at);
  while (at < limit && match(s, step, at, limit) == at);
  return at;
}

size_t kr_split_first(kr_splitter *s) {
  bool code = s->split == KR_SPLIT_DEEPSEEK_CODER;
  const split_step *steps = code ? coder : llm;
  size_t n = code ? sizeof coder / sizeof *coder : sizeof llm / sizeof *llm;
  for (size_t k = 0; k < n; k++)
    if (s->ends[k] <= s->at) s->ends[k] = piece_end(s, &steps[k], s->at, k ? s->ends[k - 1] : s->n);
  return s->ends[n - 1];
}
