#include "run_chat.h"
#include "front_error.h"
#include "front_signals.h"
#include "run_prompt.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What SmolLM2's template says where a conversation gives no system message. */
static const char default_system[] =
    "You are a helpful AI assistant named SmolLM, trained by Hugging Face";

/* A turn is <|im_start|>ROLE \n CONTENT <|im_end|> \n. The two marks are put in by id and the rest
 * is encoded as plain text, so that a message that spells a mark cannot forge a turn. */
typedef struct {
  kr_run *run;
  int32_t start, end; /* ids of the marks */
  GArray *ids;        /* of int32_t: what the session has not seen yet */
  gboolean terminal;
} conversation;

static gboolean add_text(conversation *c, const char *text, gsize n, GError **error) {
  int32_t *ids;
  gsize n_ids;
  kr_error err;
  if (kr_vocab_encode(c->run->front.vocab, text, n, KR_ENCODE_NO_CONTROL, &ids, &n_ids, &err) !=
      KR_OK)
    return kr_front_fail_library(error, &err, c->run->front.path);
  g_array_append_vals(c->ids, ids, (guint)n_ids);
  kr_ids_free(ids);
  return TRUE;
}

static gboolean add_turn(conversation *c, const char *role, const char *content, gsize n,
                         GError **error) {
  g_autoptr(GString) text = g_string_new(role);
  g_string_append_c(text, '\n');
  g_string_append_len(text, content, (gssize)n);
  g_array_append_val(c->ids, c->start);
  if (!add_text(c, text->str, text->len, error)) return FALSE;
  g_array_append_val(c->ids, c->end);
  return add_text(c, "\n", 1, error);
}

/* The beginning of a reply, for the model to go on with. */
static gboolean add_reply(conversation *c, GError **error) {
  g_array_append_val(c->ids, c->start);
  return add_text(c, "assistant\n", 10, error);
}

/* The end of a reply, however it came: the template closes each. */
static gboolean close_reply(conversation *c, GError **error) {
  if (c->run->pending >= 0) g_array_append_val(c->ids, c->run->pending);
  c->run->pending = -1;
  g_array_append_val(c->ids, c->end);
  return add_text(c, "\n", 1, error);
}

static int32_t find_mark(const kr_vocab *vocab, const char *mark) {
  int32_t id = kr_vocab_find(vocab, mark);
  return id >= 0 && kr_vocab_is_control(vocab, id) ? id : -1;
}

static gboolean begin(conversation *c, kr_run *run, GError **error) {
  const char *system = run->options->system ? run->options->system : default_system;
  c->run = run;
  c->start = find_mark(run->front.vocab, "<|im_start|>");
  c->end = find_mark(run->front.vocab, "<|im_end|>");
  if (c->start < 0 || c->end < 0)
    return kr_front_fail(error, KR_EXIT_FAILED,
                         "%s: --chat needs a model that knows ChatML (<|im_start|>, <|im_end|>)",
                         run->front.path);
  c->ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
  c->terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
  return add_turn(c, "system", system, strlen(system), error);
}

/* Computes the turn and prints the reply. *ret_more: the conversation may go on. */
static gboolean take_turn(conversation *c, const char *message, gsize n, gboolean *ret_more,
                          GError **error) {
  kr_run *run = c->run;
  gint64 limit = run->options->positions > 0 ? run->options->positions : G_MAXINT64;
  kr_run_end end = KR_END_CONTEXT;
  if (!add_turn(c, "user", message, n, error) || !add_reply(c, error)) return FALSE;
  /* a first message that is too long is an error, a later one ends the conversation */
  if (c->ids->len < (guint)kr_run_room(run) || kr_session_length(run->session) == 0) {
    if (!kr_run_prompt(run, (const int32_t *)(void *)c->ids->data, c->ids->len, error))
      return FALSE;
    g_array_set_size(c->ids, 0);
    if (!kr_run_reply(run, limit, &end, error) || !kr_run_text_end(&run->text, error) ||
        !close_reply(c, error))
      return FALSE;
  }
  *ret_more = end != KR_END_CONTEXT && end != KR_END_CLOSED;
  if (end == KR_END_CONTEXT) kr_run_note_full(run);
  return TRUE;
}

/* Ctrl-C while the prompt of a turn was computed: the turn never was. */
static gboolean forgive(conversation *c, guint length, GError **error) {
  if (!kr_front_interrupted() || !g_error_matches(*error, KR_FRONT_ERROR, KR_EXIT_INTERRUPTED))
    return FALSE;
  g_clear_error(error);
  g_array_set_size(c->ids, length);
  return TRUE;
}

static gboolean take_lines(conversation *c, GError **error) {
  char *line = NULL;
  size_t size = 0;
  gboolean more = TRUE, ok = TRUE;
  while (ok && more) {
    kr_front_interrupted_clear();
    if (c->terminal) fputs("> ", stdout), fflush(stdout);
    ssize_t n = getline(&line, &size, stdin);
    if (n < 0) {
      if (c->terminal) puts("");
      if (ferror(stdin) && errno != EINTR)
        ok = kr_front_fail(error, KR_EXIT_FAILED, "standard input: %s", g_strerror(errno));
      break;
    }
    if (n > 0 && line[n - 1] == '\n') n--;
    if (n > 0 && line[n - 1] == '\r') n--;
    if (n == 0) continue;
    line[n] = '\0';
    if (c->run->options->escape) n = (ssize_t)kr_run_unescape(line, (gsize)n);
    guint before = c->ids->len;
    ok = take_turn(c, line, (gsize)n, &more, error) || forgive(c, before, error);
  }
  free(line);
  return ok;
}

gboolean kr_run_chat(kr_run *run, const GString *message, GError **error) {
  conversation c = {0};
  gboolean more;
  gboolean ok =
      begin(&c, run, error) &&
      (message ? take_turn(&c, message->str, message->len, &more, error) : take_lines(&c, error));
  if (ok && message && kr_front_interrupted())
    ok = kr_front_fail(error, KR_EXIT_INTERRUPTED, "ended by Ctrl-C");
  if (c.ids) g_array_free(c.ids, TRUE);
  return ok;
}
