#include "run_screen.h"
#include <string.h>

static const char dim_on[] = "\033[2m";
const char kr_run_screen_plain[] = "\033[0m";

void kr_run_screen_init(kr_run_screen *screen) {
  memset(screen, 0, sizeof *screen);
  screen->held = g_string_new(NULL);
}

void kr_run_screen_clear(kr_run_screen *screen) {
  if (screen->held) g_string_free(screen->held, TRUE);
  memset(screen, 0, sizeof *screen);
}

void kr_run_screen_begin(kr_run_screen *screen, kr_run_thought thought) {
  screen->thought = thought;
  g_string_truncate(screen->held, 0);
}

void kr_run_screen_escape(GString *out, const char *text, gsize n) {
  const guchar *s = (const guchar *)text;
  gsize done = 0;
  for (gsize i = 0; i < n; i++) {
    gboolean c1 = s[i] == 0xc2 && i + 1 < n && s[i + 1] >= 0x80 && s[i + 1] < 0xa0;
    if (!c1 && s[i] != 0x7f && (s[i] >= 0x20 || s[i] == '\n' || s[i] == '\t')) continue;
    g_string_append_len(out, text + done, (gssize)(i - done));
    if (c1) g_string_append_printf(out, "\\x%02x", s[i++]);
    g_string_append_printf(out, "\\x%02x", s[i]);
    done = i + 1;
  }
  g_string_append_len(out, text + done, (gssize)(n - done));
}

static void show(kr_run_screen *screen, const char *text, gsize n, GString *out) {
  gboolean thought = screen->thought == KR_THOUGHT_INSIDE;
  if (n == 0 || (thought && screen->hide)) return;
  if (screen->dim && thought != screen->dimmed) {
    g_string_append(out, thought ? dim_on : kr_run_screen_plain);
    screen->dimmed = thought;
  }
  if (screen->terminal)
    kr_run_screen_escape(out, text, n);
  else
    g_string_append_len(out, text, (gssize)n);
}

static gsize blanks(const char *text, gsize n) {
  gsize i = 0;
  while (i < n && text[i] && strchr(" \n\t\r", text[i])) i++;
  return i;
}

/* Shows and takes off the first n held bytes. */
static void pass(kr_run_screen *screen, gsize n, GString *out) {
  show(screen, screen->held->str, n, out);
  g_string_erase(screen->held, 0, (gssize)n);
}

/* How many bytes at the end of the text begin a mark, which is longer. */
static gsize partial(const char *text, gsize n, const char *mark) {
  for (gsize size = MIN(strlen(mark) - 1, n); size > 0; size--)
    if (memcmp(text + n - size, mark, size) == 0) return size;
  return 0;
}

/* Reasoning begins, or does not, or that is not yet known: FALSE. */
static gboolean pass_start(kr_run_screen *screen, GString *out) {
  static const char mark[] = KR_RUN_THINK;
  const GString *held = screen->held;
  gsize at = blanks(held->str, held->len), left = held->len - at;
  if (memcmp(held->str + at, mark, MIN(left, sizeof mark - 1)) != 0) {
    screen->thought = KR_THOUGHT_NONE;
    return TRUE;
  }
  if (left < sizeof mark - 1) return FALSE;
  if (!screen->hide) pass(screen, at, out);
  screen->thought = KR_THOUGHT_INSIDE;
  return TRUE;
}

/* Where the closing mark stands, or NULL. */
static const char *find_end(const char *text, gsize n) {
  static const char mark[] = KR_RUN_THINK_END;
  const char *end = text + n;
  for (; (text = memchr(text, mark[0], (gsize)(end - text))) != NULL; text++)
    if ((gsize)(end - text) >= sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0)
      return text;
  return NULL;
}

/* Up to the closing mark, or as far as it cannot have begun: FALSE. */
static gboolean pass_inside(kr_run_screen *screen, GString *out) {
  const char *text = screen->held->str;
  gsize n = screen->held->len;
  const char *end = find_end(text, n);
  if (end) {
    pass(screen, (gsize)(end - text) + strlen(KR_RUN_THINK_END), out);
    screen->thought = screen->hide ? KR_THOUGHT_BEHIND : KR_THOUGHT_NONE;
    return TRUE;
  }
  pass(screen, n - partial(text, n, KR_RUN_THINK_END), out);
  return FALSE;
}

static gboolean pass_behind(kr_run_screen *screen) {
  g_string_erase(screen->held, 0, (gssize)blanks(screen->held->str, screen->held->len));
  if (screen->held->len == 0) return FALSE;
  screen->thought = KR_THOUGHT_NONE;
  return TRUE;
}

void kr_run_screen_add(kr_run_screen *screen, const char *text, gsize n, GString *out) {
  g_string_append_len(screen->held, text, (gssize)n);
  gboolean more = TRUE;
  while (more) {
    switch (screen->thought) {
    case KR_THOUGHT_START:
      more = pass_start(screen, out);
      break;
    case KR_THOUGHT_INSIDE:
      more = pass_inside(screen, out);
      break;
    case KR_THOUGHT_BEHIND:
      more = pass_behind(screen);
      break;
    case KR_THOUGHT_NONE:
      pass(screen, screen->held->len, out);
      more = FALSE;
    }
  }
}

void kr_run_screen_end(kr_run_screen *screen, GString *out) {
  if (screen->thought == KR_THOUGHT_START) screen->thought = KR_THOUGHT_NONE;
  pass(screen, screen->held->len, out);
  if (screen->dimmed) g_string_append(out, kr_run_screen_plain);
  screen->dimmed = FALSE;
  screen->thought = KR_THOUGHT_NONE;
}
