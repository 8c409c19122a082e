/* Byte-level BPE: pieces are merged by a list of pairs, earliest first. */
#ifndef KR_TEXT_MODEL_BPE_H
#define KR_TEXT_MODEL_BPE_H

#include "text/merge.h"
#include "text/tokens.h"

typedef struct kr_bpe_slot {
  int32_t left, right;
  kr_pair pair; /* id is -1 in an empty slot; the priority is the place in the list */
} kr_bpe_slot;

typedef struct kr_bpe {
  kr_bpe_slot *slots;
  size_t mask;
  size_t n; /* of the list; priorities are below */
} kr_bpe;

/* Reads tokenizer.ggml.merges. bpe is zero before; it is to be cleared after a failure too. */
int kr_bpe_read(const kr_source *source, const kr_tokens *tokens, kr_bpe *bpe, kr_error *err);
void kr_bpe_clear(kr_bpe *bpe);

/* A kr_pair_fn; rules is a kr_bpe. */
kr_pair kr_bpe_pair(const void *rules, const uint8_t *piece, const kr_symbol *a,
                    const kr_symbol *b);

/* Writes the symbols that a piece starts as, [n] at most, and returns their number. Bytes that have
 * no token are left out, as the reference does. */
size_t kr_bpe_symbols(const kr_tokens *tokens, const uint8_t *piece, size_t n,
                      kr_symbol *ret_symbols);

#endif
