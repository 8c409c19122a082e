/* krafla-tok: text to token ids and back, and chat templates, for people and for scripts. */
#include "front_error.h"
#include "front_files.h"
#include "front_json.h"
#include "front_options.h"
#include "front_parse.h"
#include "tok_json.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct {
  gboolean decode, pieces, count, jsonl, no_special, chat_render;
  char *template_file, *tokenizer, **rest;
} options;

static const GOptionEntry entries[] = {
    {"decode", 0, 0, G_OPTION_ARG_NONE, &options.decode, "Read token ids and write their text",
     NULL},
    {"pieces", 0, 0, G_OPTION_ARG_NONE, &options.pieces,
     "Write a line for each token: its id and what it stands for", NULL},
    {"count", 0, 0, G_OPTION_ARG_NONE, &options.count, "Write the number of tokens only", NULL},
    {"jsonl", 0, 0, G_OPTION_ARG_NONE, &options.jsonl,
     "A JSON string a line in, a JSON array of ids a line out; with --decode the reverse", NULL},
    {"no-special", 0, 0, G_OPTION_ARG_NONE, &options.no_special,
     "Add no tokens that begin or end a text; with --decode, leave such tokens out", NULL},
    {"chat-render", 0, 0, G_OPTION_ARG_NONE, &options.chat_render,
     "Render conversations, a JSON object a line, with the template of the tokenizer", NULL},
    {"template", 0, 0, G_OPTION_ARG_FILENAME, &options.template_file,
     "With --chat-render: a chat template in Jinja, instead of the tokenizer's", "FILE"},
    {"tokenizer", 'z', 0, G_OPTION_ARG_FILENAME, &options.tokenizer,
     "The tokenizer to use, instead of the model's own", "FILE"},
    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.rest, NULL, NULL},
    {0},
};

static gboolean parse(int argc, char **argv, GError **error) {
  GOptionContext *context = g_option_context_new("MODEL|TOKENIZER");
  g_option_context_set_summary(
      context, "Encodes standard input, with the special tokens that the tokenizer adds.\n"
               "A tokenizer is a GGUF model, an .mlt file, a tokenizer.json or a llama2.c "
               "tokenizer.bin.");
  g_option_context_add_main_entries(context, entries, NULL);
  g_option_context_add_main_entries(context, kr_front_version_entries, NULL);
  gboolean ok = kr_front_parse(context, &argc, &argv, error);
  g_option_context_free(context);
  if (!ok) return FALSE;
  guint n = options.rest ? g_strv_length(options.rest) : 0;
  if (options.template_file && !options.chat_render)
    return kr_front_fail(error, KR_EXIT_USAGE, "--template is of use with --chat-render alone");
  if (n > 1 || (!n && !options.tokenizer && !options.template_file))
    return kr_front_fail(error, KR_EXIT_USAGE, "give one tokenizer; %s --help shows more",
                         g_get_prgname());
  if (!options.tokenizer && n) options.tokenizer = options.rest[0];
  if (options.decode + options.pieces + options.count + options.chat_render > 1 ||
      (options.jsonl && (options.pieces || options.chat_render)))
    return kr_front_fail(error, KR_EXIT_USAGE,
                         "--decode, --pieces, --count and --chat-render exclude one another");
  return TRUE;
}

static gboolean put(const GString *out, GError **error) {
  int code = kr_front_write_fd(STDOUT_FILENO, out->str, out->len);
  return code == 0 || kr_front_fail(error, KR_EXIT_FAILED, "standard output: %s", g_strerror(code));
}

/* ---- one text ---------------------------------------------------------------------------------
 */

static void put_ids(GString *out, const int32_t *ids, gsize n, const char *between) {
  for (gsize i = 0; i < n; i++) g_string_append_printf(out, "%s%d", i ? between : "", ids[i]);
}

static void put_pieces(GString *out, const kr_vocab *vocab, const int32_t *ids, gsize n) {
  for (gsize i = 0; i < n; i++) {
    size_t length;
    const char *bytes = kr_vocab_bytes(vocab, ids[i], 1, &length);
    g_autofree char *shown = kr_front_printable(bytes, (gssize)length);
    g_string_append_printf(out, "%d\t%s\n", ids[i], shown);
  }
}

static gboolean encode(const kr_vocab *vocab, const char *text, gsize n, GString *out,
                       GError **error) {
  int32_t *ids;
  size_t count;
  kr_error err;
  uint32_t flags = options.no_special ? 0 : KR_ENCODE_SPECIAL;
  if (kr_vocab_encode(vocab, text, n, flags, &ids, &count, &err) != KR_OK)
    return kr_front_fail_library(error, &err, NULL);
  if (options.count) {
    g_string_append_printf(out, "%zu\n", count);
  } else if (options.pieces) {
    put_pieces(out, vocab, ids, count);
  } else if (options.jsonl) {
    g_string_append_c(out, '[');
    put_ids(out, ids, count, ", ");
    g_string_append(out, "]\n");
  } else {
    put_ids(out, ids, count, " ");
    g_string_append_c(out, '\n');
  }
  kr_ids_free(ids);
  return TRUE;
}

/* Where an id stands, for messages: line 0 is the whole input. */
static gboolean check_ids(const kr_vocab *vocab, const GArray *ids, guint line, GError **error) {
  for (guint i = 0; i < ids->len; i++) {
    gint32 id = g_array_index(ids, gint32, i);
    if (id < kr_vocab_size(vocab)) continue;
    g_autofree char *place = line ? g_strdup_printf(": line %u", line) : g_strdup("");
    return kr_front_fail(error, KR_EXIT_FAILED, "standard input%s: id %d is no token of %d of %s",
                         place, id, kr_vocab_size(vocab), options.tokenizer);
  }
  return TRUE;
}

static gboolean decode(const kr_vocab *vocab, const GArray *ids, guint line, GString *out,
                       GError **error) {
  char *text;
  size_t n;
  kr_error err;
  if (!check_ids(vocab, ids, line, error)) return FALSE;
  if (kr_vocab_decode(vocab, (const int32_t *)(const void *)ids->data, ids->len,
                      !options.no_special, &text, &n, &err) != KR_OK)
    return kr_front_fail_library(error, &err, NULL);
  if (options.jsonl)
    kr_front_json_write(out, text, n);
  else
    g_string_append_len(out, text, (gssize)n);
  if (options.jsonl) g_string_append_c(out, '\n');
  kr_text_free(text);
  return TRUE;
}

/* Ids between white space. */
static GArray *read_words(const GString *text, GError **error) {
  g_auto(GStrv) words = g_strsplit_set(text->str, " \t\r\n", -1);
  GArray *ids = g_array_new(FALSE, FALSE, sizeof(gint32));
  for (char **word = words; *word; word++) {
    gint32 id = 0;
    if (!**word) continue;
    if (!kr_front_int32("--decode", *word, 0, G_MAXINT32, &id, NULL)) {
      kr_front_fail(error, KR_EXIT_FAILED, "standard input: '%s' is no token id", *word);
      g_array_unref(ids);
      return NULL;
    }
    g_array_append_val(ids, id);
  }
  return ids;
}

static gboolean whole(const kr_vocab *vocab, const GString *text, GString *out, GError **error) {
  if (!options.decode) return encode(vocab, text->str, text->len, out, error);
  g_autoptr(GArray) ids = read_words(text, error);
  return ids && decode(vocab, ids, 0, out, error);
}

/* ---- lines ------------------------------------------------------------------------------------
 */

static gboolean tokens_line(const kr_vocab *vocab, const char *line, gsize n, GString *out,
                            guint number, GError **error) {
  const char *what;
  if (options.decode) {
    g_autoptr(GArray) ids = kr_tok_read_ids(line, n, &what);
    if (ids) return decode(vocab, ids, number, out, error);
  } else {
    GString *text = kr_tok_read_string(line, n, &what);
    if (text) {
      gboolean ok = encode(vocab, text->str, text->len, out, error);
      g_string_free(text, TRUE);
      return ok;
    }
  }
  return kr_front_fail(error, KR_EXIT_FAILED, "standard input: line %u %s", number, what);
}

static void chat_line(const kr_template *chat, const char *line, gsize n, GString *out) {
  char *text;
  size_t length;
  kr_error err;
  if (kr_template_render(chat, line, n, &text, &length, &err) == KR_OK) {
    kr_front_json_write(out, text, length);
    kr_text_free(text);
  } else {
    g_string_append(out, "{\"error\": ");
    kr_front_json_write(out, err.message, strlen(err.message));
    g_string_append_c(out, '}');
  }
  g_string_append_c(out, '\n');
}

static gboolean lines(const kr_vocab *vocab, const kr_template *chat, const GString *text,
                      GError **error) {
  guint number = 0;
  for (gsize at = 0; at < text->len;) {
    const char *line = text->str + at, *end = memchr(line, '\n', text->len - at);
    gsize n = end ? (gsize)(end - line) : text->len - at;
    g_autoptr(GString) out = g_string_new(NULL);
    number++;
    if (chat)
      chat_line(chat, line, n, out);
    else if (!tokens_line(vocab, line, n, out, number, error))
      return FALSE;
    if (!put(out, error)) return FALSE;
    at += n + 1;
  }
  return TRUE;
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static gboolean open_vocab(kr_vocab **vocab, GError **error) {
  kr_error err;
  return kr_vocab_open(options.tokenizer, vocab, &err) == KR_OK ||
         kr_front_fail_library(error, &err, NULL);
}

/* The source of the template to use. */
static GString *read_template(GError **error) {
  kr_vocab *vocab;
  if (options.template_file) return kr_front_read_file(options.template_file, error);
  if (!open_vocab(&vocab, error)) return NULL;
  const char *source = kr_vocab_chat_template(vocab);
  GString *copy = source ? g_string_new(source) : NULL;
  kr_vocab_free(vocab);
  if (!copy)
    kr_front_fail(error, KR_EXIT_FAILED, "%s: has no chat template; give one by --template",
                  options.tokenizer);
  return copy;
}

static gboolean render(GError **error) {
  kr_template *chat;
  kr_error err;
  g_autoptr(GString) source = read_template(error);
  if (!source) return FALSE;
  if (kr_template_new(source->str, source->len, &chat, &err) != KR_OK)
    return kr_front_fail_library(error, &err,
                                 options.template_file ? options.template_file : options.tokenizer);
  g_autoptr(GString) text = kr_front_read_file("-", error);
  gboolean ok = text && lines(NULL, chat, text, error);
  kr_template_free(chat);
  return ok;
}

static gboolean run(GError **error) {
  kr_vocab *vocab;
  if (options.chat_render) return render(error);
  if (!open_vocab(&vocab, error)) return FALSE;
  g_autoptr(GString) text = kr_front_read_file("-", error);
  g_autoptr(GString) out = g_string_new(NULL);
  gboolean ok = text != NULL;
  if (ok && options.jsonl)
    ok = lines(vocab, NULL, text, error);
  else if (ok)
    ok = whole(vocab, text, out, error) && put(out, error);
  kr_vocab_free(vocab);
  return ok;
}

int main(int argc, char **argv) {
  GError *error = NULL;
  g_set_prgname("krafla-tok");
  return parse(argc, argv, &error) && run(&error) ? 0 : kr_front_report(error);
}
