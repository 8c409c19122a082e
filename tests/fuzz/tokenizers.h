/* Tokenizers for fuzz targets: of an input's bytes, and small ones of every kind. */
#ifndef KR_FUZZ_TOKENIZERS_H
#define KR_FUZZ_TOKENIZERS_H

#include "base/utf8.h"
#include "text/tokenizer_file.h"
#include "text/vocab.h"
#include <krafla/krafla.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int fuzz_reader(const uint8_t *data, size_t n, kr_gguf_build *build, kr_error *err);

/* The tokenizer of a file that read understands, NULL: of a GGUF file; NULL where it is refused. */
static inline kr_vocab *fuzz_open(fuzz_reader *read, const uint8_t *data, size_t n) {
  kr_gguf_build build = {0};
  kr_source *source = NULL;
  kr_vocab *vocab = NULL;
  kr_error err = {0};
  int code = read ? read(data, n, &build, &err) : KR_OK;
  if (!code && read) code = kr_gguf_build_end(&build, &data, &n, &err);
  if (!code) code = kr_source_open_bytes("input", data, n, &source, &err);
  if (!code) code = kr_vocab_new(source, -1, &vocab, &err);
  kr_source_close(source);
  kr_gguf_build_clear(&build);
  if (code && !err.message[0]) abort(); /* every refusal says why */
  return vocab;
}

static inline void fuzz_check(bool ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "%s\n", what);
  abort();
}

/* Encodes a text in all ways, and decodes what that gives. */
static inline void fuzz_use(const kr_vocab *vocab, const char *text, size_t n) {
  for (uint32_t flags = 0; flags < 4; flags++) {
    int32_t *ids;
    size_t n_ids, length;
    char *back;
    if (kr_vocab_encode(vocab, text, n, flags, &ids, &n_ids, NULL)) continue;
    for (size_t i = 0; i < n_ids; i++)
      fuzz_check(ids[i] >= 0 && ids[i] < kr_vocab_size(vocab), "an id is no token");
    if (!kr_vocab_decode(vocab, ids, n_ids, flags & 1, &back, &length, NULL)) {
      uint32_t code = 0;
      for (size_t at = 0; at < length && code != KR_UTF8_INVALID;)
        at += kr_utf8_next((const uint8_t *)back + at, length - at, &code);
      fuzz_check(code != KR_UTF8_INVALID, "a text is not UTF-8");
      kr_text_free(back);
    }
    kr_ids_free(ids);
  }
}

static const char fuzz_text[] = " Hello, world's 1234  \n\n\t caf\xc3\xa9 e\xcc\x81 "
                                "\xe2\x96\x81<s> a</s>\xe4\xb8\xad\xf0\x9f\xa6"
                                "\x99\xff\xe2\x82 <0x0A> camelCase "
                                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

static inline int fuzz_tokenizer(fuzz_reader *read, const uint8_t *data, size_t n) {
  kr_vocab *vocab = fuzz_open(read, data, n);
  if (!vocab) return 0;
  fuzz_use(vocab, fuzz_text, sizeof fuzz_text - 1);
  for (int32_t id = -1; id <= kr_vocab_size(vocab) && id < 1000; id++) {
    size_t length;
    (void)kr_vocab_bytes(vocab, id, 1, &length);
    (void)(kr_vocab_is_end(vocab, id) + kr_vocab_is_control(vocab, id));
  }
  kr_vocab_free(vocab);
  return 0;
}

/* ---- small ones: kind 0 to 10 by bytes, one for each pre-tokenizer; then SentencePiece's -------
 */

enum { FUZZ_BYTES = 11, FUZZ_KINDS = 14 };

/* The parts of a tokenizer.json around its tokens, by kind. */
static const struct {
  const char *pre, *prefix;
  bool nfc;
} fuzz_kinds[FUZZ_KINDS] = {
    {.pre = "gpt-2"},        {.pre = "smollm"},         {.pre = "qwen2", .nfc = true},
    {.pre = "llama-bpe"},    {.pre = "qwen35"},         {.pre = "deepseek-v3"},
    {.pre = "gpt-4o"},       {.pre = "tekken"},         {.pre = "qwen2"},
    {.pre = "deepseek-llm"}, {.pre = "deepseek-coder"}, {.prefix = "each"},
    {.prefix = "first"},     {.prefix = "none"}};

static inline kr_text fuzz_spell(int byte, bool spm, char room[8]) {
  if (spm) return (kr_text){room, (size_t)snprintf(room, 8, "<0x%02X>", (unsigned)byte)};
  uint32_t code = (uint32_t)byte, others = 0x100;
  for (int i = 0; i <= byte; i++) {
    bool own = (i > 0x20 && i < 0x7f) || (i > 0xa0 && i != 0xad);
    code = own ? (uint32_t)i : others++;
  }
  return (kr_text){room, kr_utf8_put(code, room)};
}

static const char *const fuzz_words[] = {"th", "the", "in", "an",  "aa", "aaaa", "12", "ab",
                                         "bc", "ll",  "he", "hel", "--", "((",   NULL};
static const char *const fuzz_merges[] = {"t h",   "th e", "i n", "a n", "a a",
                                          "aa aa", "1 2",  "a b", "b c", "l l",
                                          "h e",   "he l", "- -", "( (", NULL};
static const char *const fuzz_special[] = {"<unk>", "<s>", "</s>", "<|x|>", " <l", "r> ", NULL};

static inline uint64_t fuzz_count(const char *const *list) {
  uint64_t n = 0;
  while (list[n]) n++;
  return n;
}

/* SentencePiece's models merge characters, so those have to be tokens. */
static inline void fuzz_put_tokens(kr_gguf_build *build, bool spm, bool kinds) {
  char room[8], letter[2] = {0};
  for (int i = 0; i < 256; i++) {
    if (kinds)
      kr_gguf_build_le(build, spm ? 6 : 1, 4);
    else
      kr_gguf_build_text(build, fuzz_spell(i, spm, room));
  }
  for (size_t i = 0; fuzz_words[i]; i++) {
    if (kinds)
      kr_gguf_build_le(build, 1, 4);
    else
      kr_gguf_build_text(build, (kr_text){fuzz_words[i], strlen(fuzz_words[i])});
  }
  for (size_t i = 0; fuzz_special[i]; i++) {
    if (kinds)
      kr_gguf_build_le(build, i == 3 ? 4 : 3, 4);
    else
      kr_gguf_build_text(build, (kr_text){fuzz_special[i], strlen(fuzz_special[i])});
  }
  for (int c = 0x21; spm && c < 0x7f; c++) {
    letter[0] = (char)c;
    if (kinds)
      kr_gguf_build_le(build, 1, 4);
    else
      kr_gguf_build_text(build, (kr_text){letter, 1});
  }
}

static inline kr_vocab *fuzz_made(int kind) {
  bool spm = kind >= FUZZ_BYTES;
  const char *pre = spm ? "default" : fuzz_kinds[kind].pre, *model = spm ? "llama" : "gpt2";
  const char *prefix = spm ? fuzz_kinds[kind].prefix : "none";
  uint64_t words = fuzz_count(fuzz_words), special = fuzz_count(fuzz_special);
  uint64_t n = 256 + words + special + (spm ? 0x7f - 0x21 : 0);
  kr_gguf_build build = {0};
  kr_gguf_build_u32(&build, "krafla.tokenizer.version", 1);
  kr_gguf_build_string(&build, "tokenizer.ggml.model", (kr_text){model, strlen(model)});
  kr_gguf_build_string(&build, "tokenizer.ggml.pre", (kr_text){pre, strlen(pre)});
  kr_gguf_build_string(&build, "krafla.tokenizer.prefix", (kr_text){prefix, strlen(prefix)});
  kr_gguf_build_bool(&build, "krafla.tokenizer.nfc", fuzz_kinds[kind].nfc);
  kr_gguf_build_bool(&build, "krafla.tokenizer.pairs", spm);
  kr_gguf_build_bool(&build, "krafla.tokenizer.strip", spm && kind == FUZZ_BYTES);
  kr_gguf_build_bool(&build, "krafla.tokenizer.metaspace", spm && kind > FUZZ_BYTES);
  kr_gguf_build_array(&build, "tokenizer.ggml.tokens", KR_VALUE_STRING, n);
  fuzz_put_tokens(&build, spm, false);
  kr_gguf_build_array(&build, "tokenizer.ggml.token_type", KR_VALUE_I32, n);
  fuzz_put_tokens(&build, spm, true);
  kr_gguf_build_array(&build, "tokenizer.ggml.merges", KR_VALUE_STRING, fuzz_count(fuzz_merges));
  for (size_t i = 0; fuzz_merges[i]; i++)
    kr_gguf_build_text(&build, (kr_text){fuzz_merges[i], strlen(fuzz_merges[i])});
  kr_gguf_build_array(&build, "krafla.tokenizer.added", KR_VALUE_I32, special);
  for (uint64_t i = 0; i < special; i++) kr_gguf_build_le(&build, 256 + words + i, 4);
  kr_gguf_build_array(&build, "krafla.tokenizer.added_flags", KR_VALUE_U8, special);
  for (uint64_t i = 0; i < special; i++) kr_gguf_build_le(&build, i == 4 ? 3 : i == 5 ? 5 : 1, 1);
  const uint8_t *data = NULL;
  size_t size = 0;
  kr_vocab *vocab = NULL;
  if (!kr_gguf_build_end(&build, &data, &size, NULL)) vocab = fuzz_open(NULL, data, size);
  kr_gguf_build_clear(&build);
  fuzz_check(vocab, "a tokenizer of our own is refused");
  return vocab;
}

/* The same, made once. */
static inline const kr_vocab *fuzz_kept(int kind) {
  static kr_vocab *kept[FUZZ_KINDS];
  if (!kept[kind]) kept[kind] = fuzz_made(kind);
  return kept[kind];
}

#endif
