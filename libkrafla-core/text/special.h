/* Tokens that are matched in the text before anything else: control, user-defined and unknown. */
#ifndef KR_TEXT_SPECIAL_H
#define KR_TEXT_SPECIAL_H

#include "text/tokens.h"

typedef struct kr_special_entry {
  const uint8_t *text; /* as it is spelled; in kr_special.text */
  uint32_t n;
  int32_t id;
  bool control;  /* control or unknown */
  uint8_t flags; /* KR_ADDED_* */
} kr_special_entry;

/* How an added token of a tokenizer.json is matched; as krafla.tokenizer.added_flags has it. */
enum {
  KR_ADDED_SPECIAL = 1,
  KR_ADDED_LSTRIP = 2,      /* takes the white space before it */
  KR_ADDED_RSTRIP = 4,      /* and behind it */
  KR_ADDED_SINGLE_WORD = 8, /* not inside a word */
  KR_ADDED_NORMALIZED = 16  /* is looked for in the normalized text */
};

typedef struct kr_special {
  kr_special_entry *entries; /* sorted by text */
  size_t n;
  uint8_t *text;
  uint32_t first[257]; /* entries that start with byte c: first[c] up to first[c + 1] */
} kr_special;

typedef struct kr_match {
  size_t start, end; /* of the text that the token takes, white space included */
  size_t next;       /* where the search goes on: behind the token's own text */
  int32_t id;
} kr_match;

/* Collects them from tokenizer.ggml.tokens, which tokens was read from. special is zero before; it
 * is to be cleared after a failure too. Empty ones are left out. */
int kr_special_read(const kr_source *source, const kr_tokens *tokens, kr_special *special,
                    kr_error *err);
/* Collects the added tokens of krafla.tokenizer.added that have, or have not, the flag
 * KR_ADDED_NORMALIZED. before is put before their text, and every space in it becomes "▁", if it
 * is not NULL: what the normalizer does. */
int kr_special_read_added(const kr_source *source, const kr_tokens *tokens, bool normalized,
                          const char *before, kr_special *special, kr_error *err);
void kr_special_clear(kr_special *special);

/* Where control tokens are not looked for. */
typedef struct kr_plain {
  bool all;                  /* nowhere */
  const kr_text_span *spans; /* nor where they reach into one of these, in order and apart */
  size_t n;                  /* of spans; those behind what was searched are taken off */
  size_t base;               /* place of the text among them */
} kr_plain;

/* The leftmost match in text from at on, the longest of those that start there; plain tells where
 * control tokens count. What lies before done belongs to the match before. Returns false when there
 * is none. All calls for a text together are linear in it, but for the tokens' length. */
bool kr_special_find(const kr_special *special, const uint8_t *text, size_t n, size_t at,
                     size_t done, kr_plain *plain, kr_match *ret_match);

#endif
