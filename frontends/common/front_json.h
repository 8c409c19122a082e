/* JSON of the programs: strings out, and a reader that walks over a text. */
#ifndef KR_FRONT_JSON_H
#define KR_FRONT_JSON_H

#include <glib.h>

/* Appends n bytes of valid UTF-8 as a JSON string. */
void kr_front_json_write(GString *out, const char *text, gsize n);

/* A place in a text. Every function below goes on from there and returns FALSE, with what is wrong
 * in what, where the text has something else; the reader is then of no more use. */
typedef struct kr_front_json {
  const char *start, *at, *end;
  const char *what; /* "is not a string" */
} kr_front_json;

/* The text stays the caller's. It fails here if it is no valid UTF-8. */
gboolean kr_front_json_begin(kr_front_json *json, const char *text, gsize n);
/* A string, whose characters replace those of out; half of a surrogate pair is U+FFFD. */
gboolean kr_front_json_string(kr_front_json *json, GString *out);
/* The opening of an object or array: '{' or '['. */
gboolean kr_front_json_open(kr_front_json *json, char bracket);
/* Goes to the next element or member, whatever came before it, or over the closing bracket: then
 * *ret_more is FALSE. first: nothing was read since the opening. */
gboolean kr_front_json_next(kr_front_json *json, char bracket, gboolean first, gboolean *ret_more);
/* The key of a member and its colon. */
gboolean kr_front_json_key(kr_front_json *json, GString *out);
/* Goes over a value of any type. */
gboolean kr_front_json_skip(kr_front_json *json);
/* Nothing follows but white space. */
gboolean kr_front_json_finish(kr_front_json *json);

#endif
