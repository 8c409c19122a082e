/* Errors inside the core: how a kr_error is filled. */
#ifndef KR_BASE_ERROR_H
#define KR_BASE_ERROR_H

#include <krafla/krafla.h>
#include <stdarg.h>

#if defined(__MINGW32__) /* whose printf is the compiler's own by default, Microsoft's */
#define KR_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#define KR_CHECKED             __attribute__((warn_unused_result))
#elif defined(__GNUC__)
#define KR_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define KR_CHECKED             __attribute__((warn_unused_result))
#else
#define KR_PRINTF(text, first)
#define KR_CHECKED
#endif

/* Fills err (may be NULL) and returns code. The message is cut to fit and made printable: control
 * characters and bytes that are not UTF-8 become \xNN, so text from files may be given as it is. */
int kr_fail(kr_error *err, int code, const char *format, ...) KR_PRINTF(3, 4);

/* kr_fail for when memory is gone; what names what could not be had. Returns KR_E_MEMORY. */
int kr_fail_memory(kr_error *err, const char *what);

/* Puts "prefix: " before the message of a failure that is passed on. Returns code. */
int kr_fail_prefix(kr_error *err, int code, const char *prefix);

/* Copies n bytes of text into out, made printable as above and cut with "..." where they do not
 * fit; always ended. Returns out. */
char *kr_printable(char *out, size_t size, const char *text, size_t n);

#endif
