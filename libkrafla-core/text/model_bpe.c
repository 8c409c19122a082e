/* Byte-level BPE: the list of merges as a hash table from pairs of tokens. */
#include "text/model_bpe.h"

#define KEY   "tokenizer.ggml.merges"
#define BLOCK 32

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

/* A merge "LEFT RIGHT" on its way into the table. The bytes of both stand together. */
typedef struct merge {
  kr_text text;
  uint8_t *bytes;
  size_t n_left, n_right; /* of bytes */
  size_t space;           /* where it is in text */
  bool raw_left, raw_right;
  uint32_t hash_left, hash_right;
  int32_t left, right, id;
} merge;

/* First step: cuts the text in two. */
static int parse(const kr_tokens *t, uint64_t i, kr_text text, uint8_t *room, merge *ret_merge,
                 kr_error *err) {
  const char *space = text.n > 1 ? memchr(text.data + 1, ' ', text.n - 1) : NULL;
  size_t left = space ? (size_t)(space - text.data) : 0;
  if (!space || left + 1 == text.n) return refuse(i, text, "is not two tokens", err);
  merge *m = ret_merge;
  *m = (merge){.text = text, .bytes = room, .space = left};
  const uint8_t *s = (const uint8_t *)text.data;
  m->n_left = kr_spelling_read(t->spelling, s, left, room, &m->raw_left);
  m->n_right = kr_spelling_read(t->spelling, s + left + 1, text.n - left - 1, room + m->n_left,
                                &m->raw_right);
  m->hash_left = kr_tokens_hash(t, room, m->n_left, m->raw_left);
  m->hash_right = kr_tokens_hash(t, room + m->n_left, m->n_right, m->raw_right);
  return KR_OK;
}

/* Second step: finds the tokens. guess is where the result probably stands in the vocabulary: right
 * behind that of the merge before. */
static int resolve(const kr_tokens *t, uint64_t i, int32_t guess, merge *m, kr_error *err) {
  uint8_t *right = m->bytes + m->n_left;
  m->left = kr_tokens_find_hashed(t, m->bytes, m->n_left, m->raw_left, m->hash_left);
  m->right = kr_tokens_find_hashed(t, right, m->n_right, m->raw_right, m->hash_right);
  if (m->left < 0 || m->right < 0)
    return refuse(i, m->text, "names a token that is not there", err);
  size_t n = m->n_left + m->n_right;
  bool raw = m->raw_left || m->raw_right;
  if (raw) { /* then the whole is raw */
    n = m->text.n - 1;
    memcpy(m->bytes, m->text.data, m->space);
    memcpy(m->bytes + m->space, m->text.data + m->space + 1, n - m->space);
  }
  m->id = -1;
  if (!raw && !t->doubles && guess < t->n) {
    size_t n_guess;
    const uint8_t *bytes = kr_tokens_bytes(t, guess, &n_guess);
    if (n_guess == n && !t->raw[guess] && !memcmp(bytes, m->bytes, n)) m->id = guess;
  }
  if (m->id < 0) m->id = kr_tokens_find(t, m->bytes, n, raw);
  return m->id < 0 ? refuse(i, m->text, "makes a token that is not there", err) : KR_OK;
}

/* Reads merges [n] at most BLOCK, the first of which is merge i, step by step for all of them: the
 * places in memory that a step needs are fetched while the step before works on the others. */
static int read_block(const kr_tokens *tokens, uint64_t i, const kr_text *texts, size_t n,
                      uint8_t *room, int32_t *last, kr_bpe *bpe, kr_error *err) {
  merge merges[BLOCK];
  int code = KR_OK;
  for (size_t k = 0; !code && k < n; k++) {
    code = parse(tokens, i + k, texts[k], room, &merges[k], err);
    room += texts[k].n;
  }
  for (size_t k = 0; !code && k < n; k++) {
    code = resolve(tokens, i + k, *last + 1, &merges[k], err);
    if (code) break;
    *last = merges[k].id;
    __builtin_prefetch(&bpe->slots[place(bpe, merges[k].left, merges[k].right)], 1);
  }
  /* of a pair that is listed twice the last counts, as in the reference */
  for (size_t k = 0; !code && k < n; k++) {
    merge *m = &merges[k];
    *slot_of(bpe, m->left, m->right) = (kr_bpe_slot){m->left, m->right, {(uint32_t)(i + k), m->id}};
  }
  return code;
}

/* Calls read_block for all merges; with room NULL it only finds out how many bytes of room the
 * largest block needs. */
static int read_blocks(const kr_value *value, const kr_tokens *tokens, uint8_t *room,
                       size_t *ret_room, kr_bpe *bpe, kr_error *err) {
  kr_text texts[BLOCK];
  size_t at = 0, bytes = 0;
  int32_t last = -1;
  int code = KR_OK;
  for (uint64_t i = 0; !code && i < value->n; i++) {
    size_t k = (size_t)(i % BLOCK);
    if (!kr_value_next(value, &at, &texts[k])) break;
    bytes += texts[k].n;
    if (k + 1 < BLOCK && i + 1 < value->n) continue;
    if (room)
      code = read_block(tokens, i - k, texts, k + 1, room, &last, bpe, err);
    else if (bytes > *ret_room)
      *ret_room = bytes;
    bytes = 0;
  }
  return code;
}

int kr_bpe_read(const kr_source *source, const kr_tokens *tokens, kr_bpe *bpe, kr_error *err) {
  const kr_value *value;
  int code = kr_source_array(source, KEY, 1 << KR_VALUE_STRING, &value, err);
  if (code) return code;
  if (!value) return kr_fail(err, KR_E_FORMAT, KEY " is missing");
  if (value->n >= INT32_MAX)
    return kr_fail(err, KR_E_UNSUPPORTED, KEY ": has %llu merges, which is too many",
                   (unsigned long long)value->n);
  size_t n_room = 0, slots = 16;
  (void)read_blocks(value, tokens, NULL, &n_room, bpe, err);
  while (slots < 2 * (size_t)value->n) slots *= 2;
  bpe->slots = kr_array_grow(NULL, slots, sizeof *bpe->slots);
  uint8_t *room = kr_alloc(n_room, 1);
  if (!bpe->slots || !room) {
    kr_free(room);
    return kr_fail_memory(err, "merges");
  }
  bpe->mask = slots - 1;
  for (size_t i = 0; i < slots; i++) bpe->slots[i] = (kr_bpe_slot){0, 0, {KR_PAIR_NONE, -1}};
  code = read_blocks(value, tokens, room, &n_room, bpe, err);
  kr_free(room);
  return code;
}

void kr_bpe_clear(kr_bpe *bpe) {
  kr_array_free(bpe->slots);
  *bpe = (kr_bpe){0};
}
