/* Fuzz target: ids to text. The first byte of an input chooses the tokenizer, every two bytes more
 * are an id, which may be none. By bytes, the streaming decoder must give the same text as all at
 * once. */
#include "tokenizers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t stream(const kr_vocab *vocab, const int32_t *ids, size_t n, char *out) {
  kr_decoder decoder = {{0}};
  size_t written = 0;
  for (size_t i = 0; i < n; i++) {
    size_t length;
    const char *bytes = kr_vocab_bytes(vocab, ids[i], 1, &length);
    written += kr_decoder_push(&decoder, bytes, length, out + written);
  }
  return written + kr_decoder_finish(&decoder, out + written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size) return 0;
  int kind = data[0] % FUZZ_KINDS;
  const kr_vocab *vocab = fuzz_kept(kind);
  size_t n = (size - 1) / 2, length;
  int32_t *ids = malloc(n * sizeof *ids + 1);
  char *out = malloc(n * 64 + 64), *text;
  if (!ids || !out) abort();
  for (size_t i = 0; i < n; i++) {
    ids[i] = data[1 + 2 * i] | (data[2 + 2 * i] & 1) << 8;
    if (data[2 + 2 * i] > 0xf0) ids[i] = -ids[i];
  }
  size_t streamed = stream(vocab, ids, n, out);
  for (int control = 0; control < 2; control++) {
    if (kr_vocab_decode(vocab, ids, n, control, &text, &length, NULL)) continue;
    if (control && kind < FUZZ_BYTES)
      fuzz_check(length == streamed && (!length || !memcmp(text, out, length)),
                 "streaming differs");
    kr_text_free(text);
  }
  free(ids);
  free(out);
  return 0;
}
