/* Token ids to text: at once as the reference does it, and the streaming decoder. */
#include "base/utf8.h"
#include "text/normalize.h"
#include "text/vocab_parts.h"

#define REPLACEMENT "\xef\xbf\xbd"

/* ---- all at once ---------------------------------------------------------------------------- */

static bool is_utf8(const uint8_t *s, size_t n) {
  uint32_t code = 0;
  for (size_t at = 0; at < n && code != KR_UTF8_INVALID;) at += kr_utf8_next(s + at, n - at, &code);
  return code != KR_UTF8_INVALID;
}

/* A run of byte tokens that ends at the end of out and started at start is taken as a whole: where
 * it is not UTF-8, every byte of it is replaced. */
static bool end_run(kr_bytes *out, size_t start) {
  size_t n = out->n - start;
  if (is_utf8((const uint8_t *)out->data + start, n)) return true;
  out->n = start;
  for (size_t i = 0; i < n; i++)
    if (!kr_bytes_add(out, REPLACEMENT, 3)) return false;
  return true;
}

static bool join(const kr_vocab *vocab, const int32_t *ids, size_t n, int control, kr_bytes *out) {
  size_t start = SIZE_MAX; /* of a run of byte tokens */
  for (size_t i = 0; i < n; i++) {
    if (ids[i] < 0 || ids[i] >= vocab->tokens.n) continue;
    if (!control && kr_vocab_is_hidden(vocab, ids[i])) continue;
    bool byte = vocab->kind == KR_VOCAB_SPM && vocab->tokens.kind[ids[i]] == KR_TOKEN_BYTE;
    if (byte && start == SIZE_MAX) start = out->n;
    if (!byte && start != SIZE_MAX) {
      if (!end_run(out, start)) return false;
      start = SIZE_MAX;
    }
    size_t length;
    const char *bytes = kr_vocab_bytes(vocab, ids[i], 1, &length);
    if (!kr_bytes_add(out, bytes, length)) return false;
  }
  return start == SIZE_MAX || end_run(out, start);
}

int kr_vocab_decode(const kr_vocab *vocab, const int32_t *ids, size_t n, int control,
                    char **ret_text, size_t *ret_n, kr_error *err) {
  kr_bytes all = {0}, clean = {0};
  const char *text = NULL;
  size_t length = 0;
  bool ok = join(vocab, ids, n, control, &all) && kr_bytes_reserve(&all, 1);
  int code = ok ? kr_text_clean(all.data, all.n, &clean, &text, &length, err)
                : kr_fail_memory(err, "text");
  if (code) {
    kr_array_free(all.data);
    kr_array_free(clean.data);
    return code;
  }
  kr_bytes *result = text == all.data ? &all : &clean;
  kr_array_free(result == &all ? clean.data : all.data);
  if (vocab->strip && length && result->data[0] == ' ')
    memmove(result->data, result->data + 1, --length);
  *ret_text = result->data, *ret_n = length;
  return KR_OK;
}

/* ---- streaming ------------------------------------------------------------------------------ */

/* pending[0..2]: the start of a character; pending[7]: its length. */
#define LENGTH 7

/* Decodes bytes [n] to out; what may be the start of a character at their end is kept. */
static size_t decode(kr_decoder *decoder, const uint8_t *bytes, size_t n, char *out) {
  size_t at = 0, written = 0;
  while (at < n) {
    uint32_t code;
    size_t length = kr_utf8_next(bytes + at, n - at, &code);
    bool starts = bytes[at] >= 0xc2 && bytes[at] <= 0xf4;
    if (code == KR_UTF8_INVALID && starts && length == n - at) { /* only what follows can tell */
      memcpy(decoder->pending, bytes + at, length);
      decoder->pending[LENGTH] = (uint8_t)length;
      return written;
    }
    const void *from = code == KR_UTF8_INVALID ? (const void *)REPLACEMENT : bytes + at;
    size_t size = code == KR_UTF8_INVALID ? 3 : length;
    memcpy(out + written, from, size);
    written += size;
    at += length;
  }
  return written;
}

size_t kr_decoder_push(kr_decoder *decoder, const char *bytes, size_t n, char *out) {
  uint8_t joined[8];
  size_t held = decoder->pending[LENGTH], written = 0, taken = 0;
  /* one byte at a time until the character that was begun is whole or broken */
  while (held && taken < n) {
    memcpy(joined, decoder->pending, held);
    joined[held] = (uint8_t)bytes[taken++];
    decoder->pending[LENGTH] = 0;
    written += decode(decoder, joined, held + 1, out + written);
    held = decoder->pending[LENGTH];
  }
  if (taken < n)
    written += decode(decoder, (const uint8_t *)bytes + taken, n - taken, out + written);
  return written;
}

size_t kr_decoder_finish(kr_decoder *decoder, char *out) {
  size_t held = decoder->pending[LENGTH];
  *decoder = (kr_decoder){{0}};
  if (held) memcpy(out, REPLACEMENT, 3);
  return held ? 3 : 0;
}
