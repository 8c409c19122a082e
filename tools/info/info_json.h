/* JSON, written member by member: enough for what a program tells about itself. */
#ifndef KR_INFO_JSON_H
#define KR_INFO_JSON_H

#include <glib.h>

typedef struct kr_info_json {
  GString *out;
  gboolean first; /* nothing stands in the innermost object or array yet */
} kr_info_json;

void kr_info_init(kr_info_json *json);
void kr_info_print(kr_info_json *json); /* to standard output; clears it */

/* key is NULL inside an array. open is '{' or '['. */
void kr_info_open(kr_info_json *json, const char *key, char open);
void kr_info_close(kr_info_json *json, char close);
void kr_info_string(kr_info_json *json, const char *key, const char *text);
void kr_info_integer(kr_info_json *json, const char *key, gint64 value);
void kr_info_boolean(kr_info_json *json, const char *key, gboolean value);
/* The words of a text that spaces separate, as an array of strings. */
void kr_info_words(kr_info_json *json, const char *key, const char *words);

#endif
