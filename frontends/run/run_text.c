#include "run_text.h"
#include "front_error.h"
#include "front_files.h"
#include "front_parse.h"
#include <errno.h>
#include <string.h>
#include <unistd.h>

void kr_run_text_init(kr_run_text *text, const kr_vocab *vocab) {
  memset(text, 0, sizeof *text);
  text->vocab = vocab;
  text->held = g_string_new(NULL);
  text->shown = g_string_new(NULL);
  kr_run_screen_init(&text->screen);
  text->screen.terminal = kr_front_is_terminal(STDOUT_FILENO);
}

void kr_run_text_clear(kr_run_text *text) {
  if (text->held) g_string_free(text->held, TRUE);
  if (text->shown) g_string_free(text->shown, TRUE);
  kr_run_screen_clear(&text->screen);
  memset(text, 0, sizeof *text);
}

static gboolean print(kr_run_text *text, const char *bytes, gsize n, GError **error) {
  if (text->closed || text->quiet || n == 0) return TRUE;
  text->any = TRUE;
  int code = kr_front_write_fd(STDOUT_FILENO, bytes, n);
  /* a reader that has seen enough (krafla-run ... | head) is no error */
  text->closed = code == EPIPE;
  if (code == 0 || code == EPIPE) return TRUE;
  return kr_front_fail(error, KR_EXIT_FAILED, "standard output: %s", g_strerror(code));
}

static gboolean print_shown(kr_run_text *text, GError **error) {
  gboolean ok = print(text, text->shown->str, text->shown->len, error);
  g_string_truncate(text->shown, 0);
  return ok;
}

gboolean kr_run_text_echo(kr_run_text *text, const char *bytes, gsize n, GError **error) {
  if (!text->screen.terminal) return print(text, bytes, n, error);
  kr_run_screen_escape(text->shown, bytes, n);
  return print_shown(text, error);
}

static gboolean print_id(kr_run_text *text, int32_t token, GError **error) {
  char number[16];
  int n = g_snprintf(number, sizeof number, text->any ? " %d" : "%d", token);
  return print(text, number, (gsize)n, error);
}

/* Valid UTF-8 of the reply. */
static gboolean say(kr_run_text *text, const char *bytes, gsize n, GError **error) {
  if (text->said) g_string_append_len(text->said, bytes, (gssize)n);
  kr_run_screen_add(&text->screen, bytes, n, text->shown);
  return print_shown(text, error);
}

static gboolean print_decoded(kr_run_text *text, const char *bytes, gsize n, GError **error) {
  if (text->ids) return TRUE;
  char *out = g_malloc(3 * n + 12);
  gsize size = kr_decoder_push(&text->decoder, bytes, n, out);
  gboolean ok = say(text, out, size, error);
  g_free(out);
  return ok;
}

const char *kr_run_text_bytes(const kr_run_text *text, int32_t token, gsize *ret_n) {
  const char *bytes = kr_vocab_bytes(text->vocab, token, 0, ret_n);
  if (!text->think || *ret_n > 0) return bytes;
  gsize n;
  const char *control = kr_vocab_bytes(text->vocab, token, 1, &n);
  gboolean mark = (n == strlen(KR_RUN_THINK) && memcmp(control, KR_RUN_THINK, n) == 0) ||
                  (n == strlen(KR_RUN_THINK_END) && memcmp(control, KR_RUN_THINK_END, n) == 0);
  if (!mark) return bytes;
  *ret_n = n;
  return control;
}

gboolean kr_run_text_echo_token(kr_run_text *text, int32_t token, GError **error) {
  if (text->ids) return print_id(text, token, error);
  gsize n;
  const char *bytes = kr_vocab_bytes(text->vocab, token, 0, &n);
  return print_decoded(text, bytes, n, error);
}

/* Where in held the first stop text begins, or -1; *ret_free is then unchanged, otherwise it is
 * the number of bytes before the earliest place where one may have begun. */
static gssize find_stop(const kr_run_text *text, gsize *ret_free) {
  const char *held = text->held->str;
  gsize n = text->held->len;
  for (gsize i = 0; i < n; i++) {
    for (const char *const *stop = text->stops; *stop; stop++) {
      gsize size = strlen(*stop);
      if (memcmp(held + i, *stop, MIN(size, n - i)) != 0) continue;
      if (size <= n - i) return (gssize)i;
      *ret_free = MIN(*ret_free, i);
    }
  }
  return -1;
}

void kr_run_text_begin(kr_run_text *text, kr_run_thought thought) {
  kr_run_screen_begin(&text->screen, thought);
  if (text->said) g_string_truncate(text->said, 0);
}

/* One token that is the opening mark begins reasoning anywhere; where it is spelled out behind
 * other text, it may as well be what the reply is about. */
static void notice_thought(kr_run_text *text, const char *bytes, gsize n) {
  if (text->think && text->held->len == 0 && text->screen.thought == KR_THOUGHT_NONE &&
      n == strlen(KR_RUN_THINK) && memcmp(bytes, KR_RUN_THINK, n) == 0)
    text->screen.thought = KR_THOUGHT_START;
}

gboolean kr_run_text_token(kr_run_text *text, int32_t token, gboolean *ret_stopped,
                           GError **error) {
  gsize n;
  const char *bytes = kr_run_text_bytes(text, token, &n);
  notice_thought(text, bytes, n);
  gssize stop = -1;
  gsize free_bytes = 0;
  *ret_stopped = FALSE;
  if (text->stops && text->stops[0]) {
    g_string_append_len(text->held, bytes, (gssize)n);
    free_bytes = text->held->len;
    stop = find_stop(text, &free_bytes);
    if (stop >= 0) free_bytes = (gsize)stop;
    bytes = text->held->str, n = free_bytes;
  }
  gboolean ok =
      text->ids ? stop >= 0 || print_id(text, token, error) : print_decoded(text, bytes, n, error);
  g_string_erase(text->held, 0, stop >= 0 ? -1 : (gssize)free_bytes);
  *ret_stopped = stop >= 0;
  return ok;
}

gboolean kr_run_text_end(kr_run_text *text, GError **error) {
  char tail[13];
  gboolean ok = print_decoded(text, text->held->str, text->held->len, error);
  g_string_truncate(text->held, 0);
  gsize n = kr_decoder_finish(&text->decoder, tail);
  if (!text->ids) ok = ok && say(text, tail, n, error);
  kr_run_screen_end(&text->screen, text->shown);
  ok = ok && print_shown(text, error) && print(text, "\n", 1, error);
  text->any = FALSE;
  return ok;
}
