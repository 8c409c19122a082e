#include "run_prompt.h"
#include "front_error.h"
#include "front_files.h"
#include "front_parse.h"
#include <string.h>
#include <unistd.h>

GArray *kr_run_parse_tokens(const char *list, GError **error) {
  GArray *ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
  g_auto(GStrv) parts = g_strsplit_set(list, ", ", -1);
  for (char **part = parts; *part; part++) {
    int32_t id = 0;
    if (!**part) continue;
    if (!kr_front_int32("--tokens", *part, 0, G_MAXINT32, &id, error)) {
      g_array_free(ids, TRUE);
      return NULL;
    }
    g_array_append_val(ids, id);
  }
  if (ids->len > 0) return ids;
  kr_front_usage(error, "--tokens", list, "a list of token ids");
  g_array_free(ids, TRUE);
  return NULL;
}

/* The byte that an escape stands for, and how long the escape is; 0 if it is none. */
static gsize read_escape(const char *s, char *ret_byte) {
  static const char letters[] = "ntr\\\"'", bytes[] = "\n\t\r\\\"'";
  const char *letter = s[1] ? strchr(letters, s[1]) : NULL;
  if (letter) return *ret_byte = bytes[letter - letters], 2;
  if (s[1] != 'x' || !g_ascii_isxdigit(s[2]) || !g_ascii_isxdigit(s[3])) return 0;
  *ret_byte = (char)(g_ascii_xdigit_value(s[2]) << 4 | g_ascii_xdigit_value(s[3]));
  return 4;
}

gsize kr_run_unescape(char *text, gsize n) {
  char *out = text, byte = 0;
  for (const char *in = text; in < text + n;) {
    gsize size = *in == '\\' ? read_escape(in, &byte) : 0;
    *out++ = size ? byte : *in;
    in += size ? size : 1;
  }
  *out = '\0';
  return (gsize)(out - text);
}

gboolean kr_run_prompt_text(const kr_run_options *options, GString **ret_text, GError **error) {
  GString *text = NULL;
  *ret_text = NULL;
  if (options->tokens) return TRUE;
  if (options->text) {
    text = g_string_new(options->text);
  } else if (options->file) {
    text = kr_front_read_file(options->file, error);
  } else if (options->chat_template) {
    return TRUE;
  } else if (kr_front_is_terminal(STDIN_FILENO)) {
    return kr_front_fail(error, KR_EXIT_USAGE,
                         "no prompt: give it after the model, with -i, -f or --tokens, or on "
                         "standard input");
  } else {
    text = kr_front_read_fd(STDIN_FILENO, "standard input", error);
  }
  if (!text) return FALSE;
  if (options->escape) g_string_set_size(text, kr_run_unescape(text->str, text->len));
  *ret_text = text;
  return TRUE;
}

static gboolean check_ids(const char *option, const GArray *ids, int32_t n_vocab, GError **error) {
  for (guint i = 0; ids && i < ids->len; i++) {
    int32_t id = g_array_index(ids, int32_t, i);
    if (id >= n_vocab)
      return kr_front_fail(error, KR_EXIT_USAGE,
                           "option %s: '%d' is not a token: the vocabulary ends at %d", option, id,
                           n_vocab - 1);
  }
  return TRUE;
}

gboolean kr_run_check_ids(const kr_run_options *options, const kr_vocab *vocab, GError **error) {
  int32_t n_vocab = kr_vocab_size(vocab);
  return check_ids("--eos", options->eos, n_vocab, error) &&
         check_ids("--tokens", options->tokens, n_vocab, error);
}

GArray *kr_run_prompt_tokens(const kr_run_options *options, const GString *text,
                             const kr_vocab *vocab, GError **error) {
  GArray *ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
  if (!text) return g_array_append_vals(ids, options->tokens->data, options->tokens->len);
  int32_t *encoded;
  gsize n;
  kr_error err;
  int status = kr_vocab_encode(vocab, text->str, text->len, KR_ENCODE_SPECIAL, &encoded, &n, &err);
  if (status != KR_OK) {
    kr_front_fail_library(error, &err, options->model);
  } else {
    g_array_append_vals(ids, encoded, (guint)n);
    kr_ids_free(encoded);
    if (ids->len > 0) return ids;
    kr_front_fail(error, KR_EXIT_USAGE, "the prompt is empty");
  }
  g_array_free(ids, TRUE);
  return NULL;
}
