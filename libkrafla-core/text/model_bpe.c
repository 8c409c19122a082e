/* Byte-level BPE: the list of merges as a hash table from pairs of tokens. */
#include "text/model_bpe.h"

#define KEY "tokenizer.ggml.merges"

static inline size_t place(const kr_bpe *bpe, int32_t left, int32_t right) {
  uint64_t h = ((uint64_t)(uint32_t)left << 32 | (uint32_t)right) * UINT64_C(0x9e3779b97f4a7c15);
  return (size_t)(h ^ h >> 32) & bpe->mask;
}

/* The slot of a pair, or the empty one where it belongs. */
static inline kr_bpe_slot *slot_of(const kr_bpe *bpe, int32_t left, int32_t right) {
  for (size_t i = place(bpe, left, right);; i = (i + 1) & bpe->mask) {
    kr_bpe_slot *slot = &bpe->slots[i];
    if (slot->pair.id < 0 || (slot->left == left && slot->right == right)) return slot;
  }
}

kr_pair kr_bpe_pair(const void *rules, const uint8_t *piece, const kr_symbol *a,
                    const kr_symbol *b) {
  (void)piece;
  return slot_of(rules, a->id, b->id)->pair; /* an empty slot's priority is KR_PAIR_NONE */
}

size_t kr_bpe_symbols(const kr_tokens *tokens, const uint8_t *piece, size_t n,
                      kr_symbol *ret_symbols) {
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    int32_t id = tokens->byte[piece[i]];
    if (id >= 0) ret_symbols[kept++] = (kr_symbol){id, (uint32_t)i, 1};
  }
  return kept;
}

/* ---- reading -------------------------------------------------------------------------------- */

static int refuse(uint64_t i, kr_text text, const char *what, kr_error *err) {
  char shown[160];
  return kr_fail(err, KR_E_FORMAT, KEY "[%llu]: \"%s\" %s", (unsigned long long)i,
                 kr_printable(shown, sizeof shown, text.data, text.n), what);
}

/* Reads merge i, "LEFT RIGHT". guess is where the result probably stands in the vocabulary: right
 * behind that of the merge before. */
static int read_merge(const kr_tokens *tokens, uint64_t i, kr_text text, uint8_t *room,
                      int32_t guess, kr_bpe *bpe, int32_t *ret_id, kr_error *err) {
  const char *space = text.n > 1 ? memchr(text.data + 1, ' ', text.n - 1) : NULL;
  size_t split = space ? (size_t)(space - text.data) : 0;
  if (!space || split + 1 == text.n) return refuse(i, text, "is not two tokens", err);
  const uint8_t *left = (const uint8_t *)text.data, *right = left + split + 1;
  size_t n_right = text.n - split - 1;
  bool raw_left, raw_right;
  size_t n_a = kr_spelling_read(tokens->spelling, left, split, room, &raw_left);
  size_t n_b = kr_spelling_read(tokens->spelling, right, n_right, room + n_a, &raw_right);
  int32_t a = kr_tokens_find(tokens, room, n_a, raw_left);
  int32_t b = kr_tokens_find(tokens, room + n_a, n_b, raw_right);
  if (a < 0 || b < 0) return refuse(i, text, "names a token that is not there", err);
  size_t n = n_a + n_b;
  bool raw = raw_left || raw_right;
  if (raw) { /* then the whole is raw */
    n = split + n_right;
    memcpy(room, left, split);
    memcpy(room + split, right, n_right);
  }
  int32_t id = -1;
  if (!raw && !tokens->doubles && guess < tokens->n) {
    size_t n_guess;
    const uint8_t *bytes = kr_tokens_bytes(tokens, guess, &n_guess);
    if (n_guess == n && !tokens->raw[guess] && !memcmp(bytes, room, n)) id = guess;
  }
  if (id < 0) id = kr_tokens_find(tokens, room, n, raw);
  if (id < 0) return refuse(i, text, "makes a token that is not there", err);
  /* of a pair that is listed twice the last counts, as in the reference */
  *slot_of(bpe, a, b) = (kr_bpe_slot){a, b, {(uint32_t)i, id}};
  *ret_id = id;
  return KR_OK;
}

int kr_bpe_read(const kr_source *source, const kr_tokens *tokens, kr_bpe *bpe, kr_error *err) {
  const kr_value *value;
  int code = kr_source_array(source, KEY, 1 << KR_VALUE_STRING, &value, err);
  if (code) return code;
  if (!value) return kr_fail(err, KR_E_FORMAT, KEY " is missing");
  size_t longest = 0, at = 0, slots = 16;
  kr_text text;
  while (kr_value_next(value, &at, &text))
    if (text.n > longest) longest = text.n;
  if (value->n >= INT32_MAX)
    return kr_fail(err, KR_E_UNSUPPORTED, KEY ": has %llu merges, which is too many",
                   (unsigned long long)value->n);
  while (slots < 2 * (size_t)value->n) slots *= 2;
  bpe->slots = kr_alloc(slots, sizeof *bpe->slots);
  uint8_t *room = kr_alloc(longest, 1);
  if (!bpe->slots || !room) {
    kr_free(room);
    return kr_fail_memory(err, "merges");
  }
  bpe->mask = slots - 1;
  for (size_t i = 0; i < slots; i++) bpe->slots[i].pair = (kr_pair){KR_PAIR_NONE, -1};
  at = 0;
  int32_t last = -1;
  for (uint64_t i = 0; !code && kr_value_next(value, &at, &text); i++)
    code = read_merge(tokens, i, text, room, last + 1, bpe, &last, err);
  kr_free(room);
  return code;
}

void kr_bpe_clear(kr_bpe *bpe) {
  kr_free(bpe->slots);
  *bpe = (kr_bpe){0};
}
