/* krafla-convert: makes Krafla's own files. So far those of tokenizers. */
#include "front_error.h"
#include "front_files.h"
#include "front_options.h"
#include "front_parse.h"
#include <string.h>

static char **rest;

static const GOptionEntry entries[] = {
    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &rest, NULL, NULL},
    {0},
};

static gboolean parse(int argc, char **argv, GError **error) {
  GOptionContext *context = g_option_context_new("TOKENIZER OUT.mlt");
  g_option_context_set_summary(
      context,
      "Writes the tokenizer of a tokenizer.json, a llama2.c tokenizer.bin or a GGUF model\n"
      "as an .mlt file. Models themselves are not converted yet: krafla-run reads GGUF.");
  g_option_context_add_main_entries(context, entries, NULL);
  g_option_context_add_main_entries(context, kr_front_version_entries, NULL);
  gboolean ok = kr_front_parse(context, &argc, &argv, error);
  g_option_context_free(context);
  if (!ok) return FALSE;
  if (!rest || g_strv_length(rest) != 2)
    return kr_front_fail(error, KR_EXIT_USAGE,
                         "give a tokenizer and the name of the .mlt file; %s --help shows more",
                         g_get_prgname());
  if (!g_str_has_suffix(rest[1], ".mlt"))
    return kr_front_fail(error, KR_EXIT_USAGE,
                         "%s: does not end in .mlt; only tokenizers are converted so far", rest[1]);
  return TRUE;
}

static gboolean convert(const char *from, const char *to, GError **error) {
  char *bytes;
  size_t n;
  kr_error err;
  if (kr_vocab_convert(from, &bytes, &n, &err) != KR_OK)
    return kr_front_fail_library(error, &err, NULL);
  kr_front_file *file = kr_front_file_new(to, error);
  gboolean ok = file && kr_front_file_write(file, bytes, n, error);
  if (ok)
    ok = kr_front_file_commit(file, error);
  else
    kr_front_file_abandon(file);
  kr_text_free(bytes);
  return ok;
}

int main(int argc, char **argv) {
  GError *error = NULL;
  g_set_prgname("krafla-convert");
  gboolean ok = parse(argc, argv, &error) && convert(rest[0], rest[1], &error);
  return ok ? 0 : kr_front_report(error);
}
