#include "run_template.h"
#include "front_error.h"
#include "front_files.h"
#include "front_json.h"
#include "run_messages.h"
#include "run_screen.h"
#include <string.h>

enum { MAX_FILE = 16 << 20 };

/* ---- which one ------------------------------------------------------------------------------ */

gboolean kr_run_template_is_name(const char *name) {
  return strcmp(name, "auto") == 0 || kr_chat_template_named(name, NULL);
}

char *kr_run_template_names(void) {
  GString *names = g_string_new("auto");
  for (gsize i = 0; kr_chat_template_name(i); i++)
    g_string_append_printf(names, ", %s", kr_chat_template_name(i));
  return g_string_free(names, FALSE);
}

static gboolean knows_chatml(const kr_vocab *vocab) {
  int32_t start = kr_vocab_find(vocab, "<|im_start|>"), end = kr_vocab_find(vocab, "<|im_end|>");
  return start >= 0 && end >= 0 && kr_vocab_is_control(vocab, start) &&
         kr_vocab_is_control(vocab, end);
}

/* The source and where it comes from; file holds it where it is a file's. */
static const char *choose(kr_run_template *t, const kr_run_options *options, const kr_front *front,
                          GString *file, GError **error) {
  const char *name = options->chat_template;
  if (strcmp(name, "auto") != 0) {
    t->label = g_strdup_printf("--chat %s", name);
    const char *source = kr_chat_template_named(name, &t->stop);
    if (!file) return source;
  }
  if (file) {
    g_free(t->label);
    t->label = g_strdup(options->template_file);
    return file->str;
  }
  /* a tokenizer of its own may bring the template that fits it */
  const char *source = kr_vocab_chat_template(front->vocab), *tokenizer = options->engine.tokenizer;
  t->label = g_strdup(source && tokenizer ? tokenizer : front->path);
  if (!source) source = kr_model_chat_template(front->model);
  if (source) return source;
  if (knows_chatml(front->vocab)) return kr_chat_template_named("chatml", &t->stop);
  g_autofree char *names = kr_run_template_names();
  kr_front_fail(error, KR_EXIT_FAILED,
                "%s: has no chat template, and does not know ChatML; choose one by --chat=NAME "
                "(%s) or --template FILE",
                front->path, strchr(names, ' ') + 1);
  return NULL;
}

/* ---- what every rendering is asked with ------------------------------------------------------ */

static void add_token(GString *out, const char *member, const kr_vocab *vocab, int32_t id) {
  gsize n;
  if (id < 0) return;
  const char *bytes = kr_vocab_bytes(vocab, id, 1, &n);
  if (!g_utf8_validate(bytes, (gssize)n, NULL)) return;
  g_string_append_printf(out, ", \"%s\": ", member);
  kr_front_json_write(out, bytes, n);
}

/* The time stands still, so that a template that tells it renders earlier turns as before. */
static char *fixed_members(const kr_vocab *vocab) {
  GString *out = g_string_new(", \"add_generation_prompt\": true");
  add_token(out, "bos_token", vocab, kr_vocab_bos(vocab));
  add_token(out, "eos_token", vocab, kr_vocab_eos(vocab));
  g_autoptr(GDateTime) now = g_date_time_new_now_local();
  g_autofree char *text = now ? g_date_time_format(now, "%Y-%m-%dT%H:%M:%S") : NULL;
  if (text) g_string_append_printf(out, ", \"now\": \"%s\"", text);
  return g_string_free(out, FALSE);
}

static void find_first_bytes(kr_run_template *t) {
  for (int32_t id = 0; id < kr_vocab_size(t->vocab); id++) {
    gsize n;
    const char *bytes =
        kr_vocab_is_control(t->vocab, id) ? kr_vocab_bytes(t->vocab, id, 1, &n) : NULL;
    if (bytes && n > 0) t->first[(guint8)*bytes] = TRUE;
  }
}

gboolean kr_run_template_open(kr_run_template *t, const kr_run_options *options,
                              const kr_front *front, GError **error) {
  g_autoptr(GString) file = NULL;
  kr_error err;
  t->vocab = front->vocab;
  if (options->template_file) {
    file = kr_front_read_some(options->template_file, MAX_FILE, error);
    if (!file) return FALSE;
  }
  const char *source = choose(t, options, front, file, error);
  if (!source) return FALSE;
  if (kr_template_new(source, file ? file->len : strlen(source), &t->compiled, &err) != KR_OK)
    return kr_front_fail_library(error, &err, t->label);
  t->fixed = fixed_members(t->vocab);
  find_first_bytes(t);
  return TRUE;
}

void kr_run_template_clear(kr_run_template *t) {
  kr_template_free(t->compiled);
  g_free(t->label);
  g_free(t->fixed);
  memset(t, 0, sizeof *t);
}

/* ---- messages that spell control tokens ------------------------------------------------------
 *
 * A template gives text, in which a message that spells <|im_end|> would end its turn. In such a
 * message, and in no other, a guard, a character that stands nowhere else, is put behind each
 * character that may begin a control token. In the rendering the guards tell which characters came
 * from there; they are taken out again, and those characters are encoded as plain text. */

/* Whether a message, encoded by itself, has a control token. */
static gboolean spells_control(const kr_run_template *t, const GString *content,
                               gboolean *ret_spells, GError **error) {
  int32_t *ids;
  gsize n;
  kr_error err;
  if (kr_vocab_encode(t->vocab, content->str, content->len, 0, &ids, &n, &err) != KR_OK)
    return kr_front_fail_library(error, &err, t->label);
  *ret_spells = FALSE;
  for (gsize i = 0; i < n && !*ret_spells; i++)
    *ret_spells = kr_vocab_is_control(t->vocab, ids[i]) != 0;
  kr_ids_free(ids);
  return TRUE;
}

static gboolean check_messages(const kr_run_template *t, const GPtrArray *messages,
                               gboolean *ret_any, GError **error) {
  *ret_any = FALSE;
  for (guint i = 0; i < messages->len; i++) {
    kr_run_message *m = g_ptr_array_index(messages, i);
    if (!m->checked && !spells_control(t, m->content, &m->marks, error)) return FALSE;
    m->checked = TRUE;
    *ret_any = *ret_any || m->marks;
  }
  return TRUE;
}

/* A character of the private planes that no message has, or 0. */
static gunichar choose_guard(const GPtrArray *messages) {
  for (gunichar guard = 0x10ff00; guard < 0x10ff40; guard++) {
    char text[7] = {0};
    gboolean free = TRUE;
    g_unichar_to_utf8(guard, text);
    for (guint i = 0; i < messages->len && free; i++) {
      const kr_run_message *m = g_ptr_array_index(messages, i);
      const char *at = m->content->str, *end = at + m->content->len;
      for (; free && (at = memchr(at, text[0], (gsize)(end - at))) != NULL; at++)
        free = end - at < 4 || memcmp(at, text, 4) != 0;
    }
    if (free) return guard;
  }
  return 0;
}

/* The marks of reasoning are what templates look for in replies. */
static gboolean is_thought(const char *at, gsize n) {
  return (n >= strlen(KR_RUN_THINK) && memcmp(at, KR_RUN_THINK, strlen(KR_RUN_THINK)) == 0) ||
         (n >= strlen(KR_RUN_THINK_END) &&
          memcmp(at, KR_RUN_THINK_END, strlen(KR_RUN_THINK_END)) == 0);
}

static kr_run_message *guarded(const kr_run_template *t, const kr_run_message *m, gunichar guard) {
  kr_run_message *copy = g_new0(kr_run_message, 1);
  gboolean reply = strcmp(m->role, "assistant") == 0;
  copy->role = m->role;
  copy->content = g_string_sized_new(m->content->len + 64);
  const char *at = m->content->str, *end = at + m->content->len;
  while (at < end) {
    const char *next = g_utf8_next_char(at);
    g_string_append_len(copy->content, at, next - at);
    if (t->first[(guint8)*at] && !(reply && is_thought(at, (gsize)(end - at))))
      g_string_append_unichar(copy->content, guard);
    at = next;
  }
  return copy;
}

/* Takes the guards out. A template that cut the text behind a character left its guard alone. */
static void take_guards(const kr_run_template *t, gunichar guard, kr_run_rendering *r) {
  char text[7] = {0};
  gsize size = (gsize)g_unichar_to_utf8(guard, text), out = 0, before = 0;
  char *s = r->text->str;
  for (gsize in = 0; in < r->text->len;) {
    if (r->text->len - in >= size && memcmp(s + in, text, size) == 0) {
      const kr_text_span span = {before, out, NULL, 0};
      const kr_text_span *last =
          r->plain->len ? &g_array_index(r->plain, kr_text_span, r->plain->len - 1) : NULL;
      if (out > before && t->first[(guint8)s[before]] && (!last || last->end <= before))
        g_array_append_val(r->plain, span);
      in += size;
      continue;
    }
    gsize n = (gsize)(g_utf8_next_char(s + in) - (s + in));
    before = out;
    memmove(s + out, s + in, n);
    in += n, out += n;
  }
  g_string_truncate(r->text, out);
}

/* ---- rendering ------------------------------------------------------------------------------ */

static char *request_of(const kr_run_template *t, const GPtrArray *messages, gunichar guard,
                        gsize *ret_n) {
  GString *out = g_string_new("{\"messages\": ");
  g_autoptr(GPtrArray) shown = g_ptr_array_new(), copies = g_ptr_array_new();
  for (guint i = 0; i < messages->len; i++) {
    kr_run_message *m = g_ptr_array_index(messages, i);
    if (guard && m->marks) g_ptr_array_add(copies, m = guarded(t, m, guard));
    g_ptr_array_add(shown, m);
  }
  kr_run_messages_write(shown, out);
  for (guint i = 0; i < copies->len; i++) {
    kr_run_message *m = g_ptr_array_index(copies, i);
    g_string_free(m->content, TRUE);
    g_free(m);
  }
  g_string_append(out, t->fixed);
  g_string_append_c(out, '}');
  *ret_n = out->len;
  return g_string_free(out, FALSE);
}

gboolean kr_run_template_render(const kr_run_template *t, const GPtrArray *messages,
                                kr_run_rendering *ret, GError **error) {
  gboolean marks;
  gsize n;
  char *text;
  kr_error err;
  if (!check_messages(t, messages, &marks, error)) return FALSE;
  gunichar guard = marks ? choose_guard(messages) : 0;
  if (marks && !guard)
    return kr_front_fail(error, KR_EXIT_FAILED,
                         "%s: the messages spell control tokens and use up the private characters",
                         t->label);
  g_autofree char *request = request_of(t, messages, guard, &n);
  if (kr_template_render(t->compiled, request, n, &text, &n, &err) != KR_OK)
    return kr_front_fail(error, KR_EXIT_FAILED, "%s: %s", t->label, err.message);
  ret->text = g_string_new_len(text, (gssize)n);
  ret->plain = g_array_new(FALSE, FALSE, sizeof(kr_text_span));
  kr_text_free(text);
  if (guard) take_guards(t, guard, ret);
  return TRUE;
}

void kr_run_rendering_clear(kr_run_rendering *rendering) {
  if (rendering->text) g_string_free(rendering->text, TRUE);
  if (rendering->plain) g_array_free(rendering->plain, TRUE);
  memset(rendering, 0, sizeof *rendering);
}
