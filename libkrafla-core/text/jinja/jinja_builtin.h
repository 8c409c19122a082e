/* Filters, tests, methods and functions: tables of named C functions. */
#ifndef KR_TEXT_JINJA_BUILTIN_H
#define KR_TEXT_JINJA_BUILTIN_H

#include "text/jinja/jinja_run.h"

enum { KR_J_MAX_PARAMETERS = 6 };

/* self: the value that is filtered or tested, or the object of a method. arg: one for each
 * parameter, KR_J_MISSING where it was not given; of those without parameters ("*"), args has what
 * was given. */
typedef bool kr_jbuiltin_fn(kr_jrun *r, kr_jvalue self, const kr_jvalue *arg, const kr_jargs *args,
                            kr_jvalue *ret);

typedef struct kr_jbuiltin {
  const char *name;
  const char
      *parameters; /* names separated by blanks; "!" before those that must be given; "*": any */
  kr_jbuiltin_fn *call; /* NULL: known to Jinja, but not supported here */
} kr_jbuiltin;

/* By name, or NULL. */
const kr_jbuiltin *kr_jfilter_find(const char *name, size_t n);
const kr_jbuiltin *kr_jtest_find(const char *name, size_t n);
const kr_jbuiltin *kr_jglobal_find(const char *name, size_t n);
const kr_jbuiltin *kr_jmethod_find(kr_jvalue object, const char *name, size_t n);
/* In a table that ends with a NULL name. */
const kr_jbuiltin *kr_jbuiltin_find(const kr_jbuiltin *table, const char *name, size_t n);

/* Puts arguments in the order of the parameters and calls. */
bool kr_jbuiltin_call(kr_jrun *r, const kr_jbuiltin *builtin, kr_jvalue self, const kr_jargs *args,
                      kr_jvalue *ret);

extern const kr_jbuiltin kr_jfilters_text[], kr_jfilters_list[], kr_jfilters_select[],
    kr_jfilters_number[], kr_jmethods_str[], kr_jmethods_str_more[];

/* Helpers of the tables. */
bool kr_jarg_string(kr_jctx *c, kr_jvalue v, const char *what, const kr_jstring **ret);
bool kr_jarg_int(kr_jctx *c, kr_jvalue v, int64_t absent,
                 int64_t *ret); /* TypeError; cut to int64 */
/* A sequence's item by a path as in "a.b.0": an undefined value where there is none. */
bool kr_jattribute(kr_jrun *r, kr_jvalue item, kr_jvalue path, kr_jvalue absent, kr_jvalue *ret);
/* Text that lower() gives for strings, others as they are. */
bool kr_jignore_case(kr_jctx *c, kr_jvalue v, bool case_sensitive, kr_jvalue *ret);
/* str(v), Markup included. */
bool kr_jsoft(kr_jctx *c, kr_jvalue v, const kr_jstring **ret);
bool kr_jescape(kr_jctx *c, kr_jvalue v, kr_jvalue *ret); /* markupsafe.escape */
/* s.strip(): sides 1 left, 2 right, 3 both; chars may be KR_J_MISSING or None. */
bool kr_jstrip(kr_jctx *c, const kr_jstring *s, kr_jvalue chars, int sides, kr_jvalue *ret);
bool kr_jreplace(kr_jctx *c, const kr_jstring *s, const kr_jstring *old, const kr_jstring *by,
                 int64_t count, kr_jvalue *ret);
bool kr_jsplit(kr_jctx *c, const kr_jstring *s, kr_jvalue by, int64_t most, bool from_right,
               kr_jlist **ret);
bool kr_jsplit_lines(kr_jctx *c, const kr_jstring *s, bool keep, kr_jlist **ret);
bool kr_jcenter(kr_jctx *c, const kr_jstring *s, int64_t width, const kr_jstring *fill, int side,
                kr_jvalue *ret);
bool kr_jformat_percent(kr_jctx *c, const kr_jstring *format, kr_jvalue values, kr_jvalue *ret);
bool kr_jformat_braces(kr_jrun *r, const kr_jstring *format, const kr_jargs *args, kr_jvalue *ret);
bool kr_jtojson(kr_jctx *c, kr_jvalue v, const kr_jvalue *arg, kr_jvalue *ret);

#endif
