/* The parser of expressions. The grammar and its precedences are jinja2's. */
#include "text/jinja/jinja_builtin.h"
#include "text/jinja/jinja_number.h"
#include "text/jinja/jinja_parse.h"
#include <stdio.h>

static bool parse_postfix(kr_jparser *p, kr_jnode *node, bool filters, kr_jnode **ret);
static bool parse_unary(kr_jparser *p, bool with_filters, kr_jnode **ret);

/* ---- literals and names -----------------------------------------------------------------------
 */

static bool parse_constant(kr_jparser *p, kr_jvalue value, kr_jnode **ret) {
  kr_jnode *node = kr_jparse_node(p, KR_J_N_CONST);
  if (!node) return false;
  node->value = value;
  *ret = node;
  return true;
}

static bool parse_name(kr_jparser *p, kr_jnode **ret) {
  static const struct {
    const char *name;
    uint8_t wants;
  } special[] = {{"varargs", KR_J_WANTS_VARARGS},
                 {"kwargs", KR_J_WANTS_KWARGS},
                 {"caller", KR_J_WANTS_CALLER}};
  bool yes = kr_jparse_is_name(p, "true") || kr_jparse_is_name(p, "True");
  bool no = kr_jparse_is_name(p, "false") || kr_jparse_is_name(p, "False");
  bool none = kr_jparse_is_name(p, "none") || kr_jparse_is_name(p, "None");
  if (yes || no || none)
    return parse_constant(p, none ? kr_jnone() : kr_jbool(yes), ret) && kr_jparse_advance(p);
  for (size_t i = 0; i < 3; i++)
    if (kr_jparse_is_name(p, special[i].name)) p->wants |= special[i].wants;
  kr_jnode *node = kr_jparse_node(p, KR_J_N_NAME);
  if (!node || !kr_jparse_symbol(p, p->cur.p, p->cur.n, &node->symbol)) return false;
  kr_jparse_use(p, node->symbol, KR_J_READ);
  *ret = node;
  return kr_jparse_advance(p);
}

static bool parse_strings(kr_jparser *p, kr_jnode **ret) {
  kr_jvalue text = p->cur.value;
  if (!kr_jparse_advance(p)) return false;
  while (p->cur.kind == KR_J_T_STRING) {
    if (!kr_jconcat(p->c, text.s, p->cur.value.s->p, p->cur.value.s->n, &text) ||
        !kr_jparse_advance(p))
      return false;
  }
  kr_jpoints(text.s);
  text.s->room = NULL; /* constants are shared between renders: they never grow */
  return parse_constant(p, text, ret);
}

static bool parse_list(kr_jparser *p, kr_jnode **ret) {
  kr_jnode *node = kr_jparse_node(p, KR_J_N_LIST_OF), *item;
  if (!node || !kr_jparse_expect_op(p, "[")) return false;
  while (!kr_jparse_is_op(p, "]")) {
    if (node->n && !kr_jparse_expect_op(p, ",")) return false;
    if (kr_jparse_is_op(p, "]")) break;
    if (!kr_jparse_expression(p, true, &item) || !kr_jparse_add(p, node, item)) return false;
  }
  *ret = node;
  return kr_jparse_advance(p);
}

static bool parse_dict(kr_jparser *p, kr_jnode **ret) {
  kr_jnode *node = kr_jparse_node(p, KR_J_N_DICT_OF), *item;
  if (!node || !kr_jparse_expect_op(p, "{")) return false;
  while (!kr_jparse_is_op(p, "}")) {
    if (node->n && !kr_jparse_expect_op(p, ",")) return false;
    if (kr_jparse_is_op(p, "}")) break;
    if (!kr_jparse_expression(p, true, &item) || !kr_jparse_add(p, node, item) ||
        !kr_jparse_expect_op(p, ":") || !kr_jparse_expression(p, true, &item) ||
        !kr_jparse_add(p, node, item))
      return false;
  }
  *ret = node;
  return kr_jparse_advance(p);
}

static bool parse_primary(kr_jparser *p, kr_jnode **ret) {
  if (p->cur.kind == KR_J_T_NAME) return parse_name(p, ret);
  if (p->cur.kind == KR_J_T_STRING) return parse_strings(p, ret);
  if (p->cur.kind == KR_J_T_NUMBER)
    return parse_constant(p, p->cur.value, ret) && kr_jparse_advance(p);
  if (kr_jparse_is_op(p, "("))
    return kr_jparse_advance(p) && kr_jparse_tuple(p, true, true, NULL, ret) &&
           kr_jparse_expect_op(p, ")");
  if (kr_jparse_is_op(p, "[")) return parse_list(p, ret);
  if (kr_jparse_is_op(p, "{")) return parse_dict(p, ret);
  char shown[40];
  return kr_jparse_error(p, "unexpected %s", kr_jparse_describe(p, shown, sizeof shown));
}

/* ---- subscripts, calls, filters, tests --------------------------------------------------------
 */

static bool ends_bound(const kr_jparser *p) {
  return kr_jparse_is_op(p, "]") || kr_jparse_is_op(p, ",") || kr_jparse_is_op(p, ":");
}

/* What stands between brackets: an expression, or a slice. */
static bool parse_subscribed(kr_jparser *p, kr_jnode **ret) {
  kr_jnode *slice = kr_jparse_node(p, KR_J_N_SLICE);
  if (!slice) return false;
  if (!kr_jparse_is_op(p, ":")) {
    if (!kr_jparse_expression(p, true, &slice->a)) return false;
    if (!kr_jparse_is_op(p, ":")) return *ret = slice->a, true;
  }
  if (!kr_jparse_advance(p)) return false;
  if (!ends_bound(p) && !kr_jparse_expression(p, true, &slice->b)) return false;
  if (kr_jparse_is_op(p, ":")) {
    if (!kr_jparse_advance(p)) return false;
    if (!kr_jparse_is_op(p, "]") && !kr_jparse_is_op(p, ",") &&
        !kr_jparse_expression(p, true, &slice->c))
      return false;
  }
  *ret = slice;
  return true;
}

static bool parse_item(kr_jparser *p, kr_jnode *node) {
  kr_jnode *key = NULL, *tuple = kr_jparse_node(p, KR_J_N_TUPLE_OF);
  if (!tuple || !kr_jparse_expect_op(p, "[")) return false;
  while (!kr_jparse_is_op(p, "]")) {
    if (tuple->n && !kr_jparse_expect_op(p, ",")) return false;
    if (!parse_subscribed(p, &key) || !kr_jparse_add(p, tuple, key)) return false;
    if (key->kind == KR_J_N_SLICE && tuple->n > 1)
      return kr_jparse_error(p, "slices of more than one dimension");
  }
  if (tuple->n > 1 && tuple->list[0]->kind == KR_J_N_SLICE)
    return kr_jparse_error(p, "slices of more than one dimension");
  node->b = tuple->n == 1 ? key : tuple;
  return kr_jparse_advance(p);
}

static bool parse_subscript(kr_jparser *p, kr_jnode *object, kr_jnode **ret) {
  bool dot = kr_jparse_is_op(p, ".");
  kr_jnode *node = kr_jparse_node(p, dot ? KR_J_N_GETATTR : KR_J_N_GETITEM);
  if (!node) return false;
  node->a = object;
  *ret = node;
  if (!dot) return parse_item(p, node);
  if (!kr_jparse_advance(p)) return false;
  if (p->cur.kind == KR_J_T_NAME) {
    if (!kr_jstring_of(p->c, p->cur.p, p->cur.n, &node->value)) return false;
    kr_jpoints(node->value.s);
    return kr_jparse_advance(p);
  }
  if (p->cur.kind != KR_J_T_NUMBER || p->cur.value.type == KR_J_FLOAT)
    return kr_jparse_error(p, "expected name or number");
  node->kind = KR_J_N_GETITEM;
  return parse_constant(p, p->cur.value, &node->b) && kr_jparse_advance(p);
}

/* One argument; *seen is what may not be followed by it: 1 names, 2 *, 4 **. */
static bool parse_argument(kr_jparser *p, uint32_t *seen, kr_jnode **ret) {
  kr_jnode *node = kr_jparse_node(p, KR_J_N_ARGUMENT);
  if (!node) return false;
  *ret = node;
  bool star = kr_jparse_is_op(p, "*"), stars = kr_jparse_is_op(p, "**"), named = false;
  if (p->cur.kind == KR_J_T_NAME) {
    if (!kr_jparse_look(p)) return false;
    named = p->look.kind == KR_J_T_OPERATOR && !strcmp(p->look.op, "=");
  }
  uint32_t forbidden = star ? 6 : stars ? 4 : named ? 4 : 7;
  if (*seen & forbidden) return kr_jparse_error(p, "invalid syntax for function call expression");
  *seen |= star ? 2u : stars ? 4u : named ? 1u : 0;
  node->op = star ? '*' : stars ? 'p' : named ? '=' : 0;
  if (named) {
    if (!kr_jstring_of(p->c, p->cur.p, p->cur.n, &node->value) || !kr_jparse_advance(p))
      return false;
    kr_jpoints(node->value.s);
  }
  if (node->op && !kr_jparse_advance(p)) return false;
  return kr_jparse_expression(p, true, &node->a);
}

static bool parse_arguments(kr_jparser *p, kr_jnode *call) {
  uint32_t seen = 0;
  kr_jnode *argument;
  if (!kr_jparse_expect_op(p, "(")) return false;
  while (!kr_jparse_is_op(p, ")")) {
    if (call->n && !kr_jparse_expect_op(p, ",")) return false;
    if (kr_jparse_is_op(p, ")")) break;
    if (!parse_argument(p, &seen, &argument) || !kr_jparse_add(p, call, argument)) return false;
  }
  return kr_jparse_advance(p);
}

static bool parse_call(kr_jparser *p, kr_jnode *callee, kr_jnode **ret) {
  kr_jnode *node = kr_jparse_node(p, KR_J_N_CALL);
  if (!node) return false;
  node->a = callee;
  *ret = node;
  return parse_arguments(p, node);
}

/* The name of a filter or test, which may have dots; what is not known fails when it is reached,
 * if it may never be. */
static bool parse_builtin(kr_jparser *p, kr_jnode *node, bool test) {
  const char *what = test ? "test" : "filter";
  if (p->cur.kind != KR_J_T_NAME) return kr_jparse_error(p, "expected the name of a %s", what);
  const char *name = p->cur.p;
  size_t n = p->cur.n;
  if (!kr_jparse_advance(p)) return false;
  while (kr_jparse_is_op(p, ".")) { /* no builtin has a dot in its name */
    if (!kr_jparse_advance(p)) return false;
    if (p->cur.kind != KR_J_T_NAME) return kr_jparse_error(p, "expected the name of a %s", what);
    n = (size_t)(p->cur.p + p->cur.n - name);
    if (!kr_jparse_advance(p)) return false;
  }
  node->builtin = test ? kr_jtest_find(name, n) : kr_jfilter_find(name, n);
  if (node->builtin && node->builtin->call) return true;
  if (!p->conditions && p->unknown++ == 0) {
    p->unknown_line = p->cur.line;
    snprintf(p->unknown_message, sizeof p->unknown_message, "%s %s named '%.*s'%s",
             node->builtin ? "The" : "No", what, (int)(n < 40 ? n : 40), name,
             node->builtin ? " is not supported." : ".");
  }
  node->kind = KR_J_N_REFUSED;
  return kr_jstring_of(p->c, name, n, &node->value);
}

static bool parse_filter(kr_jparser *p, kr_jnode *of, kr_jnode **ret) {
  kr_jnode *node = kr_jparse_node(p, KR_J_N_FILTER);
  if (!node || !parse_builtin(p, node, false)) return false;
  node->a = of;
  *ret = node;
  return !kr_jparse_is_op(p, "(") || parse_arguments(p, node);
}

bool kr_jparse_filters(kr_jparser *p, kr_jnode *node, bool first_inline, kr_jnode **ret) {
  while (kr_jparse_is_op(p, "|") || first_inline) {
    if (!node && !(node = kr_jparse_node(p, KR_J_N_HOLE))) return false;
    if (!first_inline && !kr_jparse_advance(p)) return false;
    if (!parse_filter(p, node, &node)) return false;
    first_inline = false;
  }
  *ret = node;
  return true;
}

static bool begins_argument(const kr_jparser *p) {
  if (p->cur.kind == KR_J_T_STRING || p->cur.kind == KR_J_T_NUMBER) return true;
  if (p->cur.kind == KR_J_T_OPERATOR)
    return kr_jparse_is_op(p, "[") || kr_jparse_is_op(p, "{"); /* "(" is tried before */
  return p->cur.kind == KR_J_T_NAME && !kr_jparse_is_name(p, "else") &&
         !kr_jparse_is_name(p, "or") && !kr_jparse_is_name(p, "and");
}

static bool parse_test(kr_jparser *p, kr_jnode *of, kr_jnode **ret) {
  bool negated;
  if (!kr_jparse_advance(p) || !kr_jparse_skip_name(p, "not", &negated)) return false;
  kr_jnode *node = kr_jparse_node(p, KR_J_N_TEST), *argument, *not ;
  if (!node || !parse_builtin(p, node, true)) return false;
  node->a = of;
  if (kr_jparse_is_op(p, "(")) {
    if (!parse_arguments(p, node)) return false;
  } else if (begins_argument(p)) {
    if (kr_jparse_is_name(p, "is"))
      return kr_jparse_error(p, "You cannot chain multiple tests with is");
    argument = kr_jparse_node(p, KR_J_N_ARGUMENT);
    if (!argument || !parse_primary(p, &argument->a) ||
        !parse_postfix(p, argument->a, false, &argument->a) || !kr_jparse_add(p, node, argument))
      return false;
  }
  *ret = node;
  if (!negated) return true;
  if (!(not = kr_jparse_node(p, KR_J_N_NOT))) return false;
  not ->a = node;
  *ret = not ;
  return true;
}

/* What follows an operand: subscripts and calls, then, if filters, those and tests and calls. */
static bool parse_postfix(kr_jparser *p, kr_jnode *node, bool filters, kr_jnode **ret) {
  uint32_t depth = 0;
  bool ok = true;
  while (ok && (kr_jparse_is_op(p, ".") || kr_jparse_is_op(p, "[") || kr_jparse_is_op(p, "("))) {
    ok = ++depth <= 2 * KR_J_MAX_NESTING || kr_jparse_error(p, "nested too deeply");
    if (ok)
      ok = kr_jparse_is_op(p, "(") ? parse_call(p, node, &node) : parse_subscript(p, node, &node);
  }
  while (ok && filters) {
    bool is = kr_jparse_is_name(p, "is"), call = kr_jparse_is_op(p, "(");
    if (!is && !call && !kr_jparse_is_op(p, "|")) break;
    ok = ++depth <= 2 * KR_J_MAX_NESTING || kr_jparse_error(p, "nested too deeply");
    if (ok && is)
      ok = parse_test(p, node, &node);
    else if (ok && call)
      ok = parse_call(p, node, &node);
    else if (ok)
      ok = kr_jparse_advance(p) && parse_filter(p, node, &node);
  }
  *ret = node;
  return ok;
}

/* ---- operators --------------------------------------------------------------------------------
 */

static bool parse_unary(kr_jparser *p, bool with_filters, kr_jnode **ret) {
  bool minus = kr_jparse_is_op(p, "-"), plus = kr_jparse_is_op(p, "+");
  kr_jnode *node;
  if (minus || plus) {
    node = kr_jparse_node(p, minus ? KR_J_N_NEGATE : KR_J_N_PLUS);
    if (!node || !kr_jparse_advance(p) || !kr_jparse_enter(p)) return false;
    bool ok = parse_unary(p, false, &node->a);
    kr_jparse_leave(p);
    if (!ok) return false;
  } else if (!parse_primary(p, &node)) {
    return false;
  }
  return parse_postfix(p, node, with_filters, ret);
}

/* A left-associative level of binary operators. Level 0: + -, 1: ~, 2: * / // %, 3: **. */
static bool parse_binary(kr_jparser *p, int level, kr_jnode **ret) {
  static const struct {
    const char *op;
    int level;
    char code;
  } operators[] = {{"+", 0, '+'}, {"-", 0, '-'},      {"~", 1, 0},
                   {"*", 2, '*'}, {"/", 2, '/'},      {"//", 2, KR_J_FLOORDIV},
                   {"%", 2, '%'}, {"**", 3, KR_J_POW}};
  if (level == 4) return parse_unary(p, true, ret);
  uint32_t depth = 0;
  if (!parse_binary(p, level + 1, ret)) return false;
  for (;;) {
    size_t i = 0, n = sizeof operators / sizeof *operators;
    while (i < n && (operators[i].level != level || !kr_jparse_is_op(p, operators[i].op))) i++;
    if (i == n) return true;
    bool joins = level == 1 && (*ret)->kind == KR_J_N_JOINED && !(*ret)->flag;
    kr_jnode *node = joins ? *ret : kr_jparse_node(p, level == 1 ? KR_J_N_JOINED : KR_J_N_BINARY);
    kr_jnode *right;
    if (!node || !kr_jparse_advance(p) || !parse_binary(p, level + 1, &right)) return false;
    if (++depth > 4 * KR_J_MAX_NESTING && level != 1)
      return kr_jparse_error(p, "an expression of too many operators");
    node->op = (uint8_t)operators[i].code;
    if (level != 1)
      node->a = *ret, node->b = right;
    else if ((!joins && !kr_jparse_add(p, node, *ret)) || !kr_jparse_add(p, node, right))
      return false;
    *ret = node;
  }
}

/* *ret is -1 if no comparison follows; its tokens are taken. */
static bool take_comparison(kr_jparser *p, int *ret) {
  static const char *const operators[] = {"==", "!=", "<", "<=", ">", ">="};
  *ret = -1;
  for (int i = 0; i < 6; i++)
    if (kr_jparse_is_op(p, operators[i])) *ret = i;
  if (kr_jparse_is_name(p, "in")) *ret = KR_J_IN;
  if (kr_jparse_is_name(p, "not")) {
    if (!kr_jparse_look(p)) return false;
    if (p->look.kind == KR_J_T_NAME && p->look.n == 2 && !memcmp(p->look.p, "in", 2)) {
      *ret = KR_J_NOT_IN;
      if (!kr_jparse_advance(p)) return false;
    }
  }
  return *ret < 0 || kr_jparse_advance(p);
}

static bool parse_compare(kr_jparser *p, kr_jnode **ret) {
  kr_jnode *node = NULL, *operand;
  size_t capacity = 0;
  if (!parse_binary(p, 0, ret)) return false;
  for (;;) {
    int op;
    if (!take_comparison(p, &op)) return false;
    if (op < 0) return true;
    if (!node) {
      node = kr_jparse_node(p, KR_J_N_COMPARE);
      if (!node || !kr_jparse_add(p, node, *ret)) return false;
      *ret = node;
    }
    if (node->n > capacity) {
      node->ops = kr_jgrow(p->c, node->ops, node->n - 1, 1, node->n, &capacity);
      if (!node->ops) return false;
    }
    node->ops[node->n - 1] = (uint8_t)op;
    if (!parse_binary(p, 0, &operand) || !kr_jparse_add(p, node, operand)) return false;
  }
}

static bool parse_not(kr_jparser *p, kr_jnode **ret) {
  if (!kr_jparse_is_name(p, "not")) return parse_compare(p, ret);
  kr_jnode *node = kr_jparse_node(p, KR_J_N_NOT);
  if (!node || !kr_jparse_advance(p) || !kr_jparse_enter(p)) return false;
  bool ok = parse_not(p, &node->a);
  kr_jparse_leave(p);
  *ret = node;
  return ok;
}

/* and, or: left-associative. */
static bool parse_logic(kr_jparser *p, bool is_or, kr_jnode **ret) {
  uint32_t depth = 0;
  if (!(is_or ? parse_logic(p, false, ret) : parse_not(p, ret))) return false;
  while (kr_jparse_is_name(p, is_or ? "or" : "and")) {
    kr_jnode *node = kr_jparse_node(p, is_or ? KR_J_N_OR : KR_J_N_AND);
    if (!node || !kr_jparse_advance(p)) return false;
    if (++depth > 4 * KR_J_MAX_NESTING)
      return kr_jparse_error(p, "an expression of too many operators");
    node->a = *ret;
    if (!(is_or ? parse_logic(p, false, &node->b) : parse_not(p, &node->b))) return false;
    *ret = node;
  }
  return true;
}

static bool parse_if_else(kr_jparser *p, kr_jnode **ret) {
  uint32_t depth = 0, unknown = p->unknown;
  if (!parse_logic(p, true, ret)) return false;
  while (kr_jparse_is_name(p, "if")) {
    kr_jnode *node = kr_jparse_node(p, KR_J_N_IF_ELSE);
    bool has_else;
    if (!node || !kr_jparse_advance(p)) return false;
    if (++depth > KR_J_MAX_NESTING)
      return kr_jparse_error(p, "an expression of too many operators");
    node->a = *ret;
    if (!parse_logic(p, true, &node->b) || !kr_jparse_skip_name(p, "else", &has_else)) return false;
    if (has_else) {
      if (!kr_jparse_enter(p)) return false;
      bool ok = parse_if_else(p, &node->c);
      kr_jparse_leave(p);
      if (!ok) return false;
    }
    p->unknown = unknown; /* those inside the condition fail when they are reached */
    *ret = node;
  }
  return true;
}

bool kr_jparse_expression(kr_jparser *p, bool with_if, kr_jnode **ret) {
  if (!kr_jparse_enter(p)) return false;
  bool ok = with_if ? parse_if_else(p, ret) : parse_logic(p, true, ret);
  kr_jparse_leave(p);
  return ok;
}

/* ---- tuples and targets -----------------------------------------------------------------------
 */

static bool ends_tuple(const kr_jparser *p, const char *end) {
  return p->cur.kind == KR_J_T_VARIABLE_END || p->cur.kind == KR_J_T_BLOCK_END ||
         kr_jparse_is_op(p, ")") || (end && kr_jparse_is_name(p, end));
}

bool kr_jparse_tuple(kr_jparser *p, bool with_if, bool parentheses, const char *end,
                     kr_jnode **ret) {
  kr_jnode *tuple = NULL, *item = NULL;
  if (ends_tuple(p, end)) {
    if (!parentheses) return kr_jparse_error(p, "Expected an expression");
    *ret = kr_jparse_node(p, KR_J_N_TUPLE_OF);
    return *ret != NULL;
  }
  for (;;) {
    if (!kr_jparse_expression(p, with_if, &item)) return false;
    if (!tuple && !kr_jparse_is_op(p, ",")) return *ret = item, true;
    if (!tuple && !(tuple = kr_jparse_node(p, KR_J_N_TUPLE_OF))) return false;
    if (!kr_jparse_add(p, tuple, item)) return false;
    *ret = tuple;
    if (!kr_jparse_is_op(p, ",")) return true;
    if (!kr_jparse_advance(p)) return false;
    if (ends_tuple(p, end)) return true;
  }
}

static bool is_reserved(const kr_jparser *p) {
  static const char *const names[] = {"true", "false", "none", "True", "False", "None"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (kr_jparse_is_name(p, names[i])) return true;
  return false;
}

bool kr_jparse_target_name(kr_jparser *p, uint32_t *ret) {
  if (p->cur.kind != KR_J_T_NAME || is_reserved(p))
    return kr_jparse_error(p, "can't assign: expected a name");
  return kr_jparse_symbol(p, p->cur.p, p->cur.n, ret) && kr_jparse_advance(p);
}

static bool parse_one_target(kr_jparser *p, bool with_namespace, kr_jnode **ret) {
  if (kr_jparse_is_op(p, "(")) {
    if (!kr_jparse_enter(p)) return false;
    bool ok = kr_jparse_advance(p) && kr_jparse_target(p, false, NULL, ret) &&
              kr_jparse_expect_op(p, ")");
    kr_jparse_leave(p);
    return ok;
  }
  kr_jnode *node = kr_jparse_node(p, KR_J_N_NAME);
  if (!node || !kr_jparse_target_name(p, &node->symbol)) return false;
  *ret = node;
  if (!with_namespace || !kr_jparse_is_op(p, ".")) return true;
  node->kind = KR_J_N_NAMESPACE_REF;
  if (!kr_jparse_advance(p)) return false;
  if (p->cur.kind != KR_J_T_NAME) return kr_jparse_error(p, "expected a name behind the dot");
  if (!kr_jstring_of(p->c, p->cur.p, p->cur.n, &node->value)) return false;
  kr_jpoints(node->value.s);
  return kr_jparse_advance(p);
}

bool kr_jparse_target(kr_jparser *p, bool with_namespace, const char *end, kr_jnode **ret) {
  kr_jnode *tuple = NULL, *item;
  for (;;) {
    if (!parse_one_target(p, with_namespace, &item)) return false;
    if (!tuple && !kr_jparse_is_op(p, ",")) return *ret = item, true;
    if (!tuple && !(tuple = kr_jparse_node(p, KR_J_N_TUPLE_OF))) return false;
    if (!kr_jparse_add(p, tuple, item)) return false;
    *ret = tuple;
    if (!kr_jparse_is_op(p, ",")) return true;
    if (!kr_jparse_advance(p)) return false;
    if (ends_tuple(p, end) || kr_jparse_is_op(p, "=")) return true;
  }
}
