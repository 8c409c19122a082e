#include "info_json.h"
#include "front_error.h"
#include <stdio.h>

void kr_info_init(kr_info_json *json) {
  json->out = g_string_new(NULL);
  json->first = TRUE;
}

void kr_info_print(kr_info_json *json) {
  puts(json->out->str);
  g_string_free(json->out, TRUE);
  json->out = NULL;
}

static void quote(kr_info_json *json, const char *text) {
  /* printable text is valid UTF-8 without control characters: two more need a backslash */
  g_autofree char *printable = kr_front_printable(text, -1);
  g_string_append_c(json->out, '"');
  for (const char *p = printable; *p; p++) {
    if (*p == '"' || *p == '\\') g_string_append_c(json->out, '\\');
    g_string_append_c(json->out, *p);
  }
  g_string_append_c(json->out, '"');
}

static void begin(kr_info_json *json, const char *key) {
  if (!json->first) g_string_append(json->out, ", ");
  json->first = FALSE;
  if (!key) return;
  quote(json, key);
  g_string_append(json->out, ": ");
}

void kr_info_open(kr_info_json *json, const char *key, char open) {
  begin(json, key);
  g_string_append_c(json->out, open);
  json->first = TRUE;
}

void kr_info_close(kr_info_json *json, char close) {
  g_string_append_c(json->out, close);
  json->first = FALSE;
}

void kr_info_string(kr_info_json *json, const char *key, const char *text) {
  begin(json, key);
  quote(json, text);
}

void kr_info_integer(kr_info_json *json, const char *key, gint64 value) {
  begin(json, key);
  g_string_append_printf(json->out, "%" G_GINT64_FORMAT, value);
}

void kr_info_boolean(kr_info_json *json, const char *key, gboolean value) {
  begin(json, key);
  g_string_append(json->out, value ? "true" : "false");
}

void kr_info_words(kr_info_json *json, const char *key, const char *words) {
  g_auto(GStrv) parts = g_strsplit(words, " ", -1);
  kr_info_open(json, key, '[');
  for (char **part = parts; *part; part++)
    if (**part) kr_info_string(json, NULL, *part);
  kr_info_close(json, ']');
}
