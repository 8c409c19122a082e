/* What lies beside a tokenizer.json: tokenizer_config.json says which tokens begin and end a text
 * and has the chat template, or several with names; chat_template.jinja stands before that one. */
#include "text/tokenizer_file.h"
#include <string.h>

#define MAX_NAME 64 /* bytes of a template's name */

/* path with its last part replaced by name; kr_free. */
static char *beside(const char *path, const char *name) {
  const char *slash = strrchr(path, '/');
  size_t folder = slash ? (size_t)(slash - path) + 1 : 0, n = strlen(name);
  char *other = kr_alloc(folder + n + 1, 1);
  if (!other) return NULL;
  memcpy(other, path, folder);
  memcpy(other + folder, name, n);
  return other;
}

/* Maps a file beside path, if there is one. */
static int open_beside(const char *path, const char *name, kr_mapping *file, kr_error *err) {
  char *other = beside(path, name);
  if (!other) return kr_fail_memory(err, "a path");
  int code = kr_mapping_open(other, file, NULL);
  if (code) *file = (kr_mapping){NULL, 0};
  kr_free(other);
  return code == KR_E_MEMORY ? kr_fail_memory(err, name) : KR_OK;
}

int kr_tokenizer_config_open(const char *path, kr_tokenizer_config *config, kr_error *err) {
  static const char name[] = "tokenizer_config.json";
  kr_json_value root;
  int code = open_beside(path, name, &config->file, err);
  if (!code) code = open_beside(path, "chat_template.jinja", &config->jinja, err);
  if (code || !config->file.data) return code;
  kr_error why;
  code = kr_json_check(config->file.data, config->file.size, &root, &why);
  if (code) return kr_fail(err, code, "%s: %s", name, why.message);
  static const char *const names[] = {"bos_token", "eos_token", "chat_template",
                                      "added_tokens_decoder"};
  kr_json_value m[4];
  kr_json_members(root, names, 4, m);
  config->bos = m[0], config->eos = m[1], config->chat = m[2], config->added = m[3];
  return KR_OK;
}

void kr_tokenizer_config_close(kr_tokenizer_config *config) {
  kr_mapping_close(&config->file);
  kr_mapping_close(&config->jinja);
  *config = (kr_tokenizer_config){0};
}

/* "<s>", or {"content": "<s>"}. */
kr_json_value kr_tokenizer_config_text(kr_json_value token) {
  if (kr_json_type_of(token) == KR_JSON_OBJECT) token = kr_json_member(token, "content");
  return kr_json_type_of(token) == KR_JSON_STRING ? token : (kr_json_value){NULL};
}

static kr_text read(kr_json_value string, char **room) {
  char *start = *room;
  kr_text text = kr_json_string(string, start);
  if (text.data == start) *room += text.n;
  return text;
}

/* Of the templates in a list, those with other names than "default" get keys of their own, as in
 * the models that converters make. */
static void write_named(kr_json_value list, bool has_default, char *room, kr_gguf_build *build) {
  kr_json_value key, item;
  for (kr_json_walk walk = kr_json_begin(list); kr_json_next(&walk, &key, &item);) {
    kr_json_value name = kr_json_member(item, "name"), value = kr_json_member(item, "template");
    if (kr_json_type_of(name) != KR_JSON_STRING || kr_json_type_of(value) != KR_JSON_STRING ||
        kr_json_string_size(name) > MAX_NAME)
      continue;
    char key_name[32 + MAX_NAME] = "tokenizer.chat_template.", *at = room;
    kr_text text = read(name, &at);
    memcpy(key_name + strlen(key_name), text.data, text.n);
    if (memchr(text.data, 0, text.n)) continue;
    if (!strcmp(key_name, "tokenizer.chat_template.default")) {
      if (has_default) continue;
      key_name[strlen("tokenizer.chat_template")] = 0;
    }
    kr_gguf_build_string(build, key_name, read(value, &at));
  }
}

int kr_tokenizer_config_write(const kr_tokenizer_config *config, kr_gguf_build *build,
                              kr_error *err) {
  static const char key[] = "tokenizer.chat_template";
  kr_json_type type = kr_json_type_of(config->chat);
  bool jinja = config->jinja.data;
  if (jinja)
    kr_gguf_build_string(build, key,
                         (kr_text){(const char *)config->jinja.data, config->jinja.size});
  if (type != KR_JSON_STRING && type != KR_JSON_ARRAY) return KR_OK;
  char *room = kr_alloc(config->file.size, 1); /* strings are shorter than the file */
  if (!room) return kr_fail_memory(err, "a chat template");
  if (type == KR_JSON_ARRAY)
    write_named(config->chat, jinja, room, build);
  else if (!jinja)
    kr_gguf_build_string(build, key, kr_json_string(config->chat, room));
  kr_free(room);
  return KR_OK;
}
