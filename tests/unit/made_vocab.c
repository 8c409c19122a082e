/* Small vocabularies for tests. */
#include "made_vocab.h"
#include "../formats/gguf_bytes.h"
#include <string.h>

/* The spelling of byte i: GPT-2's character for it, or "<0xHH>". */
static char *spell(const kr_made_vocab *made, int i) {
  if (!g_strcmp0(made->model, "llama")) return g_strdup_printf("<0x%02X>", (unsigned)i);
  char out[8] = {0};
  int code = i;
  if (!((i > 0x20 && i < 0x7f) || (i > 0xa0 && i != 0xad))) {
    code = 0x100;
    for (int k = 0; k < i; k++) code += !((k > 0x20 && k < 0x7f) || (k > 0xa0 && k != 0xad));
  }
  g_unichar_to_utf8((gunichar)code, out);
  return g_strdup(out);
}

static void put_bool(kr_made *file, const char *key, int value) {
  if (!value) return;
  kr_made_key(file, key, KR_VALUE_BOOL);
  kr_put_u8(file->keys, value > 0);
}

static void put_id(kr_made *file, const char *key, int id) {
  if (id) kr_made_u32(file, key, (uint32_t)id);
}

static void put_tokens(kr_made *file, const kr_made_vocab *made, GPtrArray *texts, GArray *kinds,
                       GArray *scores) {
  kr_made_array(file, "tokenizer.ggml.tokens", KR_VALUE_STRING, texts->len);
  for (guint i = 0; i < texts->len; i++) kr_put_text(file->keys, texts->pdata[i]);
  if (made->types) {
    kr_made_array(file, "tokenizer.ggml.token_type", KR_VALUE_I32, kinds->len);
    for (guint i = 0; i < kinds->len; i++)
      kr_put_u32(file->keys, (uint32_t)g_array_index(kinds, int, i));
  }
  if (made->scores) {
    kr_made_array(file, "tokenizer.ggml.scores", KR_VALUE_F32, scores->len);
    for (guint i = 0; i < scores->len; i++) kr_put_f32(file->keys, g_array_index(scores, float, i));
  }
}

static int put_vocab(kr_made *file, const kr_made_vocab *made) {
  GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
  GArray *kinds = g_array_new(FALSE, FALSE, sizeof(int));
  GArray *scores = g_array_new(FALSE, FALSE, sizeof(float));
  bool spm = made->model && !strcmp(made->model, "llama");
  for (int i = 0; made->alphabet && i < 256; i++) {
    char *text = spell(made, i);
    int kind = spm ? 6 : 1;
    float score = 0;
    if (made->drop && !strcmp(text, made->drop)) {
      g_free(text);
      continue;
    }
    g_ptr_array_add(texts, text);
    g_array_append_val(kinds, kind);
    g_array_append_val(scores, score);
  }
  for (const kr_made_token *t = made->tokens; t && t->text; t++) {
    int kind = t->kind ? t->kind : 1;
    g_ptr_array_add(texts, g_strdup(t->text));
    g_array_append_val(kinds, kind);
    g_array_append_val(scores, t->score);
  }
  put_tokens(file, made, texts, kinds, scores);
  int n = (int)texts->len;
  g_ptr_array_unref(texts);
  g_array_unref(kinds);
  g_array_unref(scores);
  return n;
}

int kr_made_vocab_try(const kr_made_vocab *made, kr_vocab **ret_vocab, kr_error *err) {
  kr_made file;
  kr_made_begin(&file, 3);
  if (made->model) kr_made_string(&file, "tokenizer.ggml.model", made->model);
  if (made->pre) kr_made_string(&file, "tokenizer.ggml.pre", made->pre);
  int n = put_vocab(&file, made);
  if (made->merges) {
    guint n_merges = g_strv_length((GStrv)(void *)made->merges);
    kr_made_array(&file, "tokenizer.ggml.merges", KR_VALUE_STRING, n_merges);
    for (guint i = 0; i < n_merges; i++) kr_put_text(file.keys, made->merges[i]);
  }
  put_id(&file, "tokenizer.ggml.bos_token_id", made->bos);
  put_id(&file, "tokenizer.ggml.eos_token_id", made->eos);
  put_id(&file, "tokenizer.ggml.eot_token_id", made->eot);
  put_bool(&file, "tokenizer.ggml.add_bos_token", made->add_bos);
  put_bool(&file, "tokenizer.ggml.add_eos_token", made->add_eos);
  put_bool(&file, "tokenizer.ggml.add_space_prefix", made->prefix);
  if (made->own_prefix) kr_made_string(&file, "krafla.tokenizer.prefix", made->own_prefix);
  GBytes *bytes = kr_made_end(&file);
  gsize size;
  const uint8_t *data = g_bytes_get_data(bytes, &size);
  kr_source *source = NULL;
  *ret_vocab = NULL;
  g_assert_cmpint(kr_source_open_bytes("made.gguf", data, size, &source, err), ==, KR_OK);
  int code = kr_vocab_new(source, n + made->more_rows, ret_vocab, err);
  kr_source_close(source);
  g_bytes_unref(bytes);
  return code;
}

kr_vocab *kr_made_vocab_new(const kr_made_vocab *made) {
  kr_vocab *vocab;
  kr_error err = {0};
  int code = kr_made_vocab_try(made, &vocab, &err);
  g_assert_cmpstr(err.message, ==, "");
  g_assert_cmpint(code, ==, KR_OK);
  return vocab;
}

char *kr_encode_shown(const kr_vocab *vocab, const char *text, size_t n, uint32_t flags) {
  int32_t *ids;
  size_t count;
  g_assert_cmpint(kr_vocab_encode(vocab, text, n, flags, &ids, &count, NULL), ==, KR_OK);
  GString *out = g_string_new(NULL);
  for (size_t i = 0; i < count; i++) g_string_append_printf(out, "%s%d", i ? " " : "", (int)ids[i]);
  kr_ids_free(ids);
  return g_string_free(out, FALSE);
}
