/* Methods of dicts, lists, tuples, ranges and cyclers. Those of strings are in jinja_methods_str.c.
 */
#include "text/jinja/jinja_builtin.h"
#include "text/jinja/jinja_number.h"

#define METHOD(name)                                                                               \
  static bool name(kr_jrun *r, kr_jvalue self, const kr_jvalue *arg, const kr_jargs *args,         \
                   kr_jvalue *ret)
#define UNUSED (void)arg, (void)args

METHOD(dict_get) {
  UNUSED;
  if (!kr_jdict_get(r->c, self.dict, arg[0], ret)) return false;
  if (ret->type == KR_J_MISSING) *ret = arg[1].type == KR_J_MISSING ? kr_jnone() : arg[1];
  return true;
}

static bool view_of(kr_jrun *r, kr_jvalue self, int kind, kr_jvalue *ret) {
  kr_jview *view = kr_jalloc(r->c, 1, sizeof *view);
  if (!view) return false;
  view->dict = self.dict;
  view->kind = kind == 0 ? KR_J_KEYS : kind == 1 ? KR_J_VALUES : KR_J_ITEMS;
  *ret = kr_jobject(KR_J_VIEW, view);
  return true;
}

METHOD(dict_keys) {
  UNUSED;
  return view_of(r, self, 0, ret);
}

METHOD(dict_values) {
  UNUSED;
  return view_of(r, self, 1, ret);
}

METHOD(dict_items) {
  UNUSED;
  return view_of(r, self, 2, ret);
}

/* A copy that is never told from the original: neither can be changed. */
METHOD(same) {
  UNUSED;
  (void)r;
  *ret = self;
  return true;
}

METHOD(count) {
  kr_jiterator it;
  kr_jvalue item;
  int64_t n = 0;
  UNUSED;
  if (!kr_jiterate(r->c, self, &it)) return false;
  for (;;) {
    bool equal;
    if (!kr_jnext(r->c, &it, &item)) return false;
    if (item.type == KR_J_MISSING) break;
    if (!kr_jequal(r->c, item, arg[0], &equal)) return false;
    n += equal;
  }
  *ret = kr_jint(n);
  return true;
}

METHOD(index_of) {
  kr_jiterator it;
  kr_jvalue item;
  int64_t n, start, stop, i = 0;
  UNUSED;
  if (!kr_jlength(r->c, self, true, &n) || !kr_jarg_int(r->c, arg[1], 0, &start) ||
      !kr_jarg_int(r->c, arg[2], n, &stop) || !kr_jiterate(r->c, self, &it))
    return false;
  if (start < 0) start += n;
  if (stop < 0) stop += n;
  for (;; i++) {
    bool equal;
    if (!kr_jnext(r->c, &it, &item)) return false;
    if (item.type == KR_J_MISSING || i >= stop)
      return kr_jfail(r->c, "ValueError", "the value is not in the %s", kr_jtype_name(self));
    if (i < start) continue;
    if (!kr_jequal(r->c, item, arg[0], &equal)) return false;
    if (equal) return *ret = kr_jint(i), true;
  }
}

METHOD(cycler_next) {
  UNUSED;
  (void)r;
  kr_jcycler *cycler = self.cycler;
  *ret = cycler->items->items[cycler->at];
  cycler->at = (cycler->at + 1) % cycler->items->n;
  return true;
}

METHOD(cycler_reset) {
  UNUSED;
  (void)r;
  self.cycler->at = 0;
  *ret = kr_jnone();
  return true;
}

METHOD(is_integer) {
  UNUSED;
  (void)r;
  *ret = kr_jbool(self.f - self.f == 0 && __builtin_trunc(self.f) == self.f);
  return true;
}

static const kr_jbuiltin of_dict[] = {
    {"get", "key ! default", dict_get},
    {"keys", "", dict_keys},
    {"values", "", dict_values},
    {"items", "", dict_items},
    {"copy", "", same},
    {"fromkeys", "*", NULL},
    {NULL},
};
static const kr_jbuiltin of_list[] = {{"count", "value !", count},
                                      {"index", "value ! start stop", index_of},
                                      {"copy", "", same},
                                      {NULL}};
static const kr_jbuiltin of_tuple[] = {
    {"count", "value !", count}, {"index", "value ! start stop", index_of}, {NULL}};
static const kr_jbuiltin of_cycler[] = {
    {"next", "", cycler_next}, {"reset", "", cycler_reset}, {NULL}};
static const kr_jbuiltin of_float[] = {{"is_integer", "", is_integer}, {NULL}};

const kr_jbuiltin *kr_jmethod_find(kr_jvalue object, const char *name, size_t n) {
  const kr_jbuiltin *found;
  switch (object.type) {
  case KR_J_DICT:
    return kr_jbuiltin_find(of_dict, name, n);
  case KR_J_LIST:
    return kr_jbuiltin_find(of_list, name, n);
  case KR_J_TUPLE:
  case KR_J_RANGE:
    return kr_jbuiltin_find(of_tuple, name, n);
  case KR_J_CYCLER:
    return kr_jbuiltin_find(of_cycler, name, n);
  case KR_J_FLOAT:
    return kr_jbuiltin_find(of_float, name, n);
  case KR_J_STRING:
    found = kr_jbuiltin_find(kr_jmethods_str, name, n);
    return found ? found : kr_jbuiltin_find(kr_jmethods_str_more, name, n);
  default:
    return NULL;
  }
}
