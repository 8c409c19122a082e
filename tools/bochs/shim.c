/* The Bochs CPU's Python package was linked with a C library that names its C23 functions apart.
 * Preloaded, this gives those names where the C library is older; where it is newer it does no
 * harm. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int __isoc23_sscanf(const char *text, const char *format, ...);
unsigned long long __isoc23_strtoull(const char *text, char **end, int base);

int __isoc23_sscanf(const char *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int n = vsscanf(text, format, arguments);
  va_end(arguments);
  return n;
}

unsigned long long __isoc23_strtoull(const char *text, char **end, int base) {
  return strtoull(text, end, base);
}
