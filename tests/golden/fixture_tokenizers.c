/* The tokenizers of the small models' GGUF files against the ids of the reference.
 *
 *   fixture_tokenizers READER
 *
 * READER prints the models of $KRAFLA_SHARED/golden and their vectors. */
#include "vectors.h"

static GStrv lines;

static void test_fixtures(void) {
  kr_vocab *vocab = NULL;
  int models = 0, cases = 0;
  for (GStrv line = lines; *line; line++) {
    if (**line != '{') {
      g_test_message("%s", *line);
      kr_vocab_free(vocab);
      vocab = vector_vocab(*line);
      models++;
      continue;
    }
    GByteArray *text = vector_bytes(*line, "hex");
    vector_check_ids(vocab, *line, "ids", text, 0);
    vector_check_ids(vocab, *line, "ids_special", text, KR_ENCODE_SPECIAL);
    vector_check_text(vocab, *line, "decoded_hex", 0);
    g_byte_array_unref(text);
    cases++;
  }
  kr_vocab_free(vocab);
  g_test_message("%d models, %d cases", models, cases);
  g_assert_cmpint(models, >, 5);
  g_assert_cmpint(cases, >, 50);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_assert_cmpint(argc, ==, 2);
  const char *shared = g_getenv("KRAFLA_SHARED");
  if (!shared) {
    g_print("1..0 # SKIP skipped: no shared data\n");
    return 0;
  }
  char *folder = g_build_filename(shared, "golden", NULL);
  const char *command[] = {"python3", argv[1], folder, NULL};
  lines = vector_run(command);
  g_test_add_func("/tokenizer/fixtures", test_fixtures);
  int result = g_test_run();
  g_strfreev(lines);
  g_free(folder);
  return result;
}
