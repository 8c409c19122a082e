/* What a vocabulary is made of; for the files of text/ that make or use it. */
#ifndef KR_TEXT_VOCAB_PARTS_H
#define KR_TEXT_VOCAB_PARTS_H

#include "text/model_bpe.h"
#include "text/model_spm.h"
#include "text/pretokenizer.h"
#include "text/special.h"
#include "text/vocab.h"
#include <stdatomic.h>

typedef enum kr_vocab_kind { KR_VOCAB_BPE, KR_VOCAB_SPM } kr_vocab_kind;

/* Where SentencePiece models put a space. */
typedef enum kr_prefix {
  KR_PREFIX_NONE,
  KR_PREFIX_EACH, /* before every part between special tokens */
  KR_PREFIX_FIRST /* before text that starts with neither a special token nor a space */
} kr_prefix;

struct kr_vocab {
  kr_vocab_kind kind;
  kr_tokens tokens;
  kr_special special;
  kr_bpe bpe;
  kr_spm spm;
  kr_split split;     /* BPE only, as nfc and ignore_merges */
  bool nfc;           /* text is normalized first */
  bool ignore_merges; /* a piece that is a token is that token, whatever the merges say */
  kr_prefix prefix;   /* SPM only */
  bool add_bos, add_eos;
  int32_t bos, eos; /* or -1 */
  uint8_t *end;     /* [n] whether generation ends */
  /* [n] whether merging the bytes of a token gives that token: WHOLE_*; found out when first asked,
   * by any thread, always with the same result */
  _Atomic uint8_t *whole;
};

enum { KR_WHOLE_UNKNOWN = 0, KR_WHOLE_YES = 1, KR_WHOLE_NO = 2 };

static inline bool kr_vocab_is_hidden(const kr_vocab *vocab, int32_t id) {
  int kind = vocab->tokens.kind[id];
  return kind == KR_TOKEN_CONTROL || kind == KR_TOKEN_UNKNOWN;
}

#endif
