/* Reading of the tokenizer vectors: one JSON object a line, whose members are strings of
 * hexadecimal digits and arrays of integers. */
#ifndef KR_TEST_VECTORS_H
#define KR_TEST_VECTORS_H

#include <glib.h>
#include <stdint.h>

/* The bytes of a member "NAME": "HEX", or NULL where the line has none. */
GByteArray *vector_bytes(const char *line, const char *name);

/* The values of a member "NAME": [1, 2], or NULL; an array of int32_t. */
GArray *vector_ids(const char *line, const char *name);

#endif
