/* Tokens of templates, as jinja2's lexer finds them. */
#include "text/jinja/jinja_lex.h"
#include "base/utf8.h"
#include "text/jinja/jinja_literal.h"
#include "text/jinja/jinja_unicode.h"
#include <stdio.h>

static bool error(kr_jlexer *l, const char *what) {
  if (!l->c->line) l->c->line = l->line;
  return kr_jfail(l->c, "TemplateSyntaxError", "%s", what);
}

bool kr_jlexer_init(kr_jlexer *l, kr_jctx *c, const char *source, size_t n) {
  *l = (kr_jlexer){.c = c, .line = 1, .line_starting = true, .pending = KR_J_T_END};
  if (n > KR_J_MAX_SOURCE) return error(l, "a template of more than 1 MiB");
  char *text = kr_jalloc(c, n + 1, 1);
  if (!text) return false;
  for (size_t i = 0, k; i < n; i += k) {
    uint32_t code;
    k = kr_utf8_next((const uint8_t *)source + i, n - i, &code);
    if (code == KR_UTF8_INVALID) return error(l, "it is not valid UTF-8");
    if (code == '\r') {
      text[l->n++] = '\n';
      if (i + 1 < n && source[i + 1] == '\n') k = 2;
    } else {
      memcpy(text + l->n, source + i, k);
      l->n += k;
    }
    l->line += text[l->n - 1] == '\n';
  }
  l->line = 1;
  if (l->n && text[l->n - 1] == '\n') l->n--;
  l->p = text;
  return true;
}

static void advance(kr_jlexer *l, size_t n) {
  for (size_t i = 0; i < n; i++) l->line += l->p[l->at + i] == '\n';
  if (n) l->line_starting = l->p[l->at + n - 1] == '\n';
  l->at += n;
}

static bool looking_at(const kr_jlexer *l, size_t at, const char *text) {
  size_t n = strlen(text);
  return at <= l->n && n <= l->n - at && !memcmp(l->p + at, text, n);
}

static size_t spaces(const kr_jlexer *l, size_t at) {
  return kr_jspaces(l->p + at, l->n - at);
}

/* ---- data -------------------------------------------------------------------------------------
 */

/* The bytes of "{%- raw -%}" at at, or of "{%- endraw -%}"; 0 if it is not that. *ret_sign is the
 * sign at its beginning. */
static size_t match_raw(const kr_jlexer *l, size_t at, const char *word, char *ret_sign) {
  size_t i = at + 2;
  bool end = word[0] == 'e';
  if (!looking_at(l, at, "{%")) return 0;
  *ret_sign = i < l->n && (l->p[i] == '-' || l->p[i] == '+') ? l->p[i] : 0;
  i += *ret_sign != 0;
  i += spaces(l, i);
  if (!looking_at(l, i, word)) return 0;
  i += strlen(word);
  i += spaces(l, i);
  if (looking_at(l, i, "-%}")) return i + 3 + spaces(l, i + 3) - at;
  if (end && looking_at(l, i, "+%}")) return i + 3 - at;
  if (!looking_at(l, i, "%}")) return 0;
  return i + 2 + (end && looking_at(l, i + 2, "\n")) - at;
}

/* How much of the data before a tag stays. */
static size_t strip_data(const kr_jlexer *l, size_t n, char sign, bool variable) {
  const char *data = l->p + l->at;
  if (sign == '-') return n - kr_jspaces_back(data, n);
  if (sign == '+' || variable) return n;
  size_t line = n;
  while (line > 0 && data[line - 1] != '\n') line--;
  if (!line && !l->line_starting) return n;
  return line < n && kr_jspaces(data + line, n - line) == n - line ? line : n;
}

static bool skip_comment(kr_jlexer *l, size_t start) {
  if (start >= l->n) return advance(l, l->n - l->at), true;
  for (size_t i = start; i + 1 < l->n; i++) {
    if (l->p[i] != '#' || l->p[i + 1] != '}') continue;
    char sign = i > start ? l->p[i - 1] : 0;
    size_t end = i + 2;
    if (sign == '-')
      end += spaces(l, end);
    else if (sign != '+' && looking_at(l, end, "\n"))
      end++;
    advance(l, end - l->at);
    return true;
  }
  return error(l, "Missing end of comment tag");
}

static bool give_data(kr_jlexer *l, size_t n, kr_jtoken *ret) {
  *ret = (kr_jtoken){.kind = KR_J_T_DATA, .line = l->line, .p = l->p + l->at, .n = n};
  return true;
}

/* From the beginning of a raw block to behind its end, whose data becomes a token. */
static bool give_raw(kr_jlexer *l, size_t n_begin, kr_jtoken *ret) {
  char sign;
  advance(l, n_begin);
  if (l->at == l->n) return give_data(l, 0, ret); /* as the reference, which looks no further */
  for (size_t i = l->at; i < l->n; i++) {
    size_t n = l->p[i] == '{' ? match_raw(l, i, "endraw", &sign) : 0;
    if (!n) continue;
    size_t kept = strip_data(l, i - l->at, sign, false);
    give_data(l, kept, ret);
    advance(l, i - l->at + n);
    return true;
  }
  return error(l, "Missing end of raw directive");
}

static size_t find_tag(const kr_jlexer *l) {
  for (size_t i = l->at; i + 1 < l->n; i++)
    if (l->p[i] == '{' && (l->p[i + 1] == '%' || l->p[i + 1] == '{' || l->p[i + 1] == '#'))
      return i;
  return l->n;
}

/* Data up to the next tag; the tag itself is left pending. ret->n may be 0. */
static bool next_data(kr_jlexer *l, kr_jtoken *ret) {
  char raw_sign = 0;
  size_t tag = find_tag(l);
  if (tag == l->n) {
    give_data(l, l->n - l->at, ret);
    advance(l, l->n - l->at);
    return true;
  }
  size_t raw = match_raw(l, tag, "raw", &raw_sign);
  char kind = l->p[tag + 1], sign = tag + 2 < l->n ? l->p[tag + 2] : 0;
  if (sign != '-' && sign != '+') sign = 0;
  give_data(l, strip_data(l, tag - l->at, raw ? raw_sign : sign, kind == '{'), ret);
  advance(l, tag - l->at);
  if (raw) {
    if (ret->n) return l->pending = KR_J_T_DATA, true; /* the raw block comes next */
    return give_raw(l, raw, ret);
  }
  if (kind == '#') return skip_comment(l, l->at + 2 + (sign != 0));
  l->pending = kind == '{' ? KR_J_T_VARIABLE_BEGIN : KR_J_T_BLOCK_BEGIN;
  return true;
}

static bool begin_tag(kr_jlexer *l, kr_jtoken *ret) {
  char sign = l->at + 2 < l->n ? l->p[l->at + 2] : 0;
  *ret = (kr_jtoken){.kind = l->pending, .line = l->line};
  l->state = l->pending == KR_J_T_BLOCK_BEGIN ? KR_J_IN_BLOCK : KR_J_IN_VARIABLE;
  l->pending = KR_J_T_END;
  advance(l, 2 + (sign == '-' || sign == '+'));
  return true;
}

/* ---- inside tags ------------------------------------------------------------------------------
 */

/* The bytes of the tag's end at the place, or 0. */
static size_t match_end(const kr_jlexer *l) {
  if (l->state == KR_J_IN_VARIABLE) {
    if (looking_at(l, l->at, "-}}")) return 3 + spaces(l, l->at + 3);
    return looking_at(l, l->at, "}}") ? 2 : 0;
  }
  if (looking_at(l, l->at, "-%}")) return 3 + spaces(l, l->at + 3);
  if (looking_at(l, l->at, "+%}")) return 3;
  if (!looking_at(l, l->at, "%}")) return 0;
  return 2 + looking_at(l, l->at + 2, "\n");
}

static bool balance(kr_jlexer *l, char op) {
  if (op == '(' || op == '[' || op == '{') {
    if (l->nesting == KR_J_MAX_NESTING) return error(l, "brackets are nested too deeply");
    l->brackets[l->nesting++] = op == '(' ? ')' : op == '[' ? ']' : '}';
  }
  if (op == ')' || op == ']' || op == '}') {
    char what[40] = "unexpected ' '";
    what[12] = op;
    if (!l->nesting || l->brackets[--l->nesting] != op) return error(l, what);
  }
  return true;
}

static bool read_operator(kr_jlexer *l, kr_jtoken *ret) {
  static const char *const operators[] = {"**", "//", "==", "!=", ">=", "<=", "+", "-", "/",
                                          "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                          ">",  "<",  "=",  ".",  ":",  "|",  ",", ";"};
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
    if (!looking_at(l, l->at, operators[i])) continue;
    ret->kind = KR_J_T_OPERATOR;
    strncpy(ret->op, operators[i], 2);
    if (!operators[i][1] && !balance(l, operators[i][0])) return false;
    advance(l, strlen(operators[i]));
    return true;
  }
  char what[64], shown[16];
  uint32_t code;
  size_t n = kr_utf8_next((const uint8_t *)l->p + l->at, l->n - l->at, &code);
  snprintf(what, sizeof what, "unexpected char '%s'",
           kr_printable(shown, sizeof shown, l->p + l->at, n));
  return error(l, what);
}

static bool read_name(kr_jlexer *l, size_t n, kr_jtoken *ret) {
  uint32_t first;
  *ret = (kr_jtoken){.kind = KR_J_T_NAME, .line = l->line, .p = l->p + l->at, .n = n};
  kr_utf8_next((const uint8_t *)ret->p, n, &first);
  if (kr_jis(first, KR_J_NUMERIC) && !kr_jis(first, KR_J_ALPHA))
    return error(l, "Invalid character in identifier");
  advance(l, n);
  return true;
}

/* The bytes of a word at the place. */
static size_t match_name(const kr_jlexer *l) {
  size_t i = l->at, n;
  for (; i < l->n; i += n) {
    uint32_t code;
    n = kr_utf8_next((const uint8_t *)l->p + i, l->n - i, &code);
    if (code != '_' && !kr_jis(code, KR_J_ALNUM)) break;
  }
  return i - l->at;
}

static bool read_string(kr_jlexer *l, kr_jtoken *ret) {
  char quote = l->p[l->at];
  size_t i = l->at + 1;
  while (i < l->n && l->p[i] != quote) i += l->p[i] == '\\' ? 2 : 1;
  if (i >= l->n) return error(l, "a string without an end");
  ret->kind = KR_J_T_STRING;
  const char *why = NULL;
  if (!kr_jliteral_string(l->c, l->p + l->at + 1, i - l->at - 1, &ret->value, &why))
    return why ? error(l, why) : false;
  advance(l, i + 1 - l->at);
  return true;
}

static bool next_in_tag(kr_jlexer *l, kr_jtoken *ret) {
  if (!l->nesting) {
    size_t end = match_end(l);
    if (!end) advance(l, spaces(l, l->at)), end = match_end(l);
    if (end) {
      ret->kind = l->state == KR_J_IN_BLOCK ? KR_J_T_BLOCK_END : KR_J_T_VARIABLE_END;
      ret->line = l->line;
      l->state = KR_J_IN_DATA;
      advance(l, end);
      return true;
    }
  }
  advance(l, spaces(l, l->at));
  ret->line = l->line;
  if (l->at >= l->n) return ret->kind = KR_J_T_END, true;
  char ch = l->p[l->at];
  if (ch >= '0' && ch <= '9') {
    size_t n;
    bool after_dot = l->at > 0 && l->p[l->at - 1] == '.';
    if (!kr_jliteral_number(l->c, l->p + l->at, l->n - l->at, after_dot, &ret->value, &n))
      return false;
    ret->kind = KR_J_T_NUMBER;
    advance(l, n);
    return true;
  }
  if (ch == '\'' || ch == '"') return read_string(l, ret);
  size_t name = match_name(l);
  return name ? read_name(l, name, ret) : read_operator(l, ret);
}

bool kr_jlexer_next(kr_jlexer *l, kr_jtoken *ret) {
  *ret = (kr_jtoken){.kind = KR_J_T_END, .line = l->line};
  if (l->state != KR_J_IN_DATA) return next_in_tag(l, ret);
  for (;;) {
    if (l->pending == KR_J_T_DATA) {
      char sign;
      l->pending = KR_J_T_END;
      if (!give_raw(l, match_raw(l, l->at, "raw", &sign), ret)) return false;
    } else if (l->pending != KR_J_T_END) {
      return begin_tag(l, ret);
    } else if (l->at >= l->n) {
      ret->kind = KR_J_T_END;
      return true;
    } else if (!next_data(l, ret)) {
      return false;
    }
    if (ret->n) return true;
  }
}
