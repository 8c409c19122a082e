/* The table of tokens.
 *
 * Tokens are kept as the bytes that they stand for. A spelling of bytes is one to one, so the table
 * finds a token by its bytes for text and for spellings alike. */
#include "text/tokens.h"
#include "base/size.h"
#include "base/utf8.h"
#include <string.h>

#define KEY   "tokenizer.ggml."
#define AHEAD 16 /* tokens whose place in the table is fetched before it is needed */

/* ---- spellings ------------------------------------------------------------------------------ */

/* GPT-2's alphabet: printable Latin-1 characters stand for their own bytes; the other 68 bytes, in
 * order, for U+0100 and following. */
static bool is_own(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

/* The byte that a character stands for, or -1. */
static int byte_of(uint32_t code) {
  if (code < 0x100) return is_own(code) ? (int)code : -1;
  code -= 0x100;
  if (code < 0x21) return (int)code;
  if (code < 0x21 + 0x22) return (int)(0x7f + (code - 0x21));
  return code == 0x21 + 0x22 ? 0xad : -1;
}

static size_t read_bytes(const uint8_t *text, size_t n, uint8_t *out, bool *ret_raw) {
  size_t length = 0;
  for (size_t i = 0; i < n; length++) {
    if (text[i] >= 0x21 && text[i] < 0x7f) {
      out[length] = text[i++];
      continue;
    }
    uint32_t code;
    i += kr_utf8_next(text + i, n - i, &code);
    int byte = byte_of(code);
    if (byte < 0) {
      memcpy(out, text, n);
      return *ret_raw = true, n;
    }
    out[length] = (uint8_t)byte;
  }
  return *ret_raw = false, length;
}

static size_t read_spaces(const uint8_t *text, size_t n, uint8_t *out, bool *ret_raw) {
  size_t length = 0;
  bool raw = false;
  for (size_t i = 0; i < n; length++) {
    if (n - i >= 3 && !memcmp(text + i, "\xe2\x96\x81", 3)) {
      out[length] = ' ', i += 3;
      continue;
    }
    raw |= text[i] == ' '; /* text has none after "▁" took its place */
    out[length] = text[i++];
  }
  return *ret_raw = raw, length;
}

size_t kr_spelling_read(kr_spelling spelling, const uint8_t *text, size_t n, uint8_t *out,
                        bool *ret_raw) {
  return spelling == KR_SPELLING_BYTES ? read_bytes(text, n, out, ret_raw)
                                       : read_spaces(text, n, out, ret_raw);
}

static int hex(uint8_t c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte that "<0xHH>" names, or -1. */
static int named_byte(const uint8_t *text, size_t n) {
  if (n != 6 || memcmp(text, "<0x", 3) || text[5] != '>') return -1;
  int high = hex(text[3]), low = hex(text[4]);
  return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* ---- the hash table ------------------------------------------------------------------------- */

static inline uint64_t load64(const uint8_t *s) {
  uint64_t v;
  memcpy(&v, s, 8);
  return v;
}

static inline uint64_t load32(const uint8_t *s) {
  uint32_t v;
  memcpy(&v, s, 4);
  return v;
}

static inline uint64_t stir(uint64_t h, uint64_t v) {
  h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ h >> 29;
}

/* Depends on the machine's byte order, but nothing else depends on it. */
static inline uint32_t hash_of(const uint8_t *s, size_t n, bool raw) {
  uint64_t h = UINT64_C(0x243f6a8885a308d3) ^ (uint64_t)n << 1 ^ (uint64_t)raw;
  size_t i = 0;
  for (; i + 8 < n; i += 8) h = stir(h, load64(s + i));
  if (n >= 8)
    h = stir(h, load64(s + n - 8));
  else if (n >= 4)
    h = stir(h, load32(s) << 32 | load32(s + n - 4));
  else if (n)
    h = stir(h, (uint64_t)s[0] << 16 | (uint64_t)s[n / 2] << 8 | s[n - 1]);
  return (uint32_t)(h ^ h >> 32);
}

static kr_token_slot *slot_of(const kr_tokens *t, const uint8_t *bytes, size_t n, bool raw,
                              uint32_t hash) {
  for (size_t i = hash & t->mask;; i = (i + 1) & t->mask) {
    kr_token_slot *slot = &t->slots[i];
    if (!slot->id) return slot;
    if (slot->hash != hash) continue;
    uint32_t id = slot->id - 1;
    if (t->at[id + 1] - t->at[id] == n && !t->raw[id] == !raw &&
        !memcmp(t->bytes + t->at[id], bytes, n))
      return slot;
  }
}

uint32_t kr_tokens_hash(const kr_tokens *tokens, const uint8_t *bytes, size_t n, bool raw) {
  uint32_t hash = hash_of(bytes, n, raw);
  __builtin_prefetch(&tokens->slots[hash & tokens->mask]);
  return hash;
}

int32_t kr_tokens_guess(const kr_tokens *tokens, uint32_t hash) {
  const kr_token_slot *slot;
  for (size_t i = hash & tokens->mask;; i = (i + 1) & tokens->mask) {
    slot = &tokens->slots[i];
    if (!slot->id || slot->hash == hash) break;
  }
  if (!slot->id) return -1;
  __builtin_prefetch(&tokens->at[slot->id - 1]);
  __builtin_prefetch(&tokens->raw[slot->id - 1]);
  return (int32_t)slot->id - 1;
}

void kr_tokens_fetch(const kr_tokens *tokens, int32_t guess) {
  if (guess >= 0) __builtin_prefetch(tokens->bytes + tokens->at[guess]);
}

int32_t kr_tokens_find_hashed(const kr_tokens *tokens, const uint8_t *bytes, size_t n, bool raw,
                              uint32_t hash) {
  if (!n || n > tokens->longest) return -1;
  return (int32_t)slot_of(tokens, bytes, n, raw, hash)->id - 1;
}

int32_t kr_tokens_find(const kr_tokens *tokens, const uint8_t *bytes, size_t n, bool raw) {
  if (!n || n > tokens->longest) return -1;
  return (int32_t)slot_of(tokens, bytes, n, raw, hash_of(bytes, n, raw))->id - 1;
}

bool kr_tokens_is_spaces(const kr_tokens *tokens, int32_t id) {
  size_t n, i = 0;
  const uint8_t *bytes = kr_tokens_bytes(tokens, id, &n);
  if (tokens->spelling != KR_SPELLING_SPACES || tokens->kind[id] != KR_TOKEN_USER) return false;
  while (i < n && bytes[i] == ' ') i++;
  return i == n && n >= 2;
}

int32_t kr_tokens_spelled(const kr_tokens *tokens, const char *text, size_t n) {
  /* a spelling is at most three times as long as its bytes */
  if (!n || n / 3 > tokens->longest) return -1;
  if (tokens->spelling == KR_SPELLING_SPACES) {
    int byte = named_byte((const uint8_t *)text, n);
    if (byte >= 0 && tokens->byte[byte] >= 0) return tokens->byte[byte];
  }
  uint8_t small[256], *bytes = n <= sizeof small ? small : kr_alloc(n, 1);
  if (!bytes) return -1;
  bool raw;
  size_t length = kr_spelling_read(tokens->spelling, (const uint8_t *)text, n, bytes, &raw);
  int32_t id = kr_tokens_find(tokens, bytes, length, raw);
  if (bytes != small) kr_free(bytes);
  return id;
}

/* ---- reading -------------------------------------------------------------------------------- */

static int read_kinds(const kr_source *source, kr_tokens *t, kr_error *err) {
  const kr_value *types;
  int code = kr_source_array(source, KEY "token_type", 0xff & ~(1 << KR_VALUE_F32), &types, err);
  if (code) return code;
  if (types && types->n != (uint64_t)t->n)
    return kr_fail(err, KR_E_FORMAT, KEY "token_type: has %llu values for %ld tokens",
                   (unsigned long long)types->n, (long)t->n);
  for (int32_t i = 0; i < t->n; i++) {
    int64_t kind = types ? kr_value_int(types, (uint64_t)i) : KR_TOKEN_NORMAL;
    if (kind < 0 || kind >= KR_TOKEN_N_KINDS)
      return kr_fail(err, KR_E_FORMAT, KEY "token_type[%ld]: %lld is no type of token", (long)i,
                     (long long)kind);
    t->kind[i] = (uint8_t)kind;
  }
  return KR_OK;
}

static int allocate(kr_tokens *t, size_t n, size_t bytes) {
  size_t slots = 16;
  while (slots < 2 * n) slots *= 2;
  t->n = (int32_t)n;
  t->mask = slots - 1;
  t->at = kr_alloc(n + 1, sizeof *t->at);
  t->bytes = kr_alloc(bytes, 1);
  t->kind = kr_alloc(n, 1);
  t->raw = kr_alloc(n, 1);
  t->slots = kr_alloc(slots, sizeof *t->slots);
  return t->at && t->bytes && t->kind && t->raw && t->slots ? KR_OK : KR_E_MEMORY;
}

/* Reads token id's spelling; *ret_hash is for insert. */
static int read_token(kr_tokens *t, int32_t id, kr_text text, uint32_t *ret_hash, kr_error *err) {
  const uint8_t *spelled = (const uint8_t *)text.data;
  uint8_t *bytes = t->bytes + t->at[id];
  size_t n = 1;
  bool raw = false;
  if (t->spelling == KR_SPELLING_SPACES && t->kind[id] == KR_TOKEN_BYTE) {
    int byte = named_byte(spelled, text.n);
    if (byte < 0) {
      char shown[80];
      return kr_fail(err, KR_E_FORMAT, KEY "tokens[%ld]: \"%s\" names no byte", (long)id,
                     kr_printable(shown, sizeof shown, text.data, text.n));
    }
    bytes[0] = (uint8_t)byte;
  } else {
    n = kr_spelling_read(t->spelling, spelled, text.n, bytes, &raw);
  }
  t->at[id + 1] = t->at[id] + (uint32_t)n;
  t->raw[id] = raw && !kr_tokens_is_spaces(t, id);
  if (n > t->longest) t->longest = n;
  *ret_hash = kr_tokens_hash(t, bytes, n, t->raw[id]);
  return KR_OK;
}

/* Enters a token into the tables; in the order of ids, so that the first of equals stays. */
static void insert(kr_tokens *t, int32_t id, uint32_t hash) {
  size_t n;
  const uint8_t *bytes = kr_tokens_bytes(t, id, &n);
  bool byte =
      t->spelling == KR_SPELLING_SPACES ? t->kind[id] == KR_TOKEN_BYTE : n == 1 && !t->raw[id];
  if (byte && t->byte[bytes[0]] < 0) t->byte[bytes[0]] = id;
  if (!n || (byte && t->spelling == KR_SPELLING_SPACES)) return;
  kr_token_slot *slot = slot_of(t, bytes, n, t->raw[id], hash);
  if (slot->id)
    t->doubles = true;
  else
    *slot = (kr_token_slot){hash, (uint32_t)id + 1};
}

int kr_tokens_read(const kr_source *source, kr_spelling spelling, kr_tokens *tokens,
                   kr_error *err) {
  const kr_value *value;
  int code = kr_source_array(source, KEY "tokens", 1 << KR_VALUE_STRING, &value, err);
  if (code) return code;
  if (!value) return kr_fail(err, KR_E_FORMAT, KEY "tokens is missing");
  if (!value->n) return kr_fail(err, KR_E_FORMAT, KEY "tokens: has no tokens");
  size_t bytes = 0, at = 0;
  kr_text text;
  while (kr_value_next(value, &at, &text)) bytes += text.n; /* no more than the file has */
  if (value->n >= INT32_MAX || bytes >= UINT32_MAX)
    return kr_fail(err, KR_E_UNSUPPORTED, KEY "tokens: has %llu tokens, which is too large",
                   (unsigned long long)value->n);
  tokens->spelling = spelling;
  for (int i = 0; i < 256; i++) tokens->byte[i] = -1;
  if (allocate(tokens, (size_t)value->n, bytes)) return kr_fail_memory(err, "tokens");
  if ((code = read_kinds(source, tokens, err))) return code;
  uint32_t hashes[AHEAD];
  int32_t id = 0;
  for (at = 0; kr_value_next(value, &at, &text); id++) {
    if (id >= AHEAD) insert(tokens, id - AHEAD, hashes[id % AHEAD]);
    if ((code = read_token(tokens, id, text, &hashes[id % AHEAD], err))) return code;
  }
  for (int32_t i = id > AHEAD ? id - AHEAD : 0; i < id; i++) insert(tokens, i, hashes[i % AHEAD]);
  return KR_OK;
}

void kr_tokens_clear(kr_tokens *tokens) {
  kr_free(tokens->at);
  kr_free(tokens->bytes);
  kr_free(tokens->kind);
  kr_free(tokens->raw);
  kr_free(tokens->slots);
  *tokens = (kr_tokens){0};
}
