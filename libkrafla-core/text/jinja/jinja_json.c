/* Reading JSON into values: whole numbers exactly, whatever their size, and what Python's json
 * module takes besides: NaN and the infinities. Half surrogate pairs become U+FFFD. */
#include "base/utf8.h"
#include "text/jinja/jinja_float.h"
#include "text/jinja/jinja_number.h"
#include "text/jinja/jinja_run.h"

typedef struct reader {
  kr_jctx *c;
  const char *p, *end, *start;
  int depth;
} reader;

static bool read_value(reader *r, kr_jvalue *ret);

static bool error(reader *r, const char *what) {
  return kr_jfail_code(r->c, KR_E_ARGUMENT, "JSON: %s at byte %zu", what,
                       (size_t)(r->p - r->start));
}

static void skip_blanks(reader *r) {
  while (r->p < r->end && (*r->p == ' ' || *r->p == '\n' || *r->p == '\r' || *r->p == '\t')) r->p++;
}

static bool take(reader *r, char ch) {
  skip_blanks(r);
  if (r->p >= r->end || *r->p != ch) return false;
  r->p++;
  return true;
}

static bool read_unit(reader *r, uint32_t *ret) {
  *ret = 0;
  for (int i = 0; i < 4; i++, r->p++) {
    char ch = r->p < r->end ? *r->p : 0, low = (char)(ch | 0x20);
    bool digit = ch >= '0' && ch <= '9', letter = low >= 'a' && low <= 'f';
    if (!digit && !letter) return error(r, "an escape that is cut");
    *ret = *ret << 4 | (uint32_t)(digit ? ch - '0' : low - 'a' + 10);
  }
  return true;
}

/* Behind "\u". */
static bool read_point(reader *r, char *out, size_t *n) {
  uint32_t code, low;
  if (!read_unit(r, &code)) return false;
  if (code >= 0xd800 && code < 0xdc00 && r->end - r->p >= 6 && r->p[0] == '\\' && r->p[1] == 'u') {
    const char *before = r->p;
    r->p += 2;
    if (!read_unit(r, &low)) return false;
    if (low >= 0xdc00 && low < 0xe000)
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    else
      r->p = before;
  }
  if (code >= 0xd800 && code < 0xe000) code = 0xfffd;
  *n += kr_utf8_put(code, out + *n);
  return true;
}

static bool read_escape(reader *r, char *out, size_t *n) {
  static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
  char ch = ++r->p < r->end ? *r->p : 0;
  const char *letter = ch ? strchr(letters, ch) : NULL;
  if (ch != 'u' && !letter) return error(r, "an unknown escape");
  r->p++;
  if (ch == 'u') return read_point(r, out, n);
  out[(*n)++] = bytes[letter - letters];
  return true;
}

/* Behind the quote. Without escapes the value lies in the input itself. */
static bool read_string(reader *r, kr_jvalue *ret) {
  const char *start = r->p, *stop = start;
  bool escapes = false;
  while (stop < r->end && *stop != '"') {
    if (*stop == '\\') escapes = true, stop++;
    stop++;
  }
  if (stop >= r->end) return error(r, "a string without an end");
  char *text = escapes ? kr_jalloc(r->c, (size_t)(stop - start), 1) : NULL;
  size_t n = 0;
  if (escapes && !text) return false;
  while (r->p < stop) {
    uint32_t code;
    size_t k = kr_utf8_next((const uint8_t *)r->p, (size_t)(stop - r->p), &code);
    if (code == KR_UTF8_INVALID) return error(r, "invalid UTF-8");
    if (code < 0x20) return error(r, "a control character");
    if (code == '\\') {
      if (!read_escape(r, text, &n)) return false;
      continue;
    }
    if (text) memcpy(text + n, r->p, k);
    n += k;
    r->p += k;
  }
  r->p = stop + 1;
  return kr_jstring_of(r->c, text ? text : start, n, ret);
}

static size_t digits(const char *p, const char *end) {
  const char *start = p;
  while (p < end && *p >= '0' && *p <= '9') p++;
  return (size_t)(p - start);
}

static bool read_number(reader *r, kr_jvalue *ret) {
  const char *start = r->p;
  bool whole = true, ok;
  r->p += *r->p == '-';
  size_t n = digits(r->p, r->end);
  if (!n || (n > 1 && *r->p == '0')) return error(r, "not a number");
  r->p += n;
  if (r->p < r->end && *r->p == '.') {
    n = digits(r->p + 1, r->end);
    if (!n) return error(r, "not a number");
    r->p += 1 + n, whole = false;
  }
  if (r->p < r->end && (*r->p == 'e' || *r->p == 'E')) {
    r->p++;
    if (r->p < r->end && (*r->p == '+' || *r->p == '-')) r->p++;
    n = digits(r->p, r->end);
    if (!n) return error(r, "not a number");
    r->p += n, whole = false;
  }
  if (whole) return kr_jinteger_parse(r->c, start, (size_t)(r->p - start), 10, ret, &ok);
  double x = 0;
  kr_float_parse(start, (size_t)(r->p - start), &x);
  *ret = kr_jfloat(x);
  return kr_jcharge(r->c, (size_t)(r->p - start) * 16);
}

static bool read_list(reader *r, kr_jvalue *ret) {
  kr_jlist *list = kr_jlist_new(r->c, 0);
  kr_jvalue item;
  if (!list) return false;
  *ret = kr_jobject(KR_J_LIST, list);
  if (take(r, ']')) return true;
  do
    if (!read_value(r, &item) || !kr_jlist_add(r->c, list, item)) return false;
  while (take(r, ','));
  return take(r, ']') || error(r, "expected ',' or ']'");
}

static bool read_dict(reader *r, kr_jvalue *ret) {
  kr_jdict *dict = kr_jdict_new(r->c);
  kr_jvalue key, value;
  if (!dict) return false;
  *ret = kr_jobject(KR_J_DICT, dict);
  if (take(r, '}')) return true;
  do {
    if (!take(r, '"')) return error(r, "expected a name");
    if (!read_string(r, &key)) return false;
    if (!take(r, ':')) return error(r, "expected ':'");
    if (!read_value(r, &value) || !kr_jdict_set(r->c, dict, key, value)) return false;
  } while (take(r, ','));
  return take(r, '}') || error(r, "expected ',' or '}'");
}

static bool read_word(reader *r, kr_jvalue *ret) {
  const struct {
    const char *word;
    kr_jvalue value;
  } words[] = {{"true", kr_jbool(true)},
               {"false", kr_jbool(false)},
               {"null", kr_jnone()},
               {"NaN", kr_jfloat(__builtin_nan(""))},
               {"Infinity", kr_jfloat(__builtin_inf())},
               {"-Infinity", kr_jfloat(-__builtin_inf())}};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    size_t n = strlen(words[i].word);
    if ((size_t)(r->end - r->p) < n || memcmp(r->p, words[i].word, n)) continue;
    r->p += n;
    *ret = words[i].value;
    return true;
  }
  if (r->p < r->end && (*r->p == '-' || (*r->p >= '0' && *r->p <= '9'))) return read_number(r, ret);
  return error(r, "expected a value");
}

static bool read_value(reader *r, kr_jvalue *ret) {
  if (take(r, '"')) return read_string(r, ret);
  bool list = take(r, '['), dict = !list && take(r, '{');
  if (!list && !dict) return read_word(r, ret);
  if (++r->depth > KR_J_MAX_JSON) return error(r, "values nested too deeply");
  bool ok = list ? read_list(r, ret) : read_dict(r, ret);
  r->depth--;
  return ok;
}

bool kr_jread_json(kr_jctx *c, const char *text, size_t n, kr_jvalue *ret) {
  reader r = {.c = c, .p = text, .start = text, .end = text + n};
  if (!read_value(&r, ret)) return false;
  skip_blanks(&r);
  return r.p == r.end || error(&r, "something behind the value");
}
