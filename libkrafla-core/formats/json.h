/* JSON texts, read where they stand: one pass checks a text whole, and then its values may be
 * walked without further checks. Nothing is built, so that a vocabulary of some hundred thousand
 * members is read at the speed of looking at its bytes. */
#ifndef KR_FORMATS_JSON_H
#define KR_FORMATS_JSON_H

#include "formats/source.h"

/* A value of a checked text: where it begins. at is NULL for one that is not there. */
typedef struct kr_json_value {
  const uint8_t *at;
} kr_json_value;

/* Checks n bytes: syntax (RFC 8259), UTF-8, \u escapes in pairs, at most 64 values in one another.
 * Messages name the line and what is wrong. */
int kr_json_check(const uint8_t *data, size_t n, kr_json_value *ret_root, kr_error *err) KR_CHECKED;

typedef enum kr_json_type {
  KR_JSON_ABSENT,
  KR_JSON_NULL,
  KR_JSON_BOOL,
  KR_JSON_NUMBER,
  KR_JSON_STRING,
  KR_JSON_ARRAY,
  KR_JSON_OBJECT
} kr_json_type;

kr_json_type kr_json_type_of(kr_json_value value);
const char *kr_json_type_name(kr_json_type type); /* "an object" */

/* Walks an array or an object: begin, then next until false. Of an object every value comes with
 * its key, a string; of an array ret_key is left alone. */
typedef struct kr_json_walk {
  const uint8_t *at;
  bool object;
} kr_json_walk;

kr_json_walk kr_json_begin(kr_json_value value);
bool kr_json_next(kr_json_walk *walk, kr_json_value *ret_key, kr_json_value *ret_value);

/* The bytes that a string takes at most; SIZE_MAX is never returned. */
size_t kr_json_string_size(kr_json_value string);
/* The text of a string: in place where it has no escapes, else written to room, which has
 * kr_json_string_size bytes. */
kr_text kr_json_string(kr_json_value string, char *room);
bool kr_json_equals(kr_json_value string, const char *text);

bool kr_json_true(kr_json_value value);
/* False unless the value is a whole number of that range. */
bool kr_json_int(kr_json_value value, int64_t min, int64_t max, int64_t *ret);

/* The members of an object that have these names, in one pass; those that are not there get at
 * NULL. Of several of one name the last counts. */
void kr_json_members(kr_json_value object, const char *const *names, size_t n,
                     kr_json_value *ret_values);
kr_json_value kr_json_member(kr_json_value object, const char *name);

#endif
