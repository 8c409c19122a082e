#include "run_lines.h"
#include "front_error.h"
#include "front_parse.h"
#include "front_signals.h"
#include "run_edit.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#if defined(G_OS_UNIX)
#include <poll.h>
#endif

enum { MAX_LINE = 16 << 20 };

void kr_run_lines_open(kr_run_lines *lines, gboolean escape) {
  const char *kind = g_getenv("TERM");
  lines->escape = escape;
  lines->interactive = kr_front_is_terminal(STDIN_FILENO);
  lines->prompt = lines->interactive && kr_front_is_terminal(STDOUT_FILENO);
  if (lines->prompt && kind && strcmp(kind, "dumb") != 0) lines->editor = kr_run_edit_new();
}

void kr_run_lines_close(kr_run_lines *lines) {
  kr_run_edit_free(lines->editor);
  memset(lines, 0, sizeof *lines);
}

/* A signal that comes just before a read would not end it. Lines of a terminal come one by one, so
 * none waits in stdin's buffer. */
static void wait_for_line(const kr_run_lines *lines) {
#if defined(G_OS_UNIX)
  struct pollfd wanted = {.fd = STDIN_FILENO, .events = POLLIN};
  while (lines->interactive && !kr_front_interrupted())
    if (poll(&wanted, 1, 100) > 0) break;
#else
  (void)lines;
#endif
}

static gboolean read_plain(GString *line, gboolean *ret_more, GError **error) {
  int c = EOF;
  errno = 0;
  while ((c = getc(stdin)) != EOF && c != '\n' && line->len < MAX_LINE)
    g_string_append_c(line, (char)c);
  if (c != EOF && c != '\n')
    return kr_front_fail(error, KR_EXIT_FAILED, "standard input: a line is larger than %d bytes",
                         MAX_LINE);
  *ret_more = c == '\n' || line->len > 0;
  if (c != EOF) return TRUE;
  if (kr_front_interrupted()) *ret_more = FALSE;
  gboolean failed = ferror(stdin) && errno != EINTR;
  clearerr(stdin);
  return !failed || kr_front_fail(error, KR_EXIT_FAILED, "standard input: %s", g_strerror(errno));
}

static gboolean read_line(kr_run_lines *lines, const char *prompt, GString *line,
                          gboolean *ret_more, GError **error) {
  if (lines->editor) {
    *ret_more = kr_run_edit_line(lines->editor, prompt, line);
    return TRUE;
  }
  if (lines->prompt) fputs(prompt, stdout), fflush(stdout);
  wait_for_line(lines);
  *ret_more = FALSE;
  if (!(lines->interactive && kr_front_interrupted()) && !read_plain(line, ret_more, error))
    return FALSE;
  if (line->len > 0 && line->str[line->len - 1] == '\r') g_string_set_size(line, line->len - 1);
  if (!*ret_more && lines->prompt) puts(""), fflush(stdout);
  return TRUE;
}

/* Takes the backslash off that continues a line. */
static gboolean continues(const kr_run_lines *lines, GString *line) {
  gsize n = 0;
  while (n < line->len && line->str[line->len - 1 - n] == '\\') n++;
  if (n == 0 || (lines->escape && n % 2 == 0)) return FALSE;
  g_string_set_size(line, line->len - 1);
  return TRUE;
}

gboolean kr_run_lines_next(kr_run_lines *lines, GString *line, gboolean *ret_more, GError **error) {
  g_autoptr(GString) part = g_string_new(NULL);
  g_string_truncate(line, 0);
  kr_front_interrupted_clear();
  if (!read_line(lines, "> ", line, ret_more, error)) return FALSE;
  while (*ret_more && continues(lines, line)) {
    gboolean more = TRUE;
    g_string_truncate(part, 0);
    if (!read_line(lines, ". ", part, &more, error)) return FALSE;
    if (!more) {
      *ret_more = !kr_front_interrupted();
      break;
    }
    g_string_append_c(line, '\n');
    g_string_append_len(line, part->str, (gssize)part->len);
    if (line->len > MAX_LINE)
      return kr_front_fail(error, KR_EXIT_FAILED,
                           "standard input: a message is larger than %d "
                           "bytes",
                           MAX_LINE);
  }
  return TRUE;
}
