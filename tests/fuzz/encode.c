/* Fuzz target: text to ids and back, with small tokenizers of every kind. The first byte of an
 * input chooses the tokenizer, the rest is text. Tokenizers that leave text as it is must give it
 * back. */
#include "text/normalize.h"
#include "tokenizers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The pieces of a pre-tokenizer's text in a row, however it was cut; added tokens that take the
 * white space around them do not give it back. */
static void check_round(const kr_vocab *vocab, int kind, const char *text, size_t n) {
  kr_bytes clean = {0};
  const char *want;
  size_t n_want, n_back = 0, n_ids;
  int32_t *ids;
  char *back = NULL;
  if (kr_text_clean(text, n, &clean, &want, &n_want, NULL)) return;
  bool spaced = memmem(want, n_want, " <l", 3) || memmem(want, n_want, "r> ", 3);
  bool marks = kind >= FUZZ_BYTES && (memmem(want, n_want, "\xe2\x96\x81", 3) || kind > FUZZ_BYTES);
  if (!spaced && !marks && !fuzz_kinds[kind].nfc &&
      !kr_vocab_encode(vocab, want, n_want, 0, &ids, &n_ids, NULL)) {
    /* each part gets a space of its own, of which the first is taken away again */
    bool parts = kind >= FUZZ_BYTES && memchr(want, '<', n_want);
    if (!parts && !kr_vocab_decode(vocab, ids, n_ids, 1, &back, &n_back, NULL))
      fuzz_check(n_back == n_want && (!n_want || !memcmp(back, want, n_want)),
                 "another text comes back");
    kr_text_free(back);
    kr_ids_free(ids);
  }
  kr_array_free(clean.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!size) return 0;
  int kind = data[0] % FUZZ_KINDS;
  const kr_vocab *vocab = fuzz_kept(kind);
  fuzz_use(vocab, (const char *)data + 1, size - 1);
  check_round(vocab, kind, (const char *)data + 1, size - 1);
  return 0;
}
