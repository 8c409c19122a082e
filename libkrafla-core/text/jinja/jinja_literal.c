/* Literals of templates. */
#include "text/jinja/jinja_literal.h"
#include "base/utf8.h"
#include "text/jinja/jinja_float.h"
#include "text/jinja/jinja_number.h"

static int hex_digit(char ch) {
  if (ch >= '0' && ch <= '9') return ch - '0';
  ch |= 0x20;
  return ch >= 'a' && ch <= 'f' ? ch - 'a' + 10 : -1;
}

/* Exactly digits of them at p. */
static bool read_hex(const char *p, size_t n, size_t digits, uint32_t *ret) {
  *ret = 0;
  for (size_t i = 0; i < digits; i++) {
    int digit = i < n ? hex_digit(p[i]) : -1;
    if (digit < 0) return false;
    *ret = *ret << 4 | (uint32_t)digit;
  }
  return true;
}

/* The escape at p[0] == '\\', n > 1: its bytes, and what it stands for in out (room for 4). */
static size_t read_escape(const char *p, size_t n, char *out, size_t *ret_out, const char **why) {
  static const char letters[] = "\\'\"abfnrtv", bytes[] = "\\'\"\a\b\f\n\r\t\v";
  char ch = p[1];
  const char *letter = ch ? strchr(letters, ch) : NULL;
  *ret_out = 1;
  if (letter) return *out = bytes[letter - letters], 2;
  if (ch == '\n') return *ret_out = 0, 2;
  if (ch >= '0' && ch <= '7') {
    uint32_t code = 0;
    size_t i = 1;
    for (; i < n && i < 4 && p[i] >= '0' && p[i] <= '7'; i++)
      code = code * 8 + (uint32_t)(p[i] - '0');
    return *ret_out = kr_utf8_put(code, out), i;
  }
  size_t digits = ch == 'x' ? 2 : ch == 'u' ? 4 : ch == 'U' ? 8 : 0;
  if (digits) {
    uint32_t code;
    if (!read_hex(p + 2, n - 2, digits, &code) || code > 0x10ffff)
      return *why = "truncated escape", 0;
    if (code >= 0xd800 && code < 0xe000) return *why = "an escape of half a surrogate pair", 0;
    return *ret_out = kr_utf8_put(code, out), 2 + digits;
  }
  if (ch == 'N') return *why = "characters by name are not supported", 0;
  return *out = '\\', 1; /* a backslash that means nothing stays */
}

bool kr_jliteral_string(kr_jctx *c, const char *p, size_t n, kr_jvalue *ret, const char **ret_why) {
  char *text = kr_jalloc(c, n + 4, 1);
  size_t used = 0;
  if (!text) return false;
  for (size_t i = 0; i < n;) {
    size_t wrote = 1, took = 1;
    text[used] = p[i];
    if (p[i] == '\\') took = read_escape(p + i, n - i, text + used, &wrote, ret_why);
    if (!took) return false;
    i += took, used += wrote;
  }
  if (!kr_jstring_of(c, text, used, ret)) return false;
  kr_jpoints(ret->s);
  return true;
}

static bool is_digit(char ch) {
  return ch >= '0' && ch <= '9';
}

/* Digits with single underscores between them. */
static size_t digits_at(const char *p, size_t n, size_t at) {
  size_t i = at;
  while (i < n && (is_digit(p[i]) || (p[i] == '_' && i > at && is_digit(p[i - 1]) && i + 1 < n &&
                                      is_digit(p[i + 1]))))
    i++;
  return i;
}

/* The end of the float at p, or 0 if it is none. */
static size_t float_end(const char *p, size_t n) {
  size_t i = digits_at(p, n, 0), whole = i;
  if (i + 1 < n && p[i] == '.' && is_digit(p[i + 1])) i = digits_at(p, n, i + 1);
  if (i < n && (p[i] | 0x20) == 'e') {
    size_t sign = i + 1 < n && (p[i + 1] == '+' || p[i + 1] == '-');
    size_t end = digits_at(p, n, i + 1 + sign);
    if (end > i + 1 + sign) i = end;
  }
  return i > whole ? i : 0;
}

bool kr_jliteral_number(kr_jctx *c, const char *p, size_t n, bool after_dot, kr_jvalue *ret,
                        size_t *ret_n) {
  size_t end = after_dot ? 0 : float_end(p, n);
  if (end) {
    double x;
    *ret_n = end;
    if (!kr_float_parse(p, end, &x)) return kr_jfail(c, "TemplateSyntaxError", "not a number");
    *ret = kr_jfloat(x);
    return kr_jcharge(c, end);
  }
  static const struct {
    char letter;
    uint32_t base;
  } bases[] = {{'b', 2}, {'o', 8}, {'x', 16}};
  bool ok;
  for (size_t i = 0; i < 3 && n > 2 && p[0] == '0'; i++) {
    if ((p[1] | 0x20) != bases[i].letter) continue;
    end = 2 + (p[2] == '_');
    size_t start = end;
    while (end < n && (p[end] == '_' ||
                       (hex_digit(p[end]) >= 0 && (uint32_t)hex_digit(p[end]) < bases[i].base)))
      end++;
    *ret_n = end;
    if (!kr_jinteger_parse(c, p + start, end - start, bases[i].base, ret, &ok)) return false;
    if (ok) return true;
  }
  end = digits_at(p, n, 0);
  if (p[0] == '0') /* only zeros may follow */
    for (end = 1;
         end < n && (p[end] == '0' || (p[end] == '_' && end + 1 < n && p[end + 1] == '0'));)
      end++;
  *ret_n = end;
  return kr_jinteger_parse(c, p, end, 10, ret, &ok) &&
         (ok || kr_jfail(c, "TemplateSyntaxError", "not a number"));
}
