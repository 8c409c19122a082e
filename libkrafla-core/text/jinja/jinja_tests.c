/* Tests: what stands behind "is". */
#include "base/utf8.h"
#include "text/jinja/jinja_builtin.h"
#include "text/jinja/jinja_number.h"
#include "text/jinja/jinja_unicode.h"

#define TEST(name)                                                                                 \
  static bool name(kr_jrun *r, kr_jvalue v, const kr_jvalue *arg, const kr_jargs *args,            \
                   kr_jvalue *ret)
#define UNUSED (void)r, (void)arg, (void)args

#define IS(name, condition)                                                                        \
  TEST(name) {                                                                                     \
    UNUSED;                                                                                        \
    *ret = kr_jbool(condition);                                                                    \
    return true;                                                                                   \
  }

IS(is_defined, v.type != KR_J_UNDEFINED)
IS(is_undefined, v.type == KR_J_UNDEFINED)
IS(is_none, v.type == KR_J_NONE)
IS(is_boolean, v.type == KR_J_BOOL)
IS(is_true, v.type == KR_J_BOOL && v.b)
IS(is_false, v.type == KR_J_BOOL && !v.b)
IS(is_integer, v.type == KR_J_INT || v.type == KR_J_BIG)
IS(is_float, v.type == KR_J_FLOAT)
IS(is_number, kr_jnumber_is(v))
IS(is_string, v.type == KR_J_STRING)
IS(is_mapping, v.type == KR_J_DICT)
IS(is_iterable, kr_jiterable(v))
IS(is_escaped, v.type == KR_J_STRING && v.s->markup)
IS(is_sequence, v.type == KR_J_UNDEFINED || v.type == KR_J_STRING || v.type == KR_J_LIST ||
                    v.type == KR_J_TUPLE || v.type == KR_J_DICT || v.type == KR_J_RANGE)
IS(is_callable, v.type == KR_J_UNDEFINED || v.type == KR_J_MACRO || v.type == KR_J_LOOP ||
                    v.type == KR_J_METHOD || v.type == KR_J_FUNCTION || v.type == KR_J_JOINER)

/* The same object; numbers, whose identity Python does not promise, by type and value. */
IS(is_sameas, v.type == arg[0].type && (v.type == KR_J_NONE || v.type == KR_J_UNDEFINED ||
                                        (kr_jnumber_is(v) ? kr_jnumber_compare(v, arg[0]) == 0
                                                          : v.object == arg[0].object)))

static bool remainder_is(kr_jrun *r, kr_jvalue v, kr_jvalue by, int64_t wanted, kr_jvalue *ret) {
  kr_jvalue rest;
  bool same;
  if (!kr_jbinary(r->c, '%', v, by, &rest) || !kr_jequal(r->c, rest, kr_jint(wanted), &same))
    return false;
  *ret = kr_jbool(same);
  return true;
}

TEST(is_odd) {
  UNUSED;
  return remainder_is(r, v, kr_jint(2), 1, ret);
}

TEST(is_even) {
  UNUSED;
  return remainder_is(r, v, kr_jint(2), 0, ret);
}

TEST(is_divisibleby) {
  UNUSED;
  return remainder_is(r, v, arg[0], 0, ret);
}

/* Whether a text has letters of this case and none of the other. */
static bool case_is(kr_jrun *r, kr_jvalue v, kr_jclass wanted, kr_jclass other, kr_jvalue *ret) {
  const kr_jstring *s;
  bool found = false;
  size_t n;
  if (!kr_jsoft(r->c, v, &s) || !kr_jcharge(r->c, s->n * 8)) return false;
  *ret = kr_jbool(false);
  for (size_t at = 0; at < s->n; at += n) {
    uint32_t code;
    n = kr_utf8_next((const uint8_t *)s->p + at, s->n - at, &code);
    if (kr_jis(code, other) || kr_jis(code, KR_J_TITLE)) return true;
    found = found || kr_jis(code, wanted);
  }
  *ret = kr_jbool(found);
  return true;
}

TEST(is_lower) {
  UNUSED;
  return case_is(r, v, KR_J_LOWER, KR_J_UPPER, ret);
}

TEST(is_upper) {
  UNUSED;
  return case_is(r, v, KR_J_UPPER, KR_J_LOWER, ret);
}

TEST(is_in) {
  bool found;
  UNUSED;
  if (!kr_jcontains(r->c, arg[0], v, &found)) return false;
  *ret = kr_jbool(found);
  return true;
}

TEST(is_filter) {
  UNUSED;
  *ret = kr_jbool(v.type == KR_J_STRING && kr_jfilter_find(v.s->p, v.s->n));
  return true;
}

TEST(is_test) {
  UNUSED;
  *ret = kr_jbool(v.type == KR_J_STRING && kr_jtest_find(v.s->p, v.s->n));
  return true;
}

static bool equality(kr_jrun *r, kr_jvalue a, kr_jvalue b, bool wanted, kr_jvalue *ret) {
  bool same;
  if (!kr_jequal(r->c, a, b, &same)) return false;
  *ret = kr_jbool(same == wanted);
  return true;
}

TEST(is_eq) {
  UNUSED;
  return equality(r, v, arg[0], true, ret);
}

TEST(is_ne) {
  UNUSED;
  return equality(r, v, arg[0], false, ret);
}

#define ORDER(name, op, condition)                                                                 \
  TEST(name) {                                                                                     \
    int order;                                                                                     \
    UNUSED;                                                                                        \
    if (!kr_jcompare(r->c, v, arg[0], op, &order)) return false;                                   \
    *ret = kr_jbool(condition);                                                                    \
    return true;                                                                                   \
  }

ORDER(is_gt, ">", order == 1)
ORDER(is_ge, ">=", order == 1 || order == 0)
ORDER(is_lt, "<", order == -1)
ORDER(is_le, "<=", order == -1 || order == 0)

static const kr_jbuiltin tests[] = {
    {"defined", "", is_defined},
    {"undefined", "", is_undefined},
    {"none", "", is_none},
    {"boolean", "", is_boolean},
    {"true", "", is_true},
    {"false", "", is_false},
    {"integer", "", is_integer},
    {"float", "", is_float},
    {"number", "", is_number},
    {"string", "", is_string},
    {"mapping", "", is_mapping},
    {"iterable", "", is_iterable},
    {"sequence", "", is_sequence},
    {"callable", "", is_callable},
    {"escaped", "", is_escaped},
    {"sameas", "other !", is_sameas},
    {"odd", "", is_odd},
    {"even", "", is_even},
    {"divisibleby", "num !", is_divisibleby},
    {"lower", "", is_lower},
    {"upper", "", is_upper},
    {"in", "seq !", is_in},
    {"filter", "", is_filter},
    {"test", "", is_test},
    {"==", "other !", is_eq},
    {"eq", "other !", is_eq},
    {"equalto", "other !", is_eq},
    {"!=", "other !", is_ne},
    {"ne", "other !", is_ne},
    {">", "other !", is_gt},
    {"gt", "other !", is_gt},
    {"greaterthan", "other !", is_gt},
    {">=", "other !", is_ge},
    {"ge", "other !", is_ge},
    {"<", "other !", is_lt},
    {"lt", "other !", is_lt},
    {"lessthan", "other !", is_lt},
    {"<=", "other !", is_le},
    {"le", "other !", is_le},
    {NULL},
};

const kr_jbuiltin *kr_jtest_find(const char *name, size_t n) {
  return kr_jbuiltin_find(tests, name, n);
}
