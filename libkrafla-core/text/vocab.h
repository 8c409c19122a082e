/* The tokenizer of a model, inside the core; the rest of its interface is in krafla/krafla.h. */
#ifndef KR_TEXT_VOCAB_H
#define KR_TEXT_VOCAB_H

#include "formats/source.h"

/* Reads the tokenizer from a source's tokenizer.ggml.* keys. n_rows is the number of rows of the
 * token embedding; a vocabulary of another size is an error. The source is not needed afterwards.
 * Ids of special tokens that are out of range count as absent. */
int kr_vocab_new(const kr_source *source, int64_t n_rows, kr_vocab **ret_vocab, kr_error *err);
void kr_vocab_free(kr_vocab *vocab);

/* The text of n ids as the reference decodes it: always valid UTF-8. Without control, control
 * tokens are left out. Where the model puts a space before the text, that one is taken away.
 * ret_text is a new array, for kr_array_free. */
int kr_vocab_decode(const kr_vocab *vocab, const int32_t *ids, size_t n, int control,
                    char **ret_text, size_t *ret_n, kr_error *err);

#endif
