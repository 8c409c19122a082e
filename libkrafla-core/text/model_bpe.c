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

/* A part of a merge, or what both make, on its way to the token that it is. */
typedef struct part {
  const uint8_t *bytes;
  size_t n;
  bool raw;
  uint32_t hash;
  int32_t id;
} part;

enum { LEFT, RIGHT, WHOLE, N_PARTS };

typedef struct merge {
  kr_text text;  /* "LEFT RIGHT" */
  uint8_t *room; /* for as many bytes: those of the left part, those of the right behind them */
  part part[N_PARTS];
} merge;

/* First step: cuts the text in two. */
static int parse(const kr_tokens *t, uint64_t i, kr_text text, uint8_t *room, merge *ret_merge,
                 kr_error *err) {
  const char *space = text.n > 1 ? memchr(text.data + 1, ' ', text.n - 1) : NULL;
  size_t at = space ? (size_t)(space - text.data) : 0, n = text.n - at - 1;
  if (!space || !n) return refuse(i, text, "is not two tokens", err);
  merge *m = ret_merge;
  m->text = text, m->room = room;
  const uint8_t *s = (const uint8_t *)text.data;
  part *left = &m->part[LEFT], *right = &m->part[RIGHT], *whole = &m->part[WHOLE];
  left->bytes = room;
  left->n = kr_spelling_read(t->spelling, s, at, room, &left->raw);
  right->bytes = room + left->n;
  right->n = kr_spelling_read(t->spelling, s + at + 1, n, room + left->n, &right->raw);
  left->hash = kr_tokens_hash(t, left->bytes, left->n, left->raw);
  right->hash = kr_tokens_hash(t, right->bytes, right->n, right->raw);
  *whole = (part){.bytes = room, .n = left->n + right->n, .raw = left->raw || right->raw};
  return KR_OK;
}

/* A whole with a raw part is raw, so it is spelled as the text is; then the parts' bytes are not
 * needed any more. */
static void join_raw(merge *m) {
  const char *space = memchr(m->text.data + 1, ' ', m->text.n - 1);
  size_t left = (size_t)(space - m->text.data), n = m->text.n - 1;
  memcpy(m->room, m->text.data, left);
  memcpy(m->room + left, space + 1, n - left);
  m->part[WHOLE].n = n;
}

static int find(const kr_tokens *t, uint64_t i, merge *m, kr_error *err) {
  for (int k = 0; k < N_PARTS; k++) {
    part *p = &m->part[k];
    bool joined = k == WHOLE && p->raw;
    if (joined) join_raw(m);
    p->id = joined ? kr_tokens_find(t, p->bytes, p->n, true)
                   : kr_tokens_find_hashed(t, p->bytes, p->n, p->raw, p->hash);
    if (p->id < 0)
      return refuse(
          i, m->text,
          k == WHOLE ? "makes a token that is not there" : "names a token that is not there", err);
  }
  return KR_OK;
}

/* Reads merges [n] at most BLOCK, the first of which is merge i, step by step for all of them: the
 * places in memory that a step needs are fetched while the step before works on the others. room
 * has the bytes of all texts. */
static int read_block(const kr_tokens *tokens, uint64_t i, const kr_text *texts, size_t n,
                      uint8_t *room, kr_bpe *bpe, kr_error *err) {
  merge merges[BLOCK];
  int code = KR_OK;
  for (size_t k = 0; !code && k < n; k++) {
    code = parse(tokens, i + k, texts[k], room, &merges[k], err);
    room += texts[k].n;
  }
  if (code) return code;
  for (size_t k = 0; k < n; k++) { /* the bytes of both parts stand together */
    part *whole = &merges[k].part[WHOLE];
    whole->hash = kr_tokens_hash(tokens, whole->bytes, whole->n, whole->raw);
  }
  for (size_t k = 0; k < n; k++)
    for (int p = 0; p < N_PARTS; p++)
      merges[k].part[p].id = kr_tokens_guess(tokens, merges[k].part[p].hash);
  for (size_t k = 0; k < n; k++)
    for (int p = 0; p < N_PARTS; p++) kr_tokens_fetch(tokens, merges[k].part[p].id);
  for (size_t k = 0; k < n; k++) {
    part *p = merges[k].part;
    if ((code = find(tokens, i + k, &merges[k], err))) return code;
    __builtin_prefetch(&bpe->slots[place(bpe, p[LEFT].id, p[RIGHT].id)], 1);
  }
  /* of a pair that is listed twice the last counts, as in the reference */
  for (size_t k = 0; k < n; k++) {
    int32_t left = merges[k].part[LEFT].id, right = merges[k].part[RIGHT].id;
    kr_pair pair = {(uint32_t)(i + k), merges[k].part[WHOLE].id};
    *slot_of(bpe, left, right) = (kr_bpe_slot){left, right, pair};
  }
  return KR_OK;
}

static int read_blocks(const kr_value *value, const kr_tokens *tokens, kr_bytes *room, kr_bpe *bpe,
                       kr_error *err) {
  kr_text texts[BLOCK];
  size_t at = 0, bytes = 0, n = 0;
  int code = KR_OK;
  for (uint64_t i = 0; !code && i < value->n; i++) {
    if (!kr_value_next(value, &at, &texts[n])) break;
    bytes += texts[n++].n; /* no more than the file has */
    if (n < BLOCK && i + 1 < value->n) continue;
    /* a byte more, so that there is room even where all texts are empty */
    if (!kr_bytes_reserve(room, bytes + 1)) return kr_fail_memory(err, "merges");
    code = read_block(tokens, i + 1 - n, texts, n, (uint8_t *)room->data, bpe, err);
    bytes = n = 0;
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
  size_t slots = 16;
  while (slots < 2 * (size_t)value->n) slots *= 2;
  bpe->slots = kr_array_grow(NULL, slots, sizeof *bpe->slots);
  if (!bpe->slots) return kr_fail_memory(err, "merges");
  bpe->mask = slots - 1;
  bpe->n = (size_t)value->n;
  for (size_t i = 0; i < slots; i++) bpe->slots[i] = (kr_bpe_slot){0, 0, {KR_PAIR_NONE, -1}};
  kr_bytes room = {0};
  code = read_blocks(value, tokens, &room, bpe, err);
  kr_array_free(room.data);
  return code;
}

void kr_bpe_clear(kr_bpe *bpe) {
  kr_array_free(bpe->slots);
  *bpe = (kr_bpe){0};
}
