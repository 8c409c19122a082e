#include "front_error.h"
#include <stdio.h>
#include <string.h>

G_DEFINE_QUARK(krafla, kr_front_error)

gboolean kr_front_fail(GError **error, int exit_code, const char *format, ...) {
  va_list args;
  va_start(args, format);
  g_autofree char *message = g_strdup_vprintf(format, args);
  va_end(args);
  g_set_error_literal(error, KR_FRONT_ERROR, exit_code, message);
  return FALSE;
}

static int exit_code_of(int status) {
  switch (status) {
  case KR_E_ARGUMENT:
    return KR_EXIT_USAGE;
  case KR_E_CPU:
    return KR_EXIT_CPU;
  case KR_E_CANCELLED:
    return KR_EXIT_INTERRUPTED;
  default:
    return KR_EXIT_FAILED;
  }
}

gboolean kr_front_fail_library(GError **error, const kr_error *err, const char *subject) {
  int code = exit_code_of(err->code);
  if (!subject) return kr_front_fail(error, code, "%s", err->message);
  return kr_front_fail(error, code, "%s: %s", subject, err->message);
}

char *kr_front_printable(const char *text, gssize n) {
  gsize left = n < 0 ? strlen(text) : (gsize)n;
  GString *out = g_string_sized_new(left + 16);
  while (left > 0) {
    gunichar c = g_utf8_get_char_validated(text, (gssize)left);
    /* C1 controls are escape sequences to some terminals; U+2028 and U+2029 break the line */
    gboolean plain =
        c < 0x110000 && c >= 0x20 && !(c >= 0x7f && c < 0xa0) && c != 0x2028 && c != 0x2029;
    gsize size = plain ? (gsize)g_unichar_to_utf8(c, NULL) : 1;
    if (plain)
      g_string_append_len(out, text, (gssize)size);
    else
      g_string_append_printf(out, "\\x%02x", (guint8)*text);
    text += size, left -= size;
  }
  return g_string_free(out, FALSE);
}

int kr_front_report(GError *error) {
  int code = error->domain == KR_FRONT_ERROR   ? error->code
             : error->domain == G_OPTION_ERROR ? KR_EXIT_USAGE
                                               : KR_EXIT_FAILED;
  if (code != KR_EXIT_INTERRUPTED) {
    /* not g_printerr, which would turn UTF-8 into the locale's charset */
    g_autofree char *line = kr_front_printable(error->message, -1);
    fprintf(stderr, "error: %s\n", line);
  }
  g_error_free(error);
  return code;
}
