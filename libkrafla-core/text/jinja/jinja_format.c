/* Formatting of strings: the operator % and the method format. */
#include "base/utf8.h"
#include "text/jinja/jinja_builtin.h"
#include "text/jinja/jinja_float.h"
#include "text/jinja/jinja_number.h"
#include "text/jinja/jinja_unicode.h"

enum { MAX_WIDTH = 1 << 20 };

typedef struct spec {
  bool minus, plus, blank, zero, alternate;
  int64_t width, precision; /* precision -1: none */
  char type;
} spec;

/* Writes what stands from mark on again, padded; sign_n bytes of sign stand before zeros. */
static bool pad(kr_jctx *c, size_t mark, const spec *s, size_t sign_n) {
  if (c->n_out == mark && !s->width) return true;
  if (!kr_jout(c, "", 0)) return false;
  kr_jstring text = {.p = c->out + mark, .n = c->n_out - mark, .points = KR_J_UNCOUNTED};
  int64_t fill = s->width - (int64_t)kr_jpoints(&text);
  if (fill <= 0) return true;
  size_t n = text.n;
  for (int64_t i = 0; i < fill; i++)
    if (!kr_jout_text(c, " ")) return false;
  if (s->minus) return true;
  char *p = c->out + mark;
  size_t keep = s->zero ? sign_n : 0;
  memmove(p + keep + fill, p + keep, n - keep);
  memset(p + keep, s->zero ? '0' : ' ', (size_t)fill);
  return true;
}

static bool write_sign(kr_jctx *c, const spec *s, bool negative, size_t *ret_n) {
  *ret_n = negative || s->plus || s->blank;
  return !*ret_n || kr_jout_text(c, negative ? "-" : s->plus ? "+" : " ");
}

/* ---- numbers ----------------------------------------------------------------------------------
 */

static bool write_exponent(kr_jctx *c, int32_t e, bool upper) {
  char text[8] = {upper ? 'E' : 'e', e < 0 ? '-' : '+'};
  uint32_t n = (uint32_t)(e < 0 ? -e : e);
  size_t i = 2;
  if (n >= 100) text[i++] = (char)('0' + n / 100);
  text[i++] = (char)('0' + n / 10 % 10), text[i++] = (char)('0' + n % 10);
  return kr_jout(c, text, i);
}

/* Digits with a point behind the first and the exponent, or as %g has them. */
static bool write_digits(kr_jctx *c, double x, const spec *s) {
  bool general = (s->type | 0x20) == 'g', upper = s->type < 'a';
  uint32_t n = (uint32_t)(general ? (s->precision ? s->precision : 1) : s->precision + 1);
  char digits[KR_FLOAT_MAX_DECIMALS + 2];
  int32_t point = 1;
  memset(digits, '0', sizeof digits);
  if (x != 0) kr_float_digits(x, n, digits, &point);
  bool fixed = general && point > -4 && point <= (int32_t)n;
  if (general && !s->alternate)
    while (n > 1 && digits[n - 1] == '0') n--;
  if (!fixed)
    return kr_jout(c, digits, 1) &&
           (n == 1 || (kr_jout_text(c, ".") && kr_jout(c, digits + 1, n - 1))) &&
           write_exponent(c, point - 1, upper);
  if (point <= 0) {
    if (!kr_jout_text(c, "0.")) return false;
    for (int32_t i = point; i < 0; i++)
      if (!kr_jout_text(c, "0")) return false;
    return kr_jout(c, digits, n);
  }
  uint32_t whole = (uint32_t)point;
  if (n < whole) n = whole; /* the zeros that were cut come back */
  return kr_jout(c, digits, whole) &&
         (n == whole || (kr_jout_text(c, ".") && kr_jout(c, digits + whole, n - whole)));
}

static bool write_float(kr_jctx *c, double x, spec *s) {
  size_t mark = c->n_out, sign;
  char text[KR_FLOAT_FIXED];
  bool negative = __builtin_signbit(x) != 0, upper = s->type < 'a';
  double size = negative ? -x : x;
  if (s->precision < 0) s->precision = 6;
  if (s->precision > KR_FLOAT_MAX_DECIMALS - 1)
    return kr_jfail_code(c, KR_E_UNSUPPORTED, "a precision of more than %d digits",
                         KR_FLOAT_MAX_DECIMALS - 1);
  if (!write_sign(c, s, negative, &sign) || !kr_jcharge(c, 1 << 13)) return false;
  if (x - x != 0) {
    s->zero = false;
    if (!kr_jout_text(c, x != x ? (upper ? "NAN" : "nan") : upper ? "INF" : "inf")) return false;
  } else if ((s->type | 0x20) == 'f') {
    if (!kr_jout(c, text, kr_float_fixed(size, (uint32_t)s->precision, text))) return false;
  } else if (!write_digits(c, size, s)) {
    return false;
  }
  return pad(c, mark, s, sign);
}

static bool write_radix(kr_jctx *c, uint64_t n, uint32_t base, bool upper) {
  const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
  char text[64];
  size_t at = sizeof text;
  do text[--at] = digits[n % base];
  while (n /= base);
  return kr_jout(c, text + at, sizeof text - at);
}

static bool write_integer(kr_jctx *c, kr_jvalue v, const spec *s) {
  size_t mark = c->n_out, sign, start;
  bool negative = kr_jnumber_compare(v, kr_jint(0)) < 0;
  char type = (char)(s->type | 0x20);
  v = kr_jnumber_plain(v);
  if (negative && !kr_jnumber_negate(c, v, &v)) return false;
  if (!write_sign(c, s, negative, &sign)) return false;
  if (type != 'd') {
    if (v.type != KR_J_INT)
      return kr_jfail_code(c, KR_E_UNSUPPORTED, "an integer of this size in another base");
    char prefix[3] = {'0', s->type, 0};
    if (s->alternate && !kr_jout_text(c, prefix)) return false;
    if (s->alternate) sign += 2;
    if (!write_radix(c, (uint64_t)v.i, type == 'x' ? 16 : type == 'o' ? 8 : 2, s->type == 'X'))
      return false;
  } else {
    start = c->n_out;
    if (!kr_jnumber_write(c, v)) return false;
    if (s->precision > 0) {
      spec zeros = {.width = s->precision < MAX_WIDTH ? s->precision : MAX_WIDTH, .zero = true};
      if (!pad(c, start, &zeros, 0)) return false;
    }
  }
  return pad(c, mark, s, sign);
}

/* ---- % ----------------------------------------------------------------------------------------
 */

typedef struct arguments {
  kr_jvalue values; /* a tuple, or a single one */
  size_t next;
  bool by_name;
} arguments;

static bool next_argument(kr_jctx *c, arguments *a, kr_jvalue *ret) {
  bool tuple = a->values.type == KR_J_TUPLE;
  if (a->next >= (tuple ? a->values.list->n : 1))
    return kr_jfail(c, "TypeError", "not enough arguments for format string");
  *ret = tuple ? a->values.list->items[a->next] : a->values;
  a->next++;
  return true;
}

static bool read_count(kr_jctx *c, const kr_jstring *f, size_t *at, arguments *a, int64_t *ret) {
  kr_jvalue v;
  if (*at < f->n && f->p[*at] == '*') {
    ++*at;
    return next_argument(c, a, &v) && kr_jarg_int(c, v, 0, ret);
  }
  for (*ret = 0; *at < f->n && f->p[*at] >= '0' && f->p[*at] <= '9'; ++*at)
    if (*ret < MAX_WIDTH) *ret = *ret * 10 + (f->p[*at] - '0');
  return true;
}

/* Flags, width, precision and type behind "%" or "%(name)". */
static bool read_spec(kr_jctx *c, const kr_jstring *f, size_t *at, arguments *a, spec *s) {
  *s = (spec){.precision = -1};
  for (; *at < f->n; ++*at) {
    char ch = f->p[*at];
    if (ch == '-')
      s->minus = true;
    else if (ch == '+')
      s->plus = true;
    else if (ch == ' ')
      s->blank = true;
    else if (ch == '0')
      s->zero = true;
    else if (ch == '#')
      s->alternate = true;
    else
      break;
  }
  if (!read_count(c, f, at, a, &s->width)) return false;
  if (s->width < 0) s->minus = true, s->width = -s->width;
  if (*at < f->n && f->p[*at] == '.') {
    ++*at;
    if (!read_count(c, f, at, a, &s->precision)) return false;
    if (s->precision < 0) s->precision = 0;
  }
  while (*at < f->n && strchr("hlL", f->p[*at]) && f->p[*at]) ++*at;
  if (*at >= f->n) return kr_jfail(c, "ValueError", "incomplete format");
  if (s->width > MAX_WIDTH) return kr_jfail(c, "ValueError", "a width that is too large");
  if (s->minus) s->zero = false;
  s->type = f->p[(*at)++];
  return true;
}

/* Text cut to the precision. */
static bool write_text(kr_jctx *c, kr_jvalue v, const spec *s) {
  size_t mark = c->n_out;
  spec plain = *s;
  kr_jvalue text;
  plain.zero = false;
  if (!(s->type == 's' ? kr_jstr(c, v, &text) : kr_jrepr(c, v, &text))) return false;
  kr_jvalue bounds[3] = {kr_jnone(), kr_jint(s->precision), kr_jnone()};
  if (s->precision >= 0 && !kr_jgetslice(c, text, bounds, &text)) return false;
  return kr_jout(c, text.s->p, text.s->n) && pad(c, mark, &plain, 0);
}

static bool write_char(kr_jctx *c, kr_jvalue v, const spec *s) {
  size_t mark = c->n_out;
  char out[4];
  spec plain = *s;
  plain.zero = false;
  if (v.type == KR_J_STRING && kr_jpoints(v.s) == 1)
    return kr_jout(c, v.s->p, v.s->n) && pad(c, mark, &plain, 0);
  if (v.type != KR_J_INT || v.i < 0 || v.i > 0x10ffff || (v.i >= 0xd800 && v.i < 0xe000))
    return kr_jfail(c, "TypeError", "%%c requires int or char");
  return kr_jout(c, out, kr_utf8_put((uint32_t)v.i, out)) && pad(c, mark, &plain, 0);
}

static bool write_argument(kr_jctx *c, kr_jvalue v, spec *s) {
  double x;
  switch (s->type) {
  case 's':
  case 'r':
    return write_text(c, v, s);
  case 'c':
    return write_char(c, v, s);
  case 'i':
  case 'u':
    s->type = 'd'; /* fall through */
  case 'd':
    if (v.type == KR_J_FLOAT && v.f - v.f == 0 && !kr_jinteger_of_float(c, v.f, &v)) return false;
    /* fall through */
  case 'x':
  case 'X':
  case 'o':
    if (!kr_jis_integer(v)) break;
    return write_integer(c, v, s);
  case 'e':
  case 'E':
  case 'f':
  case 'F':
  case 'g':
  case 'G':
    if (!kr_jnumber_is(v)) break;
    return kr_jnumber_float(c, v, &x) && write_float(c, x, s);
  default:
    return kr_jfail(c, "ValueError", "unsupported format character '%c'",
                    s->type > 0x20 ? s->type : '?');
  }
  return kr_jfail(c, "TypeError", "%%%c format: a number is required, not %s", s->type,
                  kr_jtype_name(v));
}

/* "%(name)": the value, from a dict. */
static bool named_argument(kr_jctx *c, const kr_jstring *f, size_t *at, arguments *a,
                           kr_jvalue *ret) {
  size_t start = *at + 1, depth = 1;
  for (++*at; *at < f->n && depth; ++*at) depth += f->p[*at] == '(', depth -= f->p[*at] == ')';
  if (depth) return kr_jfail(c, "ValueError", "incomplete format key");
  if (a->values.type != KR_J_DICT) return kr_jfail(c, "TypeError", "format requires a mapping");
  kr_jvalue key;
  if (!kr_jstring_of(c, f->p + start, *at - 1 - start, &key) ||
      !kr_jdict_get(c, a->values.dict, key, ret))
    return false;
  a->by_name = true;
  return ret->type != KR_J_MISSING || kr_jfail(c, "KeyError", "a name of the format is not there");
}

bool kr_jformat_percent(kr_jctx *c, const kr_jstring *f, kr_jvalue values, kr_jvalue *ret) {
  arguments a = {.values = values};
  size_t mark = c->n_out, at = 0;
  while (at < f->n) {
    const char *sign = memchr(f->p + at, '%', f->n - at);
    size_t n = sign ? (size_t)(sign - f->p) - at : f->n - at;
    if (!kr_jout(c, f->p + at, n)) return false;
    at += n + 1;
    if (!sign) break;
    spec s;
    kr_jvalue v = kr_jmissing();
    if (at < f->n && f->p[at] == '(' && !named_argument(c, f, &at, &a, &v)) return false;
    if (!read_spec(c, f, &at, &a, &s)) return false;
    if (s.type == '%') {
      if (!kr_jout_text(c, "%")) return false;
      continue;
    }
    if (v.type == KR_J_MISSING && !next_argument(c, &a, &v)) return false;
    if (f->markup && !kr_jnumber_is(v) && !kr_jescape(c, v, &v)) return false;
    if (!write_argument(c, v, &s)) return false;
  }
  size_t given = values.type == KR_J_TUPLE ? values.list->n : 1;
  bool mapping = values.type == KR_J_DICT || values.type == KR_J_LIST || /* has items */
                 values.type == KR_J_RANGE || values.type == KR_J_UNDEFINED;
  if (a.next < given && !mapping && !a.by_name)
    return kr_jfail(c, "TypeError", "not all arguments converted during string formatting");
  if (!kr_jtake(c, mark, ret)) return false;
  ret->s->markup = f->markup;
  return true;
}
