/* Filters of numbers, and that of attributes. */
#include "text/jinja/jinja_builtin.h"
#include "text/jinja/jinja_float.h"
#include "text/jinja/jinja_number.h"

#define FILTER(name)                                                                               \
  static bool name(kr_jrun *r, kr_jvalue v, const kr_jvalue *arg, const kr_jargs *args,            \
                   kr_jvalue *ret)
#define UNUSED (void)arg, (void)args

static bool is_finite(double x) {
  return x - x == 0;
}

/* float(text); *ret_ok: whether it is one. */
static bool text_to_float(kr_jctx *c, const kr_jstring *s, double *ret, bool *ret_ok) {
  static const struct {
    const char *name;
    double value;
  } special[] = {{"inf", __builtin_inf()}, {"infinity", __builtin_inf()}, {"nan", 0}};
  kr_jvalue t;
  if (!kr_jstrip(c, s, kr_jnone(), 3, &t)) return false;
  bool negative = t.s->n && t.s->p[0] == '-', sign = negative || (t.s->n && t.s->p[0] == '+');
  kr_jstring rest = {.p = t.s->p + sign, .n = t.s->n - sign, .points = KR_J_UNCOUNTED};
  for (size_t i = 0; i < 3; i++) {
    size_t n = strlen(special[i].name), k = 0;
    while (k < n && k < rest.n && (rest.p[k] | 0x20) == special[i].name[k]) k++;
    if (k != n || rest.n != n) continue;
    *ret = i == 2 ? __builtin_nan("") : negative ? -special[i].value : special[i].value;
    return *ret_ok = true, true;
  }
  *ret_ok = kr_float_parse(t.s->p, t.s->n, ret);
  return kr_jcharge(c, t.s->n * 64);
}

/* int(text, base) */
static bool text_to_int(kr_jctx *c, const kr_jstring *s, int64_t base, kr_jvalue *ret,
                        bool *ret_ok) {
  kr_jvalue t;
  *ret_ok = false;
  if (!kr_jstrip(c, s, kr_jnone(), 3, &t)) return false;
  bool negative = t.s->n && t.s->p[0] == '-', sign = negative || (t.s->n && t.s->p[0] == '+');
  const char *p = t.s->p + sign;
  size_t n = t.s->n - sign;
  if (base < 0 || base == 1 || base > 36) return true;
  char letter = n > 2 && p[0] == '0' ? (char)(p[1] | 0x20) : 0;
  int64_t prefix = letter == 'x' ? 16 : letter == 'o' ? 8 : letter == 'b' ? 2 : 0;
  bool prefixed = prefix && (base == 0 || base == prefix);
  if (prefixed) {
    bool underscore = p[2] == '_'; /* one may follow the prefix */
    p += 2 + underscore, n -= 2 + (size_t)underscore;
  }
  if (base == 0) base = prefixed ? prefix : 10;
  if (!n || *p == '-' || *p == '+') return true;
  if (!kr_jinteger_parse(c, p, n, (uint32_t)base, ret, ret_ok)) return false;
  return !*ret_ok || !negative || kr_jnumber_negate(c, *ret, ret);
}

FILTER(do_int) {
  int64_t base;
  bool ok = false;
  double x;
  UNUSED;
  if (!kr_jarg_int(r->c, arg[1], 10, &base)) return false;
  if (v.type == KR_J_UNDEFINED) return kr_jundefined_fail(r->c, v.undefined);
  if (kr_jis_integer(v)) return *ret = kr_jnumber_plain(v), true;
  if (v.type == KR_J_STRING && !text_to_int(r->c, v.s, base, ret, &ok)) return false;
  if (ok) return true;
  if (v.type == KR_J_STRING && !text_to_float(r->c, v.s, &x, &ok)) return false;
  if (v.type == KR_J_FLOAT) x = v.f, ok = true;
  if (v.type == KR_J_FLOAT && !is_finite(x) && x == x)
    return kr_jfail(r->c, "OverflowError", "cannot convert float infinity to integer");
  if (ok && is_finite(x)) return kr_jinteger_of_float(r->c, x, ret);
  *ret = arg[0].type == KR_J_MISSING ? kr_jint(0) : arg[0];
  return true;
}

FILTER(do_float) {
  bool ok = false;
  double x = 0;
  UNUSED;
  if (v.type == KR_J_UNDEFINED) return kr_jundefined_fail(r->c, v.undefined);
  if (kr_jnumber_is(v)) {
    if (!kr_jnumber_float(r->c, v, &x)) return false;
    return *ret = kr_jfloat(x), true;
  }
  if (v.type == KR_J_STRING && !text_to_float(r->c, v.s, &x, &ok)) return false;
  *ret = ok ? kr_jfloat(x) : arg[0].type == KR_J_MISSING ? kr_jfloat(0) : arg[0];
  return true;
}

FILTER(do_abs) {
  UNUSED;
  if (v.type == KR_J_UNDEFINED || !kr_jnumber_is(v))
    return kr_jfail(r->c, "TypeError", "bad operand type for abs(): '%s'", kr_jtype_name(v));
  v = kr_jnumber_plain(v);
  *ret = v;
  if (v.type == KR_J_FLOAT) return *ret = kr_jfloat(__builtin_fabs(v.f)), true;
  return kr_jnumber_compare(v, kr_jint(0)) >= 0 || kr_jnumber_negate(r->c, v, ret);
}

/* round(n, -places) of a whole number, ties to even. */
static bool round_whole(kr_jctx *c, kr_jvalue n, int64_t places, kr_jvalue *ret) {
  kr_jvalue unit, rest, twice, down;
  if (!kr_jnumber_binary(c, KR_J_POW, kr_jint(10), kr_jint(places), &unit) ||
      !kr_jnumber_binary(c, '%', n, unit, &rest) || !kr_jnumber_binary(c, '-', n, rest, &down) ||
      !kr_jnumber_binary(c, '*', rest, kr_jint(2), &twice))
    return false;
  int order = kr_jnumber_compare(twice, unit);
  if (order == 0) {
    kr_jvalue count, odd;
    if (!kr_jnumber_binary(c, KR_J_FLOORDIV, down, unit, &count) ||
        !kr_jnumber_binary(c, '%', count, kr_jint(2), &odd))
      return false;
    order = kr_jtruth(odd) ? 1 : -1;
  }
  *ret = down;
  return order < 0 || kr_jnumber_binary(c, '+', down, unit, ret);
}

/* ceil or floor of a number as an integer. */
static bool to_whole(kr_jctx *c, kr_jvalue v, bool up, kr_jvalue *ret) {
  if (v.type != KR_J_FLOAT) return *ret = v, true;
  if (!is_finite(v.f)) return kr_jfail(c, "OverflowError", "cannot convert float to integer");
  if (!kr_jinteger_of_float(c, v.f, ret)) return false;
  int order = kr_jnumber_compare(*ret, v);
  if (up && order == -1) return kr_jnumber_binary(c, '+', *ret, kr_jint(1), ret);
  if (!up && order == 1) return kr_jnumber_binary(c, '-', *ret, kr_jint(1), ret);
  return true;
}

FILTER(do_round) {
  int64_t places;
  bool common = arg[1].type == KR_J_MISSING, up = false;
  UNUSED;
  if (!kr_jarg_int(r->c, arg[0], 0, &places)) return false;
  if (arg[1].type == KR_J_STRING) {
    common = kr_jequals(arg[1].s, "common"), up = kr_jequals(arg[1].s, "ceil");
    if (!common && !up && !kr_jequals(arg[1].s, "floor")) common = true, places = INT64_MIN;
  }
  if (places == INT64_MIN || (arg[1].type != KR_J_MISSING && arg[1].type != KR_J_STRING))
    return kr_jfail(r->c, "FilterArgumentError", "method must be common, ceil or floor");
  if (v.type == KR_J_UNDEFINED) return kr_jundefined_fail(r->c, v.undefined);
  if (!kr_jnumber_is(v))
    return kr_jfail(r->c, "TypeError", "type %s doesn't define __round__ method", kr_jtype_name(v));
  v = kr_jnumber_plain(v);
  *ret = v;
  if (common) {
    if (v.type == KR_J_FLOAT) return *ret = kr_jfloat(kr_float_round(v.f, places)), true;
    return places >= 0 || round_whole(r->c, v, places < -4300 ? 4300 : -places, ret);
  }
  kr_jvalue scale, scaled;
  return kr_jnumber_binary(r->c, KR_J_POW, kr_jint(10), kr_jint(places), &scale) &&
         kr_jnumber_binary(r->c, '*', v, scale, &scaled) && to_whole(r->c, scaled, up, &scaled) &&
         kr_jnumber_binary(r->c, '/', scaled, scale, ret);
}

FILTER(do_sum) {
  kr_jiterator it;
  kr_jvalue item;
  UNUSED;
  *ret = arg[1].type == KR_J_MISSING ? kr_jint(0) : arg[1];
  if (ret->type == KR_J_STRING)
    return kr_jfail(r->c, "TypeError", "sum() can't sum strings [use ''.join(seq) instead]");
  if (!kr_jiterate(r->c, v, &it)) return false;
  for (;;) {
    if (!kr_jnext(r->c, &it, &item)) return false;
    if (item.type == KR_J_MISSING) return true;
    if (!kr_jattribute(r, item, arg[0], kr_jmissing(), &item) ||
        !kr_jbinary(r->c, '+', *ret, item, ret))
      return false;
  }
}

/* An attribute, never an item. */
FILTER(do_attr) {
  const kr_jstring *name;
  UNUSED;
  if (!kr_jarg_string(r->c, arg[0], "the name of an attribute", &name)) return false;
  if (v.type == KR_J_DICT && !kr_jmethod_find(v, name->p, name->n))
    return kr_jundefined_name(r->c, v, arg[0], false, ret);
  return kr_jgetattr(r->c, v, arg[0], ret);
}

const kr_jbuiltin kr_jfilters_number[] = {
    {"abs", "", do_abs},
    {"attr", "name !", do_attr},
    {"float", "default", do_float},
    {"int", "default base", do_int},
    {"round", "precision method", do_round},
    {"sum", "attribute start", do_sum},
    {NULL},
};

const kr_jbuiltin *kr_jfilter_find(const char *name, size_t n) {
  const kr_jbuiltin *const tables[] = {kr_jfilters_text, kr_jfilters_list, kr_jfilters_select,
                                       kr_jfilters_number};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
    const kr_jbuiltin *found = kr_jbuiltin_find(tables[i], name, n);
    if (found) return found;
  }
  return NULL;
}
