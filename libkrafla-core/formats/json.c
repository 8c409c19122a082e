/* JSON: the check, and the walk that may rely on it. */
#include "formats/json.h"
#include "base/utf8.h"
#include <string.h>

#define MAX_DEPTH 64

/* ---- the check ------------------------------------------------------------------------------
 */

typedef struct checker {
  const uint8_t *at, *end, *start;
  kr_error *err;
} checker;

static int fail(const checker *c, const char *what) {
  size_t line = 1;
  for (const uint8_t *p = c->start; p < c->at; p++) line += *p == '\n';
  if (c->at == c->end)
    return kr_fail(c->err, KR_E_FORMAT, "line %zu: the JSON text is truncated", line);
  return kr_fail(c->err, KR_E_FORMAT, "line %zu: no valid JSON: %s", line, what);
}

static inline const uint8_t *blanks(const uint8_t *at) {
  while (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t') at++;
  return at;
}

static void skip_blanks(checker *c) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\r' || *c->at == '\t'))
    c->at++;
}

/* The four digits behind "\u", or -1. */
static int32_t hex4(const uint8_t *s) {
  int32_t code = 0;
  for (int i = 0; i < 4; i++) {
    int c = s[i], letter = c | 0x20;
    int digit = c >= '0' && c <= '9'             ? c - '0'
                : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10
                                                 : -1;
    if (digit < 0) return -1;
    code = code << 4 | digit;
  }
  return code;
}

/* At a backslash. */
static int check_escape(checker *c) {
  size_t left = (size_t)(c->end - c->at);
  if (left >= 2 && c->at[1] && strchr("\"\\/bfnrt", c->at[1])) return c->at += 2, KR_OK;
  if (left < 6 || c->at[1] != 'u') return fail(c, "an escape that is none");
  int32_t code = hex4(c->at + 2);
  if (code < 0) return fail(c, "an escape that is none");
  if (code < 0xd800 || code > 0xdfff) return c->at += 6, KR_OK;
  int32_t low = left >= 12 && c->at[6] == '\\' && c->at[7] == 'u' ? hex4(c->at + 8) : -1;
  if (code > 0xdbff || low < 0xdc00 || low > 0xdfff) return fail(c, "half of a surrogate pair");
  return c->at += 12, KR_OK;
}

static int check_string(checker *c) {
  if (c->at == c->end || *c->at != '"') return fail(c, "a string should begin here");
  for (c->at++; c->at < c->end;) {
    uint8_t byte = *c->at;
    if (byte == '"') return c->at++, KR_OK;
    if (byte == '\\') {
      int code = check_escape(c);
      if (code) return code;
    } else if (byte < 0x20) {
      return fail(c, "a control character in a string");
    } else if (byte < 0x80) {
      c->at++;
    } else {
      uint32_t code;
      size_t n = kr_utf8_next(c->at, (size_t)(c->end - c->at), &code);
      if (code == KR_UTF8_INVALID) return fail(c, "bytes that are not UTF-8");
      c->at += n;
    }
  }
  return fail(c, "");
}

static const uint8_t *digits(const checker *c, const uint8_t *at) {
  while (at < c->end && *at >= '0' && *at <= '9') at++;
  return at;
}

static int check_number(checker *c) {
  const uint8_t *at = c->at + (*c->at == '-'), *end = digits(c, at);
  bool ok = end > at && (*at != '0' || end == at + 1);
  if (ok && end < c->end && *end == '.') {
    at = end + 1, end = digits(c, at);
    ok = end > at;
  }
  if (ok && end < c->end && (*end | 0x20) == 'e') {
    at = end + 1;
    if (at < c->end && (*at == '+' || *at == '-')) at++;
    end = digits(c, at);
    ok = end > at;
  }
  if (!ok) return fail(c, "neither a value nor its end");
  /* the walk finds a number's end without bounds: something has to stand there */
  c->at = end;
  return c->at == c->end ? fail(c, "") : KR_OK;
}

static int check_word(checker *c) {
  static const char *const words[] = {"true", "false", "null"};
  for (int i = 0; i < 3; i++) {
    size_t n = strlen(words[i]);
    if ((size_t)(c->end - c->at) >= n && !memcmp(c->at, words[i], n)) return c->at += n, KR_OK;
  }
  return check_number(c);
}

/* One value that is no array and no object, or the opening of one: *ret_open says which. */
static int check_simple(checker *c, uint8_t *ret_open) {
  *ret_open = 0;
  if (c->at == c->end) return fail(c, "");
  if (*c->at == '"') return check_string(c);
  if (*c->at == '[' || *c->at == '{') return *ret_open = *c->at++, KR_OK;
  return check_word(c);
}

static int check_key(checker *c) {
  int code = check_string(c);
  if (code) return code;
  skip_blanks(c);
  if (c->at == c->end || *c->at != ':') return fail(c, "a colon should stand here");
  c->at++;
  skip_blanks(c);
  return KR_OK;
}

static int check_value(checker *c) {
  uint8_t open[MAX_DEPTH]; /* what was opened and is not closed */
  int depth = 0, code = KR_OK;
  bool first = true; /* nothing stands in the innermost yet */
  do {
    skip_blanks(c);
    if (depth && c->at < c->end && *c->at == (open[depth - 1] == '[' ? ']' : '}')) {
      c->at++, depth--, first = false;
      continue;
    }
    if (depth && !first) {
      if (c->at == c->end || *c->at != ',') return fail(c, "a comma should stand here");
      c->at++;
      skip_blanks(c);
    }
    if (depth && open[depth - 1] == '{' && (code = check_key(c))) return code;
    uint8_t opened;
    if ((code = check_simple(c, &opened))) return code;
    first = opened;
    if (opened && depth == MAX_DEPTH) return fail(c, "values too deep in one another");
    if (opened) open[depth++] = opened;
  } while (depth);
  return KR_OK;
}

int kr_json_check(const uint8_t *data, size_t n, kr_json_value *ret_root, kr_error *err) {
  checker c = {data, data + n, data, err};
  if (n >= 3 && !memcmp(data, "\xef\xbb\xbf", 3)) c.at += 3;
  skip_blanks(&c);
  const uint8_t *root = c.at;
  int code = check_value(&c);
  if (code) return code;
  skip_blanks(&c);
  if (c.at < c.end) return fail(&c, "something behind the end of the text");
  *ret_root = (kr_json_value){root};
  return KR_OK;
}

/* ---- the walk, over checked text ------------------------------------------------------------
 */

static const uint8_t *string_end(const uint8_t *at) {
  for (at++; *at != '"'; at++)
    if (*at == '\\') at++;
  return at + 1;
}

static const uint8_t *value_end(const uint8_t *at) {
  size_t depth = 0;
  do {
    switch (*at) {
    case '"':
      at = string_end(at);
      break;
    case '[':
    case '{':
      depth++, at++;
      break;
    case ']':
    case '}':
      depth--, at++;
      break;
    case ' ': /* of texts for people, most bytes are this */
      do at++;
      while (*at == ' ');
      break;
    case '\n':
    case '\r':
    case '\t':
    case ',':
    case ':':
      at++;
      break;
    default: /* a word or a number, in one piece */
      while ((*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') || *at == '-' || *at == '+' ||
             *at == '.' || *at == 'E')
        at++;
    }
  } while (depth);
  return at;
}

kr_json_type kr_json_type_of(kr_json_value value) {
  if (!value.at) return KR_JSON_ABSENT;
  switch (*value.at) {
  case '{':
    return KR_JSON_OBJECT;
  case '[':
    return KR_JSON_ARRAY;
  case '"':
    return KR_JSON_STRING;
  case 't':
  case 'f':
    return KR_JSON_BOOL;
  case 'n':
    return KR_JSON_NULL;
  default:
    return KR_JSON_NUMBER;
  }
}

const char *kr_json_type_name(kr_json_type type) {
  static const char *const names[] = {
      [KR_JSON_ABSENT] = "missing",   [KR_JSON_NULL] = "null",       [KR_JSON_BOOL] = "a bool",
      [KR_JSON_NUMBER] = "a number",  [KR_JSON_STRING] = "a string", [KR_JSON_ARRAY] = "an array",
      [KR_JSON_OBJECT] = "an object",
  };
  return names[type];
}

kr_json_walk kr_json_begin(kr_json_value value) {
  return (kr_json_walk){value.at + 1, *value.at == '{'};
}

bool kr_json_next(kr_json_walk *walk, kr_json_value *ret_key, kr_json_value *ret_value) {
  const uint8_t *at = blanks(walk->at);
  if (*at == ',') at = blanks(at + 1);
  if (*at == ']' || *at == '}') return false;
  if (walk->object) {
    ret_key->at = at;
    at = blanks(string_end(at));
    at = blanks(at + 1);
  }
  ret_value->at = at;
  walk->at = value_end(at);
  return true;
}

size_t kr_json_string_size(kr_json_value string) {
  return (size_t)(string_end(string.at) - string.at) - 2;
}

static size_t put_escape(const uint8_t **at, char *out) {
  static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
  const uint8_t *s = *at + 1;
  if (*s != 'u') {
    const char *known = strchr(from, *s);
    *out = known ? to[known - from] : (char)*s;
    return *at += 2, 1;
  }
  uint32_t code = (uint32_t)hex4(s + 1);
  *at += 6;
  if (code >= 0xd800 && code <= 0xdfff) {
    code = 0x10000 + ((code - 0xd800) << 10) + ((uint32_t)hex4(*at + 2) - 0xdc00);
    *at += 6;
  }
  return kr_utf8_put(code, out);
}

kr_text kr_json_string(kr_json_value string, char *room) {
  const uint8_t *at = string.at + 1;
  while (*at != '"' && *at != '\\') at++;
  size_t n = (size_t)(at - string.at) - 1;
  if (*at == '"') return (kr_text){(const char *)string.at + 1, n};
  memcpy(room, string.at + 1, n);
  while (*at != '"') {
    if (*at == '\\')
      n += put_escape(&at, room + n);
    else
      room[n++] = (char)*at++;
  }
  return (kr_text){room, n};
}

bool kr_json_equals(kr_json_value string, const char *text) {
  if (kr_json_type_of(string) != KR_JSON_STRING) return false;
  const uint8_t *at = string.at + 1;
  while (*at != '"') {
    char out[4];
    size_t n = 1;
    if (*at == '\\')
      n = put_escape(&at, out);
    else
      out[0] = (char)*at++;
    for (size_t i = 0; i < n; i++)
      if (!*text || *text++ != out[i]) return false;
  }
  return !*text;
}

bool kr_json_true(kr_json_value value) {
  return value.at && *value.at == 't';
}

bool kr_json_int(kr_json_value value, int64_t min, int64_t max, int64_t *ret) {
  if (kr_json_type_of(value) != KR_JSON_NUMBER) return false;
  const uint8_t *at = value.at;
  bool negative = *at == '-';
  int64_t x = 0;
  for (at += negative; *at >= '0' && *at <= '9'; at++) {
    if (x > (INT64_MAX - 9) / 10) return false;
    x = x * 10 + (*at - '0');
  }
  if (*at == '.' || (*at | 0x20) == 'e') return false;
  x = negative ? -x : x;
  if (x < min || x > max) return false;
  *ret = x;
  return true;
}

void kr_json_members(kr_json_value object, const char *const *names, size_t n,
                     kr_json_value *ret_values) {
  for (size_t i = 0; i < n; i++) ret_values[i] = (kr_json_value){NULL};
  if (kr_json_type_of(object) != KR_JSON_OBJECT) return;
  kr_json_value key, value;
  for (kr_json_walk walk = kr_json_begin(object); kr_json_next(&walk, &key, &value);)
    for (size_t i = 0; i < n; i++)
      if (kr_json_equals(key, names[i])) ret_values[i] = value;
}

kr_json_value kr_json_member(kr_json_value object, const char *name) {
  kr_json_value value;
  kr_json_members(object, &name, 1, &value);
  return value;
}
