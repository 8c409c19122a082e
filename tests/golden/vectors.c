/* Reading of the tokenizer vectors, and what is checked with them. */
#include "vectors.h"
#include <string.h>

/* Behind the colon of a member, white space skipped; NULL without it. */
static const char *member(const char *line, const char *name) {
  char *quoted = g_strdup_printf("\"%s\"", name);
  const char *at = strstr(line, quoted);
  at = at ? at + strlen(quoted) : NULL;
  g_free(quoted);
  while (at && (*at == ' ' || *at == ':')) at++;
  return at;
}

GByteArray *vector_bytes(const char *line, const char *name) {
  const char *at = member(line, name);
  if (!at || *at != '"') return NULL;
  GByteArray *bytes = g_byte_array_new();
  for (at++; *at != '"'; at += 2) {
    int high = g_ascii_xdigit_value(at[0]), low = g_ascii_xdigit_value(at[1]);
    g_assert_true(high >= 0 && low >= 0);
    guint8 byte = (guint8)(high << 4 | low);
    g_byte_array_append(bytes, &byte, 1);
  }
  return bytes;
}

GArray *vector_ids(const char *line, const char *name) {
  const char *at = member(line, name);
  if (!at || *at != '[') return NULL;
  GArray *ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
  for (at++; *at != ']';) {
    char *end;
    int32_t id = (int32_t)g_ascii_strtoll(at, &end, 10);
    g_assert_true(end > at);
    g_array_append_val(ids, id);
    for (at = end; *at == ',' || *at == ' ';) at++;
  }
  return ids;
}

void vector_check_ids(const kr_vocab *vocab, const char *line, const char *name,
                      const GByteArray *text, uint32_t flags) {
  GArray *want = vector_ids(line, name);
  kr_error err = {0};
  int32_t *ids;
  size_t n;
  int code = kr_vocab_encode(vocab, (const char *)text->data, text->len, flags, &ids, &n, &err);
  g_assert_cmpstr(err.message, ==, "");
  g_assert_cmpint(code, ==, KR_OK);
  if (n != want->len || (n && memcmp(ids, want->data, n * 4)))
    g_test_message("%s of %s", name, line);
  g_assert_cmpmem(ids, n * 4, want->data, want->len * 4);
  kr_ids_free(ids);
  g_array_unref(want);
}

void vector_check_text(const kr_vocab *vocab, const char *line, const char *name, int control) {
  GArray *ids = vector_ids(line, "ids");
  GByteArray *want = vector_bytes(line, name);
  char *text;
  size_t n;
  int code = kr_vocab_decode(vocab, (const int32_t *)(void *)ids->data, ids->len, control, &text,
                             &n, NULL);
  g_assert_cmpint(code, ==, KR_OK);
  if (n != want->len || (n && memcmp(text, want->data, n))) g_test_message("%s of %s", name, line);
  g_assert_cmpmem(text, n, want->data, want->len);
  kr_array_free(text);
  g_array_unref(ids);
  g_byte_array_unref(want);
}

GStrv vector_run(const char *const *argv) {
  char *out, *errors;
  int status;
  g_assert_true(g_spawn_sync(NULL, (char **)(void *)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL,
                             &out, &errors, &status, NULL));
  g_assert_cmpstr(errors, ==, "");
  g_assert_cmpint(status, ==, 0);
  GStrv lines = g_strsplit(g_strchomp(out), "\n", -1);
  g_free(out);
  g_free(errors);
  return lines;
}

kr_vocab *vector_vocab(const char *path) {
  kr_error err = {0};
  kr_source *source = NULL;
  kr_vocab *vocab = NULL;
  kr_source_open(path, &source, &err);
  g_assert_cmpstr(err.message, ==, "");
  const kr_tensor *embedding = kr_source_tensor(source, "token_embd.weight");
  const kr_value *tokens = kr_source_get(source, "tokenizer.ggml.tokens");
  g_assert_nonnull(tokens);
  kr_vocab_new(source, embedding ? embedding->dims[1] : (int64_t)tokens->n, &vocab, &err);
  g_assert_cmpstr(err.message, ==, "");
  kr_source_close(source);
  return vocab;
}
