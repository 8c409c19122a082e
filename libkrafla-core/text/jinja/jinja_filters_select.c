/* Filters that apply other filters and tests to each item: map, select, reject and their like. */
#include "text/jinja/jinja_builtin.h"

/* The rest of the arguments behind the first skip ones. */
static kr_jargs rest_of(const kr_jargs *args, size_t skip) {
  kr_jargs rest = *args;
  rest.positional += skip, rest.n -= skip;
  return rest;
}

static bool find_builtin(kr_jrun *r, kr_jvalue name, bool test, const kr_jbuiltin **ret) {
  const char *what = test ? "test" : "filter";
  if (name.type != KR_J_STRING)
    return kr_jfail(r->c, "TypeError", "the name of a %s must be a str, not %s", what,
                    kr_jtype_name(name));
  *ret = test ? kr_jtest_find(name.s->p, name.s->n) : kr_jfilter_find(name.s->p, name.s->n);
  if (*ret) return true;
  return kr_jfail(r->c, "TemplateRuntimeError", "No %s named '%.*s'.", what,
                  (int)(name.s->n < 80 ? name.s->n : 80), name.s->p);
}

/* ---- map --------------------------------------------------------------------------------------
 */

typedef struct mapping {
  kr_jvalue attribute, absent;
  const kr_jbuiltin *filter; /* or NULL: by attribute */
  kr_jargs args;
} mapping;

static bool prepare_map(kr_jrun *r, const kr_jargs *args, mapping *ret) {
  *ret = (mapping){.absent = kr_jnone()};
  bool by_attribute = false;
  for (size_t i = 0; !args->n && i < args->n_named; i++)
    by_attribute = by_attribute || kr_jequals(args->named[i].name, "attribute");
  if (!by_attribute) {
    if (!args->n) return kr_jfail(r->c, "FilterArgumentError", "map requires a filter argument");
    ret->args = rest_of(args, 1);
    return find_builtin(r, args->positional[0], false, &ret->filter);
  }
  for (size_t i = 0; i < args->n_named; i++) {
    if (kr_jequals(args->named[i].name, "attribute"))
      ret->attribute = args->named[i].value;
    else if (kr_jequals(args->named[i].name, "default"))
      ret->absent = args->named[i].value;
    else
      return kr_jfail(r->c, "FilterArgumentError", "map: unexpected keyword argument");
  }
  return true;
}

static bool do_map(kr_jrun *r, kr_jvalue v, const kr_jvalue *arg, const kr_jargs *args,
                   kr_jvalue *ret) {
  kr_jlist *out = kr_jlist_new(r->c, 4);
  kr_jiterator it;
  kr_jvalue item;
  mapping m;
  (void)arg;
  if (!out) return false;
  if (kr_jtruth(v)) {
    if (!prepare_map(r, args, &m) || !kr_jiterate(r->c, v, &it)) return false;
    for (;;) {
      if (!kr_jnext(r->c, &it, &item)) return false;
      if (item.type == KR_J_MISSING) break;
      bool ok = m.filter ? kr_jbuiltin_call(r, m.filter, item, &m.args, &item)
                         : kr_jattribute(r, item, m.attribute, m.absent, &item);
      if (!ok || !kr_jlist_add(r->c, out, item)) return false;
    }
  }
  return kr_jgenerator_of(r->c, out, ret);
}

/* ---- select and reject ------------------------------------------------------------------------
 */

static bool choose(kr_jrun *r, kr_jvalue v, const kr_jargs *args, bool by_attribute, bool wanted,
                   kr_jvalue *ret) {
  kr_jlist *out = kr_jlist_new(r->c, 4);
  kr_jiterator it;
  kr_jvalue item, passes, attribute = kr_jmissing();
  const kr_jbuiltin *test = NULL;
  kr_jargs rest = {0};
  if (!out) return false;
  if (!kr_jtruth(v)) return kr_jgenerator_of(r->c, out, ret);
  if (by_attribute) {
    if (!args->n)
      return kr_jfail(r->c, "FilterArgumentError", "Missing parameter for attribute name");
    attribute = args->positional[0];
  }
  if (args->n > by_attribute) {
    if (!find_builtin(r, args->positional[by_attribute], true, &test)) return false;
    rest = rest_of(args, 1 + (size_t)by_attribute);
  }
  if (!kr_jiterate(r->c, v, &it)) return false;
  for (;;) {
    if (!kr_jnext(r->c, &it, &item)) return false;
    if (item.type == KR_J_MISSING) return kr_jgenerator_of(r->c, out, ret);
    if (!kr_jattribute(r, item, attribute, kr_jmissing(), &passes) ||
        (test && !kr_jbuiltin_call(r, test, passes, &rest, &passes)))
      return false;
    if (kr_jtruth(passes) == wanted && !kr_jlist_add(r->c, out, item)) return false;
  }
}

#define CHOICE(name, by_attribute, wanted)                                                         \
  static bool name(kr_jrun *r, kr_jvalue v, const kr_jvalue *arg, const kr_jargs *args,            \
                   kr_jvalue *ret) {                                                               \
    (void)arg;                                                                                     \
    return choose(r, v, args, by_attribute, wanted, ret);                                          \
  }

CHOICE(do_select, false, true)
CHOICE(do_reject, false, false)
CHOICE(do_selectattr, true, true)
CHOICE(do_rejectattr, true, false)

const kr_jbuiltin kr_jfilters_select[] = {
    {"map", "*", do_map},
    {"reject", "*", do_reject},
    {"rejectattr", "*", do_rejectattr},
    {"select", "*", do_select},
    {"selectattr", "*", do_selectattr},
    {NULL},
};
