/* Errors of the programs: one GError domain whose codes are the exit codes.
 *
 *   0    success
 *   1    a file could not be read or is damaged, memory is short, the model fails
 *   2    usage: an option or its value
 *   3    the CPU lacks what the chosen backend needs
 *   130  ended by Ctrl-C */
#ifndef KR_FRONT_ERROR_H
#define KR_FRONT_ERROR_H

#include <glib.h>
#include <krafla/krafla.h>

#define KR_FRONT_ERROR kr_front_error_quark()
GQuark kr_front_error_quark(void);

enum { KR_EXIT_FAILED = 1, KR_EXIT_USAGE = 2, KR_EXIT_CPU = 3, KR_EXIT_INTERRUPTED = 130 };

/* Sets *error and returns FALSE. File names and texts may be given as they are: what is not
 * printable is escaped when the message is shown. */
gboolean kr_front_fail(GError **error, int exit_code, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Sets *error from a failure of the library and returns FALSE; "subject: " is put before the
 * message unless subject is NULL. */
gboolean kr_front_fail_library(GError **error, const kr_error *err, const char *subject);

/* Frees error after showing it on standard error, as one line "error: ...", and returns the exit
 * code. Nothing is shown for KR_EXIT_INTERRUPTED. Errors of GOption are usage errors. */
int kr_front_report(GError *error);

/* n bytes (-1: up to the zero byte) as valid UTF-8 without control characters: other bytes become
 * \xNN. For g_free. */
char *kr_front_printable(const char *text, gssize n);

#endif
