/* Reading of the tokenizer vectors: one JSON object a line, whose members are strings of
 * hexadecimal digits and arrays of integers. */
#ifndef KR_TEST_VECTORS_H
#define KR_TEST_VECTORS_H

#include "text/vocab.h"
#include <glib.h>

/* The bytes of a member "NAME": "HEX", or NULL where the line has none. */
GByteArray *vector_bytes(const char *line, const char *name);

/* The values of a member "NAME": [1, 2], or NULL; an array of int32_t. */
GArray *vector_ids(const char *line, const char *name);

/* text encodes to the ids of a member. */
void vector_check_ids(const kr_vocab *vocab, const char *line, const char *name,
                      const GByteArray *text, uint32_t flags);
/* The ids of the member "ids" decode to the bytes of another. */
void vector_check_text(const kr_vocab *vocab, const char *line, const char *name, int control);

/* What a Python program writes, by lines; it must succeed. g_strfreev. */
GStrv vector_run(const char *const *argv);

/* The tokenizer of a GGUF file without tensors, or whose embedding has a row for each token. */
kr_vocab *vector_vocab(const char *path);

#endif
