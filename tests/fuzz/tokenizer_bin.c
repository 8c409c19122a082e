/* Fuzz target: a tokenizer.bin of llama2.c, read and used. */
#include "tokenizers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return fuzz_tokenizer(kr_tokenizer_bin, data, size);
}
