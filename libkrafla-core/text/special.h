/* Tokens that are matched in the text before anything else: control, user-defined and unknown. */
#ifndef KR_TEXT_SPECIAL_H
#define KR_TEXT_SPECIAL_H

#include "text/tokens.h"

typedef struct kr_special_entry {
  const uint8_t *text; /* as it is spelled; in kr_special.text */
  uint32_t n;
  int32_t id;
  bool control; /* control or unknown */
} kr_special_entry;

typedef struct kr_special {
  kr_special_entry *entries; /* sorted by text */
  size_t n;
  uint8_t *text;
  uint32_t first[257]; /* entries that start with byte c: first[c] up to first[c + 1] */
} kr_special;

/* Collects them from tokenizer.ggml.tokens, which tokens was read from. special is zero before; it
 * is to be cleared after a failure too. Empty ones are left out. */
int kr_special_read(const kr_source *source, const kr_tokens *tokens, kr_special *special,
                    kr_error *err);
void kr_special_clear(kr_special *special);

/* The leftmost match in text, the longest of those that start there; control tells whether control
 * tokens count. Returns false when there is none. */
bool kr_special_find(const kr_special *special, const uint8_t *text, size_t n, bool control,
                     size_t *ret_at, size_t *ret_n, int32_t *ret_id);

#endif
