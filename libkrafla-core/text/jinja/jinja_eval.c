/* Evaluation of expressions. */
#include "text/jinja/jinja_builtin.h"
#include "text/jinja/jinja_number.h"

static bool eval_items(kr_jrun *r, const kr_jnode *node, kr_jvalue *ret) {
  kr_jlist *list = kr_jlist_new(r->c, node->n);
  if (!list) return false;
  for (uint32_t i = 0; i < node->n; i++) {
    kr_jvalue item;
    if (!kr_jeval(r, node->list[i], &item) || !kr_jlist_add(r->c, list, item)) return false;
  }
  *ret = kr_jobject(node->kind == KR_J_N_LIST_OF ? KR_J_LIST : KR_J_TUPLE, list);
  return true;
}

static bool eval_dict(kr_jrun *r, const kr_jnode *node, kr_jvalue *ret) {
  kr_jdict *dict = kr_jdict_new(r->c);
  if (!dict) return false;
  for (uint32_t i = 0; i < node->n; i += 2) {
    kr_jvalue key, value;
    if (!kr_jeval(r, node->list[i], &key) || !kr_jeval(r, node->list[i + 1], &value) ||
        !kr_jdict_set(r->c, dict, key, value))
      return false;
  }
  *ret = kr_jobject(KR_J_DICT, dict);
  return true;
}

static bool eval_name(kr_jrun *r, const kr_jnode *node, kr_jvalue *ret) {
  if (!kr_jlookup(r, node->symbol, ret)) return false;
  if (ret->type != KR_J_MISSING) return true;
  kr_jvalue name = kr_jobject(KR_J_STRING, r->t->symbols[node->symbol]);
  return kr_jundefined_name(r->c, kr_jmissing(), name, false, ret);
}

static bool eval_if_else(kr_jrun *r, const kr_jnode *node, kr_jvalue *ret) {
  kr_jvalue condition;
  if (!kr_jeval(r, node->b, &condition)) return false;
  if (kr_jtruth(condition)) return kr_jeval(r, node->a, ret);
  if (node->c) return kr_jeval(r, node->c, ret);
  return kr_jundefined_hint(
      r->c, "the inline if-expression evaluated to false and no else section was defined.", ret);
}

static bool eval_logic(kr_jrun *r, const kr_jnode *node, kr_jvalue *ret) {
  if (!kr_jeval(r, node->a, ret)) return false;
  return kr_jtruth(*ret) == (node->kind == KR_J_N_OR) || kr_jeval(r, node->b, ret);
}

static bool eval_unary(kr_jrun *r, const kr_jnode *node, kr_jvalue *ret) {
  kr_jvalue v;
  if (!kr_jeval(r, node->a, &v)) return false;
  if (node->kind == KR_J_N_NOT) return *ret = kr_jbool(!kr_jtruth(v)), true;
  if (v.type == KR_J_UNDEFINED) return kr_jundefined_fail(r->c, v.undefined);
  if (!kr_jnumber_is(v))
    return kr_jfail(r->c, "TypeError", "bad operand type for unary %c: '%s'",
                    node->kind == KR_J_N_PLUS ? '+' : '-', kr_jtype_name(v));
  if (node->kind == KR_J_N_NEGATE) return kr_jnumber_negate(r->c, v, ret);
  *ret = kr_jnumber_plain(v);
  return true;
}

static bool eval_binary(kr_jrun *r, const kr_jnode *node, kr_jvalue *ret) {
  kr_jvalue a, b;
  return kr_jeval(r, node->a, &a) && kr_jeval(r, node->b, &b) &&
         kr_jbinary(r->c, (char)node->op, a, b, ret);
}

static bool eval_joined(kr_jrun *r, const kr_jnode *node, kr_jvalue *ret) {
  kr_jvalue part;
  for (uint32_t i = 0; i < node->n; i++) {
    if (!kr_jeval(r, node->list[i], &part)) return false;
    if (i == 0) {
      if (!kr_jstr(r->c, part, ret)) return false;
      if (!ret->s->markup) continue;
      if (!kr_jstring_part(r->c, ret->s, 0, ret->s->n, ret)) return false;
      ret->s->markup = false;
      continue;
    }
    if (!kr_jstr(r->c, part, &part) || !kr_jconcat(r->c, ret->s, part.s->p, part.s->n, ret))
      return false;
  }
  return true;
}

static bool compare_pair(kr_jctx *c, kr_jcompare_op op, kr_jvalue a, kr_jvalue b, bool *ret) {
  static const char *const names[] = {"==", "!=", "<", "<=", ">", ">="};
  int order;
  if (op == KR_J_IN || op == KR_J_NOT_IN) {
    if (!kr_jcontains(c, b, a, ret)) return false;
    *ret = *ret == (op == KR_J_IN);
    return true;
  }
  if (op == KR_J_EQ || op == KR_J_NE) {
    if (!kr_jequal(c, a, b, ret)) return false;
    *ret = *ret == (op == KR_J_EQ);
    return true;
  }
  if (!kr_jcompare(c, a, b, names[op], &order)) return false;
  switch (op) {
  case KR_J_LT:
    *ret = order == -1;
    break;
  case KR_J_LE:
    *ret = order == -1 || order == 0;
    break;
  case KR_J_GT:
    *ret = order == 1;
    break;
  default:
    *ret = order == 1 || order == 0;
    break;
  }
  return true;
}

static bool eval_compare(kr_jrun *r, const kr_jnode *node, kr_jvalue *ret) {
  kr_jvalue a, b;
  bool holds = true;
  if (!kr_jeval(r, node->list[0], &a)) return false;
  for (uint32_t i = 1; holds && i < node->n; i++) {
    if (!kr_jeval(r, node->list[i], &b) ||
        !compare_pair(r->c, (kr_jcompare_op)node->ops[i - 1], a, b, &holds))
      return false;
    a = b;
  }
  *ret = kr_jbool(holds);
  return true;
}

static bool eval_item(kr_jrun *r, const kr_jnode *node, kr_jvalue *ret) {
  kr_jvalue object, key, bounds[3];
  const kr_jnode *of = node->b;
  if (!kr_jeval(r, node->a, &object)) return false;
  if (of->kind != KR_J_N_SLICE) return kr_jeval(r, of, &key) && kr_jgetitem(r->c, object, key, ret);
  const kr_jnode *parts[] = {of->a, of->b, of->c};
  for (int i = 0; i < 3; i++) {
    bounds[i] = kr_jnone();
    if (parts[i] && !kr_jeval(r, parts[i], &bounds[i])) return false;
  }
  return kr_jgetslice(r->c, object, bounds, ret);
}

static bool eval_attribute(kr_jrun *r, const kr_jnode *node, kr_jvalue *ret) {
  kr_jvalue object;
  return kr_jeval(r, node->a, &object) && kr_jgetattr(r->c, object, node->value, ret);
}

static bool eval_call(kr_jrun *r, const kr_jnode *node, kr_jvalue *ret) {
  kr_jvalue callee;
  kr_jargs args;
  return kr_jeval(r, node->a, &callee) && kr_jeval_args(r, node, &args) &&
         kr_jcall(r, callee, &args, ret);
}

static bool eval_filter(kr_jrun *r, const kr_jnode *node, kr_jvalue *ret) {
  kr_jvalue v;
  kr_jargs args;
  return kr_jeval(r, node->a, &v) && kr_jeval_args(r, node, &args) &&
         kr_jbuiltin_call(r, node->builtin, v, &args, ret);
}

static bool refuse(kr_jrun *r, const kr_jnode *node) {
  int n = (int)(node->value.s->n < 40 ? node->value.s->n : 40);
  return kr_jfail(r->c, "TemplateRuntimeError", "'%.*s' is not known here", n, node->value.s->p);
}

static bool eval(kr_jrun *r, const kr_jnode *node, kr_jvalue *ret) {
  switch (node->kind) {
  case KR_J_N_CONST:
    *ret = node->value;
    return true;
  case KR_J_N_HOLE:
    *ret = r->hole;
    return true;
  case KR_J_N_NAME:
    return eval_name(r, node, ret);
  case KR_J_N_TUPLE_OF:
  case KR_J_N_LIST_OF:
    return eval_items(r, node, ret);
  case KR_J_N_DICT_OF:
    return eval_dict(r, node, ret);
  case KR_J_N_IF_ELSE:
    return eval_if_else(r, node, ret);
  case KR_J_N_AND:
  case KR_J_N_OR:
    return eval_logic(r, node, ret);
  case KR_J_N_NOT:
  case KR_J_N_NEGATE:
  case KR_J_N_PLUS:
    return eval_unary(r, node, ret);
  case KR_J_N_BINARY:
    return eval_binary(r, node, ret);
  case KR_J_N_JOINED:
    return eval_joined(r, node, ret);
  case KR_J_N_COMPARE:
    return eval_compare(r, node, ret);
  case KR_J_N_GETATTR:
    return eval_attribute(r, node, ret);
  case KR_J_N_GETITEM:
    return eval_item(r, node, ret);
  case KR_J_N_CALL:
    return eval_call(r, node, ret);
  case KR_J_N_FILTER:
  case KR_J_N_TEST:
    return eval_filter(r, node, ret);
  default:
    return refuse(r, node);
  }
}

bool kr_jeval(kr_jrun *r, const kr_jnode *node, kr_jvalue *ret) {
  if (!kr_jenter(r->c)) return false;
  bool ok = eval(r, node, ret);
  kr_jleave(r->c);
  if (!ok && !r->c->line) r->c->line = node->line;
  return ok;
}
