/* Methods of strings, the common ones: those that strip, split, search and replace. */
#include "text/jinja/jinja_builtin.h"
#include "text/jinja/jinja_unicode.h"

#define METHOD(name)                                                                               \
  static bool name(kr_jrun *r, kr_jvalue self, const kr_jvalue *arg, const kr_jargs *args,         \
                   kr_jvalue *ret)
#define UNUSED (void)arg, (void)args

METHOD(strip) {
  UNUSED;
  return kr_jstrip(r->c, self.s, arg[0], 3, ret);
}

METHOD(lstrip) {
  UNUSED;
  return kr_jstrip(r->c, self.s, arg[0], 1, ret);
}

METHOD(rstrip) {
  UNUSED;
  return kr_jstrip(r->c, self.s, arg[0], 2, ret);
}

static bool split_to(kr_jrun *r, kr_jvalue self, const kr_jvalue *arg, bool right, kr_jvalue *ret) {
  int64_t most;
  kr_jlist *list;
  if (!kr_jarg_int(r->c, arg[1], -1, &most) || !kr_jsplit(r->c, self.s, arg[0], most, right, &list))
    return false;
  *ret = kr_jobject(KR_J_LIST, list);
  return true;
}

METHOD(split) {
  UNUSED;
  return split_to(r, self, arg, false, ret);
}

METHOD(rsplit) {
  UNUSED;
  return split_to(r, self, arg, true, ret);
}

METHOD(splitlines) {
  kr_jlist *list;
  UNUSED;
  if (!kr_jsplit_lines(r->c, self.s, kr_jtruth(arg[0]), &list)) return false;
  *ret = kr_jobject(KR_J_LIST, list);
  return true;
}

METHOD(replace) {
  const kr_jstring *old, *by;
  kr_jvalue with = arg[1];
  int64_t count;
  UNUSED;
  return kr_jarg_string(r->c, arg[0], "replace() argument 1", &old) &&
         kr_jarg_string(r->c, arg[1], "replace() argument 2", &by) &&
         (!self.s->markup || kr_jescape(r->c, with, &with)) &&
         kr_jarg_int(r->c, arg[2], -1, &count) &&
         kr_jreplace(r->c, self.s, old, with.s, count, ret);
}

/* The bytes between code points start and end, as in a slice; *ret_ok: whether start is inside. */
static bool part_between(kr_jrun *r, const kr_jstring *s, kr_jvalue from, kr_jvalue to,
                         kr_jstring *ret, size_t *ret_at, bool *ret_ok) {
  int64_t n = (int64_t)kr_jpoints(s), start, end;
  if (from.type == KR_J_NONE) from = kr_jmissing();
  if (to.type == KR_J_NONE) to = kr_jmissing();
  if (!kr_jarg_int(r->c, from, 0, &start) || !kr_jarg_int(r->c, to, n, &end)) return false;
  start = start < -n ? 0 : start < 0 ? start + n : start;
  end = end < -n ? 0 : end < 0 ? end + n : end > n ? n : end;
  *ret_ok = start <= n && start <= end;
  if (!*ret_ok) return true;
  *ret_at = kr_joffset(s, (size_t)start);
  size_t stop = kr_joffset(s, (size_t)end);
  *ret = (kr_jstring){.p = s->p + *ret_at, .n = stop - *ret_at, .points = KR_J_UNCOUNTED};
  return kr_jis_ascii(s) || kr_jcharge(r->c, s->n);
}

static bool ends_with(const kr_jstring *s, const kr_jstring *part, bool end) {
  return part->n <= s->n && !memcmp(s->p + (end ? s->n - part->n : 0), part->p, part->n);
}

/* One text, or a tuple of them. */
static bool affix(kr_jrun *r, kr_jvalue self, const kr_jvalue *arg, bool end, kr_jvalue *ret) {
  const char *what = end ? "endswith" : "startswith";
  kr_jstring s;
  const kr_jstring *part;
  size_t at;
  bool ok;
  if (arg[0].type == KR_J_UNDEFINED || (arg[0].type != KR_J_STRING && arg[0].type != KR_J_TUPLE))
    return kr_jfail(r->c, "TypeError", "%s first arg must be str or a tuple of str, not %s", what,
                    kr_jtype_name(arg[0]));
  if (!part_between(r, self.s, arg[1], arg[2], &s, &at, &ok)) return false;
  *ret = kr_jbool(false);
  if (arg[0].type == KR_J_STRING) {
    *ret = kr_jbool(ok && ends_with(&s, arg[0].s, end));
    return kr_jcharge(r->c, arg[0].s->n);
  }
  for (size_t i = 0; i < arg[0].list->n; i++) {
    if (!kr_jarg_string(r->c, arg[0].list->items[i], what, &part) || !kr_jcharge(r->c, part->n))
      return false;
    if (ok && ends_with(&s, part, end)) *ret = kr_jbool(true);
  }
  return true;
}

METHOD(startswith) {
  UNUSED;
  return affix(r, self, arg, false, ret);
}

METHOD(endswith) {
  UNUSED;
  return affix(r, self, arg, true, ret);
}

static bool remove_affix(kr_jrun *r, kr_jvalue self, kr_jvalue part, bool end, kr_jvalue *ret) {
  const kr_jstring *s;
  if (!kr_jarg_string(r->c, part, "the argument", &s)) return false;
  *ret = self;
  if (!s->n || !ends_with(self.s, s, end)) return true;
  return kr_jstring_part(r->c, self.s, end ? 0 : s->n, self.s->n - s->n, ret);
}

METHOD(removeprefix) {
  UNUSED;
  return remove_affix(r, self, arg[0], false, ret);
}

METHOD(removesuffix) {
  UNUSED;
  return remove_affix(r, self, arg[0], true, ret);
}

/* ---- searching --------------------------------------------------------------------------------
 */

/* *ret: the code point where it is, or -1. */
static bool find_in(kr_jrun *r, kr_jvalue self, const kr_jvalue *arg, bool last, int64_t *ret) {
  const kr_jstring *needle;
  kr_jstring s;
  size_t at, found = SIZE_MAX;
  bool ok;
  *ret = -1;
  if (!kr_jarg_string(r->c, arg[0], "the argument", &needle) ||
      !part_between(r, self.s, arg[1], arg[2], &s, &at, &ok))
    return false;
  if (!ok) return true;
  if (!(last ? kr_jfind_last(r->c, &s, s.n, needle, &found)
             : kr_jfind(r->c, &s, 0, needle, &found)))
    return false;
  if (found == SIZE_MAX) return true;
  kr_jstring before = {.p = self.s->p, .n = at + found, .points = KR_J_UNCOUNTED};
  *ret = (int64_t)kr_jpoints(&before);
  return kr_jcharge(r->c, before.n);
}

METHOD(find) {
  int64_t at;
  UNUSED;
  if (!find_in(r, self, arg, false, &at)) return false;
  return *ret = kr_jint(at), true;
}

METHOD(rfind) {
  int64_t at;
  UNUSED;
  if (!find_in(r, self, arg, true, &at)) return false;
  return *ret = kr_jint(at), true;
}

METHOD(index_of) {
  int64_t at;
  UNUSED;
  if (!find_in(r, self, arg, false, &at)) return false;
  return at < 0 ? kr_jfail(r->c, "ValueError", "substring not found") : (*ret = kr_jint(at), true);
}

METHOD(rindex_of) {
  int64_t at;
  UNUSED;
  if (!find_in(r, self, arg, true, &at)) return false;
  return at < 0 ? kr_jfail(r->c, "ValueError", "substring not found") : (*ret = kr_jint(at), true);
}

METHOD(count) {
  const kr_jstring *needle;
  kr_jstring s;
  size_t at, found;
  int64_t n = 0;
  bool ok;
  UNUSED;
  if (!kr_jarg_string(r->c, arg[0], "the argument", &needle) ||
      !part_between(r, self.s, arg[1], arg[2], &s, &at, &ok))
    return false;
  if (ok && !needle->n) n = (int64_t)kr_jpoints(&s) + 1;
  for (at = 0; ok && needle->n; at = found + needle->n, n++) {
    if (!kr_jfind(r->c, &s, at, needle, &found)) return false;
    if (found == SIZE_MAX) break;
  }
  *ret = kr_jint(n);
  return true;
}

static bool partition_by(kr_jrun *r, kr_jvalue self, kr_jvalue by, bool last, kr_jvalue *ret) {
  const kr_jstring *separator, *s = self.s;
  kr_jlist *parts = kr_jlist_new(r->c, 3);
  kr_jvalue part;
  size_t at;
  if (!parts || !kr_jarg_string(r->c, by, "the separator", &separator)) return false;
  if (!separator->n) return kr_jfail(r->c, "ValueError", "empty separator");
  if (!(last ? kr_jfind_last(r->c, s, s->n, separator, &at) : kr_jfind(r->c, s, 0, separator, &at)))
    return false;
  size_t cut[4] = {0, last ? 0 : s->n, last ? 0 : s->n, s->n};
  if (at != SIZE_MAX) cut[1] = at, cut[2] = at + separator->n;
  for (int i = 0; i < 3; i++)
    if (!kr_jstring_part(r->c, s, cut[i], cut[i + 1] - cut[i], &part) ||
        !kr_jlist_add(r->c, parts, part))
      return false;
  *ret = kr_jobject(KR_J_TUPLE, parts);
  return true;
}

METHOD(partition) {
  UNUSED;
  return partition_by(r, self, arg[0], false, ret);
}

METHOD(rpartition) {
  UNUSED;
  return partition_by(r, self, arg[0], true, ret);
}

const kr_jbuiltin kr_jmethods_str[] = {
    {"count", "sub ! start end", count},
    {"endswith", "suffix ! start end", endswith},
    {"find", "sub ! start end", find},
    {"index", "sub ! start end", index_of},
    {"lstrip", "chars", lstrip},
    {"partition", "sep !", partition},
    {"removeprefix", "prefix !", removeprefix},
    {"removesuffix", "suffix !", removesuffix},
    {"replace", "old new ! count", replace},
    {"rfind", "sub ! start end", rfind},
    {"rindex", "sub ! start end", rindex_of},
    {"rpartition", "sep !", rpartition},
    {"rsplit", "sep maxsplit", rsplit},
    {"rstrip", "chars", rstrip},
    {"split", "sep maxsplit", split},
    {"splitlines", "keepends", splitlines},
    {"startswith", "prefix ! start end", startswith},
    {"strip", "chars", strip},
    {NULL},
};
