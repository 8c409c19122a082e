/* What filters, tests and methods share: arguments, attributes by path, and operations on text. */
#include "base/utf8.h"
#include "text/jinja/jinja_builtin.h"
#include "text/jinja/jinja_number.h"
#include "text/jinja/jinja_unicode.h"

bool kr_jarg_string(kr_jctx *c, kr_jvalue v, const char *what, const kr_jstring **ret) {
  *ret = NULL;
  if (v.type == KR_J_UNDEFINED) return kr_jundefined_fail(c, v.undefined);
  if (v.type != KR_J_STRING)
    return kr_jfail(c, "TypeError", "%s must be a str, not %s", what, kr_jtype_name(v));
  *ret = v.s;
  return true;
}

bool kr_jarg_int(kr_jctx *c, kr_jvalue v, int64_t absent, int64_t *ret) {
  *ret = absent;
  switch (v.type) {
  case KR_J_MISSING:
    return true;
  case KR_J_INT:
    *ret = v.i;
    return true;
  case KR_J_BOOL:
    *ret = v.b;
    return true;
  case KR_J_BIG:
    *ret = v.big->negative ? INT64_MIN : INT64_MAX;
    return true;
  case KR_J_UNDEFINED:
    return kr_jundefined_fail(c, v.undefined);
  default:
    return kr_jfail(c, "TypeError", "'%s' object cannot be interpreted as an integer",
                    kr_jtype_name(v));
  }
}

/* ---- attributes by path -----------------------------------------------------------------------
 */

static bool is_digits(const char *p, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (p[i] < '0' || p[i] > '9') return false;
  return n > 0;
}

bool kr_jattribute(kr_jrun *r, kr_jvalue item, kr_jvalue path, kr_jvalue absent, kr_jvalue *ret) {
  *ret = item;
  if (path.type == KR_J_MISSING || path.type == KR_J_NONE) return true;
  bool has_default = absent.type != KR_J_MISSING && absent.type != KR_J_NONE;
  if (path.type != KR_J_STRING) {
    if (!kr_jgetitem(r->c, item, path, ret)) return false;
    if (has_default && ret->type == KR_J_UNDEFINED) *ret = absent;
    return true;
  }
  const char *p = path.s->p, *end = p + path.s->n;
  for (;;) {
    const char *dot = memchr(p, '.', (size_t)(end - p));
    size_t n = (size_t)((dot ? dot : end) - p);
    kr_jvalue key;
    bool ok = false;
    if (is_digits(p, n) && !kr_jinteger_parse(r->c, p, n, 10, &key, &ok)) return false;
    if (!ok && !kr_jstring_of(r->c, p, n, &key)) return false;
    if (!kr_jgetitem(r->c, *ret, key, ret)) return false;
    if (has_default && ret->type == KR_J_UNDEFINED) *ret = absent;
    if (!dot) return true;
    p = dot + 1;
  }
}

bool kr_jignore_case(kr_jctx *c, kr_jvalue v, bool case_sensitive, kr_jvalue *ret) {
  *ret = v;
  return case_sensitive || v.type != KR_J_STRING || kr_jcase_of(c, v.s, KR_J_TO_LOWER, ret);
}

/* ---- text -------------------------------------------------------------------------------------
 */

bool kr_jsoft(kr_jctx *c, kr_jvalue v, const kr_jstring **ret) {
  if (!kr_jstr(c, v, &v)) return false;
  *ret = v.s;
  return true;
}

bool kr_jescape(kr_jctx *c, kr_jvalue v, kr_jvalue *ret) {
  static const char special[] = "&<>'\"";
  static const char *const escapes[] = {"&amp;", "&lt;", "&gt;", "&#39;", "&#34;"};
  size_t mark = c->n_out, start = 0;
  if (v.type == KR_J_STRING && v.s->markup) return *ret = v, true;
  if (!kr_jstr(c, v, &v)) return false;
  for (size_t i = 0; i < v.s->n; i++) {
    const char *at = v.s->p[i] ? strchr(special, v.s->p[i]) : NULL;
    if (!at) continue;
    if (!kr_jout(c, v.s->p + start, i - start) || !kr_jout_text(c, escapes[at - special]))
      return false;
    start = i + 1;
  }
  if (!kr_jout(c, v.s->p + start, v.s->n - start) || !kr_jtake(c, mark, ret)) return false;
  ret->s->markup = true;
  return true;
}

static bool in_set(const kr_jstring *set, const char *p, size_t n) {
  for (size_t at = 0; at < set->n;) {
    uint32_t code;
    size_t k = kr_utf8_next((const uint8_t *)set->p + at, set->n - at, &code);
    if (k == n && !memcmp(set->p + at, p, n)) return true;
    at += k;
  }
  return false;
}

bool kr_jstrip(kr_jctx *c, const kr_jstring *s, kr_jvalue chars, int sides, kr_jvalue *ret) {
  size_t start = 0, end = s->n;
  if (chars.type == KR_J_MISSING || chars.type == KR_J_NONE) {
    if (sides & 1) start = kr_jspaces(s->p, end);
    if (sides & 2) end -= kr_jspaces_back(s->p + start, end - start);
    return kr_jcharge(c, s->n - (end - start)) && kr_jstring_part(c, s, start, end - start, ret);
  }
  const kr_jstring *set;
  if (!kr_jarg_string(c, chars, "strip arg", &set)) return false;
  while (sides & 1 && start < end) {
    uint32_t code;
    size_t n = kr_utf8_next((const uint8_t *)s->p + start, end - start, &code);
    if (!kr_jcharge(c, set->n * 8)) return false;
    if (!in_set(set, s->p + start, n)) break;
    start += n;
  }
  while (sides & 2 && start < end) {
    size_t at = end - 1;
    while (at > start && ((uint8_t)s->p[at] & 0xc0) == 0x80) at--;
    if (!kr_jcharge(c, set->n * 8)) return false;
    if (!in_set(set, s->p + at, end - at)) break;
    end = at;
  }
  return kr_jstring_part(c, s, start, end - start, ret);
}

/* An empty text is found before each character and at the end. */
static bool replace_nothing(kr_jctx *c, const kr_jstring *s, const kr_jstring *by, int64_t count) {
  size_t n;
  for (size_t at = 0;; at += n) {
    uint32_t code;
    if (count == 0) return kr_jout(c, s->p + at, s->n - at);
    count--;
    if (!kr_jout(c, by->p, by->n)) return false;
    if (at == s->n) return true;
    n = kr_utf8_next((const uint8_t *)s->p + at, s->n - at, &code);
    if (!kr_jout(c, s->p + at, n)) return false;
  }
}

bool kr_jreplace(kr_jctx *c, const kr_jstring *s, const kr_jstring *old, const kr_jstring *by,
                 int64_t count, kr_jvalue *ret) {
  size_t mark = c->n_out, at = 0, found;
  if (count < 0) count = INT64_MAX;
  if (!old->n) {
    if (!replace_nothing(c, s, by, count)) return false;
    at = s->n;
  }
  for (; old->n && count > 0; count--) {
    if (!kr_jfind(c, s, at, old, &found)) return false;
    if (found == SIZE_MAX) break;
    if (!kr_jout(c, s->p + at, found - at) || !kr_jout(c, by->p, by->n)) return false;
    at = found + old->n;
  }
  if (!kr_jout(c, s->p + at, s->n - at) || !kr_jtake(c, mark, ret)) return false;
  ret->s->markup = s->markup;
  return true;
}

/* ---- splitting --------------------------------------------------------------------------------
 */

static bool add_part(kr_jctx *c, kr_jlist *list, const kr_jstring *s, size_t from, size_t to) {
  kr_jvalue part;
  return kr_jstring_part(c, s, from, to - from, &part) && kr_jlist_add(c, list, part);
}

static size_t word_end(const kr_jstring *s, size_t at) {
  while (at < s->n) {
    uint32_t code;
    size_t n = kr_utf8_next((const uint8_t *)s->p + at, s->n - at, &code);
    if (kr_jis(code, KR_J_SPACE)) break;
    at += n;
  }
  return at;
}

static size_t word_start(const kr_jstring *s, size_t end) {
  while (end > 0) {
    size_t at = end - 1;
    uint32_t code;
    while (at > 0 && ((uint8_t)s->p[at] & 0xc0) == 0x80) at--;
    kr_utf8_next((const uint8_t *)s->p + at, end - at, &code);
    if (kr_jis(code, KR_J_SPACE)) break;
    end = at;
  }
  return end;
}

/* By runs of white space, which also vanish at the end where splitting begins, and, unless the
 * number of splits is reached, at the other. */
static bool split_words(kr_jctx *c, const kr_jstring *s, int64_t most, kr_jlist *list) {
  for (size_t from = kr_jspaces(s->p, s->n); from < s->n; most--) {
    size_t end = most == 0 ? s->n : word_end(s, from);
    if (!add_part(c, list, s, from, end)) return false;
    if (most == 0) break;
    from = end + kr_jspaces(s->p + end, s->n - end);
  }
  return true;
}

static bool split_words_back(kr_jctx *c, const kr_jstring *s, int64_t most, kr_jlist *list) {
  for (size_t to = s->n - kr_jspaces_back(s->p, s->n); to > 0; most--) {
    size_t start = most == 0 ? 0 : word_start(s, to);
    if (!add_part(c, list, s, start, to)) return false;
    if (most == 0) break;
    to = start - kr_jspaces_back(s->p, start);
  }
  return true;
}

static bool split_by(kr_jctx *c, const kr_jstring *s, const kr_jstring *by, int64_t most,
                     bool right, kr_jlist *list) {
  size_t from = 0, to = s->n, found;
  for (; most > 0; most--) {
    if (!(right ? kr_jfind_last(c, s, to, by, &found) : kr_jfind(c, s, from, by, &found)))
      return false;
    if (found == SIZE_MAX) break;
    if (!add_part(c, list, s, right ? found + by->n : from, right ? to : found)) return false;
    if (right)
      to = found;
    else
      from = found + by->n;
  }
  return add_part(c, list, s, from, to);
}

bool kr_jsplit(kr_jctx *c, const kr_jstring *s, kr_jvalue by, int64_t most, bool from_right,
               kr_jlist **ret) {
  kr_jlist *list = kr_jlist_new(c, 4);
  const kr_jstring *separator;
  if (!list || !kr_jcharge(c, s->n)) return false;
  if (most < 0) most = INT64_MAX;
  if (by.type == KR_J_MISSING || by.type == KR_J_NONE) {
    if (!(from_right ? split_words_back : split_words)(c, s, most, list)) return false;
  } else {
    if (!kr_jarg_string(c, by, "separator", &separator)) return false;
    if (!separator->n) return kr_jfail(c, "ValueError", "empty separator");
    if (!split_by(c, s, separator, most, from_right, list)) return false;
  }
  for (size_t i = 0; from_right && i < list->n / 2; i++) {
    kr_jvalue other = list->items[i];
    list->items[i] = list->items[list->n - 1 - i];
    list->items[list->n - 1 - i] = other;
  }
  *ret = list;
  return true;
}

bool kr_jsplit_lines(kr_jctx *c, const kr_jstring *s, bool keep, kr_jlist **ret) {
  kr_jlist *list = kr_jlist_new(c, 4);
  size_t start = 0, n;
  if (!list || !kr_jcharge(c, s->n)) return false;
  for (size_t i = 0; i < s->n; i += n) {
    size_t line_break = kr_jline_break(s->p + i, s->n - i);
    n = line_break ? line_break : 1;
    if (!line_break) continue;
    if (!add_part(c, list, s, start, keep ? i + n : i)) return false;
    start = i + n;
  }
  if (start < s->n && !add_part(c, list, s, start, s->n)) return false;
  *ret = list;
  return true;
}

/* side: 0 both (the odd one as Python has it), 1 fill left, 2 fill right. */
bool kr_jcenter(kr_jctx *c, const kr_jstring *s, int64_t width, const kr_jstring *fill, int side,
                kr_jvalue *ret) {
  int64_t n = (int64_t)kr_jpoints(s), pad = width > n ? width - n : 0;
  int64_t left = side == 1 ? pad : side == 2 ? 0 : pad / 2 + (pad & width & 1);
  size_t mark = c->n_out;
  if (kr_jpoints(fill) != 1)
    return kr_jfail(c, "TypeError", "The fill character must be exactly one character long");
  for (int64_t i = 0; i < left; i++)
    if (!kr_jout(c, fill->p, fill->n)) return false;
  if (!kr_jout(c, s->p, s->n)) return false;
  for (int64_t i = left; i < pad; i++)
    if (!kr_jout(c, fill->p, fill->n)) return false;
  if (!kr_jtake(c, mark, ret)) return false;
  ret->s->markup = s->markup;
  return true;
}
