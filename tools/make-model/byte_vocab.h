/* A small byte-level BPE vocabulary, as GGUF files of the gpt2 kind hold it. */
#ifndef KR_BYTE_VOCAB_H
#define KR_BYTE_VOCAB_H

#include "gguf_write.h"

/* Three control tokens and the 256 bytes; a smaller vocabulary is not possible. */
enum { KR_BYTE_VOCAB_MIN = 259 };

/* Puts the tokenizer.* keys: <|endoftext|>, <|im_start|>, <|im_end|>; the bytes; merges of frequent
 * English pairs, as many as fit; unused tokens up to n. */
void kr_put_byte_vocab(kr_gguf_writer *writer, gsize n);

#endif
