/* Pre-tokenizers: text is cut into pieces, and pieces are encoded one by one. Each is a scanner
 * written by hand after the regular expression that the reference uses; see pretokenizer.c. */
#ifndef KR_TEXT_PRETOKENIZER_H
#define KR_TEXT_PRETOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum kr_split {
  KR_SPLIT_GPT2,
  KR_SPLIT_SMOLLM,         /* every digit apart, then GPT-2's */
  KR_SPLIT_QWEN2,          /* digits one by one */
  KR_SPLIT_LLAMA3,         /* digits by threes */
  KR_SPLIT_QWEN35,         /* marks belong to words */
  KR_SPLIT_DEEPSEEK,       /* DeepSeek V3 */
  KR_SPLIT_DEEPSEEK_LLM,   /* DeepSeek's first models */
  KR_SPLIT_DEEPSEEK_CODER, /* the same, for code */
  KR_SPLIT_TEKKEN,         /* words are cut where lower case turns to upper */
  KR_SPLIT_O200K           /* the same, English endings kept, digits by threes */
} kr_split;

enum { KR_SPLIT_STEPS = 6 };

typedef struct kr_splitter {
  const uint8_t *text; /* valid UTF-8 */
  size_t n, at;
  size_t limit; /* the regular expression sees the text up to here */
  kr_split split;
  size_t ends[KR_SPLIT_STEPS]; /* of DeepSeek's first: of the piece that each split is at */
} kr_splitter;

void kr_split_start(kr_splitter *splitter, kr_split split, const char *text, size_t n);

/* The next piece; false at the end. Pieces are not empty and cover the text. All of them together
 * take time linear in n. */
bool kr_split_next(kr_splitter *splitter, const uint8_t **ret_piece, size_t *ret_n);

/* The end of the piece at splitter->at, which is before the end: of DeepSeek's first two. */
size_t kr_split_first(kr_splitter *splitter);

#endif
