/* Fuzz target: the tokenizer of a GGUF file or an .mlt file, read and used. */
#include "tokenizers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return fuzz_tokenizer(NULL, data, size);
}
