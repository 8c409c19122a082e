#include "run_edit.h"

#if defined(KR_HAVE_LIBEDIT)
#include "front_signals.h"
#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { HISTORY = 1000 };

typedef struct {
  EditLine *edit;
  HistoryW *history;
  wchar_t prompt[8];
} editor;

static wchar_t *prompt_of(EditLine *edit) {
  editor *e;
  el_wget(edit, EL_CLIENTDATA, &e);
  return e->prompt;
}

static volatile sig_atomic_t resumed;

static void on_resume(int number) {
  (void)number;
  resumed = 1;
}

/* Ctrl-Z and back: the shell has changed how the terminal works. */
static void resume(EditLine *edit) {
  resumed = 0;
  el_wset(edit, EL_PREP_TERM, 0);
  el_wset(edit, EL_PREP_TERM, 1);
  el_wset(edit, EL_REFRESH);
}

/* A signal that comes just before a read would not end it. */
static gboolean wait_for_input(EditLine *edit) {
  struct pollfd wanted = {.fd = STDIN_FILENO, .events = POLLIN};
  while (!kr_front_interrupted()) {
    if (resumed) resume(edit);
    if (poll(&wanted, 1, 100) > 0) return TRUE;
  }
  return FALSE;
}

/* One character of the terminal, which is UTF-8 whatever the locale says. The library's own
 * function goes on after a signal; here Ctrl-C ends the line. */
static int read_character(EditLine *edit, wchar_t *ret) {
  char bytes[6];
  for (gsize n = 0; n < sizeof bytes;) {
    if (!wait_for_input(edit)) return -1;
    ssize_t got = read(STDIN_FILENO, bytes + n, 1);
    if (got < 0 && errno == EINTR && !kr_front_interrupted()) continue;
    if (got < 0) return -1;
    if (got == 0) return 0;
    gunichar c = g_utf8_get_char_validated(bytes, (gssize)++n);
    if (c == (gunichar)-2) continue; /* more is to come */
    *ret = c == (gunichar)-1 ? 0xfffd : (wchar_t)c;
    return 1;
  }
  return -1;
}

void *kr_run_edit_new(void) {
  editor *e = g_new0(editor, 1);
  HistEventW event;
  /* so that the library knows how wide characters are; numbers stay as they are */
  if (!setlocale(LC_CTYPE, "C.UTF-8")) setlocale(LC_CTYPE, "");
  e->edit = el_init("krafla-run", stdin, stdout, stderr);
  e->history = history_winit();
  if (!e->edit || !e->history) {
    kr_run_edit_free(e);
    return NULL;
  }
  const struct sigaction action = {.sa_handler = on_resume};
  sigaction(SIGCONT, &action, NULL);
  el_wset(e->edit, EL_CLIENTDATA, e);
  el_wset(e->edit, EL_PROMPT, prompt_of);
  el_wset(e->edit, EL_EDITOR, L"emacs");
  el_wset(e->edit, EL_GETCFN, read_character);
  history_w(e->history, &event, H_SETSIZE, HISTORY);
  history_w(e->history, &event, H_SETUNIQUE, 1);
  el_wset(e->edit, EL_HIST, history_w, e->history);
  return e;
}

void kr_run_edit_free(void *given) {
  editor *e = given;
  if (!e) return;
  if (e->history) history_wend(e->history);
  if (e->edit) el_end(e->edit);
  g_free(e);
}

gboolean kr_run_edit_line(void *given, const char *prompt, GString *line) {
  editor *e = given;
  HistEventW event;
  int n = 0;
  for (gsize i = 0; i < G_N_ELEMENTS(e->prompt) - 1 && i <= strlen(prompt); i++)
    e->prompt[i] = (wchar_t)prompt[i];
  /* before the prompt is seen: what is typed then is for the editor, Ctrl-D above all */
  el_wset(e->edit, EL_PREP_TERM, 1);
  const wchar_t *text = el_wgets(e->edit, &n);
  if (!text || n <= 0 || kr_front_interrupted()) {
    puts("");
    fflush(stdout);
    return FALSE;
  }
  for (int i = 0; i < n && text[i] != L'\n'; i++)
    if (text[i] > 0 && text[i] <= 0x10ffff) g_string_append_unichar(line, (gunichar)text[i]);
  if (line->len > 0) history_w(e->history, &event, H_ENTER, text);
  return TRUE;
}

#else

void *kr_run_edit_new(void) {
  return NULL;
}

void kr_run_edit_free(void *editor) {
  (void)editor;
}

gboolean kr_run_edit_line(void *editor, const char *prompt, GString *line) {
  (void)editor, (void)prompt, (void)line;
  return FALSE;
}

#endif
