/* Matching of special tokens: they are sorted by text, and at each place of the text the range of
 * those that agree with it is narrowed byte by byte. */
#include "text/special.h"
#include "base/size.h"
#include "base/utf8.h"
#include "text/unicode.h"
#include <stdlib.h>
#include <string.h>

static bool is_special(int kind) {
  return kind == KR_TOKEN_UNKNOWN || kind == KR_TOKEN_CONTROL || kind == KR_TOKEN_USER;
}

/* Writes what is matched in the text for token id, which is spelled text; out may be NULL. Returns
 * its length. */
static size_t write_match(const kr_tokens *tokens, int32_t id, kr_text text, uint8_t *out) {
  if (!kr_tokens_is_spaces(tokens, id)) {
    if (out && text.n) memcpy(out, text.data, text.n);
    return text.n;
  }
  size_t n = tokens->at[id + 1] - tokens->at[id];
  for (size_t i = 0; out && i < n; i++) memcpy(out + 3 * i, "\xe2\x96\x81", 3);
  return 3 * n;
}

/* By text, then by id: of tokens that are spelled alike the first counts. */
static int compare(const void *a, const void *b) {
  const kr_special_entry *x = a, *y = b;
  int order = memcmp(x->text, y->text, x->n < y->n ? x->n : y->n);
  if (order) return order;
  if (x->n != y->n) return x->n < y->n ? -1 : 1;
  return x->id < y->id ? -1 : x->id > y->id;
}

static void index_first(kr_special *special) {
  size_t kept = 0;
  for (size_t i = 0; i < special->n; i++) {
    kr_special_entry *e = &special->entries[i], *last = &special->entries[kept - !!kept];
    bool same = kept && last->n == e->n && !memcmp(last->text, e->text, e->n);
    if (!same) special->entries[kept++] = *e;
  }
  special->n = kept;
  for (size_t i = 0; i < kept; i++) special->first[special->entries[i].text[0] + 1]++;
  for (size_t c = 1; c < 257; c++) special->first[c] += special->first[c - 1];
}

int kr_special_read(const kr_source *source, const kr_tokens *tokens, kr_special *special,
                    kr_error *err) {
  const kr_value *value;
  int code = kr_source_array(source, "tokenizer.ggml.tokens", 1 << KR_VALUE_STRING, &value, err);
  if (code) return code;
  size_t n = 0, bytes = 0, at = 0;
  bool fits = true;
  kr_text text;
  for (int32_t id = 0; kr_value_next(value, &at, &text); id++) {
    if (!is_special(tokens->kind[id])) continue;
    n++;
    fits = fits && kr_add_size(bytes, write_match(tokens, id, text, NULL), &bytes);
  }
  special->entries = kr_alloc(n, sizeof *special->entries);
  special->text = fits ? kr_alloc(bytes, 1) : NULL;
  if (!special->entries || !special->text) return kr_fail_memory(err, "special tokens");
  at = 0;
  uint8_t *out = special->text;
  for (int32_t id = 0; kr_value_next(value, &at, &text); id++) {
    if (!is_special(tokens->kind[id]) || !text.n) continue;
    n = write_match(tokens, id, text, out);
    special->entries[special->n++] =
        (kr_special_entry){out, (uint32_t)n, id, tokens->kind[id] != KR_TOKEN_USER, 0};
    out += n;
  }
  qsort(special->entries, special->n, sizeof *special->entries, compare);
  index_first(special);
  return KR_OK;
}

/* The text that is looked for: in the normalized text it is normalized itself. */
static size_t write_added(kr_text text, const char *prefix, uint8_t *out) {
  size_t n = prefix ? strlen(prefix) : 0;
  if (n) memcpy(out, prefix, n);
  for (size_t i = 0; i < text.n; i++) {
    bool space = prefix && text.data[i] == ' ';
    memcpy(out + n, space ? "\xe2\x96\x81" : text.data + i, space ? 3 : 1);
    n += space ? 3 : 1;
  }
  return n;
}

static int read_lists(const kr_source *source, const kr_value **ret_ids, const kr_value **ret_flags,
                      kr_error *err) {
  int code = kr_source_array(source, "krafla.tokenizer.added", 1 << KR_VALUE_I32, ret_ids, err);
  if (!code)
    code =
        kr_source_array(source, "krafla.tokenizer.added_flags", 1 << KR_VALUE_U8, ret_flags, err);
  if (code) return code;
  if (!*ret_ids || !*ret_flags || (*ret_ids)->n != (*ret_flags)->n)
    return kr_fail(err, KR_E_FORMAT,
                   "krafla.tokenizer.added and krafla.tokenizer.added_flags: must be there and of "
                   "one length");
  return KR_OK;
}

/* flags[id]: of added tokens of the wanted kind, with ADDED set. Each counts once. */
#define ADDED 128
static int read_flags(const kr_source *source, const kr_tokens *tokens, bool normalized,
                      uint8_t *flags, kr_error *err) {
  const kr_value *ids, *values;
  int code = read_lists(source, &ids, &values, err);
  for (uint64_t i = 0; !code && i < ids->n; i++) {
    int64_t id = kr_value_int(ids, i), flag = kr_value_int(values, i);
    if (id < 0 || id >= tokens->n)
      return kr_fail(err, KR_E_FORMAT, "krafla.tokenizer.added[%llu]: %lld is no token of %ld",
                     (unsigned long long)i, (long long)id, (long)tokens->n);
    if (!(flag & KR_ADDED_NORMALIZED) == !normalized) flags[id] = (uint8_t)(flag | ADDED);
  }
  return code;
}

int kr_special_read_added(const kr_source *source, const kr_tokens *tokens, bool normalized,
                          const char *prefix, kr_special *special, kr_error *err) {
  const kr_value *value;
  int code = kr_source_array(source, "tokenizer.ggml.tokens", 1 << KR_VALUE_STRING, &value, err);
  uint8_t *flags = kr_alloc((size_t)tokens->n, 1);
  if (!code && !flags) code = kr_fail_memory(err, "special tokens");
  if (!code) code = read_flags(source, tokens, normalized, flags, err);
  if (code) return kr_free(flags), code;
  size_t n = 0, bytes = 0, at = 0, each = prefix ? strlen(prefix) : 0;
  bool fits = true;
  kr_text text;
  for (int32_t id = 0; kr_value_next(value, &at, &text); id++) {
    if (!flags[id] || !text.n) continue;
    n++;
    fits = fits && kr_add_size(bytes, each, &bytes) && text.n < UINT32_MAX / 4 &&
           kr_add_size(bytes, prefix ? 3 * text.n : text.n, &bytes);
  }
  special->entries = kr_alloc(n, sizeof *special->entries);
  special->text = fits ? kr_alloc(bytes, 1) : NULL;
  if (!special->entries || !special->text) {
    kr_free(flags);
    return kr_fail_memory(err, "special tokens");
  }
  at = 0;
  uint8_t *out = special->text;
  for (int32_t id = 0; kr_value_next(value, &at, &text); id++) {
    if (!flags[id] || !text.n) continue;
    size_t length = write_added(text, prefix, out);
    special->entries[special->n++] = (kr_special_entry){
        out, (uint32_t)length, id, flags[id] & KR_ADDED_SPECIAL, flags[id] & (ADDED - 1)};
    out += length;
  }
  kr_free(flags);
  qsort(special->entries, special->n, sizeof *special->entries, compare);
  index_first(special);
  return KR_OK;
}

void kr_special_clear(kr_special *special) {
  kr_free(special->entries);
  kr_free(special->text);
  *special = (kr_special){0};
}

/* The first entry of [low, high), which agree in their first depth bytes, whose next byte is c or
 * greater; one that ends there comes before all. */
static size_t lower(const kr_special *special, size_t low, size_t high, size_t depth, int c) {
  while (low < high) {
    size_t middle = (low + high) / 2;
    const kr_special_entry *e = &special->entries[middle];
    if (e->n <= depth || e->text[depth] < c)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* How many bytes from at on control tokens may take. */
static size_t control_room(kr_plain *plain, size_t at) {
  if (plain->all) return 0;
  while (plain->n && plain->spans->end <= plain->base + at) plain->spans++, plain->n--;
  if (!plain->n) return SIZE_MAX;
  size_t start = plain->spans->start;
  return start > plain->base + at ? start - (plain->base + at) : 0;
}

/* The longest entry that text starts with, or NULL; control tokens are at most room long. */
static const kr_special_entry *match(const kr_special *special, const uint8_t *text, size_t n,
                                     size_t room) {
  const kr_special_entry *best = NULL;
  size_t low = special->first[text[0]], high = special->first[text[0] + 1];
  for (size_t depth = 1; low < high; depth++) {
    const kr_special_entry *e = &special->entries[low]; /* the shortest stands first */
    if (e->n == depth && (depth <= room || !e->control)) best = e;
    if (depth == n) break;
    low = lower(special, low, high, depth, text[depth]);
    high = lower(special, low, high, depth, text[depth] + 1);
  }
  return best;
}

/* ---- words and white space around a match ------------------------------------------------------
 */

static uint32_t code_at(const uint8_t *text, size_t n) {
  uint32_t code;
  (void)kr_utf8_next(text, n, &code);
  return code;
}

/* Where the character before at begins; at > 0, the text is valid UTF-8. */
static size_t before(const uint8_t *text, size_t at) {
  do at--;
  while (at && (text[at] & 0xc0) == 0x80);
  return at;
}

static bool is_single_word(const uint8_t *text, size_t n, size_t start, size_t end) {
  if (start && kr_is_word(code_at(text + before(text, start), n))) return false;
  return end == n || !kr_is_word(code_at(text + end, n - end));
}

static size_t strip_left(const uint8_t *text, size_t start, size_t done) {
  while (start > done) {
    size_t at = before(text, start);
    if (!(kr_class(code_at(text + at, start - at)) & KR_CLASS_SPACE)) break;
    start = at;
  }
  return start;
}

static size_t strip_right(const uint8_t *text, size_t n, size_t end) {
  while (end < n) {
    uint32_t code;
    size_t length = kr_utf8_next(text + end, n - end, &code);
    if (code == KR_UTF8_INVALID || !(kr_class(code) & KR_CLASS_SPACE)) break;
    end += length;
  }
  return end;
}

bool kr_special_find(const kr_special *special, const uint8_t *text, size_t n, size_t at,
                     size_t done, kr_plain *plain, kr_match *ret_match) {
  for (; special->n && at < n; at++) {
    if (special->first[text[at]] == special->first[text[at] + 1]) continue;
    const kr_special_entry *e = match(special, text + at, n - at, control_room(plain, at));
    if (!e) continue;
    size_t end = at + e->n;
    if (e->flags & KR_ADDED_SINGLE_WORD && !is_single_word(text, n, at, end)) {
      at = end - 1; /* as the reference: the text of a match is not searched again */
      continue;
    }
    *ret_match = (kr_match){at, end, end, e->id};
    if (e->flags & KR_ADDED_LSTRIP) ret_match->start = strip_left(text, at, done);
    /* up to done all is white space already */
    if (e->flags & KR_ADDED_RSTRIP) ret_match->end = strip_right(text, n, end > done ? end : done);
    if (ret_match->start < done) ret_match->start = done;
    if (ret_match->end < done) ret_match->end = done;
    return true;
  }
  return false;
}
