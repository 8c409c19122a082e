/* The tokenizers against the vectors of the reference.
 *
 *   tokenizer NAME CONVERTER
 *
 * The tokenizer is $KRAFLA_SHARED/tokenizers/tokenizers/NAME/tokenizer.json.xz; or, for those that
 * are not kept there, NAME.json or NAME.gguf in the folder that KRAFLA_TOKENIZERS names. The README
 * there has the commands that fetch them. It is read as it is, from the .mlt file that is made of
 * it, and from a GGUF file such as models are, which CONVERTER makes. */
#include "vectors.h"
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

static kr_vocab *vocab;
static char *folder; /* of the vectors */
static const char *name, *converter;
static char *tokenizer_path;

static GStrv read_lines(const char *suffix) {
  char *path = g_strdup_printf("%s/%s%s.jsonl", folder, name, suffix), *text;
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  GStrv lines = g_strsplit(g_strchomp(text), "\n", -1);
  g_assert_cmpuint(g_strv_length(lines), >, 10);
  g_free(text);
  g_free(path);
  return lines;
}

static void encode(void) {
  GStrv lines = read_lines("");
  for (GStrv line = lines; *line; line++) {
    GByteArray *text = vector_bytes(*line, "hex");
    vector_check_ids(vocab, *line, "ids", text, 0);
    vector_check_ids(vocab, *line, "ids_special", text, KR_ENCODE_SPECIAL);
    vector_check_text(vocab, *line, "decoded_hex", 1);
    g_byte_array_unref(text);
  }
  g_strfreev(lines);
}

static void decode(void) {
  GStrv lines = read_lines(".decode");
  for (GStrv line = lines; *line; line++) {
    vector_check_text(vocab, *line, "decoded_hex", 1);
    vector_check_text(vocab, *line, "skip_special_hex", 0);
  }
  g_strfreev(lines);
}

/* Bytes that are not UTF-8 encode as the text with U+FFFD in their place. */
static void invalid(void) {
  const char *saved = name;
  name = "invalid_utf8";
  GStrv lines = read_lines("");
  name = saved;
  for (GStrv line = lines; *line; line++) {
    GByteArray *raw = vector_bytes(*line, "hex"), *text = vector_bytes(*line, "replaced_hex");
    int32_t *a, *b;
    size_t n_a, n_b;
    g_assert_cmpint(kr_vocab_encode(vocab, (const char *)raw->data, raw->len, 0, &a, &n_a, NULL),
                    ==, KR_OK);
    g_assert_cmpint(kr_vocab_encode(vocab, (const char *)text->data, text->len, 0, &b, &n_b, NULL),
                    ==, KR_OK);
    if (n_a != n_b || (n_a && memcmp(a, b, n_a * 4))) g_test_message("%s", *line);
    g_assert_cmpmem(a, n_a * 4, b, n_b * 4);
    kr_ids_free(a);
    kr_ids_free(b);
    g_byte_array_unref(raw);
    g_byte_array_unref(text);
  }
  g_strfreev(lines);
}

/* The path of the tokenizer, or NULL: it is not on this machine. */
static char *find_tokenizer(const char *shared) {
  static const char *const endings[] = {".json", ".gguf"};
  char *path =
      g_build_filename(shared, "tokenizers", "tokenizers", name, "tokenizer.json.xz", NULL);
  const char *more = g_getenv("KRAFLA_TOKENIZERS");
  for (int i = 0; !g_file_test(path, G_FILE_TEST_EXISTS); i++) {
    g_free(path);
    if (i == 2 || !more) return NULL;
    path = g_strdup_printf("%s/%s%s", more, name, endings[i]);
  }
  return path;
}

static char *temporary(const char *pattern) {
  char *path;
  int fd = g_file_open_tmp(pattern, &path, NULL);
  g_assert_cmpint(fd, >=, 0);
  g_close(fd, NULL);
  return path;
}

static void open_path(const char *path) {
  kr_error err = {0};
  kr_vocab_open(path, &vocab, &err);
  g_assert_cmpstr(err.message, ==, "");
}

/* As models have it: a GGUF file that CONVERTER makes. */
static void open_gguf(const char *tokenizer) {
  char *path = temporary("krafla-XXXXXX.gguf");
  const char *argv[] = {"python3", converter, tokenizer, path, NULL};
  g_strfreev(vector_run(argv));
  vocab = vector_vocab(path);
  g_unlink(path);
  g_free(path);
}

/* The tokenizer.json itself, or the .mlt file that is made of it. */
static void open_json(const char *tokenizer, gboolean convert) {
  static const char unpack[] =
      "import lzma, shutil, sys\n"
      "shutil.copyfileobj(lzma.open(sys.argv[1]), open(sys.argv[2], 'wb'))";
  char *path = temporary("krafla-XXXXXX.json"), *bytes;
  const char *argv[] = {"python3", "-c", unpack, tokenizer, path, NULL};
  gboolean packed = g_str_has_suffix(tokenizer, ".xz");
  if (packed) g_strfreev(vector_run(argv));
  const char *file = packed ? path : tokenizer;
  if (convert) {
    kr_error err = {0};
    size_t n;
    kr_vocab_convert(file, &bytes, &n, &err);
    g_assert_cmpstr(err.message, ==, "");
    g_assert_true(g_file_set_contents(path, bytes, (gssize)n, NULL));
    kr_text_free(bytes);
    file = path;
  }
  open_path(file);
  g_unlink(path);
  g_free(path);
}

static void test(gconstpointer how) {
  const char *kind = how;
  if (g_str_has_suffix(tokenizer_path, ".gguf"))
    open_path(tokenizer_path);
  else if (!strcmp(kind, "gguf"))
    open_gguf(tokenizer_path);
  else
    open_json(tokenizer_path, !strcmp(kind, "mlt"));
  encode();
  decode();
  invalid();
  kr_vocab_free(vocab);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_assert_cmpint(argc, ==, 3);
  name = argv[1], converter = argv[2];
  const char *shared = g_getenv("KRAFLA_SHARED");
  tokenizer_path = shared ? find_tokenizer(shared) : NULL;
  if (!tokenizer_path) {
    g_print("1..0 # SKIP %s\n", shared ? "this tokenizer is not here; set KRAFLA_TOKENIZERS"
                                       : "skipped: no shared data");
    return 0;
  }
  folder = g_build_filename(shared, "tokenizers", "vectors", NULL);
  g_test_add_data_func("/tokenizer/gguf", "gguf", test);
  if (!g_str_has_suffix(tokenizer_path, ".gguf")) {
    g_test_add_data_func("/tokenizer/json", "json", test);
    g_test_add_data_func("/tokenizer/mlt", "mlt", test);
  }
  int result = g_test_run();
  g_free(folder);
  g_free(tokenizer_path);
  return result;
}
