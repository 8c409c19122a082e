/* llama2.c's tokenizer.bin, little-endian:
 *
 *   0  u32  the length of the longest token
 *   4  for each token: f32 score, i32 length, that many bytes
 *
 * The number of tokens is not in the file; it ends with the last. Spaces stand for SentencePiece's
 * "▁", and the tokens that begin and end a text have line breaks around their names.
 * Source    export and tokenizer of the llama2.c project. */
#include "base/half.h"
#include "formats/cursor.h"
#include "text/tokenizer_file.h"
#include "text/tokens.h"
#include <string.h>

#define GGML     "tokenizer.ggml."
#define MAX_LONG ((uint32_t)1 << 16) /* bytes of a token */

typedef struct entry {
  kr_text text;
  uint32_t score; /* bits of an f32 */
} entry;

/* The token at *at; its end is the next one's place. */
static int read_entry(const uint8_t *data, size_t size, uint64_t i, size_t *at, entry *ret,
                      kr_error *err) {
  size_t left = size - *at;
  if (left < 8)
    return kr_fail(err, KR_E_FORMAT,
                   "the file is truncated: token %llu at offset %zu takes 8 bytes and its text, "
                   "%zu are left",
                   (unsigned long long)i, *at, left);
  uint32_t length = kr_load_u32(data + *at + 4);
  if (length > MAX_LONG)
    return kr_fail(err, KR_E_FORMAT, "token %llu at offset %zu has a length of %ld, not 0 to %lu",
                   (unsigned long long)i, *at, (long)(int32_t)length, (unsigned long)MAX_LONG);
  if (length > left - 8)
    return kr_fail(err, KR_E_FORMAT,
                   "the file is truncated: the text of token %llu at offset %zu takes %lu bytes, "
                   "%zu are left",
                   (unsigned long long)i, *at + 8, (unsigned long)length, left - 8);
  ret->score = kr_load_u32(data + *at);
  ret->text = (kr_text){(const char *)data + *at + 8, length};
  *at += 8 + (size_t)length;
  return KR_OK;
}

static bool is_byte(kr_text text) {
  if (text.n != 6 || memcmp(text.data, "<0x", 3) || text.data[5] != '>') return false;
  for (int i = 3; i < 5; i++)
    if (!text.data[i] || !strchr("0123456789ABCDEF", text.data[i])) return false;
  return true;
}

/* "\n<s>\n" is "<s>". */
static kr_text name_of(uint64_t i, kr_text text) {
  bool framed = text.n > 2 && text.data[0] == '\n' && text.data[text.n - 1] == '\n';
  if ((i == 1 || i == 2) && framed) return (kr_text){text.data + 1, text.n - 2};
  return text;
}

static uint32_t kind_of(uint64_t i, kr_text text) {
  if (i == 0) return KR_TOKEN_UNKNOWN;
  if (i < 3) return KR_TOKEN_CONTROL;
  return is_byte(text) ? KR_TOKEN_BYTE : KR_TOKEN_NORMAL;
}

/* room: three bytes for each of the longest token. */
static kr_text with_marks(kr_text text, char *room) {
  size_t n = 0;
  for (size_t i = 0; i < text.n; i++) {
    bool space = text.data[i] == ' ';
    memcpy(room + n, space ? "\xe2\x96\x81" : text.data + i, space ? 3 : 1);
    n += space ? 3 : 1;
  }
  return (kr_text){room, n};
}

static void write_all(const uint8_t *data, size_t size, uint64_t n, char *room,
                      kr_gguf_build *build) {
  entry e;
  size_t at = 4;
  kr_gguf_build_string(build, GGML "model", (kr_text){"llama", 5});
  kr_gguf_build_string(build, GGML "pre", (kr_text){"default", 7});
  kr_gguf_build_array(build, GGML "tokens", KR_VALUE_STRING, n);
  for (uint64_t i = 0; i < n && !read_entry(data, size, i, &at, &e, NULL); i++) {
    kr_text text = name_of(i, e.text);
    kr_gguf_build_text(build, kind_of(i, text) == KR_TOKEN_NORMAL ? with_marks(text, room) : text);
  }
  kr_gguf_build_array(build, GGML "token_type", KR_VALUE_I32, n);
  at = 4;
  for (uint64_t i = 0; i < n && !read_entry(data, size, i, &at, &e, NULL); i++)
    kr_gguf_build_le(build, kind_of(i, name_of(i, e.text)), 4);
  kr_gguf_build_array(build, GGML "scores", KR_VALUE_F32, n);
  at = 4;
  for (uint64_t i = 0; i < n && !read_entry(data, size, i, &at, &e, NULL); i++)
    kr_gguf_build_le(build, e.score, 4);
  kr_gguf_build_u32(build, GGML "unknown_token_id", 0);
  kr_gguf_build_u32(build, GGML "bos_token_id", 1);
  kr_gguf_build_u32(build, GGML "eos_token_id", 2);
}

int kr_tokenizer_bin(const uint8_t *data, size_t size, kr_gguf_build *build, kr_error *err) {
  if (size < 4)
    return kr_fail(err, KR_E_FORMAT,
                   "the file is truncated: a tokenizer.bin has a header of 4 "
                   "bytes and its tokens, this one %zu bytes",
                   size);
  uint32_t longest = kr_load_u32(data);
  if (longest > MAX_LONG)
    return kr_fail(err, KR_E_FORMAT,
                   "the length of the longest token is given as %lu, the limit is %lu: no "
                   "tokenizer.bin?",
                   (unsigned long)longest, (unsigned long)MAX_LONG);
  uint64_t n = 0;
  for (size_t at = 4; at < size; n++) {
    entry e;
    int code = read_entry(data, size, n, &at, &e, err);
    if (code) return code;
  }
  if (n < 3)
    return kr_fail(err, KR_E_FORMAT,
                   "has %llu tokens; a tokenizer.bin has at least 3: unknown, begin and end",
                   (unsigned long long)n);
  char *room = kr_alloc(MAX_LONG, 3);
  if (!room) return kr_fail_memory(err, "tokens");
  write_all(data, size, n, room, build);
  kr_free(room);
  return KR_OK;
}
