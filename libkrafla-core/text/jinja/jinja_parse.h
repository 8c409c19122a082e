/* The parser of templates: what its two files, of expressions and of statements, share. */
#ifndef KR_TEXT_JINJA_PARSE_H
#define KR_TEXT_JINJA_PARSE_H

#include "text/jinja/jinja_ast.h"
#include "text/jinja/jinja_lex.h"

typedef struct kr_jparser {
  kr_jctx *c;
  kr_jlexer lexer;
  kr_jtoken cur, look;
  bool has_look;
  uint32_t nesting;
  uint32_t conditions;   /* around: in them an unknown filter fails only when it is reached */
  uint32_t unknown;      /* unknown filters and tests seen outside conditions */
  uint32_t unknown_line; /* of the first of them */
  char unknown_message[100];
  uint32_t loops;  /* around, in the same macro */
  uint32_t scopes; /* around, that have variables of their own */
  uint8_t wants;   /* KR_J_WANTS_*: names seen since the macro began */
  kr_jstring **symbols;
  uint8_t *first; /* by symbol: its first use at the top level, kr_juse */
  size_t n_symbols, symbols_capacity, first_capacity;
  uint32_t *index; /* symbol + 1, by hash of its name */
  size_t index_size;
} kr_jparser;

typedef enum kr_juse { KR_J_UNUSED, KR_J_READ, KR_J_SET } kr_juse;
/* Notes how a variable is used. Names resolve as in jinja2, which looks at the whole of a scope:
 * one that is set at the top level, not under a condition, before it is read there, hides what the
 * caller gave under its name from the beginning on. */
void kr_jparse_use(kr_jparser *p, uint32_t symbol, kr_juse use);

bool kr_jparse_error(kr_jparser *p, const char *format, ...) KR_PRINTF(2, 3);
/* The current token, for messages. Returns out. */
const char *kr_jparse_describe(const kr_jparser *p, char *out, size_t size);
bool kr_jparse_advance(kr_jparser *p);
bool kr_jparse_look(kr_jparser *p); /* fills p->look */
bool kr_jparse_is_op(const kr_jparser *p, const char *op);
bool kr_jparse_is_name(const kr_jparser *p, const char *name);
/* Takes the token if it is this one; *ret says whether. false on failure only. */
bool kr_jparse_skip_op(kr_jparser *p, const char *op, bool *ret);
bool kr_jparse_skip_name(kr_jparser *p, const char *name, bool *ret);
bool kr_jparse_expect_op(kr_jparser *p, const char *op);
bool kr_jparse_expect_name(kr_jparser *p, const char *name);

kr_jnode *kr_jparse_node(kr_jparser *p, kr_jkind kind);
bool kr_jparse_add(kr_jparser *p, kr_jnode *to, kr_jnode *item);
bool kr_jparse_symbol(kr_jparser *p, const char *name, size_t n, uint32_t *ret);
/* Nested constructs; false when there are too many. */
bool kr_jparse_enter(kr_jparser *p);
static inline void kr_jparse_leave(kr_jparser *p) {
  p->nesting--;
}

bool kr_jparse_expression(kr_jparser *p, bool with_if, kr_jnode **ret);
/* Expressions with commas between them; end is a name that ends them, or NULL. */
bool kr_jparse_tuple(kr_jparser *p, bool with_if, bool parentheses, const char *end,
                     kr_jnode **ret);
/* Filters of a hole, or of node. *ret is NULL if there are none. */
bool kr_jparse_filters(kr_jparser *p, kr_jnode *node, bool first_inline, kr_jnode **ret);
bool kr_jparse_target(kr_jparser *p, bool with_namespace, const char *end, kr_jnode **ret);
bool kr_jparse_target_name(kr_jparser *p, uint32_t *ret);

/* Statements up to one of the names, which stays the current token, just behind its "{%". end is a
 * list with blanks around each name, or NULL: up to the end of the template. */
bool kr_jparse_body(kr_jparser *p, const char *end, kr_jnode **ret);

#endif
