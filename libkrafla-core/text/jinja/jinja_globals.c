/* Functions that every template has. */
#include "text/jinja/jinja_builtin.h"
#include "text/jinja/jinja_number.h"

#define FUNCTION(name)                                                                             \
  static bool name(kr_jrun *r, kr_jvalue self, const kr_jvalue *arg, const kr_jargs *args,         \
                   kr_jvalue *ret)
#define UNUSED (void)self, (void)arg, (void)args

/* range() whose end lies within reach of int64. */
static bool count_range(kr_jctx *c, int64_t start, int64_t stop, int64_t step, int64_t *ret) {
  uint64_t span = step > 0 ? (stop > start ? (uint64_t)stop - (uint64_t)start : 0)
                           : (start > stop ? (uint64_t)start - (uint64_t)stop : 0);
  uint64_t stride = step > 0 ? (uint64_t)step : -(uint64_t)step;
  uint64_t n = span / stride + (span % stride != 0);
  if (n > KR_J_MAX_RANGE)
    return kr_jfail(c, "OverflowError",
                    "Range too big. The sandbox blocks ranges larger than MAX_RANGE (%d).",
                    KR_J_MAX_RANGE);
  *ret = (int64_t)n;
  return true;
}

FUNCTION(make_range) {
  int64_t bounds[3] = {0, 0, 1};
  kr_jrange *range = kr_jalloc(r->c, 1, sizeof *range);
  UNUSED;
  if (!range) return false;
  for (int i = 0; i < 3; i++)
    if (!kr_jarg_int(r->c, arg[i], i == 2, &bounds[i])) return false;
  if (arg[1].type == KR_J_MISSING) bounds[1] = bounds[0], bounds[0] = 0;
  if (bounds[2] == 0) return kr_jfail(r->c, "ValueError", "range() arg 3 must not be zero");
  *range = (kr_jrange){.start = bounds[0], .stop = bounds[1], .step = bounds[2]};
  if (!count_range(r->c, bounds[0], bounds[1], bounds[2], &range->n)) return false;
  *ret = kr_jobject(KR_J_RANGE, range);
  return true;
}

static bool add_pairs(kr_jrun *r, kr_jdict *dict, kr_jvalue from) {
  kr_jlist *items, *pair;
  kr_jview view = {.dict = from.dict, .kind = KR_J_ITEMS};
  if (from.type == KR_J_DICT) from = kr_jobject(KR_J_VIEW, &view);
  if (!kr_jlist_of(r->c, from, &items)) return false;
  for (size_t i = 0; i < items->n; i++) {
    if (!kr_jlist_of(r->c, items->items[i], &pair)) return false;
    if (pair->n != 2)
      return kr_jfail(r->c, "ValueError",
                      "dictionary update sequence element #%zu has length %zu; 2 is required", i,
                      pair->n);
    if (!kr_jdict_set(r->c, dict, pair->items[0], pair->items[1])) return false;
  }
  return true;
}

static bool fill_dict(kr_jrun *r, const char *name, const kr_jargs *args, kr_jdict *dict) {
  if (args->n > 1)
    return kr_jfail(r->c, "TypeError", "%s expected at most 1 argument, got %zu", name, args->n);
  if (args->n && !add_pairs(r, dict, args->positional[0])) return false;
  for (size_t i = 0; i < args->n_named; i++)
    if (!kr_jdict_set(r->c, dict, kr_jobject(KR_J_STRING, args->named[i].name),
                      args->named[i].value))
      return false;
  return true;
}

FUNCTION(make_dict) {
  kr_jdict *dict = kr_jdict_new(r->c);
  UNUSED;
  if (!dict || !fill_dict(r, "dict", args, dict)) return false;
  *ret = kr_jobject(KR_J_DICT, dict);
  return true;
}

FUNCTION(make_namespace) {
  kr_jdict *dict = kr_jdict_new(r->c);
  UNUSED;
  if (!dict || !fill_dict(r, "namespace", args, dict)) return false;
  for (size_t i = 0; i < dict->n; i++) {
    kr_jvalue key = dict->entries[i].key;
    if (key.type == KR_J_STRING && key.s->n && key.s->p[0] == '_')
      return kr_jfail(r->c, "SecurityError",
                      "Chat templates cannot store underscore-prefixed attributes on a namespace");
  }
  *ret = kr_jobject(KR_J_NAMESPACE, dict);
  return true;
}

/* The template's own error: its text stands as it is. */
FUNCTION(raise_exception) {
  kr_jvalue text;
  UNUSED;
  (void)ret;
  if (!kr_jstr(r->c, arg[0], &text)) return false;
  kr_jfail(r->c, "TemplateError", "%.*s", (int)(text.s->n < 4096 ? text.s->n : 4096), text.s->p);
  r->c->raised = true;
  return false;
}

FUNCTION(strftime_now) {
  const kr_jstring *format;
  UNUSED;
  return kr_jarg_string(r->c, arg[0], "strftime() argument 1", &format) &&
         kr_jstrftime(r->c, r->now, format, ret);
}

static bool make_cycler_of(kr_jrun *r, const kr_jvalue *items, size_t n, kr_jtype type,
                           kr_jvalue *ret) {
  kr_jcycler *cycler = kr_jalloc(r->c, 1, sizeof *cycler);
  if (!cycler || !(cycler->items = kr_jlist_new(r->c, n))) return false;
  for (size_t i = 0; i < n; i++)
    if (!kr_jlist_add(r->c, cycler->items, items[i])) return false;
  *ret = kr_jobject(type, cycler);
  return true;
}

FUNCTION(make_cycler) {
  UNUSED;
  if (!args->n) return kr_jfail(r->c, "RuntimeError", "at least one item has to be provided");
  return make_cycler_of(r, args->positional, args->n, KR_J_CYCLER, ret);
}

FUNCTION(make_joiner) {
  kr_jvalue separator = arg[0];
  UNUSED;
  if (separator.type == KR_J_MISSING && !kr_jstring_text(r->c, ", ", &separator)) return false;
  return make_cycler_of(r, &separator, 1, KR_J_JOINER, ret);
}

static const kr_jbuiltin globals[] = {
    {"range", "start ! stop step", make_range},
    {"dict", "*", make_dict},
    {"namespace", "*", make_namespace},
    {"raise_exception", "message !", raise_exception},
    {"strftime_now", "format !", strftime_now},
    {"cycler", "*", make_cycler},
    {"joiner", "sep", make_joiner},
    {"lipsum", "*", NULL},
    {NULL},
};

const kr_jbuiltin *kr_jglobal_find(const char *name, size_t n) {
  return kr_jbuiltin_find(globals, name, n);
}
