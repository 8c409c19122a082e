#include "run_messages.h"
#include "front_error.h"
#include "front_files.h"
#include "front_json.h"
#include <string.h>

enum { MAX_FILE = 64 << 20 };

static const char *const roles[] = {"system", "user", "assistant"};

static void message_free(gpointer data) {
  kr_run_message *message = data;
  g_free(message->role);
  g_string_free(message->content, TRUE);
  g_free(message);
}

GPtrArray *kr_run_messages_new(void) {
  return g_ptr_array_new_with_free_func(message_free);
}

static kr_run_message *message_new(const char *role, const char *content, gsize n) {
  kr_run_message *message = g_new0(kr_run_message, 1);
  message->role = g_strdup(role);
  message->content = g_string_sized_new(n);
  kr_decoder decoder = {{0}};
  g_autofree char *text = g_malloc(3 * n + 12);
  gsize size = kr_decoder_push(&decoder, content, n, text);
  g_string_append_len(message->content, text, (gssize)size);
  size = kr_decoder_finish(&decoder, text);
  g_string_append_len(message->content, text, (gssize)size);
  return message;
}

void kr_run_messages_add(GPtrArray *messages, const char *role, const char *content, gsize n) {
  g_ptr_array_add(messages, message_new(role, content, n));
}

gboolean kr_run_messages_have_system(const GPtrArray *messages) {
  const kr_run_message *first = messages->len ? g_ptr_array_index(messages, 0) : NULL;
  return first && strcmp(first->role, "system") == 0;
}

void kr_run_messages_set_system(GPtrArray *messages, const char *content) {
  if (kr_run_messages_have_system(messages)) g_ptr_array_remove_index(messages, 0);
  if (content) g_ptr_array_insert(messages, 0, message_new("system", content, strlen(content)));
}

/* ---- files ---------------------------------------------------------------------------------- */

void kr_run_messages_write(const GPtrArray *messages, GString *out) {
  for (guint i = 0; i < messages->len; i++) {
    const kr_run_message *m = g_ptr_array_index(messages, i);
    g_string_append(out, i ? ",\n{\"role\": " : "[{\"role\": ");
    kr_front_json_write(out, m->role, strlen(m->role));
    g_string_append(out, ", \"content\": ");
    kr_front_json_write(out, m->content->str, m->content->len);
    g_string_append_c(out, '}');
  }
  g_string_append(out, messages->len ? "]" : "[]");
}

gboolean kr_run_messages_save(const GPtrArray *messages, const char *path, GError **error) {
  g_autoptr(GString) out = g_string_new("{\"messages\": ");
  kr_run_messages_write(messages, out);
  g_string_append(out, "}\n");
  kr_front_file *file = kr_front_file_new(path, error);
  if (!file) return FALSE;
  if (kr_front_file_write(file, out->str, out->len, error))
    return kr_front_file_commit(file, error);
  kr_front_file_abandon(file);
  return FALSE;
}

typedef struct {
  kr_front_json json;
  const char *path;
  GString *text, *key;
  GPtrArray *messages;
} loader;

/* What is wrong, and where; member may be NULL. */
static gboolean fail(const loader *l, const char *member, const char *what, GError **error) {
  g_autofree char *index =
      l->messages ? g_strdup_printf("messages[%u]", l->messages->len) : g_strdup("messages");
  return kr_front_fail(error, KR_EXIT_FAILED, "%s: %s%s%s %s", l->path, index, member ? "." : "",
                       member ? member : "", what);
}

static gboolean load_role(loader *l, char **ret_role, GError **error) {
  g_clear_pointer(ret_role, g_free);
  if (!kr_front_json_string(&l->json, l->text)) return fail(l, "role", l->json.what, error);
  for (gsize i = 0; i < G_N_ELEMENTS(roles); i++)
    if (strcmp(roles[i], l->text->str) == 0) *ret_role = g_strdup(roles[i]);
  return *ret_role || fail(l, "role", "is not system, user or assistant", error);
}

static gboolean load_content(loader *l, GString **ret_content, GError **error) {
  if (!*ret_content) *ret_content = g_string_new(NULL);
  return kr_front_json_string(&l->json, *ret_content) || fail(l, "content", l->json.what, error);
}

static gboolean load_message(loader *l, GError **error) {
  g_autofree char *role = NULL;
  g_autoptr(GString) content = NULL;
  gboolean more = TRUE;
  if (!kr_front_json_open(&l->json, '{')) return fail(l, NULL, l->json.what, error);
  for (gboolean first = TRUE;; first = FALSE) {
    if (!kr_front_json_next(&l->json, '{', first, &more) ||
        (more && !kr_front_json_key(&l->json, l->key)))
      return fail(l, NULL, l->json.what, error);
    if (!more) break;
    gboolean ok = TRUE;
    if (strcmp(l->key->str, "role") == 0)
      ok = load_role(l, &role, error);
    else if (strcmp(l->key->str, "content") == 0)
      ok = load_content(l, &content, error);
    else
      ok = kr_front_json_skip(&l->json) || fail(l, NULL, l->json.what, error);
    if (!ok) return FALSE;
  }
  if (!role || !content) return fail(l, role ? "content" : "role", "is missing", error);
  kr_run_messages_add(l->messages, role, content->str, content->len);
  return TRUE;
}

static gboolean load_messages(loader *l, GError **error) {
  gboolean more = TRUE;
  if (!kr_front_json_open(&l->json, '[')) return fail(l, NULL, l->json.what, error);
  g_clear_pointer(&l->messages, g_ptr_array_unref);
  l->messages = kr_run_messages_new();
  for (gboolean first = TRUE;; first = FALSE) {
    if (!kr_front_json_next(&l->json, '[', first, &more))
      return kr_front_fail(error, KR_EXIT_FAILED, "%s: messages %s", l->path, l->json.what);
    if (!more) return TRUE;
    if (!load_message(l, error)) return FALSE;
  }
}

static gboolean load(loader *l, const GString *file, GError **error) {
  gboolean more = TRUE;
  kr_front_json *json = &l->json;
  gboolean ok = kr_front_json_begin(json, file->str, file->len) && kr_front_json_open(json, '{');
  for (gboolean first = TRUE; ok && more; first = FALSE) {
    ok = kr_front_json_next(json, '{', first, &more) && (!more || kr_front_json_key(json, l->key));
    if (!ok || !more) break;
    if (strcmp(l->key->str, "messages") != 0)
      ok = kr_front_json_skip(json);
    else if (!load_messages(l, error))
      return FALSE;
  }
  ok = ok && kr_front_json_finish(json);
  if (!ok) return kr_front_fail(error, KR_EXIT_FAILED, "%s: %s", l->path, json->what);
  return l->messages || fail(l, NULL, "is missing", error);
}

GPtrArray *kr_run_messages_load(const char *path, GError **error) {
  g_autoptr(GString) file = kr_front_read_some(path, MAX_FILE, error);
  if (!file) return NULL;
  loader l = {.path = path, .text = g_string_new(NULL), .key = g_string_new(NULL)};
  gboolean ok = load(&l, file, error);
  g_string_free(l.text, TRUE);
  g_string_free(l.key, TRUE);
  if (ok) return l.messages;
  if (l.messages) g_ptr_array_unref(l.messages);
  return NULL;
}
