/* Small vocabularies for tests, made as GGUF files in memory. */
#ifndef KR_TEST_MADE_VOCAB_H
#define KR_TEST_MADE_VOCAB_H

#include "text/vocab.h"
#include <glib.h>

typedef struct kr_made_token {
  const char *text; /* as it is spelled; NULL ends a list */
  int kind;         /* GGUF's; 0: normal */
  float score;
} kr_made_token;

typedef struct kr_made_vocab {
  const char *model, *pre; /* NULL: the key is absent */
  const kr_made_token *tokens;
  bool alphabet;             /* the 256 characters of bytes come first, or the 256 byte tokens */
  const char *const *merges; /* NULL-ended; NULL: the key is absent */
  bool scores, types;        /* whether these keys are there */
  int bos, eos, eot;         /* 0: the key is absent */
  int add_bos, add_eos;      /* 1: true, -1: false, 0: absent */
  int prefix;                /* add_space_prefix, the same */
  const char *own_prefix;    /* krafla.tokenizer.prefix; NULL: absent */
  int more_rows;             /* the embedding has so many more rows than there are tokens */
  const char *drop;          /* a character of the alphabet that is left out */
} kr_made_vocab;

/* The result of kr_vocab_new; *ret_vocab is NULL when it fails. */
int kr_made_vocab_try(const kr_made_vocab *made, kr_vocab **ret_vocab, kr_error *err);
/* One that must be right. */
kr_vocab *kr_made_vocab_new(const kr_made_vocab *made);

/* The ids of text as "1 2 3"; g_free. */
char *kr_encode_shown(const kr_vocab *vocab, const char *text, size_t n, uint32_t flags);

#endif
