/* The parser of statements. */
#include "text/jinja/jinja_parse.h"
#include <stdio.h>

/* "{% TAG ... %}" is read up to its "%}"; then the body. Takes the name that ends it; its "%}" is
 * taken by the caller of the statement. */
static bool parse_block(kr_jparser *p, const char *end, kr_jnode **ret) {
  bool colon;
  char shown[40];
  if (!kr_jparse_skip_op(p, ":", &colon)) return false;
  if (p->cur.kind != KR_J_T_BLOCK_END)
    return kr_jparse_error(p, "expected token 'end of statement block', got %s",
                           kr_jparse_describe(p, shown, sizeof shown));
  return kr_jparse_advance(p) && kr_jparse_enter(p) && kr_jparse_body(p, end, ret) &&
         (kr_jparse_leave(p), true);
}

/* The same with variables of its own. */
static bool parse_scope(kr_jparser *p, const char *end, kr_jnode **ret) {
  p->scopes++;
  bool ok = parse_block(p, end, ret);
  p->scopes--;
  return ok;
}

/* The last name of the statement, as in endfor. */
static bool parse_scope_to(kr_jparser *p, const char *end, kr_jnode **ret) {
  return parse_scope(p, end, ret) && kr_jparse_advance(p);
}

/* Notes what an assignment sets. */
static void use_target(kr_jparser *p, const kr_jnode *target) {
  if (target->kind == KR_J_N_TUPLE_OF)
    for (uint32_t i = 0; i < target->n; i++) use_target(p, target->list[i]);
  else
    kr_jparse_use(p, target->symbol, target->kind == KR_J_N_NAME ? KR_J_SET : KR_J_READ);
}

static bool parse_for(kr_jparser *p, kr_jnode **ret) {
  kr_jnode *node = kr_jparse_node(p, KR_J_N_FOR), *body, *other = NULL;
  bool test, is_else;
  if (!node || !kr_jparse_advance(p) || !kr_jparse_target(p, false, "in", &node->a) ||
      !kr_jparse_expect_name(p, "in") || !kr_jparse_tuple(p, false, false, "recursive", &node->b) ||
      !kr_jparse_skip_name(p, "if", &test))
    return false;
  p->scopes++;
  if (test && !kr_jparse_expression(p, true, &node->c)) return false;
  p->scopes--;
  if (!kr_jparse_skip_name(p, "recursive", &node->flag)) return false;
  p->loops++;
  if (!parse_scope(p, " endfor else ", &body)) return false;
  p->loops--;
  if (!kr_jparse_skip_name(p, "else", &is_else)) return false;
  if (!(is_else ? parse_scope_to(p, " endfor ", &other) : kr_jparse_advance(p))) return false;
  *ret = node;
  return kr_jparse_add(p, node, body) && kr_jparse_add(p, node, other);
}

static bool parse_if(kr_jparser *p, kr_jnode **ret) {
  kr_jnode *node = kr_jparse_node(p, KR_J_N_IF), *condition, *body;
  bool is_else = false;
  if (!node) return false;
  p->conditions++;
  while (!is_else) {
    if (!kr_jparse_advance(p) || !kr_jparse_tuple(p, false, false, NULL, &condition) ||
        !parse_block(p, " elif else endif ", &body) || !kr_jparse_add(p, node, condition) ||
        !kr_jparse_add(p, node, body))
      return false;
    if (kr_jparse_is_name(p, "elif")) continue;
    if (!kr_jparse_skip_name(p, "else", &is_else)) return false;
    if (!is_else) break;
    if (!parse_block(p, " endif ", &body) || !kr_jparse_add(p, node, body)) return false;
  }
  p->conditions--;
  *ret = node;
  return kr_jparse_advance(p);
}

static bool parse_set(kr_jparser *p, kr_jnode **ret) {
  kr_jnode *node = kr_jparse_node(p, KR_J_N_SET);
  bool assign;
  if (!node || !kr_jparse_advance(p) || !kr_jparse_target(p, true, NULL, &node->a) ||
      !kr_jparse_skip_op(p, "=", &assign))
    return false;
  *ret = node;
  if (assign) {
    if (!kr_jparse_tuple(p, true, false, NULL, &node->b)) return false;
    use_target(p, node->a);
    return true;
  }
  node->kind = KR_J_N_SET_TEXT;
  use_target(p, node->a);
  p->scopes++;
  bool ok = kr_jparse_filters(p, NULL, false, &node->b);
  p->scopes--;
  return ok && parse_scope_to(p, " endset ", &node->c);
}

/* (NAME, NAME = DEFAULT) */
static bool parse_parameters(kr_jparser *p, kr_jnode *macro) {
  bool defaults = false;
  if (!kr_jparse_expect_op(p, "(")) return false;
  while (!kr_jparse_is_op(p, ")")) {
    if (macro->n && !kr_jparse_expect_op(p, ",")) return false;
    kr_jnode *parameter = kr_jparse_node(p, KR_J_N_NAME);
    bool has_default;
    if (!parameter || !kr_jparse_target_name(p, &parameter->symbol) ||
        !kr_jparse_skip_op(p, "=", &has_default) || !kr_jparse_add(p, macro, parameter))
      return false;
    parameter->value = kr_jobject(KR_J_STRING, p->symbols[parameter->symbol]);
    if (!has_default && defaults)
      return kr_jparse_error(p, "non-default argument follows default argument");
    if (has_default && !kr_jparse_expression(p, true, &parameter->a)) return false;
    defaults = has_default;
  }
  return kr_jparse_advance(p);
}

static bool parse_signature(kr_jparser *p, kr_jnode *macro) {
  p->scopes++; /* defaults are part of the macro */
  bool ok = parse_parameters(p, macro);
  p->scopes--;
  return ok;
}

/* The body of a macro, which is a function of its own. */
static bool parse_function(kr_jparser *p, kr_jnode *macro, const char *end) {
  uint32_t loops = p->loops;
  uint8_t wants = p->wants;
  p->loops = 0, p->wants = 0;
  if (!parse_scope_to(p, end, &macro->b)) return false;
  macro->op = p->wants;
  p->loops = loops, p->wants |= wants;
  return true;
}

static bool parse_macro(kr_jparser *p, kr_jnode **ret) {
  kr_jnode *node = kr_jparse_node(p, KR_J_N_MACRO);
  if (!node || !kr_jparse_advance(p) || !kr_jparse_target_name(p, &node->symbol)) return false;
  node->value = kr_jobject(KR_J_STRING, p->symbols[node->symbol]);
  kr_jparse_use(p, node->symbol, KR_J_SET);
  *ret = node;
  return parse_signature(p, node) && parse_function(p, node, " endmacro ");
}

static bool parse_call(kr_jparser *p, kr_jnode **ret) {
  kr_jnode *node = kr_jparse_node(p, KR_J_N_CALL_TEXT);
  kr_jnode *macro = kr_jparse_node(p, KR_J_N_MACRO);
  if (!node || !macro || !kr_jparse_advance(p)) return false;
  macro->flag = true; /* has no name */
  node->b = macro;
  if (kr_jparse_is_op(p, "(") && !parse_signature(p, macro)) return false;
  if (!kr_jparse_expression(p, true, &node->a)) return false;
  if (node->a->kind != KR_J_N_CALL) return kr_jparse_error(p, "expected call");
  *ret = node;
  return parse_function(p, macro, " endcall ");
}

static bool parse_filter(kr_jparser *p, kr_jnode **ret) {
  kr_jnode *node = kr_jparse_node(p, KR_J_N_FILTER_TEXT);
  if (!node || !kr_jparse_advance(p) || !kr_jparse_filters(p, NULL, true, &node->a)) return false;
  *ret = node;
  return parse_scope_to(p, " endfilter ", &node->b);
}

static bool parse_with(kr_jparser *p, kr_jnode **ret) {
  kr_jnode *node = kr_jparse_node(p, KR_J_N_WITH), *item;
  if (!node || !kr_jparse_advance(p)) return false;
  while (p->cur.kind != KR_J_T_BLOCK_END) {
    if (node->n && !kr_jparse_expect_op(p, ",")) return false;
    if (!kr_jparse_target(p, false, NULL, &item) || !kr_jparse_add(p, node, item) ||
        !kr_jparse_expect_op(p, "=") || !kr_jparse_expression(p, true, &item) ||
        !kr_jparse_add(p, node, item))
      return false;
  }
  *ret = node;
  return parse_scope_to(p, " endwith ", &node->a);
}

static bool parse_generation(kr_jparser *p, kr_jnode **ret) {
  kr_jnode *node = kr_jparse_node(p, KR_J_N_GENERATION);
  uint32_t loops = p->loops;
  if (!node || !kr_jparse_advance(p)) return false;
  *ret = node;
  p->loops = 0; /* the reference makes it a function, which loop controls cannot leave */
  if (!parse_scope_to(p, " endgeneration ", &node->a)) return false;
  p->loops = loops;
  return true;
}

static bool parse_loop_control(kr_jparser *p, kr_jkind kind, kr_jnode **ret) {
  *ret = kr_jparse_node(p, kind);
  if (!p->loops) return kr_jparse_error(p, "a loop control outside a loop");
  return *ret && kr_jparse_advance(p);
}

static bool parse_break(kr_jparser *p, kr_jnode **ret) {
  return parse_loop_control(p, KR_J_N_BREAK, ret);
}

static bool parse_continue(kr_jparser *p, kr_jnode **ret) {
  return parse_loop_control(p, KR_J_N_CONTINUE, ret);
}

static bool parse_print(kr_jparser *p, kr_jnode **ret) {
  kr_jnode *node = kr_jparse_node(p, KR_J_N_BLOCK_OF), *item;
  if (!node || !kr_jparse_advance(p)) return false;
  while (p->cur.kind != KR_J_T_BLOCK_END) {
    if (node->n && !kr_jparse_expect_op(p, ",")) return false;
    item = kr_jparse_node(p, KR_J_N_OUTPUT);
    if (!item || !kr_jparse_expression(p, true, &item->a) || !kr_jparse_add(p, node, item))
      return false;
  }
  *ret = node;
  return true;
}

/* {% block NAME %}: without inheritance, its body in a scope of its own. */
static bool parse_named_block(kr_jparser *p, kr_jnode **ret) {
  kr_jnode *node = kr_jparse_node(p, KR_J_N_SCOPE);
  uint32_t name;
  bool scoped, required, again = false;
  uint32_t loops = p->loops;
  if (!node || !kr_jparse_advance(p) || !kr_jparse_target_name(p, &name) ||
      !kr_jparse_skip_name(p, "scoped", &scoped) || !kr_jparse_skip_name(p, "required", &required))
    return false;
  *ret = node;
  p->loops = 0;
  node->flag = !scoped;
  if (!parse_scope_to(p, " endblock ", &node->a)) return false;
  p->loops = loops;
  if (p->cur.kind == KR_J_T_NAME) {
    again = p->cur.n == p->symbols[name]->n && !memcmp(p->cur.p, p->symbols[name]->p, p->cur.n);
    if (again) return kr_jparse_advance(p);
  }
  return true;
}

/* What loads other templates parses, and fails when it is reached: there is nothing to load from.
 */
static bool parse_loading(kr_jparser *p, kr_jnode **ret) {
  kr_jnode *node = kr_jparse_node(p, KR_J_N_REFUSED);
  if (!node || !kr_jstring_of(p->c, p->cur.p, p->cur.n, &node->value)) return false;
  while (p->cur.kind != KR_J_T_BLOCK_END) {
    if (p->cur.kind == KR_J_T_END) return kr_jparse_error(p, "Unexpected end of template.");
    if (!kr_jparse_advance(p)) return false;
  }
  *ret = node;
  return true;
}

static bool parse_autoescape(kr_jparser *p, kr_jnode **ret) {
  (void)ret;
  return kr_jparse_error(p, "the tag 'autoescape' is not supported");
}

typedef bool parse_fn(kr_jparser *p, kr_jnode **ret);

static parse_fn *find_statement(const kr_jparser *p) {
  static const struct {
    const char *name;
    parse_fn *parse;
  } statements[] = {
      {"for", parse_for},
      {"if", parse_if},
      {"set", parse_set},
      {"macro", parse_macro},
      {"call", parse_call},
      {"filter", parse_filter},
      {"with", parse_with},
      {"generation", parse_generation},
      {"break", parse_break},
      {"continue", parse_continue},
      {"print", parse_print},
      {"block", parse_named_block},
      {"include", parse_loading},
      {"import", parse_loading},
      {"from", parse_loading},
      {"extends", parse_loading},
      {"autoescape", parse_autoescape},
  };
  for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
    if (kr_jparse_is_name(p, statements[i].name)) return statements[i].parse;
  return NULL;
}

static bool is_end(const kr_jparser *p, const char *end) {
  char name[40];
  if (!end || p->cur.kind != KR_J_T_NAME || p->cur.n > 32) return false;
  snprintf(name, sizeof name, " %.*s ", (int)p->cur.n, p->cur.p);
  return strstr(end, name) != NULL;
}

static bool unknown_tag(kr_jparser *p, const char *end) {
  int n = (int)(p->cur.n < 40 ? p->cur.n : 40);
  if (p->cur.kind != KR_J_T_NAME) return kr_jparse_error(p, "tag name expected");
  if (!end) return kr_jparse_error(p, "Encountered unknown tag '%.*s'.", n, p->cur.p);
  return kr_jparse_error(p, "Encountered unknown tag '%.*s'. Jinja was looking for:%s", n, p->cur.p,
                         end);
}

/* Behind "{%". */
static bool parse_statement(kr_jparser *p, const char *end, kr_jnode **ret) {
  parse_fn *parse = find_statement(p);
  char shown[40];
  if (!parse) return unknown_tag(p, end);
  if (!parse(p, ret)) return false;
  if (p->cur.kind != KR_J_T_BLOCK_END)
    return kr_jparse_error(p, "expected token 'end of statement block', got %s",
                           kr_jparse_describe(p, shown, sizeof shown));
  return kr_jparse_advance(p);
}

static bool parse_output(kr_jparser *p, kr_jnode **ret) {
  char shown[40];
  kr_jnode *node = kr_jparse_node(p, KR_J_N_OUTPUT);
  if (!node || !kr_jparse_advance(p) || !kr_jparse_tuple(p, true, false, NULL, &node->a))
    return false;
  *ret = node;
  if (p->cur.kind != KR_J_T_VARIABLE_END)
    return kr_jparse_error(p, "expected token 'end of print statement', got %s",
                           kr_jparse_describe(p, shown, sizeof shown));
  return kr_jparse_advance(p);
}

bool kr_jparse_body(kr_jparser *p, const char *end, kr_jnode **ret) {
  kr_jnode *body = kr_jparse_node(p, KR_J_N_BLOCK_OF), *item;
  if (!body) return false;
  *ret = body;
  for (;;) {
    switch (p->cur.kind) {
    case KR_J_T_DATA:
      item = kr_jparse_node(p, KR_J_N_DATA);
      if (!item || !kr_jstring_of(p->c, p->cur.p, p->cur.n, &item->value) || !kr_jparse_advance(p))
        return false;
      break;
    case KR_J_T_VARIABLE_BEGIN:
      if (!parse_output(p, &item)) return false;
      break;
    case KR_J_T_BLOCK_BEGIN:
      if (!kr_jparse_advance(p)) return false;
      if (is_end(p, end)) return true;
      if (!parse_statement(p, end, &item)) return false;
      break;
    case KR_J_T_END:
      if (!end) return true;
      return kr_jparse_error(p, "Unexpected end of template. Jinja was looking for:%s", end);
    default:
      return kr_jparse_error(p, "an unexpected token");
    }
    if (!kr_jparse_add(p, body, item)) return false;
  }
}
