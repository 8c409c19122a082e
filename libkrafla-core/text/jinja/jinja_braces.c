/* The method format of strings: fields in braces, their values by number, name and path, and the
 * format specifications of text and numbers. */
#include "base/utf8.h"
#include "text/jinja/jinja_builtin.h"
#include "text/jinja/jinja_number.h"
#include "text/jinja/jinja_unicode.h"

typedef struct fields {
  const kr_jargs *args;
  size_t next;
  bool numbered, counted; /* by hand, or by themselves */
} fields;

static bool all_digits(const char *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (p[i] < '0' || p[i] > '9') return false;
  return n > 0;
}

static bool by_number(kr_jctx *c, fields *f, const char *p, size_t n, kr_jvalue *ret) {
  size_t i = 0;
  f->numbered = f->numbered || n, f->counted = f->counted || !n;
  if (f->numbered && f->counted)
    return kr_jfail(c, "ValueError", "cannot switch between numbering by hand and automatically");
  for (size_t k = 0; k < n && i < 100000; k++) i = i * 10 + (size_t)(p[k] - '0');
  if (!n) i = f->next++;
  if (i >= f->args->n)
    return kr_jfail(c, "IndexError", "Replacement index %zu out of range for positional args tuple",
                    i);
  *ret = f->args->positional[i];
  return true;
}

static bool by_name(kr_jctx *c, const fields *f, const char *p, size_t n, kr_jvalue *ret) {
  for (size_t i = 0; i < f->args->n_named; i++) {
    const kr_jstring *name = f->args->named[i].name;
    if (name->n == n && !memcmp(name->p, p, n)) return *ret = f->args->named[i].value, true;
  }
  return kr_jfail(c, "KeyError", "'%.*s'", (int)(n < 80 ? n : 80), p);
}

/* FIRST.attribute[item]... */
static bool find_value(kr_jrun *r, fields *f, const char *p, size_t n, kr_jvalue *ret) {
  size_t at = 0;
  while (at < n && p[at] != '.' && p[at] != '[') at++;
  if (!(n == 0 || all_digits(p, at) ? by_number(r->c, f, p, at, ret)
                                    : by_name(r->c, f, p, at, ret)))
    return false;
  while (at < n) {
    bool item = p[at] == '[';
    size_t start = ++at;
    kr_jvalue key;
    bool number = false;
    while (at < n && (item ? p[at] != ']' : p[at] != '.' && p[at] != '[')) at++;
    if (at == start || (item && at == n))
      return kr_jfail(r->c, "ValueError", "Empty attribute in format string");
    if (item && all_digits(p + start, at - start) &&
        !kr_jinteger_parse(r->c, p + start, at - start, 10, &key, &number))
      return false;
    if (!number && !kr_jstring_of(r->c, p + start, at - start, &key)) return false;
    if (!(item ? kr_jgetitem(r->c, *ret, key, ret) : kr_jgetattr(r->c, *ret, key, ret)))
      return false;
    at += item;
  }
  return true;
}

typedef struct layout {
  const char *fill;
  size_t n_fill;
  char align, sign, type;
  bool alternate, zero, comma;
  int64_t width, precision;
} layout;

static bool is_align(char ch) {
  return ch == '<' || ch == '>' || ch == '^' || ch == '=';
}

static int64_t read_count(const char *p, size_t n, size_t *at) {
  int64_t count = 0;
  for (; *at < n && p[*at] >= '0' && p[*at] <= '9'; ++*at)
    if (count < 1 << 20) count = count * 10 + (p[*at] - '0');
  return count;
}

static bool read_layout(kr_jctx *c, const char *p, size_t n, layout *l) {
  size_t at = 0;
  uint32_t code;
  *l = (layout){.fill = " ", .n_fill = 1, .precision = -1};
  size_t first = n ? kr_utf8_next((const uint8_t *)p, n, &code) : 0;
  if (first && first < n && is_align(p[first]))
    l->fill = p, l->n_fill = first, l->align = p[first], at = first + 1;
  else if (n && is_align(p[0]))
    l->align = p[0], at = 1;
  if (at < n && (p[at] == '+' || p[at] == '-' || p[at] == ' ')) l->sign = p[at++];
  if (at < n && p[at] == '#') l->alternate = true, at++;
  if (at < n && p[at] == '0') {
    l->zero = true, at++;
    if (!l->align) l->align = '=', l->fill = "0";
  }
  l->width = read_count(p, n, &at);
  if (at < n && p[at] == ',') l->comma = true, at++;
  if (at < n && p[at] == '.') {
    size_t start = ++at;
    l->precision = read_count(p, n, &at);
    if (at == start) return kr_jfail(c, "ValueError", "Format specifier missing precision");
  }
  if (at < n) l->type = p[at++];
  if (at < n || l->width > 1 << 20) return kr_jfail(c, "ValueError", "Invalid format specifier");
  return true;
}

/* Thousands apart by commas, in the whole part of the text from mark on. */
static bool add_commas(kr_jctx *c, size_t mark) {
  kr_jvalue text;
  if (!kr_jtake(c, mark, &text)) return false;
  size_t sign = text.s->n && (text.s->p[0] < '0' || text.s->p[0] > '9'), whole = sign;
  while (whole < text.s->n && text.s->p[whole] >= '0' && text.s->p[whole] <= '9') whole++;
  for (size_t i = 0; i < text.s->n; i++) {
    if (i > sign && i < whole && (whole - i) % 3 == 0 && !kr_jout_text(c, ",")) return false;
    if (!kr_jout(c, text.s->p + i, 1)) return false;
  }
  return true;
}

static bool align(kr_jctx *c, size_t mark, const layout *l, bool number) {
  kr_jvalue text;
  if (!kr_jtake(c, mark, &text)) return false;
  int64_t fill = l->width - (int64_t)kr_jpoints(text.s);
  if (fill <= 0) return kr_jout(c, text.s->p, text.s->n);
  char side = l->align ? l->align : number ? '>' : '<';
  size_t sign = side == '=' && text.s->n && strchr("+- ", text.s->p[0]) && text.s->p[0];
  int64_t left = side == '<' ? 0 : side == '^' ? fill / 2 : fill;
  if (!kr_jout(c, text.s->p, sign)) return false;
  for (int64_t i = 0; i < fill; i++) {
    if (i == left && !kr_jout(c, text.s->p + sign, text.s->n - sign)) return false;
    if (!kr_jout(c, l->fill, l->n_fill)) return false;
  }
  return left < fill || kr_jout(c, text.s->p + sign, text.s->n - sign);
}

/* A number by way of the operator %, whose formats are the same. */
static bool write_number(kr_jctx *c, kr_jvalue v, const layout *l) {
  char format[32] = "%", type = l->type;
  size_t n = 1;
  kr_jvalue f, text;
  bool percent = type == '%', plain = !type && v.type == KR_J_FLOAT && l->precision < 0;
  if (!type) type = v.type == KR_J_FLOAT ? 'g' : 'd';
  if (percent) type = 'f';
  if (percent && !kr_jbinary(c, '*', v, kr_jfloat(100), &v)) return false;
  if (!strchr("deEfFgGxXob", type) || (strchr("dxXob", type) && v.type == KR_J_FLOAT))
    return kr_jfail(c, "ValueError", "Unknown format code '%c' for object of type '%s'",
                    type > 0x20 ? type : '?', kr_jtype_name(v));
  if (type == 'b') return kr_jfail_code(c, KR_E_UNSUPPORTED, "format code 'b' is not supported");
  if (l->sign == '+' || l->sign == ' ') format[n++] = l->sign;
  if (l->alternate) format[n++] = '#';
  if (l->precision >= 0 && !strchr("dxXo", type)) {
    format[n++] = '.';
    format[n++] = '*';
  }
  format[n++] = type;
  if (plain) {
    if ((l->sign == '+' || l->sign == ' ') && !__builtin_signbit(v.f) && !kr_jout(c, &l->sign, 1))
      return false;
    return kr_jnumber_write(c, v);
  }
  kr_jvalue values = v;
  if (format[n - 2] == '*' && !kr_jpair(c, kr_jint(l->precision), v, &values)) return false;
  return kr_jstring_copy(c, format, n, &f) && kr_jformat_percent(c, f.s, values, &text) &&
         kr_jout(c, text.s->p, text.s->n) && (!percent || kr_jout_text(c, "%"));
}

static bool write_value(kr_jctx *c, kr_jvalue v, const char *p, size_t n) {
  layout l;
  size_t mark = c->n_out;
  if (!n) return kr_jwrite_str(c, v);
  if (!read_layout(c, p, n, &l)) return false;
  bool number = kr_jnumber_is(v) && !(v.type == KR_J_BOOL && !l.type);
  if (number) {
    if (!write_number(c, v, &l) || (l.comma && !add_commas(c, mark))) return false;
    return align(c, mark, &l, true);
  }
  if (v.type != KR_J_STRING && v.type != KR_J_BOOL)
    return kr_jfail(c, "TypeError", "unsupported format string passed to %s.__format__",
                    kr_jtype_name(v));
  if ((l.type && l.type != 's') || l.align == '=' || l.sign || l.comma)
    return kr_jfail(c, "ValueError", "Unknown format for object of type '%s'", kr_jtype_name(v));
  kr_jvalue text, bounds[3] = {kr_jnone(), kr_jint(l.precision), kr_jnone()};
  if (!kr_jstr(c, v, &text) || (l.precision >= 0 && !kr_jgetslice(c, text, bounds, &text)) ||
      !kr_jout(c, text.s->p, text.s->n))
    return false;
  return align(c, mark, &l, false);
}

/* What stands between two braces. */
static bool write_field(kr_jrun *r, fields *f, const char *p, size_t n) {
  size_t name = 0;
  kr_jvalue v;
  char conversion = 0;
  while (name < n && p[name] != '!' && p[name] != ':') {
    if (p[name] == '[')
      while (name < n && p[name] != ']') name++;
    name += name < n;
  }
  size_t at = name;
  if (at < n && p[at] == '!') {
    if (at + 1 >= n) return kr_jfail(r->c, "ValueError", "unmatched '{' in format spec");
    conversion = p[at + 1];
    at += 2;
    if (at < n && p[at] != ':')
      return kr_jfail(r->c, "ValueError", "expected ':' after conversion specifier");
  }
  if (memchr(p, '{', n))
    return kr_jfail_code(r->c, KR_E_UNSUPPORTED, "fields in fields are not supported");
  if (!find_value(r, f, p, name, &v)) return false;
  if (conversion == 's' && !kr_jstr(r->c, v, &v)) return false;
  if (conversion == 'r' && !kr_jrepr(r->c, v, &v)) return false;
  if (conversion && conversion != 's' && conversion != 'r')
    return kr_jfail(r->c, "ValueError", "Unknown conversion specifier");
  at += at < n; /* the colon */
  return write_value(r->c, v, p + at, n - at);
}

bool kr_jformat_braces(kr_jrun *r, const kr_jstring *format, const kr_jargs *args, kr_jvalue *ret) {
  fields f = {.args = args};
  size_t mark = r->c->n_out;
  const char *p = format->p;
  for (size_t at = 0; at < format->n;) {
    size_t end = at;
    while (end < format->n && p[end] != '{' && p[end] != '}') end++;
    if (!kr_jout(r->c, p + at, end - at)) return false;
    if (end == format->n) break;
    if (end + 1 < format->n && p[end + 1] == p[end]) {
      if (!kr_jout(r->c, p + end, 1)) return false;
      at = end + 2;
      continue;
    }
    size_t depth = 1, close = end + 1;
    for (; p[end] == '{' && close < format->n; close++) {
      depth += p[close] == '{', depth -= p[close] == '}';
      if (!depth) break;
    }
    if (p[end] == '}' || close >= format->n)
      return kr_jfail(r->c, "ValueError", "Single '%c' encountered in format string", p[end]);
    if (!write_field(r, &f, p + end + 1, close - end - 1)) return false;
    at = close + 1;
  }
  if (!kr_jtake(r->c, mark, ret)) return false;
  ret->s->markup = format->markup;
  return true;
}
