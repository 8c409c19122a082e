/* The tokens of a vocabulary: their bytes, their kinds, and a hash table from bytes to ids. */
#ifndef KR_TEXT_TOKENS_H
#define KR_TEXT_TOKENS_H

#include "formats/source.h"

/* How tokens are spelled. */
typedef enum kr_spelling {
  KR_SPELLING_BYTES, /* GPT-2's: a character for each byte, "Ġ" for a space */
  KR_SPELLING_SPACES /* SentencePiece's: "▁" for a space, "<0x0A>" for a byte */
} kr_spelling;

typedef enum kr_token_kind { /* GGUF's numbers */
                             KR_TOKEN_UNDEFINED = 0,
                             KR_TOKEN_NORMAL = 1,
                             KR_TOKEN_UNKNOWN = 2,
                             KR_TOKEN_CONTROL = 3,
                             KR_TOKEN_USER = 4,
                             KR_TOKEN_UNUSED = 5,
                             KR_TOKEN_BYTE = 6,
                             KR_TOKEN_N_KINDS
} kr_token_kind;

typedef struct kr_token_slot {
  uint32_t hash, id; /* id + 1; 0 for an empty slot */
} kr_token_slot;

typedef struct kr_tokens {
  kr_spelling spelling;
  int32_t n;
  uint32_t *at;   /* [n + 1]: token i's bytes are bytes[at[i]] up to bytes[at[i + 1]] */
  uint8_t *bytes; /* what the token stands for */
  uint8_t *kind;  /* [n] kr_token_kind */
  uint8_t *raw;   /* [n]: not 0 where the spelling is no spelling of bytes, and stands for itself */
  int32_t byte[256]; /* ids of single bytes, or -1 */
  size_t longest;    /* bytes of the longest token */
  bool doubles;      /* some tokens are spelled alike */
  kr_token_slot *slots;
  size_t mask;
} kr_tokens;

/* Reads tokenizer.ggml.tokens and .token_type. tokens is zero before; it is to be cleared after a
 * failure too. Of tokens that are spelled alike the first is found by its text. */
int kr_tokens_read(const kr_source *source, kr_spelling spelling, kr_tokens *tokens, kr_error *err);
void kr_tokens_clear(kr_tokens *tokens);

/* The token that stands for these bytes, or -1; raw picks between tokens that are spelled as bytes
 * and those that are not. Byte tokens of SentencePiece are not found so. */
int32_t kr_tokens_find(const kr_tokens *tokens, const uint8_t *bytes, size_t n, bool raw);

/* The same in steps, in this order, between which the same step for other tokens hides the wait for
 * memory. The two in the middle may be left out. */
uint32_t kr_tokens_hash(const kr_tokens *tokens, const uint8_t *bytes, size_t n, bool raw);
int32_t kr_tokens_guess(const kr_tokens *tokens, uint32_t hash); /* or -1: it is no token */
void kr_tokens_fetch(const kr_tokens *tokens, int32_t guess);
int32_t kr_tokens_find_hashed(const kr_tokens *tokens, const uint8_t *bytes, size_t n, bool raw,
                              uint32_t hash);

/* The token that is spelled so, or -1. */
int32_t kr_tokens_spelled(const kr_tokens *tokens, const char *text, size_t n);

/* Writes the bytes that a spelling stands for; out has room for n. Returns their number. *ret_raw
 * tells that the spelling stands for itself. */
size_t kr_spelling_read(kr_spelling spelling, const uint8_t *text, size_t n, uint8_t *out,
                        bool *ret_raw);

/* Whether a token is a user-defined run of two or more spaces of SentencePiece. Converters write
 * them with spaces where the tokenizer itself has "▁"; it merges runs of spaces to them before
 * anything else, and matches them in the text as special tokens only where that has "▁" itself. */
bool kr_tokens_is_spaces(const kr_tokens *tokens, int32_t id);

static inline const uint8_t *kr_tokens_bytes(const kr_tokens *tokens, int32_t id, size_t *ret_n) {
  *ret_n = tokens->at[id + 1] - tokens->at[id];
  return tokens->bytes + tokens->at[id];
}

#endif
