/* Vocabularies of both kinds, over small ones made for the purpose. */
#include "made_vocab.h"
#include <string.h>

static void check(const kr_vocab *vocab, const char *text, uint32_t flags, const char *want) {
  char *ids = kr_encode_shown(vocab, text, strlen(text), flags);
  g_assert_cmpstr(ids, ==, want);
  g_free(ids);
}

/* text -> ids -> text. */
static void check_round(const kr_vocab *vocab, const char *text) {
  int32_t *ids;
  size_t n, length;
  char *back;
  g_assert_cmpint(kr_vocab_encode(vocab, text, strlen(text), 0, &ids, &n, NULL), ==, KR_OK);
  g_assert_cmpint(kr_vocab_decode(vocab, ids, n, 1, &back, &length, NULL), ==, KR_OK);
  g_assert_cmpmem(back, length, text, strlen(text));
  kr_array_free(back);
  kr_ids_free(ids);
}

static void check_spans(const kr_vocab *vocab, const char *text, const kr_text_span *spans,
                        size_t n, const char *want) {
  int32_t *ids;
  size_t n_ids;
  kr_error err = {0};
  int code = kr_vocab_encode_spans(vocab, text, strlen(text), spans, n, 0, &ids, &n_ids, &err);
  if (!want) {
    g_assert_cmpint(code, ==, KR_E_ARGUMENT);
    return;
  }
  g_assert_cmpint(code, ==, KR_OK);
  GString *shown = g_string_new(NULL);
  for (size_t i = 0; i < n_ids; i++) g_string_append_printf(shown, i ? " %d" : "%d", ids[i]);
  g_assert_cmpstr(shown->str, ==, want);
  g_string_free(shown, TRUE);
  kr_ids_free(ids);
}

/* ---- byte-level BPE: bytes are 0 to 255, then: ------------------------------------------------
 */

enum { HE = 256, LL, HELL, HELLO, G_HE, AB, BC, START, STOP, BAR, BARS, LONE };

static const kr_made_token bpe_tokens[] = {
    {"he", 0, 0},     {"ll", 0, 0},   {"hell", 0, 0},    {"hello", 0, 0},  {"Ġhe", 0, 0},
    {"ab", 0, 0},     {"bc", 0, 0},   {"<start>", 3, 0}, {"<stop>", 3, 0}, {"<bar", 4, 0},
    {"<bars>", 4, 0}, {"lone", 0, 0}, {NULL, 0, 0},
};
static const char *const bpe_merges[] = {"h e",    "l l",  "b c", "he ll",
                                         "hell o", "Ġ he", "a b", NULL};
static const kr_made_vocab bpe = {.model = "gpt2",
                                  .pre = "gpt-2",
                                  .tokens = bpe_tokens,
                                  .alphabet = true,
                                  .merges = bpe_merges,
                                  .types = true,
                                  .bos = START,
                                  .eos = STOP};

static void test_bpe(void) {
  kr_vocab *v = kr_made_vocab_new(&bpe);
  check(v, "", 0, "");
  check(v, "hello", 0, "259");
  check(v, "hello he", 0, "259 260");
  check(v, "hell", 0, "258");
  check(v, "abc", 0, "97 262"); /* "b c" is earlier than "a b" */
  check(v, "ab abab", 0, "261 32 261 261");
  check(v, "lone", 0, "108 111 110 101"); /* a token that no merges lead to */
  check(v, "é\n", 0, "195 169 10");
  for (int i = 0; i < 3; i++) check(v, "lone hello", 0, "108 111 110 101 32 259");
  g_assert_cmpint(kr_vocab_size(v), ==, LONE + 1);
  kr_vocab_free(v);
}

static void test_special(void) {
  kr_vocab *v = kr_made_vocab_new(&bpe);
  check(v, "<start>he<stop>", 0, "263 256 264");
  check(v, "<bars>", 0, "266"); /* the longest */
  check(v, "<bar>", 0, "265 62");
  check(v, "<<bar<star<start>", 0, "60 265 60 115 116 97 114 263");
  check(v, "<start><bar", KR_ENCODE_NO_CONTROL, "60 115 116 97 114 116 62 265");
  check(v, "he", KR_ENCODE_SPECIAL, "256"); /* no add_bos_token, and GPT-2 adds none */
  g_assert_true(kr_vocab_is_control(v, START) && !kr_vocab_is_control(v, BAR));
  size_t n;
  kr_vocab_bytes(v, START, 0, &n);
  g_assert_cmpuint(n, ==, 0);
  const char *bytes = kr_vocab_bytes(v, START, 1, &n);
  g_assert_cmpmem(bytes, n, "<start>", 7);
  bytes = kr_vocab_bytes(v, G_HE, 0, &n);
  g_assert_cmpmem(bytes, n, " he", 3);
  kr_vocab_free(v);
}

/* Parts that are plain, and parts whose ids are known. */
static void test_spans(void) {
  kr_vocab *v = kr_made_vocab_new(&bpe);
  static const int32_t known[] = {104, 101};
  const char *text = "he<stop>he<stop>hehe";
  check_spans(v, text, NULL, 0, "256 264 256 264 256 256");
  /* any overlap counts, and what is beside is as it was */
  static const size_t overlaps[][2] = {{2, 8}, {2, 3}, {7, 8}, {5, 5 + 1}, {0, 10}};
  for (size_t i = 0; i < G_N_ELEMENTS(overlaps); i++) {
    const kr_text_span plain = {overlaps[i][0], overlaps[i][1], NULL, 0};
    check_spans(v, text, &plain, 1, "256 60 115 116 111 112 62 256 264 256 256");
  }
  const kr_text_span beside[] = {{0, 2, NULL, 0}, {8, 10, NULL, 0}};
  check_spans(v, text, beside, 2, "256 264 256 264 256 256");
  /* "he" twice, the first time as two letters; a part of ids ends the pieces before and behind it
   */
  const kr_text_span mixed[] = {{8, 10, known, 2}, {11, 12, NULL, 0}};
  check_spans(v, text, mixed, 2, "256 264 104 101 60 115 116 111 112 62 256 256");
  const kr_text_span inside = {2, 2, known, 1};
  check_spans(v, "hello", &inside, 1, "256 104 257 111");
  const kr_text_span end = {5, 5, known, 2};
  check_spans(v, "hello", &end, 1, "259 104 101");
  /* what is no span */
  const kr_text_span behind = {3, 6, NULL, 0}, turned = {3, 2, NULL, 0}, cut = {1, 2, NULL, 0};
  const kr_text_span crossed[] = {{0, 3, NULL, 0}, {2, 4, NULL, 0}};
  check_spans(v, "hello", &behind, 1, NULL);
  check_spans(v, "hello", &turned, 1, NULL);
  check_spans(v, "é", &cut, 1, NULL);
  check_spans(v, "hello", crossed, 2, NULL);
  check_spans(v, "\xff", beside, 1, NULL);
  kr_vocab_free(v);
}

static void test_find(void) {
  kr_vocab *v = kr_made_vocab_new(&bpe);
  g_assert_cmpint(kr_vocab_find(v, "Ġhe"), ==, G_HE);
  g_assert_cmpint(kr_vocab_find(v, "<start>"), ==, START);
  g_assert_cmpint(kr_vocab_find(v, "Ċ"), ==, 10);
  g_assert_cmpint(kr_vocab_find(v, " he"), ==, -1);
  g_assert_cmpint(kr_vocab_find(v, ""), ==, -1);
  g_assert_cmpint(kr_vocab_find(v, "nothing of the sort"), ==, -1);
  kr_vocab_free(v);
}

static void test_added(void) {
  kr_made_vocab made = bpe;
  made.add_bos = 1, made.add_eos = 1;
  kr_vocab *v = kr_made_vocab_new(&made);
  check(v, "he", KR_ENCODE_SPECIAL, "263 256 264");
  check(v, "", KR_ENCODE_SPECIAL, "263 264");
  check(v, "he", 0, "256");
  kr_vocab_free(v);
  made.pre = "llama-bpe", made.add_bos = 0, made.add_eos = 0; /* which adds BOS by itself */
  v = kr_made_vocab_new(&made);
  check(v, "lone", KR_ENCODE_SPECIAL, "263 267"); /* and takes whole tokens before merges */
  kr_vocab_free(v);
  made.add_bos = -1;
  v = kr_made_vocab_new(&made);
  check(v, "he", KR_ENCODE_SPECIAL, "256");
  kr_vocab_free(v);
}

static void test_ends(void) {
  static const kr_made_token tokens[] = {
      {"<|im_end|>", 3, 0}, {"<|eot_id|>", 1, 0}, {"<go>", 3, 0}, {"<x>", 3, 0}, {NULL, 0, 0}};
  kr_made_vocab made = bpe;
  made.tokens = tokens, made.bos = 258, made.eos = 0, made.eot = 259;
  static const char *const none[] = {NULL};
  made.merges = none;
  kr_vocab *v = kr_made_vocab_new(&made);
  g_assert_true(kr_vocab_is_end(v, 256));  /* by its name */
  g_assert_false(kr_vocab_is_end(v, 257)); /* an ordinary token */
  g_assert_true(kr_vocab_is_end(v, 258));  /* BOS */
  g_assert_true(kr_vocab_is_end(v, 259));  /* EOT */
  g_assert_false(kr_vocab_is_end(v, 65));
  g_assert_false(kr_vocab_is_end(v, -1));
  g_assert_false(kr_vocab_is_end(v, 260));
  g_assert_cmpint(kr_vocab_bos(v), ==, 258);
  g_assert_cmpint(kr_vocab_eos(v), ==, -1);
  kr_vocab_free(v);
}

/* Invalid bytes are U+FFFD; the alphabet has its three bytes. */
static void test_invalid(void) {
  kr_vocab *v = kr_made_vocab_new(&bpe);
  check(v, "he\xff", 0, "256 239 191 189");
  check(v,
        "\xe2\x80"
        "A",
        0, "239 191 189 65");
  kr_vocab_free(v);
}

/* A byte without a token is left out, as the reference does, and its neighbours may merge. */
static void test_byte_missing(void) {
  kr_made_vocab made = bpe;
  made.drop = "x", made.bos = 0, made.eos = 0;
  kr_vocab *v = kr_made_vocab_new(&made);
  check(v, "hxe", 0, "255"); /* all ids are one less */
  kr_vocab_free(v);
}

/* Tokens that are spelled alike keep their ids; the first is found. */
static void test_doubles(void) {
  static const kr_made_token tokens[] = {{"he", 0, 0},  {"he", 0, 0},  {"hex", 0, 0},
                                         {"<s>", 3, 0}, {"<s>", 3, 0}, {NULL, 0, 0}};
  static const char *const merges[] = {"h e", "he x", NULL};
  kr_made_vocab made = bpe;
  made.tokens = tokens, made.merges = merges, made.bos = 0, made.eos = 0;
  kr_vocab *v = kr_made_vocab_new(&made);
  check(v, "he hex<s>", 0, "256 32 258 259");
  g_assert_cmpint(kr_vocab_find(v, "he"), ==, 256);
  size_t n;
  const char *bytes = kr_vocab_bytes(v, 257, 0, &n);
  g_assert_cmpmem(bytes, n, "he", 2);
  g_assert_cmpint(kr_vocab_size(v), ==, 261);
  kr_vocab_free(v);
}

static void test_round_trips(void) {
  kr_vocab *v = kr_made_vocab_new(&bpe);
  char spaces[201] = {0};
  for (int i = 0; i < 200; i++) {
    spaces[i] = ' ';
    check_round(v, spaces);
  }
  check_round(v, "Hello:World");
  check_round(v, "hello !");
  check_round(v, "<bar>text<bars>");
  check_round(v, "This is 🦙.cpp");
  char *lines = g_strnfill(5000, '\n');
  check_round(v, lines);
  g_free(lines);
  kr_vocab_free(v);
}

/* A long piece: 200,000 letters. */
static void test_long(void) {
  kr_vocab *v = kr_made_vocab_new(&bpe);
  GString *text = g_string_new(NULL), *want = g_string_new(NULL);
  for (int i = 0; i < 40000; i++) {
    g_string_append(text, "hello");
    g_string_append(want, i ? " 259" : "259");
  }
  check(v, text->str, 0, want->str);
  g_string_free(text, TRUE);
  g_string_free(want, TRUE);
  kr_vocab_free(v);
}

/* ---- SentencePiece: bytes are 0 to 255, then: -------------------------------------------------
 */

enum { UNK = 256, S, E, SP, H, I, SP_H, HI, SP_HI, SP_SP, USER };

static const kr_made_token spm_tokens[] = {{"<unk>", 2, 0}, {"<s>", 3, 0},    {"</s>", 3, 0},
                                           {"▁", 1, -1},    {"h", 1, -2},     {"i", 1, -3},
                                           {"▁h", 1, -10},  {"hi", 1, -9},    {"▁hi", 1, -11},
                                           {"▁▁", 1, -12},  {"<user>", 4, 0}, {NULL, 0, 0}};
static const kr_made_vocab spm = {.model = "llama",
                                  .pre = "default",
                                  .tokens = spm_tokens,
                                  .alphabet = true,
                                  .scores = true,
                                  .types = true,
                                  .bos = S,
                                  .eos = E};

static void test_spm(void) {
  kr_vocab *v = kr_made_vocab_new(&spm);
  check(v, "hi", 0, "264");
  check(v, "hi hi", KR_ENCODE_SPECIAL, "257 264 264");
  check(v, " hi", 0, "259 264"); /* "▁▁hi": "hi" is best, then "▁hi" before "▁▁" */
  check(v, "  ", 0, "265 259");  /* leftmost on ties */
  check(v, "▁hi", 0, "259 264"); /* the mark stands for a space */
  check(v, "", 0, "");
  check(v, "hé🦙", 0, "262 195 169 240 159 166 153");
  check(v, "hi</s>hi", 0, "264 258 264"); /* every part gets a prefix */
  check(v, "</s>", KR_ENCODE_NO_CONTROL, "259 60 47 115 62");
  check(v, "<user>", KR_ENCODE_NO_CONTROL, "266");
  check(v, "<0x41>", 0, "259 60 48 120 52 49 62");
  check_round(v, "hi  hi");
  check_round(v, " hi");
  check_round(v, "This is 🦙.cpp");
  check_round(v, "Hello:World");
  check_round(v, "hello !");
  g_assert_cmpint(kr_vocab_find(v, "▁hi"), ==, SP_HI);
  g_assert_cmpint(kr_vocab_find(v, "<0x41>"), ==, 0x41);
  size_t n;
  const char *bytes = kr_vocab_bytes(v, SP_HI, 0, &n);
  g_assert_cmpmem(bytes, n, " hi", 3);
  bytes = kr_vocab_bytes(v, 0x41, 0, &n);
  g_assert_cmpmem(bytes, n, "A", 1);
  kr_vocab_free(v);
}

/* No space comes between known ids and what follows them. */
static void test_spm_spans(void) {
  kr_vocab *v = kr_made_vocab_new(&spm);
  static const int32_t known[] = {SP_HI};
  const kr_text_span first = {0, 2, known, 1}, second = {2, 5, known, 1};
  check_spans(v, "hihi</s>hi", &first, 1, "264 263 258 264");
  check_spans(v, "hi hi", &first, 1, "264 264");
  check_spans(v, "hi hi</s>hi", &second, 1, "264 264 258 264");
  const kr_text_span plain = {2, 6, NULL, 0};
  check_spans(v, "hi</s>", &plain, 1, "264 60 47 115 62");
  kr_vocab_free(v);
}

static void test_spm_prefix(void) {
  kr_made_vocab made = spm;
  made.prefix = -1;
  kr_vocab *v = kr_made_vocab_new(&made);
  check(v, "hi", 0, "263");
  check(v, " hi", 0, "264");
  check_round(v, " hi");
  check_round(v, "hi");
  kr_vocab_free(v);
  made.own_prefix = "first";
  v = kr_made_vocab_new(&made);
  check(v, "hi</s>hi", 0, "264 258 263");
  check(v, "</s>hi", 0, "258 263");
  check(v, " hi", 0, "264");
  kr_vocab_free(v);
}

/* Runs of spaces as converters write them: merged before others, matched where text has "▁". */
static void test_spm_spaces(void) {
  static const kr_made_token tokens[] = {{"<unk>", 2, 0}, {"<s>", 3, 0}, {"</s>", 3, 0},
                                         {"▁", 1, -1},    {"  ", 4, -9}, {NULL, 0, 0}};
  kr_made_vocab made = spm;
  made.tokens = tokens, made.prefix = -1;
  kr_vocab *v = kr_made_vocab_new(&made);
  check(v, "  ", 0, "260");
  check(v, "▁▁", 0, "260");
  check(v, "   ", 0, "260 259");
  check(v, " ▁ ", 0, "260 259");
  check(v, " ▁▁", 0, "259 260");
  check_round(v, "     ");
  kr_vocab_free(v);
}

/* Without byte tokens characters that are not there are one unknown token. */
static void test_spm_unknown(void) {
  kr_made_vocab made = spm;
  made.alphabet = false, made.bos = 1, made.eos = 2;
  kr_vocab *v = kr_made_vocab_new(&made);
  check(v, "hizzz", 0, "8 0");
  check(v, "hizzz zé", 0, "8 0 3 0");
  kr_vocab_free(v);
}

/* A run of byte tokens that is not UTF-8 is replaced byte by byte, as the reference does. */
static void test_spm_decode(void) {
  static const struct {
    int32_t ids[4];
    const char *text;
  } examples[] = {
      {{SP_HI, 0xc3, 0xa9, H}, "hiéh"},
      {{SP_HI, 0xe2, 0x80, H}, "hi\xef\xbf\xbd\xef\xbf\xbdh"},
      {{S, SP_HI, UNK, SP_SP}, "hi  "},
  };
  kr_vocab *v = kr_made_vocab_new(&spm);
  for (size_t i = 0; i < G_N_ELEMENTS(examples); i++) {
    char *text;
    size_t n;
    g_assert_cmpint(kr_vocab_decode(v, examples[i].ids, 4, 0, &text, &n, NULL), ==, KR_OK);
    g_assert_cmpmem(text, n, examples[i].text, strlen(examples[i].text));
    kr_array_free(text);
  }
  kr_vocab_free(v);
}

/* ---- what is refused --------------------------------------------------------------------------
 */

static void refuse(const kr_made_vocab *made, int code, const char *part) {
  kr_vocab *v;
  kr_error err = {0};
  g_assert_cmpint(kr_made_vocab_try(made, &v, &err), ==, code);
  g_assert_null(v);
  g_assert_cmpint(err.code, ==, code);
  if (!strstr(err.message, part)) g_assert_cmpstr(err.message, ==, part);
}

static void test_refused(void) {
  static const struct {
    const char *model, *pre, *part;
  } names[] = {
      {"t5", "default", "\"t5\" is Unigram"},
      {"bert", "default", "\"bert\" is WordPiece"},
      {"zzz", "default", "\"zzz\""},
      {"gpt2", "krokodil", "\"krokodil\""},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
    kr_made_vocab made = bpe;
    made.model = names[i].model, made.pre = names[i].pre;
    refuse(&made, KR_E_UNSUPPORTED, names[i].part);
  }
  kr_made_vocab made = bpe;
  made.model = NULL;
  refuse(&made, KR_E_FORMAT, "tokenizer.ggml.model is missing");
  made = bpe, made.more_rows = 1;
  refuse(&made, KR_E_FORMAT, "has 268 tokens for 269 rows");
  made = bpe, made.merges = NULL;
  refuse(&made, KR_E_FORMAT, "tokenizer.ggml.merges is missing");
  static const kr_made_token none[] = {{NULL, 0, 0}}, odd[] = {{"he", 7, 0}, {NULL, 0, 0}};
  made = bpe, made.alphabet = false, made.tokens = none;
  refuse(&made, KR_E_FORMAT, "tokenizer.ggml.tokens: has no tokens");
  made = bpe, made.tokens = odd;
  refuse(&made, KR_E_FORMAT, "tokenizer.ggml.token_type[256]: 7");
  made = spm, made.scores = false;
  refuse(&made, KR_E_FORMAT, "tokenizer.ggml.scores is missing");
  made = spm, made.own_prefix = "last";
  refuse(&made, KR_E_UNSUPPORTED, "krafla.tokenizer.prefix: \"last\"");
  static const kr_made_token byte[] = {{"<0xZZ>", 6, 0}, {NULL, 0, 0}};
  made = spm, made.tokens = byte;
  refuse(&made, KR_E_FORMAT, "tokenizer.ggml.tokens[256]: \"<0xZZ>\"");
  static const kr_made_token two[] = {{"a", 1, 0}, {"b", 1, 0}, {NULL, 0, 0}};
  made = spm, made.alphabet = false, made.tokens = two, made.bos = 0, made.eos = 0;
  refuse(&made, KR_E_FORMAT, "tokenizer.ggml.eos_token_id is missing");
}

static void test_refused_merges(void) {
  static const char *const merges[][2] = {
      {"he", "[0]: \"he\" is not two tokens"}, {" h", "[0]: \" h\" is not two tokens"},
      {"h ", "[0]: \"h \" is not two tokens"}, {"", "[0]: \"\" is not two tokens"},
      {"h  e", "[0]: \"h  e\" names a token"}, {"h zzz", "[0]: \"h zzz\" names a token"},
      {"z z", "[0]: \"z z\" makes a token"},   {"\xff h", "[0]: \"\\xff h\" names a token"},
  };
  for (size_t i = 0; i < G_N_ELEMENTS(merges); i++) {
    const char *const list[] = {merges[i][0], NULL};
    kr_made_vocab made = bpe;
    made.merges = list;
    refuse(&made, KR_E_FORMAT, merges[i][1]);
  }
}

/* Ids past the vocabulary count as absent. */
static void test_ids_out_of_range(void) {
  kr_made_vocab made = bpe;
  made.bos = -1, made.eos = 268, made.add_bos = 1;
  kr_vocab *v = kr_made_vocab_new(&made);
  g_assert_cmpint(kr_vocab_bos(v), ==, -1);
  g_assert_cmpint(kr_vocab_eos(v), ==, -1);
  check(v, "he", KR_ENCODE_SPECIAL, "256");
  kr_vocab_free(v);
}

/* An empty control token is never matched. */
static void test_empty_token(void) {
  static const kr_made_token tokens[] = {{"", 3, 0}, {NULL, 0, 0}};
  static const char *const merges[] = {NULL};
  kr_made_vocab made = bpe;
  made.tokens = tokens, made.merges = merges, made.bos = 0, made.eos = 0;
  kr_vocab *v = kr_made_vocab_new(&made);
  check(v, "ab", 0, "97 98");
  kr_vocab_free(v);
}

/* Byte-level BPE has no use for scores. */
static void test_scores_ignored(void) {
  kr_made_vocab made = bpe;
  made.scores = true;
  kr_vocab *v = kr_made_vocab_new(&made);
  check(v, "hello", 0, "259");
  kr_vocab_free(v);
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/vocab/bpe", test_bpe);
  g_test_add_func("/vocab/special", test_special);
  g_test_add_func("/vocab/spans", test_spans);
  g_test_add_func("/vocab/spm-spans", test_spm_spans);
  g_test_add_func("/vocab/find", test_find);
  g_test_add_func("/vocab/added", test_added);
  g_test_add_func("/vocab/ends", test_ends);
  g_test_add_func("/vocab/invalid", test_invalid);
  g_test_add_func("/vocab/byte-missing", test_byte_missing);
  g_test_add_func("/vocab/doubles", test_doubles);
  g_test_add_func("/vocab/round-trips", test_round_trips);
  g_test_add_func("/vocab/long", test_long);
  g_test_add_func("/vocab/spm", test_spm);
  g_test_add_func("/vocab/spm-prefix", test_spm_prefix);
  g_test_add_func("/vocab/spm-spaces", test_spm_spaces);
  g_test_add_func("/vocab/spm-unknown", test_spm_unknown);
  g_test_add_func("/vocab/spm-decode", test_spm_decode);
  g_test_add_func("/vocab/refused", test_refused);
  g_test_add_func("/vocab/refused-merges", test_refused_merges);
  g_test_add_func("/vocab/ids-out-of-range", test_ids_out_of_range);
  g_test_add_func("/vocab/empty-token", test_empty_token);
  g_test_add_func("/vocab/scores-ignored", test_scores_ignored);
  return g_test_run();
}
