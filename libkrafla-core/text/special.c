/* Matching of special tokens: they are sorted by text, and at each place of the text the range of
 * those that agree with it is narrowed byte by byte. */
#include "text/special.h"
#include "base/size.h"
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
        (kr_special_entry){out, (uint32_t)n, id, tokens->kind[id] != KR_TOKEN_USER};
    out += n;
  }
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

/* The longest entry that text starts with, or NULL. */
static const kr_special_entry *match(const kr_special *special, const uint8_t *text, size_t n,
                                     bool control) {
  const kr_special_entry *best = NULL;
  size_t low = special->first[text[0]], high = special->first[text[0] + 1];
  for (size_t depth = 1; low < high; depth++) {
    const kr_special_entry *e = &special->entries[low]; /* the shortest stands first */
    if (e->n == depth && (control || !e->control)) best = e;
    if (depth == n) break;
    low = lower(special, low, high, depth, text[depth]);
    high = lower(special, low, high, depth, text[depth] + 1);
  }
  return best;
}

bool kr_special_find(const kr_special *special, const uint8_t *text, size_t n, bool control,
                     size_t *ret_at, size_t *ret_n, int32_t *ret_id) {
  for (size_t at = 0; special->n && at < n; at++) {
    if (special->first[text[at]] == special->first[text[at] + 1]) continue;
    const kr_special_entry *e = match(special, text + at, n - at, control);
    if (!e) continue;
    *ret_at = at, *ret_n = e->n, *ret_id = e->id;
    return true;
  }
  return false;
}
