/* What a vocabulary is made of; for the files of text/ that make or use it. */
#ifndef KR_TEXT_VOCAB_PARTS_H
#define KR_TEXT_VOCAB_PARTS_H

#include "text/buffer.h"
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
  KR_PREFIX_EACH,  /* before every part between special tokens */
  KR_PREFIX_FIRST, /* before text that starts with neither a special token nor a space */
  KR_PREFIX_ALWAYS /* before every part that does not start with a space */
} kr_prefix;

struct kr_vocab {
  kr_vocab_kind kind;
  kr_tokens tokens;
  kr_special special;
  kr_special normalized; /* matched in what special leaves, after normalizing it */
  kr_bpe bpe;
  kr_spm spm;
  kr_split split;     /* BPE only, as nfc and ignore_merges */
  bool nfc;           /* text is normalized first */
  bool ignore_merges; /* a piece that is a token is that token, whatever the merges say */
  kr_prefix prefix;   /* SPM only, as all up to strip */
  bool metaspace;     /* the spaces are the pre-tokenizer's: normalized text still has them */
  bool split_spaces;  /* words are merged apart, each with the space before it */
  bool pairs;         /* merges by the list of bpe, not by scores */
  bool keep_unknown;  /* unknown characters in a row stay apart */
  bool strip;         /* decoding takes a space at the start away */
  bool add_bos, add_eos;
  int32_t bos, eos;     /* or -1 */
  kr_ids before, after; /* what else is added, of files of our own */
  char *chat_template;  /* or NULL */
  uint8_t *end;         /* [n] whether generation ends */
  /* [n] whether merging the bytes of a token gives that token: WHOLE_*; found out when first asked,
   * by any thread, always with the same result */
  _Atomic uint8_t *whole;
};

/* The keys krafla.tokenizer.* of files of our own, which say what GGUF has no keys for; where they
 * are, tokenizer.ggml.pre stands for the splitting alone. kr_vocab_own tells whether they are
 * there.
 */
int kr_vocab_own(const kr_source *source, bool *ret_own, kr_error *err);
/* The prefix alone, which may stand in any file. */
int kr_vocab_read_prefix(const kr_source *source, kr_vocab *vocab, kr_error *err);
int kr_vocab_read_own(const kr_source *source, kr_vocab *vocab, kr_error *err);

enum { KR_WHOLE_UNKNOWN = 0, KR_WHOLE_YES = 1, KR_WHOLE_NO = 2 };

static inline bool kr_vocab_is_hidden(const kr_vocab *vocab, int32_t id) {
  int kind = vocab->tokens.kind[id];
  return kind == KR_TOKEN_CONTROL || kind == KR_TOKEN_UNKNOWN;
}

#endif
