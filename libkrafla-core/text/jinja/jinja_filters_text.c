/* Filters of text. */
#include "base/utf8.h"
#include "text/jinja/jinja_builtin.h"
#include "text/jinja/jinja_unicode.h"

#define FILTER(name)                                                                               \
  static bool name(kr_jrun *r, kr_jvalue v, const kr_jvalue *arg, const kr_jargs *args,            \
                   kr_jvalue *ret)
#define UNUSED (void)arg, (void)args

static bool change_case(kr_jrun *r, kr_jvalue v, kr_jcase to, kr_jvalue *ret) {
  const kr_jstring *s;
  return kr_jsoft(r->c, v, &s) && kr_jcase_of(r->c, s, to, ret);
}

FILTER(do_upper) {
  UNUSED;
  return change_case(r, v, KR_J_TO_UPPER, ret);
}

FILTER(do_lower) {
  UNUSED;
  return change_case(r, v, KR_J_TO_LOWER, ret);
}

FILTER(do_capitalize) {
  UNUSED;
  return change_case(r, v, KR_J_TO_CAPITAL, ret);
}

static bool begins_word(uint32_t code) {
  return kr_jis(code, KR_J_SPACE) || code == '-' || code == '(' || code == '{' || code == '[' ||
         code == '<';
}

/* Words begin after blanks and opening brackets, not after any character that is no letter. */
FILTER(do_title) {
  const kr_jstring *s;
  kr_jvalue plain, part;
  UNUSED;
  if (!kr_jsoft(r->c, v, &s) || !kr_jstring_text(r->c, "", &plain)) return false;
  bool between = true;
  size_t n;
  for (size_t at = 0; at < s->n; at += n) {
    uint32_t code;
    size_t end = at;
    bool first = true;
    do { /* a run of separators, or of others */
      n = kr_utf8_next((const uint8_t *)s->p + end, s->n - end, &code);
      if (!first && begins_word(code) != between) break;
      between = begins_word(code), first = false;
      end += n;
    } while (end < s->n);
    size_t head = kr_utf8_next((const uint8_t *)s->p + at, s->n - at, &code);
    kr_jstring one = {.p = s->p + at, .n = head, .points = KR_J_UNCOUNTED};
    kr_jstring rest = {.p = s->p + at + head, .n = end - at - head, .points = KR_J_UNCOUNTED};
    if (!kr_jcase_of(r->c, &one, KR_J_TO_UPPER, &part) ||
        !kr_jconcat(r->c, plain.s, part.s->p, part.s->n, &plain) ||
        !kr_jcase_of(r->c, &rest, KR_J_TO_LOWER, &part) ||
        !kr_jconcat(r->c, plain.s, part.s->p, part.s->n, &plain))
      return false;
    n = end - at;
  }
  *ret = plain;
  return true;
}

FILTER(do_trim) {
  const kr_jstring *s;
  UNUSED;
  return kr_jsoft(r->c, v, &s) && kr_jstrip(r->c, s, arg[0], 3, ret);
}

FILTER(do_string) {
  UNUSED;
  return kr_jstr(r->c, v, ret);
}

FILTER(do_safe) {
  kr_jvalue text;
  UNUSED;
  if (!kr_jstr(r->c, v, &text) || !kr_jstring_part(r->c, text.s, 0, text.s->n, ret)) return false;
  ret->s->markup = true;
  return true;
}

FILTER(do_escape) {
  UNUSED;
  return kr_jescape(r->c, v, ret);
}

FILTER(do_forceescape) {
  kr_jvalue text;
  UNUSED;
  if (!kr_jstr(r->c, v, &text) || !kr_jstring_part(r->c, text.s, 0, text.s->n, &text)) return false;
  text.s->markup = false;
  return kr_jescape(r->c, text, ret);
}

FILTER(do_replace) {
  kr_jvalue s;
  const kr_jstring *old, *by;
  int64_t count;
  UNUSED;
  if (arg[2].type == KR_J_NONE)
    count = -1;
  else if (!kr_jarg_int(r->c, arg[2], -1, &count))
    return false;
  if (!kr_jstr(r->c, v, &s) || !kr_jsoft(r->c, arg[0], &old) || !kr_jsoft(r->c, arg[1], &by) ||
      !kr_jreplace(r->c, s.s, old, by, count, ret))
    return false;
  ret->s->markup = false;
  return true;
}

static bool spaces_of(kr_jctx *c, kr_jvalue width, kr_jvalue *ret) {
  int64_t n;
  kr_jvalue blank;
  if (width.type == KR_J_STRING) return *ret = width, true;
  return kr_jarg_int(c, width, 4, &n) && kr_jstring_text(c, " ", &blank) &&
         kr_jbinary(c, '*', blank, kr_jint(n), ret);
}

FILTER(do_indent) {
  kr_jvalue indent, newline;
  kr_jlist *lines;
  const kr_jstring *s;
  size_t mark = r->c->n_out;
  bool first = kr_jtruth(arg[1]), blank = kr_jtruth(arg[2]);
  UNUSED;
  if (v.type != KR_J_STRING) { /* s += "\n" */
    if (!kr_jstring_text(r->c, "\n", &newline)) return false;
    return kr_jbinary(r->c, '+', v, newline, ret);
  }
  s = v.s;
  if (!spaces_of(r->c, arg[0], &indent)) return false;
  kr_jvalue whole;
  if (!kr_jconcat(r->c, s, "\n", 1, &whole) || !kr_jsplit_lines(r->c, whole.s, false, &lines))
    return false;
  if (first && !kr_jout(r->c, indent.s->p, indent.s->n)) return false;
  for (size_t i = 0; i < lines->n; i++) {
    const kr_jstring *line = lines->items[i].s;
    if (i && !kr_jout_text(r->c, "\n")) return false;
    if (i && (blank || line->n) && !kr_jout(r->c, indent.s->p, indent.s->n)) return false;
    if (!kr_jout(r->c, line->p, line->n)) return false;
  }
  if (!kr_jtake(r->c, mark, ret)) return false;
  ret->s->markup = s->markup;
  return true;
}

FILTER(do_center) {
  const kr_jstring *s;
  kr_jvalue blank;
  int64_t width;
  UNUSED;
  return kr_jsoft(r->c, v, &s) && kr_jarg_int(r->c, arg[0], 80, &width) &&
         kr_jstring_text(r->c, " ", &blank) && kr_jcenter(r->c, s, width, blank.s, 0, ret);
}

FILTER(do_truncate) {
  const kr_jstring *s;
  int64_t length, leeway, n, n_end;
  kr_jvalue end = arg[2], bounds[3] = {kr_jnone(), kr_jnone(), kr_jnone()}, cut, blank;
  kr_jlist *parts;
  UNUSED;
  if (end.type == KR_J_MISSING && !kr_jstring_text(r->c, "...", &end)) return false;
  if (!kr_jarg_int(r->c, arg[0], 255, &length) || !kr_jlength(r->c, v, true, &n) ||
      !kr_jlength(r->c, end, true, &n_end))
    return false;
  leeway = 5;
  if (arg[3].type != KR_J_NONE && !kr_jarg_int(r->c, arg[3], 5, &leeway)) return false;
  if (length < n_end || leeway < 0)
    return kr_jfail(r->c, "AssertionError", "the length or the leeway is too small");
  if (n <= length || n - length <= leeway) return *ret = v, true;
  if (!kr_jarg_string(r->c, v, "what is truncated", &s)) return false;
  bounds[1] = kr_jint(length - n_end);
  if (!kr_jgetslice(r->c, v, bounds, &cut)) return false;
  if (!kr_jtruth(arg[1])) {
    if (!kr_jstring_text(r->c, " ", &blank) || !kr_jsplit(r->c, cut.s, blank, 1, true, &parts))
      return false;
    cut = parts->items[0];
  }
  return kr_jbinary(r->c, '+', cut, end, ret);
}

FILTER(do_wordcount) {
  const kr_jstring *s;
  bool inside = false;
  int64_t words = 0;
  size_t n;
  UNUSED;
  if (!kr_jsoft(r->c, v, &s) || !kr_jcharge(r->c, s->n * 8)) return false;
  for (size_t at = 0; at < s->n; at += n) {
    uint32_t code;
    n = kr_utf8_next((const uint8_t *)s->p + at, s->n - at, &code);
    bool word = code == '_' || kr_jis(code, KR_J_ALNUM);
    words += word && !inside;
    inside = word;
  }
  *ret = kr_jint(words);
  return true;
}

FILTER(do_format) {
  const kr_jstring *s;
  (void)arg;
  if (!kr_jsoft(r->c, v, &s)) return false;
  if (args->n && args->n_named)
    return kr_jfail(r->c, "FilterArgumentError",
                    "can't handle positional and keyword arguments at the same time");
  if (args->n_named) {
    kr_jdict *dict = kr_jdict_new(r->c);
    if (!dict) return false;
    for (size_t i = 0; i < args->n_named; i++)
      if (!kr_jdict_set(r->c, dict, kr_jobject(KR_J_STRING, args->named[i].name),
                        args->named[i].value))
        return false;
    return kr_jformat_percent(r->c, s, kr_jobject(KR_J_DICT, dict), ret);
  }
  kr_jlist *values = kr_jlist_new(r->c, args->n);
  if (!values) return false;
  for (size_t i = 0; i < args->n; i++)
    if (!kr_jlist_add(r->c, values, args->positional[i])) return false;
  return kr_jformat_percent(r->c, s, kr_jobject(KR_J_TUPLE, values), ret);
}

static bool quote(kr_jctx *c, const kr_jstring *s, bool query) {
  static const char hex[] = "0123456789ABCDEF";
  for (size_t i = 0; i < s->n; i++) {
    uint8_t b = (uint8_t)s->p[i];
    bool plain = (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || (b >= '0' && b <= '9') ||
                 (b && strchr("_.-~", b)) || (b == '/' && !query);
    char escaped[3] = {'%', hex[b >> 4], hex[b & 15]};
    if (query && b == ' ') {
      if (!kr_jout_text(c, "+")) return false;
    } else if (!(plain ? kr_jout(c, s->p + i, 1) : kr_jout(c, escaped, 3))) {
      return false;
    }
  }
  return true;
}

FILTER(do_urlencode) {
  const kr_jstring *s;
  size_t mark = r->c->n_out;
  UNUSED;
  if (v.type == KR_J_STRING || !kr_jiterable(v)) {
    if (!kr_jsoft(r->c, v, &s) || !quote(r->c, s, false)) return false;
  } else {
    kr_jlist *items;
    kr_jview view = {.dict = v.dict, .kind = KR_J_ITEMS};
    kr_jvalue pairs = v.type == KR_J_DICT ? kr_jobject(KR_J_VIEW, &view) : v;
    if (!kr_jlist_of(r->c, pairs, &items)) return false;
    for (size_t i = 0; i < items->n; i++) {
      kr_jlist *pair;
      if (!kr_jlist_of(r->c, items->items[i], &pair)) return false;
      if (pair->n != 2) return kr_jfail(r->c, "ValueError", "expected pairs to encode");
      if ((i && !kr_jout_text(r->c, "&")) || !kr_jsoft(r->c, pair->items[0], &s) ||
          !quote(r->c, s, true) || !kr_jout_text(r->c, "=") ||
          !kr_jsoft(r->c, pair->items[1], &s) || !quote(r->c, s, true))
        return false;
    }
  }
  return kr_jtake(r->c, mark, ret);
}

FILTER(do_tojson) {
  (void)args;
  return kr_jtojson(r->c, v, arg, ret);
}

const kr_jbuiltin kr_jfilters_text[] = {
    {"capitalize", "", do_capitalize},
    {"center", "width", do_center},
    {"e", "", do_escape},
    {"escape", "", do_escape},
    {"forceescape", "", do_forceescape},
    {"format", "*", do_format},
    {"indent", "width first blank", do_indent},
    {"lower", "", do_lower},
    {"replace", "old new ! count", do_replace},
    {"safe", "", do_safe},
    {"string", "", do_string},
    {"title", "", do_title},
    {"tojson", "ensure_ascii indent separators sort_keys", do_tojson},
    {"trim", "chars", do_trim},
    {"truncate", "length killwords end leeway", do_truncate},
    {"upper", "", do_upper},
    {"urlencode", "", do_urlencode},
    {"wordcount", "", do_wordcount},
    /* of HTML and of debugging: no chat template needs them */
    {"filesizeformat", "*", NULL},
    {"pprint", "*", NULL},
    {"random", "*", NULL},
    {"striptags", "*", NULL},
    {"urlize", "*", NULL},
    {"wordwrap", "*", NULL},
    {"xmlattr", "*", NULL},
    {NULL},
};
