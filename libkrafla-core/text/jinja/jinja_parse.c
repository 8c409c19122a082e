/* Tokens, nodes and symbols for the parser. */
#include "text/jinja/jinja_parse.h"
#include <stdarg.h>
#include <stdio.h>

bool kr_jparse_error(kr_jparser *p, const char *format, ...) {
  char message[300];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  if (!p->c->line) p->c->line = p->cur.line;
  return kr_jfail(p->c, "TemplateSyntaxError", "%s", message);
}

const char *kr_jparse_describe(const kr_jparser *p, char *out, size_t size) {
  static const char *const kinds[] = {
      [KR_J_T_DATA] = "text",         [KR_J_T_BLOCK_BEGIN] = "'{%'",
      [KR_J_T_BLOCK_END] = "'%}'",    [KR_J_T_VARIABLE_BEGIN] = "'{{'",
      [KR_J_T_VARIABLE_END] = "'}}'", [KR_J_T_STRING] = "a string",
      [KR_J_T_NUMBER] = "a number",   [KR_J_T_END] = "end of the template",
  };
  if (p->cur.kind == KR_J_T_OPERATOR)
    snprintf(out, size, "'%s'", p->cur.op);
  else if (p->cur.kind == KR_J_T_NAME)
    snprintf(out, size, "'%.*s'", (int)(p->cur.n < 30 ? p->cur.n : 30), p->cur.p);
  else
    snprintf(out, size, "%s", kinds[p->cur.kind]);
  return out;
}

bool kr_jparse_advance(kr_jparser *p) {
  if (p->has_look) {
    p->cur = p->look;
    p->has_look = false;
    return true;
  }
  return kr_jlexer_next(&p->lexer, &p->cur);
}

bool kr_jparse_look(kr_jparser *p) {
  if (!p->has_look && !kr_jlexer_next(&p->lexer, &p->look)) return false;
  p->has_look = true;
  return true;
}

bool kr_jparse_is_op(const kr_jparser *p, const char *op) {
  return p->cur.kind == KR_J_T_OPERATOR && !strcmp(p->cur.op, op);
}

bool kr_jparse_is_name(const kr_jparser *p, const char *name) {
  return p->cur.kind == KR_J_T_NAME && p->cur.n == strlen(name) &&
         !memcmp(p->cur.p, name, p->cur.n);
}

bool kr_jparse_skip_op(kr_jparser *p, const char *op, bool *ret) {
  *ret = kr_jparse_is_op(p, op);
  return !*ret || kr_jparse_advance(p);
}

bool kr_jparse_skip_name(kr_jparser *p, const char *name, bool *ret) {
  *ret = kr_jparse_is_name(p, name);
  return !*ret || kr_jparse_advance(p);
}

bool kr_jparse_expect_op(kr_jparser *p, const char *op) {
  char shown[40];
  if (kr_jparse_is_op(p, op)) return kr_jparse_advance(p);
  return kr_jparse_error(p, "expected token '%s', got %s", op,
                         kr_jparse_describe(p, shown, sizeof shown));
}

bool kr_jparse_expect_name(kr_jparser *p, const char *name) {
  char shown[40];
  if (kr_jparse_is_name(p, name)) return kr_jparse_advance(p);
  return kr_jparse_error(p, "expected token '%s', got %s", name,
                         kr_jparse_describe(p, shown, sizeof shown));
}

kr_jnode *kr_jparse_node(kr_jparser *p, kr_jkind kind) {
  kr_jnode *node = kr_jalloc(p->c, 1, sizeof *node);
  if (!node) return NULL;
  node->kind = (uint8_t)kind;
  node->line = p->cur.line;
  return node;
}

bool kr_jparse_add(kr_jparser *p, kr_jnode *to, kr_jnode *item) {
  if ((to->n & (to->n - 1)) == 0) { /* the room is the next power of two */
    size_t capacity = to->n;
    to->list = kr_jgrow(p->c, to->list, to->n, sizeof *to->list, (size_t)to->n + 1, &capacity);
    if (!to->list) return false;
  }
  to->list[to->n++] = item;
  return true;
}

bool kr_jparse_enter(kr_jparser *p) {
  if (p->nesting >= KR_J_MAX_NESTING) return kr_jparse_error(p, "nested too deeply");
  p->nesting++;
  return true;
}

/* ---- symbols ----------------------------------------------------------------------------------
 */

static size_t hash_name(const char *name, size_t n) {
  uint64_t h = 14695981039346656037u; /* FNV-1a */
  for (size_t i = 0; i < n; i++) h = (h ^ (uint8_t)name[i]) * 1099511628211u;
  return (size_t)(h ^ h >> 32);
}

static bool grow_index(kr_jparser *p) {
  size_t size = p->index_size ? p->index_size * 2 : 64;
  uint32_t *index = kr_jalloc(p->c, size, sizeof *index);
  if (!index) return false;
  for (uint32_t i = 0; i < p->n_symbols; i++) {
    size_t at = hash_name(p->symbols[i]->p, p->symbols[i]->n) & (size - 1);
    while (index[at]) at = (at + 1) & (size - 1);
    index[at] = i + 1;
  }
  p->index = index, p->index_size = size;
  return true;
}

bool kr_jparse_symbol(kr_jparser *p, const char *name, size_t n, uint32_t *ret) {
  if (2 * (p->n_symbols + 1) > p->index_size && !grow_index(p)) return false;
  size_t at = hash_name(name, n) & (p->index_size - 1);
  for (; p->index[at]; at = (at + 1) & (p->index_size - 1)) {
    const kr_jstring *s = p->symbols[p->index[at] - 1];
    if (s->n == n && !memcmp(s->p, name, n)) return *ret = p->index[at] - 1, true;
    if (!kr_jcharge(p->c, 0)) return false;
  }
  kr_jvalue text;
  if (!kr_jstring_of(p->c, name, n, &text)) return false;
  kr_jpoints(text.s);
  if (p->n_symbols == p->symbols_capacity) {
    p->symbols = kr_jgrow(p->c, p->symbols, p->n_symbols, sizeof *p->symbols, p->n_symbols + 1,
                          &p->symbols_capacity);
    if (!p->symbols) return false;
  }
  if (p->n_symbols == p->first_capacity) {
    p->first = kr_jgrow(p->c, p->first, p->n_symbols, 1, p->n_symbols + 1, &p->first_capacity);
    if (!p->first) return false;
  }
  p->symbols[p->n_symbols] = text.s;
  *ret = (uint32_t)p->n_symbols++;
  p->index[at] = *ret + 1;
  return true;
}

void kr_jparse_use(kr_jparser *p, uint32_t symbol, kr_juse use) {
  if (p->scopes || p->first[symbol] != KR_J_UNUSED) return;
  p->first[symbol] = p->conditions ? KR_J_READ : (uint8_t)use;
}

bool kr_jparse(kr_jctx *c, const char *source, size_t n, struct kr_template *ret) {
  kr_jparser *p = kr_jalloc(c, 1, sizeof *p);
  if (!p) return false;
  static const char *const known[] = {"loop", "caller", "varargs", "kwargs"};
  uint32_t symbol;
  p->c = c;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (!kr_jparse_symbol(p, known[i], strlen(known[i]), &symbol)) return false;
  if (!kr_jlexer_init(&p->lexer, c, source, n) || !kr_jparse_advance(p) ||
      !kr_jparse_body(p, NULL, &ret->body)) {
    if (!c->line) c->line = p->cur.line;
    return false;
  }
  if (p->unknown) {
    c->line = p->unknown_line;
    return kr_jfail(c, "TemplateAssertionError", "%s", p->unknown_message);
  }
  ret->hidden = kr_jalloc(c, p->n_symbols, sizeof *ret->hidden);
  if (!ret->hidden) return false;
  for (size_t i = 0; i < p->n_symbols; i++) ret->hidden[i] = p->first[i] == KR_J_SET;
  ret->symbols = p->symbols;
  ret->n_symbols = (uint32_t)p->n_symbols;
  return true;
}
