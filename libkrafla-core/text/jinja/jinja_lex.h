/* Tokens of a template, white space control included: trim_blocks and lstrip_blocks are on, one
 * line break at the end of the template is dropped, all line breaks are \n. */
#ifndef KR_TEXT_JINJA_LEX_H
#define KR_TEXT_JINJA_LEX_H

#include "text/jinja/jinja_value.h"

typedef enum kr_jtoken_kind {
  KR_J_T_DATA,
  KR_J_T_BLOCK_BEGIN,
  KR_J_T_BLOCK_END,
  KR_J_T_VARIABLE_BEGIN,
  KR_J_T_VARIABLE_END,
  KR_J_T_NAME,
  KR_J_T_STRING,
  KR_J_T_NUMBER,
  KR_J_T_OPERATOR,
  KR_J_T_END
} kr_jtoken_kind;

typedef struct kr_jtoken {
  kr_jtoken_kind kind;
  uint32_t line;
  char op[3];    /* KR_J_T_OPERATOR */
  const char *p; /* bytes of data or of a name */
  size_t n;
  kr_jvalue value; /* KR_J_T_STRING, KR_J_T_NUMBER */
} kr_jtoken;

typedef struct kr_jlexer {
  kr_jctx *c;
  const char *p; /* the source, line breaks normalized */
  size_t n, at;
  uint32_t line;
  enum { KR_J_IN_DATA, KR_J_IN_BLOCK, KR_J_IN_VARIABLE } state;
  kr_jtoken_kind pending; /* what begins after the data before it; KR_J_T_END: nothing */
  bool line_starting;
  uint32_t nesting;
  char brackets[KR_J_MAX_NESTING]; /* what closes those that are open */
} kr_jlexer;

bool kr_jlexer_init(kr_jlexer *l, kr_jctx *c, const char *source, size_t n);
bool kr_jlexer_next(kr_jlexer *l, kr_jtoken *ret);

#endif
