/* Fuzz target: a tokenizer.json, read and used. */
#include "tokenizers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_json(const uint8_t *data, size_t n, kr_gguf_build *build, kr_error *err) {
  return kr_tokenizer_json(data, n, NULL, build, err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return fuzz_tokenizer(read_json, data, size);
}
