/* The tokenizer of a model, inside the core; the rest of its interface is in krafla/krafla.h. */
#ifndef KR_TEXT_VOCAB_H
#define KR_TEXT_VOCAB_H

#include "formats/source.h"

/* Reads the tokenizer from a source's tokenizer.ggml.* keys. n_rows is the number of rows of the
 * token embedding; a vocabulary of another size is an error; -1: any size. The source is not needed
 * afterwards. Ids of special tokens that are out of range count as absent. */
int kr_vocab_new(const kr_source *source, int64_t n_rows, kr_vocab **ret_vocab, kr_error *err);

#endif
