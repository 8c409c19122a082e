/* Case, classes and places of characters. */
#include "text/jinja/jinja_unicode.h"
#include "base/utf8.h"

static bool in_ranges(const uint32_t *ranges, uint32_t n, uint32_t code) {
  uint32_t low = 0, high = n; /* numbers that are <= code: low of them at least */
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (ranges[middle] <= code)
      low = middle + 1;
    else
      high = middle;
  }
  return low & 1;
}

static bool is_space(uint32_t c) {
  return (c >= 9 && c <= 13) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
         c == 0x3000;
}

bool kr_jis(uint32_t code, kr_jclass of) {
#define IN(name) in_ranges(kr_case_is_##name, kr_case_n_is_##name, code)
  switch (of) {
  case KR_J_LOWER:
    return IN(lower);
  case KR_J_UPPER:
    return IN(upper);
  case KR_J_TITLE:
    return IN(title);
  case KR_J_IGNORABLE:
    return IN(ignorable);
  case KR_J_PRINTABLE:
    return code < 0x7f ? code >= 0x20 : IN(printable);
  case KR_J_DECIMAL:
    return IN(decimal);
  case KR_J_DIGIT:
    return IN(digit);
  case KR_J_NUMERIC:
    return IN(numeric);
  case KR_J_ALPHA:
    return IN(alpha);
  case KR_J_ALNUM:
    return IN(alpha) || IN(decimal) || IN(digit) || IN(numeric);
  default:
    return is_space(code);
  }
#undef IN
}

/* ---- case -------------------------------------------------------------------------------------
 */

typedef struct mapping {
  const kr_case_run *runs;
  const kr_case_special *specials;
  const uint32_t *n_runs, *n_specials;
} mapping;

static const mapping upper = {kr_case_upper, kr_case_special_upper, &kr_case_n_upper,
                              &kr_case_n_special_upper};
static const mapping lower = {kr_case_lower, kr_case_special_lower, &kr_case_n_lower,
                              &kr_case_n_special_lower};
static const mapping title = {kr_case_title, kr_case_special_title, &kr_case_n_title,
                              &kr_case_n_special_title};

/* Writes what code maps to as UTF-8: at most 12 bytes. */
static size_t map(const mapping *m, uint32_t code, char *out) {
  if (code < 0x80) {
    bool change = m == &lower ? code >= 'A' && code <= 'Z' : code >= 'a' && code <= 'z';
    out[0] = (char)(change ? code ^ 0x20 : code);
    return 1;
  }
  for (uint32_t i = 0; i < *m->n_specials; i++) {
    const kr_case_special *s = &m->specials[i];
    if (s->code != code) continue;
    size_t n = 0;
    for (int k = 0; k < 3 && s->to[k]; k++) n += kr_utf8_put(s->to[k], out + n);
    return n;
  }
  uint32_t from = 0, to = *m->n_runs;
  while (from < to) {
    uint32_t middle = from + (to - from) / 2;
    const kr_case_run *r = &m->runs[middle];
    if (code < r->first) {
      to = middle;
    } else if (code > r->last) {
      from = middle + 1;
    } else {
      if ((code - r->first) % r->step == 0) code = (uint32_t)((int32_t)code + r->delta);
      break;
    }
  }
  return kr_utf8_put(code, out);
}

static size_t before(const char *p, size_t at) {
  while (at > 0 && ((uint8_t)p[--at] & 0xc0) == 0x80) continue;
  return at;
}

static uint32_t point(const kr_jstring *s, size_t at, size_t *ret_n) {
  uint32_t code;
  *ret_n = kr_utf8_next((const uint8_t *)s->p + at, s->n - at, &code);
  return code;
}

static bool is_cased(uint32_t code) {
  return kr_jis(code, KR_J_LOWER) || kr_jis(code, KR_J_UPPER) || kr_jis(code, KR_J_TITLE);
}

/* Whether a capital sigma at at, n bytes long, ends a word: SpecialCasing's Final_Sigma. */
static bool ends_word(kr_jctx *c, const kr_jstring *s, size_t at, size_t n) {
  size_t i = at, k;
  uint32_t code = 0;
  bool cased = false;
  while (i > 0 && !c->code) {
    i = before(s->p, i);
    code = point(s, i, &k);
    if (!kr_jcharge(c, 0) || !kr_jis(code, KR_J_IGNORABLE)) {
      cased = is_cased(code);
      break;
    }
  }
  if (!cased) return false;
  for (i = at + n; i < s->n && kr_jcharge(c, 0); i += k) {
    code = point(s, i, &k);
    if (!kr_jis(code, KR_J_IGNORABLE)) return !is_cased(code);
  }
  return true;
}

static size_t to_lower(kr_jctx *c, const kr_jstring *s, size_t at, uint32_t code, size_t n,
                       char *out) {
  if (code == 0x3a3) return kr_utf8_put(ends_word(c, s, at, n) ? 0x3c2 : 0x3c3, out);
  return map(&lower, code, out);
}

bool kr_jcase_of(kr_jctx *c, const kr_jstring *s, kr_jcase to, kr_jvalue *ret) {
  size_t mark = c->n_out, n;
  bool in_word = false;
  for (size_t at = 0; at < s->n; at += n) {
    char out[16];
    uint32_t code = point(s, at, &n);
    size_t k;
    bool up = to == KR_J_TO_UPPER || (to == KR_J_TO_SWAPPED && kr_jis(code, KR_J_LOWER));
    bool first = (to == KR_J_TO_CAPITAL && at == 0) || (to == KR_J_TO_TITLE && !in_word);
    bool keep = to == KR_J_TO_SWAPPED && !up && !kr_jis(code, KR_J_UPPER);
    if (to == KR_J_TO_TITLE) in_word = is_cased(code);
    if (keep)
      k = kr_utf8_put(code, out);
    else if (up || first)
      k = map(up ? &upper : &title, code, out);
    else
      k = to_lower(c, s, at, code, n, out);
    if (!kr_jout(c, out, k)) return false;
  }
  if (!kr_jtake(c, mark, ret)) return false;
  ret->s->markup = s->markup;
  return true;
}

/* ---- places -----------------------------------------------------------------------------------
 */

size_t kr_jspaces(const char *p, size_t n) {
  size_t at = 0;
  while (at < n) {
    uint32_t code;
    size_t k = kr_utf8_next((const uint8_t *)p + at, n - at, &code);
    if (!is_space(code)) break;
    at += k;
  }
  return at;
}

size_t kr_jspaces_back(const char *p, size_t n) {
  size_t end = n;
  while (end > 0) {
    uint32_t code;
    size_t at = before(p, end);
    kr_utf8_next((const uint8_t *)p + at, end - at, &code);
    if (!is_space(code)) break;
    end = at;
  }
  return n - end;
}

size_t kr_joffset(const kr_jstring *s, size_t i) {
  if (kr_jis_ascii(s)) return i;
  size_t at = 0;
  for (; i > 0 && at < s->n; i--) {
    at++;
    while (at < s->n && ((uint8_t)s->p[at] & 0xc0) == 0x80) at++;
  }
  return at;
}

bool kr_jfind(kr_jctx *c, const kr_jstring *s, size_t from, const kr_jstring *needle, size_t *ret) {
  size_t n = needle->n, work = 0;
  *ret = SIZE_MAX;
  if (from > s->n || n > s->n - from) return true;
  if (!n) return *ret = from, true;
  const char *end = s->p + s->n - n + 1;
  for (const char *p = s->p + from; p < end; p++) {
    const char *next = memchr(p, needle->p[0], (size_t)(end - p));
    if (!next) return kr_jcharge(c, (size_t)(end - p));
    size_t same = 1;
    while (same < n && next[same] == needle->p[same]) same++;
    work += (size_t)(next - p) + same * 8; /* a byte here costs more than one that is copied */
    if (same == n) {
      *ret = (size_t)(next - s->p);
      return kr_jcharge(c, work);
    }
    if (work > 1 << 16) {
      if (!kr_jcharge(c, work)) return false;
      work = 0;
    }
    p = next;
  }
  return kr_jcharge(c, work);
}

bool kr_jfind_last(kr_jctx *c, const kr_jstring *s, size_t end, const kr_jstring *needle,
                   size_t *ret) {
  size_t n = needle->n, work = 0;
  *ret = SIZE_MAX;
  if (n > end) return true;
  for (size_t at = end - n;; at--) {
    size_t same = 0;
    while (same < n && s->p[at + same] == needle->p[same]) same++;
    work += 8 + same * 8;
    if (same == n) return *ret = at, kr_jcharge(c, work);
    if (!at) return kr_jcharge(c, work);
    if (work > 1 << 16) {
      if (!kr_jcharge(c, work)) return false;
      work = 0;
    }
  }
}

size_t kr_jline_break(const char *p, size_t n) {
  uint32_t code;
  size_t k = kr_utf8_next((const uint8_t *)p, n, &code);
  if (code == '\r') return n > 1 && p[1] == '\n' ? 2 : 1;
  bool is_break = (code >= 10 && code <= 13) || (code >= 0x1c && code <= 0x1e) || code == 0x85 ||
                  code == 0x2028 || code == 0x2029;
  return is_break ? k : 0;
}
