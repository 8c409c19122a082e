/* Methods of strings: case, classes of characters, padding, joining, formatting. */
#include "base/utf8.h"
#include "text/jinja/jinja_builtin.h"
#include "text/jinja/jinja_unicode.h"

#define METHOD(name)                                                                               \
  static bool name(kr_jrun *r, kr_jvalue self, const kr_jvalue *arg, const kr_jargs *args,         \
                   kr_jvalue *ret)
#define UNUSED (void)arg, (void)args

#define CASE(name, to)                                                                             \
  METHOD(name) {                                                                                   \
    UNUSED;                                                                                        \
    return kr_jcase_of(r->c, self.s, to, ret);                                                     \
  }

CASE(upper, KR_J_TO_UPPER)
CASE(lower, KR_J_TO_LOWER)
CASE(capitalize, KR_J_TO_CAPITAL)
CASE(title, KR_J_TO_TITLE)
CASE(swapcase, KR_J_TO_SWAPPED)

/* Whether there are characters and all are of the class. */
static bool all_are(kr_jrun *r, const kr_jstring *s, kr_jclass of, bool if_empty, kr_jvalue *ret) {
  size_t n;
  if (!kr_jcharge(r->c, s->n * 8)) return false;
  *ret = kr_jbool(if_empty || s->n);
  for (size_t at = 0; at < s->n && ret->b; at += n) {
    uint32_t code;
    n = kr_utf8_next((const uint8_t *)s->p + at, s->n - at, &code);
    ret->b = kr_jis(code, of);
  }
  return true;
}

#define CLASS(name, of, if_empty)                                                                  \
  METHOD(name) {                                                                                   \
    UNUSED;                                                                                        \
    return all_are(r, self.s, of, if_empty, ret);                                                  \
  }

CLASS(is_alpha, KR_J_ALPHA, false)
CLASS(is_alnum, KR_J_ALNUM, false)
CLASS(is_decimal, KR_J_DECIMAL, false)
CLASS(is_digit, KR_J_DIGIT, false)
CLASS(is_numeric, KR_J_NUMERIC, false)
CLASS(is_space, KR_J_SPACE, false)
CLASS(is_printable, KR_J_PRINTABLE, true)

METHOD(is_ascii) {
  UNUSED;
  (void)r;
  *ret = kr_jbool(kr_jis_ascii(self.s));
  return true;
}

static bool by_test(kr_jrun *r, kr_jvalue self, const char *test, kr_jvalue *ret) {
  kr_jargs none = {0};
  return kr_jbuiltin_call(r, kr_jtest_find(test, strlen(test)), self, &none, ret);
}

METHOD(is_lower) {
  UNUSED;
  return by_test(r, self, "lower", ret);
}

METHOD(is_upper) {
  UNUSED;
  return by_test(r, self, "upper", ret);
}

METHOD(is_title) {
  bool cased = false, found = false;
  size_t n;
  UNUSED;
  if (!kr_jcharge(r->c, self.s->n * 8)) return false;
  *ret = kr_jbool(false);
  for (size_t at = 0; at < self.s->n; at += n) {
    uint32_t code;
    n = kr_utf8_next((const uint8_t *)self.s->p + at, self.s->n - at, &code);
    bool up = kr_jis(code, KR_J_UPPER) || kr_jis(code, KR_J_TITLE);
    bool low = kr_jis(code, KR_J_LOWER);
    if ((up && cased) || (low && !cased)) return true;
    cased = up || low;
    found = found || cased;
  }
  *ret = kr_jbool(found);
  return true;
}

/* ---- padding ----------------------------------------------------------------------------------
 */

static bool pad(kr_jrun *r, kr_jvalue self, const kr_jvalue *arg, int side, kr_jvalue *ret) {
  kr_jvalue fill = arg[1];
  const kr_jstring *s;
  int64_t width;
  if (fill.type == KR_J_MISSING && !kr_jstring_text(r->c, " ", &fill)) return false;
  return kr_jarg_int(r->c, arg[0], 0, &width) &&
         kr_jarg_string(r->c, fill, "The fill character", &s) &&
         kr_jcenter(r->c, self.s, width, s, side, ret);
}

METHOD(center) {
  UNUSED;
  return pad(r, self, arg, 0, ret);
}

METHOD(ljust) {
  UNUSED;
  return pad(r, self, arg, 2, ret);
}

METHOD(rjust) {
  UNUSED;
  return pad(r, self, arg, 1, ret);
}

METHOD(zfill) {
  size_t mark = r->c->n_out, sign;
  const kr_jstring *s = self.s;
  int64_t width, n = (int64_t)kr_jpoints(s);
  UNUSED;
  if (!kr_jarg_int(r->c, arg[0], 0, &width)) return false;
  sign = s->n && (s->p[0] == '-' || s->p[0] == '+');
  if (!kr_jout(r->c, s->p, sign)) return false;
  for (; n < width; n++)
    if (!kr_jout_text(r->c, "0")) return false;
  if (!kr_jout(r->c, s->p + sign, s->n - sign) || !kr_jtake(r->c, mark, ret)) return false;
  return true;
}

METHOD(expandtabs) {
  size_t mark = r->c->n_out;
  const kr_jstring *s = self.s;
  int64_t size, column = 0;
  UNUSED;
  if (!kr_jarg_int(r->c, arg[0], 8, &size)) return false;
  for (size_t i = 0; i < s->n; i++) {
    if (s->p[i] != '\t') {
      if (!kr_jout(r->c, s->p + i, 1)) return false;
      column += ((uint8_t)s->p[i] & 0xc0) != 0x80;
      if (s->p[i] == '\n' || s->p[i] == '\r') column = 0;
      continue;
    }
    for (int64_t fill = size > 0 ? size - column % size : 0; fill > 0; fill--, column++)
      if (!kr_jout_text(r->c, " ")) return false;
  }
  return kr_jtake(r->c, mark, ret);
}

/* ---- joining and formatting -------------------------------------------------------------------
 */

METHOD(join) {
  size_t mark = r->c->n_out;
  kr_jiterator it;
  kr_jvalue item;
  UNUSED;
  if (!kr_jiterable(arg[0])) return kr_jfail(r->c, "TypeError", "can only join an iterable");
  if (!kr_jiterate(r->c, arg[0], &it)) return false;
  for (int64_t i = 0;; i++) {
    if (!kr_jnext(r->c, &it, &item)) return false;
    if (item.type == KR_J_MISSING) break;
    if (self.s->markup && !kr_jescape(r->c, item, &item)) return false;
    if (item.type != KR_J_STRING)
      return kr_jfail(r->c, "TypeError", "sequence item %lld: expected str instance, %s found",
                      (long long)i, kr_jtype_name(item));
    if ((i && !kr_jout(r->c, self.s->p, self.s->n)) || !kr_jout(r->c, item.s->p, item.s->n))
      return false;
  }
  if (!kr_jtake(r->c, mark, ret)) return false;
  ret->s->markup = self.s->markup;
  return true;
}

METHOD(format) {
  (void)arg;
  return kr_jformat_braces(r, self.s, args, ret);
}

const kr_jbuiltin kr_jmethods_str_more[] = {
    {"capitalize", "", capitalize},
    {"center", "width ! fillchar", center},
    {"expandtabs", "tabsize", expandtabs},
    {"format", "*", format},
    {"isalnum", "", is_alnum},
    {"isalpha", "", is_alpha},
    {"isascii", "", is_ascii},
    {"isdecimal", "", is_decimal},
    {"isdigit", "", is_digit},
    {"islower", "", is_lower},
    {"isnumeric", "", is_numeric},
    {"isprintable", "", is_printable},
    {"isspace", "", is_space},
    {"istitle", "", is_title},
    {"isupper", "", is_upper},
    {"join", "iterable !", join},
    {"ljust", "width ! fillchar", ljust},
    {"lower", "", lower},
    {"rjust", "width ! fillchar", rjust},
    {"swapcase", "", swapcase},
    {"title", "", title},
    {"upper", "", upper},
    {"zfill", "width !", zfill},
    /* known to Python, but of no use in a chat template */
    {"casefold", "*", NULL},
    {"encode", "*", NULL},
    {"format_map", "*", NULL},
    {"isidentifier", "*", NULL},
    {"maketrans", "*", NULL},
    {"translate", "*", NULL},
    {NULL},
};
