/* JSON, written member by member: enough for what a program tells about itself. */
#ifndef KR_INFO_JSON_H
#define KR_INFO_JSON_H

#include <glib.h>

typedef struct kr_json {
  GString *out;
  gboolean first; /* nothing stands in the innermost object or array yet */
} kr_json;

void kr_json_init(kr_json *json);
void kr_json_print(kr_json *json); /* to standard output; clears it */

/* key is NULL inside an array. open is '{' or '['. */
void kr_json_open(kr_json *json, const char *key, char open);
void kr_json_close(kr_json *json, char close);
void kr_json_string(kr_json *json, const char *key, const char *text);
void kr_json_integer(kr_json *json, const char *key, gint64 value);
void kr_json_boolean(kr_json *json, const char *key, gboolean value);
/* The words of a text that spaces separate, as an array of strings. */
void kr_json_words(kr_json *json, const char *key, const char *words);

#endif
