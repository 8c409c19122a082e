/* Error messages: valid, printable, cut to their room, whatever text they are made of. */
#include "base/error.h"
#include <glib.h>
#include <string.h>

typedef struct text_case {
  const char *text, *printed;
  size_t n; /* 0: up to the zero byte */
} text_case;

static const text_case cases[] = {
    {"plain text, (1) 100 %", "plain text, (1) 100 %", 0},
    {"", "", 0},
    {"a\0b", "a\\x00b", 3},
    {"a\nb\tc\r\x1b[31mred\x7f", "a\\x0ab\\x09c\\x0d\\x1b[31mred\\x7f", 0},
    {"h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x8a", "h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x8a", 0},
    {"\xc2\x9b", "\\xc2\\x9b", 0},                   /* U+009B, a control character */
    {"a\xffz", "a\\xffz", 0},                        /* never in UTF-8 */
    {"\xc0\xaf", "\\xc0\\xaf", 0},                   /* overlong */
    {"\xed\xa0\x80", "\\xed\\xa0\\x80", 0},          /* a surrogate */
    {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", 0}, /* past U+10FFFF */
    {"\xf0\x9f\x98", "\\xf0\\x9f\\x98", 0},          /* cut */
    {"\xe2\x82(", "\\xe2\\x82(", 0},                 /* cut, then text */
    {"a\xe2\x80\xaez", "a\\xe2\\x80\\xaez", 0},      /* U+202E right-to-left override */
    {"a\xe2\x81\xa6z\xe2\x81\xa9", "a\\xe2\\x81\\xa6z\\xe2\\x81\\xa9", 0}, /* U+2066, U+2069 */
    {"a\xe2\x80\x8fz", "a\\xe2\\x80\\x8fz", 0}, /* U+200F right-to-left mark */
    {"a\xe2\x80\xa8z", "a\\xe2\\x80\\xa8z", 0}, /* U+2028 line separator */
    {"\xef\xbb\xbfz", "\\xef\\xbb\\xbfz", 0},   /* U+FEFF */
};

static void test_printable(void) {
  for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
    char out[128];
    size_t n = cases[i].n ? cases[i].n : strlen(cases[i].text);
    g_assert_true(kr_printable(out, sizeof out, cases[i].text, n) == out);
    g_assert_cmpstr(out, ==, cases[i].printed);
    g_assert_true(g_utf8_validate(out, -1, NULL));
  }
}

/* Every size of room: ended, never written past, never half a character or half an escape. */
static void test_cut(void) {
  const char text[] = "ab\xc3\xa9\x01\xf0\x9f\x98\x8a\xff-end-of-it";
  const char whole[] = "ab\xc3\xa9\\x01\xf0\x9f\x98\x8a\\xff-end-of-it";
  for (size_t size = 0; size < sizeof whole + 3; size++) {
    char out[64];
    memset(out, '#', sizeof out);
    kr_printable(out, size, text, sizeof text - 1);
    for (size_t i = size; i < sizeof out; i++) g_assert_cmpint(out[i], ==, '#');
    if (!size) continue;
    g_assert_nonnull(memchr(out, 0, size));
    g_assert_true(g_utf8_validate(out, -1, NULL));
    if (size >= sizeof whole) {
      g_assert_cmpstr(out, ==, whole);
      continue;
    }
    size_t n = strlen(out);
    if (size >= 5) g_assert_true(n >= 3 && !strcmp(out + n - 3, "..."));
    if (n >= 3 && !strcmp(out + n - 3, "...")) n -= 3;
    g_assert_true(!strncmp(out, whole, n));
    const char *escape = n ? g_strrstr_len(out, (gssize)n, "\\x") : NULL;
    if (escape) g_assert_cmpuint(n - (size_t)(escape - out), >=, 4);
  }
}

static void test_fail(void) {
  kr_error err = {0};
  g_assert_cmpint(kr_fail(&err, KR_E_FORMAT, "%s has %d", "tensor\n", 3), ==, KR_E_FORMAT);
  g_assert_cmpint(err.code, ==, KR_E_FORMAT);
  g_assert_cmpstr(err.message, ==, "tensor\\x0a has 3");
  g_assert_cmpint(kr_fail_prefix(&err, KR_E_IO, "a%s.gguf"), ==, KR_E_IO);
  g_assert_cmpint(err.code, ==, KR_E_IO);
  g_assert_cmpstr(err.message, ==, "a%s.gguf: tensor\\x0a has 3");
  g_assert_cmpint(kr_fail_memory(&err, "rows"), ==, KR_E_MEMORY);
  g_assert_cmpstr(err.message, ==, "out of memory: rows");
}

static void test_no_error_wanted(void) {
  g_assert_cmpint(kr_fail(NULL, KR_E_CPU, "%d", 1), ==, KR_E_CPU);
  g_assert_cmpint(kr_fail_prefix(NULL, KR_E_CPU, "x"), ==, KR_E_CPU);
  g_assert_cmpint(kr_fail_memory(NULL, "x"), ==, KR_E_MEMORY);
}

/* Text longer than a message, and longer than what it is formatted in. */
static void test_long(void) {
  for (size_t n = 480; n < 1200; n += 7) {
    g_autofree char *text = g_strnfill(n, 'x');
    kr_error err;
    memset(&err, '#', sizeof err);
    kr_fail(&err, KR_E_FORMAT, "%s", text);
    g_assert_cmpuint(strlen(err.message), ==, MIN(n, sizeof err.message - 1));
    if (n >= sizeof err.message) g_assert_true(g_str_has_suffix(err.message, "x..."));
    for (int i = 0; i < 3; i++) kr_fail_prefix(&err, KR_E_FORMAT, "prefix");
    g_assert_true(g_str_has_prefix(err.message, "prefix: prefix: prefix: xxx"));
    g_assert_cmpuint(strlen(err.message), <, sizeof err.message);
  }
}

int main(int argc, char **argv) {
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/error/printable", test_printable);
  g_test_add_func("/error/cut", test_cut);
  g_test_add_func("/error/fail", test_fail);
  g_test_add_func("/error/no-error-wanted", test_no_error_wanted);
  g_test_add_func("/error/long", test_long);
  return g_test_run();
}
