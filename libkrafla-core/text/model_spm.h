/* SentencePiece's BPE: neighbours whose text together is a token merge, best score first. */
#ifndef KR_TEXT_MODEL_SPM_H
#define KR_TEXT_MODEL_SPM_H

#include "text/merge.h"
#include "text/tokens.h"

typedef struct kr_spm {
  const kr_tokens *tokens;
  uint32_t
      *priority;    /* [n] of tokens: from scores, the best first; KR_PAIR_NONE: never merged to */
  uint64_t *inside; /* bits by hash: pairs of characters that stand together in some token */
  int32_t unknown;  /* id, or -1 */
} kr_spm;

/* Reads tokenizer.ggml.scores; with pairs, merges are listed elsewhere and there are none. spm is
 * zero before; it is to be cleared after a failure too. tokens must outlive it. */
int kr_spm_read(const kr_source *source, const kr_tokens *tokens, int32_t unknown, bool pairs,
                kr_spm *spm, kr_error *err);
void kr_spm_clear(kr_spm *spm);

/* A kr_pair_fn; rules is a kr_spm. */
kr_pair kr_spm_pair(const void *rules, const uint8_t *piece, const kr_symbol *a,
                    const kr_symbol *b);

/* Writes the symbols that a piece starts as, [n] at most, and returns their number: characters that
 * are tokens, else their bytes where all have tokens, else the unknown token. */
size_t kr_spm_symbols(const kr_spm *spm, const uint8_t *piece, size_t n, kr_symbol *ret_symbols);

/* The length of the first piece of text: no token reaches across its end, so pieces may be encoded
 * apart. n > 0. */
size_t kr_spm_piece(const kr_spm *spm, const uint8_t *text, size_t n);

#endif
