/* Execution of statements. */
#include "text/jinja/jinja_builtin.h"

/* ---- variables --------------------------------------------------------------------------------
 */

bool kr_jscope_push(kr_jrun *r, kr_jscope *parent) {
  kr_jscope *scope = r->unused;
  if (scope)
    r->unused = scope->parent;
  else if (!(scope = kr_jalloc(r->c, 1, sizeof *scope)))
    return false;
  scope->parent = parent;
  scope->n = 0;
  r->scope = scope;
  return true;
}

void kr_jscope_pop(kr_jrun *r, kr_jscope *back) {
  kr_jscope *scope = r->scope;
  r->scope = back;
  if (scope->kept) return;
  scope->parent = r->unused;
  r->unused = scope;
}

static kr_jvalue *find_in(kr_jscope *scope, uint32_t symbol) {
  for (uint32_t i = 0; i < scope->n; i++)
    if (scope->variables[i].symbol == symbol) return &scope->variables[i].value;
  return NULL;
}

bool kr_jset(kr_jrun *r, uint32_t symbol, kr_jvalue value) {
  kr_jscope *scope = r->scope;
  if (!scope) return r->top[symbol] = value, true;
  if (!kr_jcharge(r->c, scope->n * 8)) return false;
  kr_jvalue *found = find_in(scope, symbol);
  if (found) return *found = value, true;
  if (scope->n == scope->capacity) {
    size_t capacity = scope->capacity;
    struct kr_jvariable *grown =
        kr_jgrow(r->c, scope->variables, scope->n, sizeof *grown, (size_t)scope->n + 1, &capacity);
    if (!grown) return false;
    scope->variables = grown, scope->capacity = (uint32_t)capacity;
  }
  scope->variables[scope->n++] = (struct kr_jvariable){.symbol = symbol, .value = value};
  return true;
}

bool kr_jlookup(kr_jrun *r, uint32_t symbol, kr_jvalue *ret) {
  for (kr_jscope *scope = r->scope; scope; scope = scope->parent) {
    kr_jvalue *found = find_in(scope, symbol);
    if (found) return *ret = *found, true;
    if (!kr_jcharge(r->c, scope->n * 8)) return false;
  }
  *ret = r->top[symbol];
  return true;
}

static bool assign_namespace(kr_jrun *r, const kr_jnode *target, kr_jvalue value) {
  kr_jvalue ns;
  if (!kr_jlookup(r, target->symbol, &ns)) return false;
  if (ns.type != KR_J_NAMESPACE)
    return kr_jfail(r->c, "TemplateRuntimeError",
                    "cannot assign attribute on non-namespace object");
  if (target->value.s->n && target->value.s->p[0] == '_')
    return kr_jfail(r->c, "SecurityError",
                    "Chat templates cannot store underscore-prefixed attributes on a namespace");
  return kr_jdict_set(r->c, ns.dict, target->value, value);
}

bool kr_jassign(kr_jrun *r, const kr_jnode *target, kr_jvalue value) {
  if (target->kind == KR_J_N_NAME) return kr_jset(r, target->symbol, value);
  if (target->kind == KR_J_N_NAMESPACE_REF) return assign_namespace(r, target, value);
  kr_jlist *items;
  if (value.type == KR_J_LIST || value.type == KR_J_TUPLE) {
    items = value.list;
  } else {
    if (!kr_jiterable(value))
      return kr_jfail(r->c, "TypeError", "cannot unpack non-iterable %s object",
                      kr_jtype_name(value));
    if (!kr_jlist_of(r->c, value, &items)) return false;
  }
  if (items->n > target->n)
    return kr_jfail(r->c, "ValueError", "too many values to unpack (expected %u)",
                    (unsigned)target->n);
  if (items->n < target->n)
    return kr_jfail(r->c, "ValueError", "not enough values to unpack (expected %u, got %zu)",
                    (unsigned)target->n, items->n);
  for (uint32_t i = 0; i < target->n; i++)
    if (!kr_jassign(r, target->list[i], items->items[i])) return false;
  return true;
}

/* ---- statements -------------------------------------------------------------------------------
 */

static kr_jflow on(bool ok) {
  return ok ? KR_J_ON : KR_J_FAILED;
}

static kr_jflow exec_block(kr_jrun *r, const kr_jnode *node) {
  for (uint32_t i = 0; i < node->n; i++) {
    kr_jflow flow = kr_jexec(r, node->list[i]);
    if (flow != KR_J_ON) return flow;
  }
  return KR_J_ON;
}

static kr_jflow exec_if(kr_jrun *r, const kr_jnode *node) {
  for (uint32_t i = 0; i + 1 < node->n; i += 2) {
    kr_jvalue condition;
    if (!kr_jeval(r, node->list[i], &condition)) return KR_J_FAILED;
    if (kr_jtruth(condition)) return kr_jexec(r, node->list[i + 1]);
  }
  return node->n % 2 ? kr_jexec(r, node->list[node->n - 1]) : KR_J_ON;
}

static kr_jflow exec_output(kr_jrun *r, const kr_jnode *node) {
  kr_jvalue v;
  return on(kr_jeval(r, node->a, &v) && kr_jwrite_str(r->c, v));
}

static kr_jflow exec_set(kr_jrun *r, const kr_jnode *node) {
  kr_jvalue v;
  return on(kr_jeval(r, node->b, &v) && kr_jassign(r, node->a, v));
}

/* Runs a body in a scope of its own and takes what it writes. */
static kr_jflow capture(kr_jrun *r, const kr_jnode *body, kr_jvalue *ret) {
  size_t mark = r->c->n_out;
  kr_jscope *back = r->scope;
  if (!kr_jscope_push(r, back)) return KR_J_FAILED;
  kr_jflow flow = kr_jexec(r, body);
  kr_jscope_pop(r, back);
  if (flow == KR_J_ON && !kr_jtake(r->c, mark, ret)) flow = KR_J_FAILED;
  r->c->n_out = mark;
  return flow;
}

/* The filters of a block applied to its text. */
static bool apply(kr_jrun *r, const kr_jnode *filters, kr_jvalue text, kr_jvalue *ret) {
  kr_jvalue outer = r->hole;
  r->hole = text;
  bool ok = kr_jeval(r, filters, ret);
  r->hole = outer;
  return ok;
}

static kr_jflow exec_set_text(kr_jrun *r, const kr_jnode *node) {
  kr_jvalue text;
  kr_jflow flow = capture(r, node->c, &text);
  if (flow != KR_J_ON) return flow;
  return on((!node->b || apply(r, node->b, text, &text)) && kr_jassign(r, node->a, text));
}

static kr_jflow exec_filter_text(kr_jrun *r, const kr_jnode *node) {
  kr_jvalue text;
  kr_jflow flow = capture(r, node->b, &text);
  if (flow != KR_J_ON) return flow;
  return on(apply(r, node->a, text, &text) && kr_jwrite_str(r->c, text));
}

static bool make_macro(kr_jrun *r, const kr_jnode *node, kr_jvalue *ret) {
  kr_jmacro *macro = kr_jalloc(r->c, 1, sizeof *macro);
  if (!macro) return false;
  macro->node = node;
  macro->scope = r->scope;
  for (kr_jscope *s = r->scope; s && !s->kept; s = s->parent) s->kept = true;
  *ret = kr_jobject(KR_J_MACRO, macro);
  return true;
}

static kr_jflow exec_macro(kr_jrun *r, const kr_jnode *node) {
  kr_jvalue macro;
  return on(make_macro(r, node, &macro) && kr_jset(r, node->symbol, macro));
}

static kr_jflow exec_call_text(kr_jrun *r, const kr_jnode *node) {
  kr_jvalue callee, caller, text;
  kr_jargs args;
  if (!make_macro(r, node->b, &caller) || !kr_jeval(r, node->a->a, &callee) ||
      !kr_jeval_args(r, node->a, &args) ||
      !kr_jargs_named(r->c, &args, r->t->symbols[KR_J_SYMBOL_CALLER], caller))
    return KR_J_FAILED;
  return on(kr_jcall(r, callee, &args, &text) && kr_jwrite_str(r->c, text));
}

static kr_jflow in_scope(kr_jrun *r, const kr_jnode *body, kr_jscope *parent) {
  kr_jscope *back = r->scope;
  if (!kr_jscope_push(r, parent)) return KR_J_FAILED;
  kr_jflow flow = kr_jexec(r, body);
  kr_jscope_pop(r, back);
  return flow;
}

static kr_jflow exec_with(kr_jrun *r, const kr_jnode *node) {
  kr_jscope *back = r->scope, *inner;
  kr_jvalue value;
  if (!kr_jscope_push(r, back)) return KR_J_FAILED;
  inner = r->scope;
  for (uint32_t i = 0; i + 1 < node->n; i += 2) {
    r->scope = back; /* values do not see the new names */
    if (!kr_jeval(r, node->list[i + 1], &value)) return KR_J_FAILED;
    r->scope = inner;
    if (!kr_jassign(r, node->list[i], value)) return KR_J_FAILED;
  }
  kr_jflow flow = kr_jexec(r, node->a);
  kr_jscope_pop(r, back);
  return flow;
}

static kr_jflow refuse(kr_jrun *r, const kr_jnode *node) {
  int n = (int)(node->value.s->n < 40 ? node->value.s->n : 40);
  kr_jfail(r->c, "TypeError", "'%.*s': a chat template cannot load other templates", n,
           node->value.s->p);
  return KR_J_FAILED;
}

static kr_jflow exec(kr_jrun *r, const kr_jnode *node) {
  switch (node->kind) {
  case KR_J_N_BLOCK_OF:
    return exec_block(r, node);
  case KR_J_N_DATA:
    return on(kr_jout(r->c, node->value.s->p, node->value.s->n));
  case KR_J_N_OUTPUT:
    return exec_output(r, node);
  case KR_J_N_FOR:
    return kr_jexec_for(r, node);
  case KR_J_N_IF:
    return exec_if(r, node);
  case KR_J_N_SET:
    return exec_set(r, node);
  case KR_J_N_SET_TEXT:
    return exec_set_text(r, node);
  case KR_J_N_MACRO:
    return exec_macro(r, node);
  case KR_J_N_CALL_TEXT:
    return exec_call_text(r, node);
  case KR_J_N_FILTER_TEXT:
    return exec_filter_text(r, node);
  case KR_J_N_WITH:
    return exec_with(r, node);
  case KR_J_N_SCOPE:
    return in_scope(r, node->a, node->flag ? NULL : r->scope);
  case KR_J_N_GENERATION:
    return in_scope(r, node->a, r->scope);
  case KR_J_N_BREAK:
    return KR_J_BROKEN;
  case KR_J_N_CONTINUE:
    return KR_J_CONTINUED;
  default:
    return refuse(r, node);
  }
}

kr_jflow kr_jexec(kr_jrun *r, const kr_jnode *node) {
  if (!kr_jenter(r->c)) return KR_J_FAILED;
  kr_jflow flow = exec(r, node);
  kr_jleave(r->c);
  if (flow == KR_J_FAILED && !r->c->line) r->c->line = node->line;
  return flow;
}

bool kr_jcapture(kr_jrun *r, const kr_jnode *body, kr_jvalue *ret) {
  size_t mark = r->c->n_out;
  if (kr_jexec(r, body) == KR_J_FAILED) return false;
  return kr_jtake(r->c, mark, ret);
}
