/* Characters as Python's str sees them. The tables are generated: tools/gen-case-tables.py. */
#ifndef KR_TEXT_JINJA_UNICODE_H
#define KR_TEXT_JINJA_UNICODE_H

#include "text/jinja/jinja_value.h"

typedef struct kr_case_run { /* first, first + step ... last map to themselves + delta */
  uint32_t first, last, step;
  int32_t delta;
} kr_case_run;

typedef struct kr_case_special {
  uint32_t code, to[3];
} kr_case_special;

extern const kr_case_run kr_case_upper[], kr_case_lower[], kr_case_title[];
extern const uint32_t kr_case_n_upper, kr_case_n_lower, kr_case_n_title;
extern const kr_case_special kr_case_special_upper[], kr_case_special_lower[],
    kr_case_special_title[];
extern const uint32_t kr_case_n_special_upper, kr_case_n_special_lower, kr_case_n_special_title;

/* First and end of ranges, by turns. */
extern const uint32_t kr_case_is_lower[], kr_case_is_upper[], kr_case_is_title[],
    kr_case_is_ignorable[], kr_case_is_printable[], kr_case_is_decimal[], kr_case_is_digit[],
    kr_case_is_numeric[], kr_case_is_alpha[];
extern const uint32_t kr_case_n_is_lower, kr_case_n_is_upper, kr_case_n_is_title,
    kr_case_n_is_ignorable, kr_case_n_is_printable, kr_case_n_is_decimal, kr_case_n_is_digit,
    kr_case_n_is_numeric, kr_case_n_is_alpha;

typedef enum kr_jclass {
  KR_J_LOWER,
  KR_J_UPPER,
  KR_J_TITLE,
  KR_J_IGNORABLE,
  KR_J_PRINTABLE,
  KR_J_DECIMAL,
  KR_J_DIGIT,
  KR_J_NUMERIC,
  KR_J_ALPHA,
  KR_J_ALNUM,
  KR_J_SPACE
} kr_jclass;

bool kr_jis(uint32_t code, kr_jclass of);

typedef enum kr_jcase {
  KR_J_TO_UPPER,
  KR_J_TO_LOWER,
  KR_J_TO_CAPITAL, /* the first character to title case, others lower */
  KR_J_TO_TITLE,   /* each word so */
  KR_J_TO_SWAPPED
} kr_jcase;

/* s.upper() and its like; Markup stays Markup. */
bool kr_jcase_of(kr_jctx *c, const kr_jstring *s, kr_jcase to, kr_jvalue *ret);

/* Bytes of white space at the beginning, and at the end. */
size_t kr_jspaces(const char *p, size_t n);
size_t kr_jspaces_back(const char *p, size_t n);
/* Where the i-th code point begins, i <= points. */
size_t kr_joffset(const kr_jstring *s, size_t i);
/* The place of the first needle at or after from; SIZE_MAX if there is none. Charges for its work.
 */
bool kr_jfind(kr_jctx *c, const kr_jstring *s, size_t from, const kr_jstring *needle, size_t *ret);
bool kr_jfind_last(kr_jctx *c, const kr_jstring *s, size_t end, const kr_jstring *needle,
                   size_t *ret);
/* The bytes of a line break at p, or 0: those of str.splitlines. */
size_t kr_jline_break(const char *p, size_t n);

#endif
