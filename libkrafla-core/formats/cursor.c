/* Reading a mapped file forward. */
#include "formats/cursor.h"
#include <inttypes.h>
#include <stdio.h>

const char *kr_shown(kr_text name, char out[KR_SHOWN]) {
  return kr_printable(out, KR_SHOWN, name.data ? name.data : "", name.n);
}

int kr_cursor_fail(const kr_cursor *cursor, int code, const char *format, ...) {
  if (!cursor->err) return code;
  char text[400], shown[KR_SHOWN];
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  if (!cursor->kind) return kr_fail(cursor->err, code, "%s", text);
  if (!cursor->name.data)
    return kr_fail(cursor->err, code, "%s %" PRIu64 " of %" PRIu64 ": %s", cursor->kind,
                   cursor->index + 1, cursor->count, text);
  return kr_fail(cursor->err, code, "%s '%s' (%" PRIu64 " of %" PRIu64 "): %s", cursor->kind,
                 kr_shown(cursor->name, shown), cursor->index + 1, cursor->count, text);
}

int kr_cursor_take(kr_cursor *cursor, uint64_t n, const char *what, const uint8_t **ret) {
  size_t left = kr_cursor_left(cursor);
  if (n > left)
    return kr_cursor_fail(cursor, KR_E_FORMAT,
                          "the file is truncated: %s at offset %zu takes %" PRIu64
                          " bytes, %zu are left",
                          what, cursor->at, n, left);
  *ret = cursor->data + cursor->at;
  cursor->at += (size_t)n;
  return KR_OK;
}

int kr_cursor_u32(kr_cursor *cursor, const char *what, uint32_t *ret) {
  const uint8_t *bytes = NULL;
  int code = kr_cursor_take(cursor, 4, what, &bytes);
  if (!code) *ret = kr_load_u32(bytes);
  return code;
}

int kr_cursor_u64(kr_cursor *cursor, const char *what, uint64_t *ret) {
  const uint8_t *bytes = NULL;
  int code = kr_cursor_take(cursor, 8, what, &bytes);
  if (!code) *ret = kr_load_u64(bytes);
  return code;
}

int kr_cursor_text(kr_cursor *cursor, const char *what, kr_text *ret) {
  const uint8_t *bytes = NULL;
  uint64_t n;
  if (kr_cursor_left(cursor) < 8) { /* made into text only here: a vocabulary has many strings */
    char length[64];
    (void)snprintf(length, sizeof length, "the length of %s", what);
    return kr_cursor_take(cursor, 8, length, &bytes);
  }
  int code = kr_cursor_u64(cursor, what, &n);
  if (!code) code = kr_cursor_take(cursor, n, what, &bytes);
  if (!code) *ret = (kr_text){(const char *)bytes, (size_t)n};
  return code;
}
