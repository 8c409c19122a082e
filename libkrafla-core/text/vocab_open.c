/* Tokenizers by themselves: from the file of a model, or from a tokenizer's own. */
#include "formats/reader.h"
#include "text/tokenizer_file.h"
#include "text/vocab.h"
#include <stdio.h>
#include <string.h>

typedef enum file_kind { KIND_GGUF, KIND_JSON, KIND_BIN, KIND_OTHER } file_kind;

/* By the bytes alone, but for llama2.c's files, which begin with no magic: their name ends in .bin,
 * or their first number may be the length of a token. */
static file_kind kind_of(const kr_mapping *file, const char *path) {
  size_t at = 0, n = strlen(path);
  if (file->size >= 4 && !memcmp(file->data, "GGUF", 4)) return KIND_GGUF;
  if (file->size >= 3 && !memcmp(file->data, "\xef\xbb\xbf", 3)) at = 3;
  while (at < file->size && file->data[at] && strchr(" \t\r\n", file->data[at])) at++;
  if (at < file->size && file->data[at] == '{') return KIND_JSON;
  if (n >= 4 && !strcmp(path + n - 4, ".bin")) return KIND_BIN;
  bool length = file->size >= 4 && kr_load_u32(file->data) - 1 < 1 << 12;
  return length ? KIND_BIN : KIND_OTHER;
}

/* Everything of a GGUF file that is the tokenizer's. */
static void copy_keys(const kr_source *source, kr_gguf_build *build) {
  static const char *const prefixes[] = {"tokenizer.", "krafla.tokenizer."};
  for (size_t i = 0; i < kr_source_n_values(source); i++) {
    const kr_value *value = kr_source_value(source, i);
    for (size_t k = 0; k < 2; k++) {
      size_t n = strlen(prefixes[k]);
      if (value->key.n > n && !memcmp(value->key.data, prefixes[k], n))
        kr_gguf_build_copy(build, value);
    }
  }
}

static int64_t rows_of(const kr_source *source) {
  const kr_tensor *embedding = kr_source_tensor(source, "token_embd.weight");
  return embedding ? embedding->dims[1] : -1;
}

static int convert_json(const kr_mapping *file, const char *path, kr_gguf_build *build,
                        kr_error *err) {
  kr_tokenizer_config config = {0};
  int code = kr_tokenizer_config_open(path, &config, err);
  if (!code) code = kr_tokenizer_json(file->data, file->size, &config, build, err);
  if (!code) code = kr_tokenizer_config_write(&config, build, err);
  kr_tokenizer_config_close(&config);
  return code;
}

/* A tokenizer's own file as the head of a GGUF file, checked by making a vocabulary of it. */
static int convert(const kr_mapping *file, file_kind kind, const char *path, kr_gguf_build *build,
                   kr_vocab **ret_vocab, kr_error *err) {
  const uint8_t *data;
  size_t n;
  kr_source *source = NULL;
  int code = kind == KIND_JSON  ? convert_json(file, path, build, err)
             : kind == KIND_BIN ? kr_tokenizer_bin(file->data, file->size, build, err)
                                : kr_fail_foreign(file, err);
  if (!code) code = kr_gguf_build_end(build, &data, &n, err);
  if (!code) code = kr_source_open_bytes(path, data, n, &source, err);
  if (!code) code = kr_vocab_new(source, -1, ret_vocab, err);
  kr_source_close(source);
  return code;
}

static int open_gguf(const char *path, kr_gguf_build *build, kr_vocab **ret_vocab, kr_error *err) {
  kr_source *source;
  int code = kr_source_open(path, &source, err);
  if (code) return code;
  code = kr_vocab_new(source, rows_of(source), ret_vocab, err);
  if (!code) copy_keys(source, build);
  kr_source_close(source);
  return code;
}

/* build is left as the head of the file that holds this tokenizer alone; GGUF sources only add
 * their keys to it. */
static int open_file(const char *path, kr_gguf_build *build, kr_vocab **ret_vocab, kr_error *err) {
  kr_mapping file;
  int code = kr_mapping_open(path, &file, err);
  if (code) return kr_fail_path(err, code, path);
  file_kind kind = kind_of(&file, path);
  code = kind == KIND_GGUF ? open_gguf(path, build, ret_vocab, err)
                           : convert(&file, kind, path, build, ret_vocab, err);
  kr_mapping_close(&file);
  return code ? kr_fail_path(err, code, path) : KR_OK;
}

/* A folder stands for the tokenizer.json in it. */
static int open_path(const char *path, kr_gguf_build *build, kr_vocab **ret_vocab, kr_error *err) {
  static const char name[] = "/tokenizer.json";
  size_t n = strlen(path);
  kr_mapping file;
  char *inside = kr_alloc(n + sizeof name, 1);
  if (!inside) return kr_fail_memory(err, "a path");
  memcpy(inside, path, n);
  memcpy(inside + n, name, sizeof name);
  bool folder = !kr_mapping_open(inside, &file, NULL);
  if (folder) kr_mapping_close(&file);
  int code = open_file(folder ? inside : path, build, ret_vocab, err);
  kr_free(inside);
  return code;
}

int kr_vocab_open(const char *path, kr_vocab **ret_vocab, kr_error *err) {
  kr_gguf_build build = {0};
  int code = open_path(path, &build, ret_vocab, err);
  kr_gguf_build_clear(&build);
  return code;
}

int kr_vocab_convert(const char *path, char **ret_bytes, size_t *ret_n, kr_error *err) {
  kr_gguf_build build = {0};
  kr_vocab *vocab = NULL;
  const uint8_t *data;
  size_t n;
  int code = open_path(path, &build, &vocab, err);
  kr_vocab_free(vocab);
  if (!code && memcmp(build.head.data, "GGUF", 4)) code = kr_gguf_build_end(&build, &data, &n, err);
  if (!code) {
    *ret_bytes = (char *)build.head.data, *ret_n = build.head.n;
    build.head.data = NULL;
  }
  kr_gguf_build_clear(&build);
  return code;
}
