/* The pre-tokenizers: literal examples, and random text against the regular expressions that they
 * stand for, run by GLib. The random text has only characters on whose classes GLib's Unicode data
 * and the reference's agree. */
#include "text/pretokenizer.h"
#include <glib.h>
#include <string.h>

#define ENDINGS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SPACES  "\\s+(?!\\S)|\\s+"
#define BREAKS  "\\s*[\\r\\n]+|" SPACES
#define GPT2    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|" SPACES
#define QWEN(digits)                                                                               \
  ENDINGS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" BREAKS
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define CASED(ending, digits)                                                                      \
  "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+" ending "|[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER    \
  "*" ending "|" digits "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" BREAKS

/* Each expression splits what the ones before it left; matches and what is between are pieces. */
static const struct {
  kr_split split;
  const char *expressions[3];
} families[] = {
    {KR_SPLIT_GPT2, {GPT2}},
    {KR_SPLIT_SMOLLM, {"\\p{N}", GPT2}},
    {KR_SPLIT_QWEN2, {QWEN("\\p{N}")}},
    {KR_SPLIT_LLAMA3, {QWEN("\\p{N}{1,3}")}},
    {KR_SPLIT_QWEN35,
     {ENDINGS "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| "
              "?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" BREAKS}},
    {KR_SPLIT_DEEPSEEK,
     {"\\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
      "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?"
      "[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|" BREAKS}},
    {KR_SPLIT_TEKKEN, {CASED("", "\\p{N}")}},
    {KR_SPLIT_O200K, {CASED(ENDINGS "?", "\\p{N}{1,3}")}},
};

static char *pieces_of(kr_split split, const char *text) {
  GString *out = g_string_new(NULL);
  kr_splitter splitter;
  const uint8_t *piece;
  size_t n, covered = 0;
  kr_split_start(&splitter, split, text, strlen(text));
  while (kr_split_next(&splitter, &piece, &n)) {
    g_assert_cmpuint(n, >, 0);
    g_assert_true(piece == (const uint8_t *)text + covered);
    covered += n;
    g_string_append_len(out, (const char *)piece, (gssize)n);
    g_string_append_c(out, '|');
  }
  g_assert_cmpuint(covered, ==, strlen(text));
  return g_string_free(out, FALSE);
}

static void test_examples(void) {
  static const struct {
    kr_split split;
    const char *text, *pieces;
  } examples[] = {
      {KR_SPLIT_GPT2, "", ""},
      {KR_SPLIT_GPT2, "Hello world", "Hello| world|"},
      {KR_SPLIT_GPT2, "it's IT'S we'll", "it|'s| IT|'|S| we|'ll|"},
      {KR_SPLIT_GPT2, "a   b", "a|  | b|"},
      {KR_SPLIT_GPT2, "a   ", "a|   |"},
      {KR_SPLIT_GPT2, "a\n\n b\tc", "a|\n\n| b|\t|c|"},
      {KR_SPLIT_GPT2, "x=12345, y", "x|=|12345|,| y|"},
      {KR_SPLIT_GPT2, "e\xcc\x81t", "e|\xcc\x81|t|"},
      {KR_SPLIT_SMOLLM, "a12 3", "a|1|2| |3|"},
      {KR_SPLIT_SMOLLM, "a  1", "a|  |1|"},
      {KR_SPLIT_SMOLLM, "\xc2\xbd x\xc2\xb2", "\xc2\xbd| x|\xc2\xb2|"},
      {KR_SPLIT_QWEN2, "IT'S 12", "IT|'S| |1|2|"},
      {KR_SPLIT_QWEN2, "it'\xc5\xbf ok", "it|'\xc5\xbf| ok|"},
      {KR_SPLIT_QWEN2, "a \n\n  b", "a| \n\n| | b|"},
      {KR_SPLIT_QWEN2, "(foo)\n!", "(foo|)\n|!|"},
      {KR_SPLIT_QWEN2, "\tx", "\tx|"},
      {KR_SPLIT_LLAMA3, "1234567 x", "123|456|7| x|"},
      {KR_SPLIT_QWEN35, "e\xcc\x81t \xcc\x81!", "e\xcc\x81t| \xcc\x81|!|"},
      {KR_SPLIT_DEEPSEEK, "a  12345", "a|  |123|45|"},
      {KR_SPLIT_DEEPSEEK, "x漢字かなy", "x|漢字かな|y|"},
      {KR_SPLIT_DEEPSEEK, "'foo(bar", "'foo|(bar|"},
      {KR_SPLIT_DEEPSEEK,
       "\x01\x02"
       "a",
       "\x01|\x02"
       "a|"},
      {KR_SPLIT_DEEPSEEK_CODER, "ab 12\n\n x!?", "ab| |1|2|\n|\n| x|!?|"},
      {KR_SPLIT_DEEPSEEK_CODER, " 漢字", " |漢字|"},
      {KR_SPLIT_DEEPSEEK_LLM, "naïve 123  ", "na|ï|ve| |123|  |"},
      {KR_SPLIT_TEKKEN, "helloWorld HTTPServer", "hello|World| HTTPServer|"},
      {KR_SPLIT_TEKKEN, "ABCdef", "ABCdef|"},
      {KR_SPLIT_TEKKEN,
       "\xcc\x81"
       "ABC",
       "\xcc\x81|ABC|"},
      {KR_SPLIT_TEKKEN, "a//\n/b 12", "a|//\n/|b| |1|2|"},
      {KR_SPLIT_O200K, "don't DON'T 1234", "don't| DON'T| |123|4|"},
      {KR_SPLIT_O200K, "word'sX", "word's|X|"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(examples); i++) {
    char *pieces = pieces_of(examples[i].split, examples[i].text);
    g_assert_cmpstr(pieces, ==, examples[i].pieces);
    g_free(pieces);
  }
}

/* Appends the pieces of text [from, to) by the expressions from level on. */
static void expect(GRegex **regexes, int level, const char *text, int from, int to, GString *out) {
  if (level == 3 || !regexes[level]) {
    g_string_append_len(out, text + from, to - from);
    g_string_append_c(out, '|');
    return;
  }
  /* the part is looked at alone: what is behind it must not be seen */
  char *part = g_strndup(text + from, (gsize)(to - from));
  GMatchInfo *info;
  int at = 0, start, end;
  g_regex_match(regexes[level], part, 0, &info);
  for (; g_match_info_matches(info); g_match_info_next(info, NULL)) {
    g_match_info_fetch_pos(info, 0, &start, &end);
    if (start > at) expect(regexes, level + 1, part, at, start, out);
    expect(regexes, level + 1, part, start, end, out);
    at = end;
  }
  if (at < to - from) expect(regexes, level + 1, part, at, to - from, out);
  g_match_info_free(info);
  g_free(part);
}

static void test_expressions(void) {
  static const char *const alphabet[] = {"a",
                                         "b",
                                         "e",
                                         "l",
                                         "r",
                                         "s",
                                         "t",
                                         "v",
                                         "m",
                                         "d",
                                         "S",
                                         "T",
                                         "L",
                                         "E",
                                         "X",
                                         "é",
                                         "É",
                                         "ß",
                                         "ſ",
                                         "ǅ",
                                         "ʰ",
                                         "ª",
                                         "ж",
                                         "Ж",
                                         "א",
                                         "漢",
                                         "字",
                                         "か",
                                         "ナ",
                                         "ー",
                                         "한",
                                         "é",
                                         "́",
                                         "़",
                                         "1",
                                         "2",
                                         "3",
                                         "4",
                                         "²",
                                         "½",
                                         "Ⅷ",
                                         "٣",
                                         " ",
                                         " ",
                                         " ",
                                         " ",
                                         "\t",
                                         "\n",
                                         "\n",
                                         "\r",
                                         "\v",
                                         "\xc2\xa0",
                                         "\xe3\x80\x80",
                                         "\xc2\x85",
                                         "'",
                                         "'",
                                         "'",
                                         "!",
                                         "/",
                                         ".",
                                         "-",
                                         "(",
                                         "<",
                                         "$",
                                         "+",
                                         "^",
                                         "€",
                                         "—",
                                         "“",
                                         "©",
                                         "🐱",
                                         "\x01",
                                         "\x7f",
                                         "\xe2\x80\x8d",
                                         "\xef\xbb\xbf",
                                         "|"};
  for (size_t f = 0; f < G_N_ELEMENTS(families); f++) {
    GRegex *regexes[3] = {NULL};
    for (int k = 0; k < 3 && families[f].expressions[k]; k++) {
      char *pattern = g_strconcat("(*UCP)", families[f].expressions[k], NULL);
      GError *error = NULL;
      regexes[k] = g_regex_new(pattern, G_REGEX_OPTIMIZE, 0, &error);
      g_assert_no_error(error);
      g_free(pattern);
    }
    for (int round = 0; round < 4000; round++) {
      GString *text = g_string_new(NULL), *want = g_string_new(NULL);
      int n = g_test_rand_int_range(1, 24), few = g_test_rand_int_range(1, G_N_ELEMENTS(alphabet));
      int base = g_test_rand_int_range(0, G_N_ELEMENTS(alphabet));
      for (int i = 0; i < n; i++) /* often of few characters, for runs and repetitions */
        g_string_append(
            text, alphabet[(base + g_test_rand_int_range(0, few)) % (int)G_N_ELEMENTS(alphabet)]);
      expect(regexes, 0, text->str, 0, (int)text->len, want);
      char *pieces = pieces_of(families[f].split, text->str);
      g_assert_cmpstr(pieces, ==, want->str);
      g_free(pieces);
      g_string_free(want, TRUE);
      g_string_free(text, TRUE);
    }
    for (int k = 0; k < 3; k++)
      if (regexes[k]) g_regex_unref(regexes[k]);
  }
}

/* Long runs of one kind: quadratic time would take minutes. */
static void test_linear(void) {
  static const char *const runs[] = {"a", "A", "1", " ",  "\n",   " \n",
                                     "'", "́",  "Á", "漢", "\x01", "!"};
  enum { N = 100000 };
  for (size_t r = 0; r < G_N_ELEMENTS(runs); r++) {
    GString *text = g_string_new(NULL);
    for (int i = 0; i < N; i++) g_string_append(text, runs[r]);
    g_string_append(text, "Z");
    gint64 start = g_get_monotonic_time();
    for (size_t f = 0; f < G_N_ELEMENTS(families); f++)
      g_free(pieces_of(families[f].split, text->str));
    g_assert_cmpint(g_get_monotonic_time() - start, <, 20 * G_USEC_PER_SEC);
    g_string_free(text, TRUE);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/pretokenizer/examples", test_examples);
  g_test_add_func("/pretokenizer/expressions", test_expressions);
  g_test_add_func("/pretokenizer/linear", test_linear);
  return g_test_run();
}
