#include "run_chat.h"
#include "front_error.h"
#include "front_signals.h"
#include "run_commands.h"
#include "run_prompt.h"
#include <stdio.h>
#include <string.h>

/* ---- the beginning and the end -------------------------------------------------------------- */

/* What the template's own end of a reply is: a token, or a text where the model has none for it. */
static void find_stop(kr_run_chat *c) {
  kr_run *run = c->run;
  const char *stop = c->chat_template.stop;
  if (!stop || run->options->ignore_eos) return;
  run->stop = kr_vocab_find(run->front.vocab, stop);
  if (run->stop >= 0) return;
  GPtrArray *stops = g_ptr_array_new();
  for (char **s = run->options->stops; s && *s; s++) g_ptr_array_add(stops, g_strdup(*s));
  g_ptr_array_add(stops, g_strdup(stop));
  g_ptr_array_add(stops, NULL);
  c->stops = (char **)g_ptr_array_free(stops, FALSE);
  run->text.stops = (const char *const *)c->stops;
}

static gboolean begin(kr_run_chat *c, kr_run *run, gboolean lines, GError **error) {
  const kr_run_options *o = run->options;
  c->run = run;
  if (!kr_run_template_open(&c->chat_template, o, &run->front, error)) return FALSE;
  c->messages = kr_run_messages_new();
  if (o->system) kr_run_messages_set_system(c->messages, o->system);
  kr_run_context_init(&c->context);
  c->context.may_reset = lines;
  if (lines) kr_run_lines_open(&c->lines, o->escape);
  c->said = g_array_new(FALSE, FALSE, sizeof(int32_t));
  c->text = g_string_new(NULL);
  run->said = c->said;
  run->text.said = c->text;
  run->text.think = TRUE;
  run->text.screen.hide = o->hide_thinking;
  const char *kind = g_getenv("TERM");
  run->text.screen.dim = run->text.screen.terminal && kind && strcmp(kind, "dumb") != 0;
  if (run->text.screen.dim) kr_front_signals_farewell(kr_run_screen_plain);
  find_stop(c);
  return TRUE;
}

static void end(kr_run_chat *c) {
  kr_run *run = c->run;
  run->said = NULL;
  run->text.said = NULL;
  run->text.stops = NULL;
  kr_run_lines_close(&c->lines);
  kr_run_template_clear(&c->chat_template);
  kr_run_context_clear(&c->context);
  if (c->messages) g_ptr_array_unref(c->messages);
  if (c->said) g_array_free(c->said, TRUE);
  if (c->text) g_string_free(c->text, TRUE);
  g_strfreev(c->stops);
}

/* ---- turns ---------------------------------------------------------------------------------- */

void kr_run_chat_show_turn(const kr_run_chat *c) {
  fprintf(stderr,
          "turn: %" G_GINT64_FORMAT " positions computed, %" G_GINT64_FORMAT
          " kept, %u said; template and tokenizer: %.2f ms\n",
          c->context.computed, c->context.kept, c->said->len, (double)c->context.rendering / 1e3);
}

/* The opening mark of reasoning, if the template has begun the reply with it, else "". */
static const char *opening_of(const GString *text) {
  gsize n = text->len;
  while (n > 0 && text->str[n - 1] && strchr(" \n\t", text->str[n - 1])) n--;
  gsize size = strlen(KR_RUN_THINK);
  if (n < size || memcmp(text->str + n - size, KR_RUN_THINK, size) != 0) return "";
  return text->str + n - size;
}

/* Brings the messages into the session. *ret_opening as above; g_free. */
static gboolean prepare(kr_run_chat *c, char **ret_opening, GError **error) {
  kr_run_rendering rendering = {0};
  gint64 started = g_get_monotonic_time(), computing = c->run->prompt_time;
  gboolean ok = kr_run_template_render(&c->chat_template, c->messages, &rendering, error) &&
                kr_run_context_compute(&c->context, c->run, &rendering, error);
  if (ok) *ret_opening = g_strdup(opening_of(rendering.text));
  kr_run_rendering_clear(&rendering);
  computing = c->run->prompt_time - computing;
  c->context.rendering = g_get_monotonic_time() - started - computing;
  return ok;
}

static void note_full(const kr_run_chat *c) {
  g_autofree char *advice = kr_run_full_advice(c->run);
  fprintf(stderr,
          "note: the context of %d positions is full; /reset forgets the conversation; %s\n",
          kr_engine_n_ctx(c->run->front.engine), advice);
}

/* Prints the reply, which goes into the messages however it ended. */
static gboolean reply(kr_run_chat *c, const char *opening, kr_run_end *ret_end, GError **error) {
  kr_run *run = c->run;
  gint64 limit = run->options->positions > 0 ? run->options->positions : G_MAXINT64;
  g_array_set_size(c->said, 0);
  kr_run_text_begin(&run->text, *opening ? KR_THOUGHT_INSIDE : KR_THOUGHT_START);
  if (!kr_run_reply(run, limit, ret_end, error) || !kr_run_text_end(&run->text, error))
    return FALSE;
  run->pending = -1;
  kr_run_context_add_reply(&c->context, run, c->text, c->said);
  g_autoptr(GString) content = g_string_new(opening);
  g_string_append_len(content, c->text->str, (gssize)c->text->len);
  kr_run_messages_add(c->messages, "assistant", content->str, content->len);
  if (run->options->profile) kr_run_chat_show_turn(c);
  return TRUE;
}

/* A turn that cannot be taken leaves the conversation as it was: *ret_refused. */
static gboolean take_turn(kr_run_chat *c, const char *message, gsize n, kr_run_end *ret_end,
                          gboolean *ret_refused, GError **error) {
  g_autofree char *opening = NULL;
  kr_run_messages_add(c->messages, "user", message, n);
  *ret_refused = !prepare(c, &opening, error);
  if (!*ret_refused) return reply(c, opening, ret_end, error);
  g_ptr_array_set_size(c->messages, (gint)c->messages->len - 1);
  return FALSE;
}

/* ---- one message, or lines ------------------------------------------------------------------ */

static gboolean take_message(kr_run_chat *c, const GString *message, GError **error) {
  kr_run_end how = KR_END_TOKEN;
  gboolean refused;
  if (!take_turn(c, message->str, message->len, &how, &refused, error)) return FALSE;
  if (how == KR_END_CONTEXT) kr_run_note_full(c->run);
  return how != KR_END_INTERRUPTED || kr_front_fail(error, KR_EXIT_INTERRUPTED, "ended by Ctrl-C");
}

/* A command, or a turn. *ret_more: the conversation goes on. */
static gboolean take_line(kr_run_chat *c, GString *line, gboolean *ret_more, gboolean *ret_refused,
                          GError **error) {
  kr_run_end how = KR_END_TOKEN;
  *ret_more = *ret_refused = TRUE;
  if (kr_run_is_command(line)) return kr_run_command(c, line, error);
  if (line->str[0] == '/') g_string_erase(line, 0, 1);
  if (c->run->options->escape) g_string_set_size(line, kr_run_unescape(line->str, line->len));
  if (!take_turn(c, line->str, line->len, &how, ret_refused, error)) return FALSE;
  if (how == KR_END_CONTEXT) note_full(c);
  if (how == KR_END_INTERRUPTED && !c->lines.interactive)
    return kr_front_fail(error, KR_EXIT_INTERRUPTED, "ended by Ctrl-C");
  *ret_more = how != KR_END_CLOSED && (how != KR_END_CONTEXT || c->lines.interactive);
  return TRUE;
}

/* Somebody at a terminal is told what was refused, and goes on. */
static gboolean forgive(const kr_run_chat *c, gboolean refused, GError **error) {
  if (!refused || !c->lines.interactive) return FALSE;
  if (kr_front_report(g_steal_pointer(error)) == KR_EXIT_INTERRUPTED) puts(""), fflush(stdout);
  return TRUE;
}

static gboolean take_lines(kr_run_chat *c, GError **error) {
  g_autoptr(GString) line = g_string_new(NULL);
  gboolean ok = TRUE, more = TRUE;
  while (ok && more) {
    gboolean refused = FALSE;
    ok = kr_run_lines_next(&c->lines, line, &more, error);
    if (!ok || !more || line->len == 0) continue;
    ok = take_line(c, line, &more, &refused, error) || forgive(c, refused, error);
  }
  if (ok && kr_front_interrupted() && !c->lines.interactive)
    ok = kr_front_fail(error, KR_EXIT_INTERRUPTED, "ended by Ctrl-C");
  return ok;
}

gboolean kr_run_converse(kr_run *run, const GString *message, GError **error) {
  kr_run_chat c = {0};
  gboolean ok = begin(&c, run, message == NULL, error) &&
                (message ? take_message(&c, message, error) : take_lines(&c, error));
  if (!ok && run->text.any) kr_run_text_end(&run->text, NULL);
  end(&c);
  return ok;
}
