/* Errors: filling a kr_error with a message that is safe to print. */
#include "base/error.h"
#include "base/utf8.h"
#include <stdio.h>
#include <string.h>

static bool printable(uint32_t c) {
  if (c < 0x20 || (c >= 0x7f && c < 0xa0)) return false;
  /* marks that reorder or hide the text around them */
  return !(c >= 0x200e && c <= 0x200f) && !(c >= 0x2028 && c <= 0x202e) &&
         !(c >= 0x2066 && c <= 0x2069) && c != 0xfeff;
}

char *kr_printable(char *out, size_t size, const char *text, size_t n) {
  size_t at = 0, i = 0, mark = 0; /* mark: the last place where dots would fit */
  while (i < n) {
    uint32_t c;
    size_t length = kr_utf8_next((const uint8_t *)text + i, n - i, &c);
    bool valid = c != KR_UTF8_INVALID && printable(c);
    char escaped[20];
    size_t need = 0;
    if (valid)
      memcpy(escaped, text + i, length), need = length;
    else
      for (size_t j = 0; j < length; j++)
        need += (size_t)snprintf(escaped + need, sizeof escaped - need, "\\x%02x",
                                 (unsigned)(uint8_t)text[i + j]);
    if (at + need + 1 > size) {
      if (size >= 4) memcpy(out + mark, "...", 3), at = mark + 3;
      break;
    }
    memcpy(out + at, escaped, need);
    at += need, i += length;
    if (at + 4 <= size) mark = at;
  }
  if (size) out[at] = 0;
  return out;
}

int kr_fail(kr_error *err, int code, const char *format, ...) {
  if (!err) return code;
  char raw[1024];
  va_list args;
  va_start(args, format);
  int n = vsnprintf(raw, sizeof raw, format, args);
  va_end(args);
  if (n < 0) n = 0;
  if (n >= (int)sizeof raw) n = (int)sizeof raw - 1;
  err->code = code;
  kr_printable(err->message, sizeof err->message, raw, (size_t)n);
  return code;
}

int kr_fail_memory(kr_error *err, const char *what) {
  return kr_fail(err, KR_E_MEMORY, "out of memory: %s", what);
}

int kr_fail_prefix(kr_error *err, int code, const char *prefix) {
  if (!err) return code;
  kr_error inner = *err;
  return kr_fail(err, code, "%s: %s", prefix, inner.message);
}
