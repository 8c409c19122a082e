/* Replacement of invalid UTF-8, and canonical composition (NFC). */
#include "text/normalize.h"
#include "base/utf8.h"
#include "text/unicode.h"

int kr_text_clean(const char *text, size_t n, kr_bytes *out, const char **ret_text, size_t *ret_n,
                  kr_error *err) {
  const uint8_t *s = (const uint8_t *)text;
  size_t at = 0, copied = 0;
  out->n = 0;
  while (at < n) {
    uint32_t code = s[at];
    size_t length = code < 0x80 ? 1 : kr_utf8_next(s + at, n - at, &code);
    if (code == KR_UTF8_INVALID) {
      if (!kr_bytes_add(out, text + copied, at - copied) || !kr_bytes_add(out, "\xef\xbf\xbd", 3))
        return kr_fail_memory(err, "text");
      copied = at + length;
    }
    at += length;
  }
  if (!copied) return *ret_text = text, *ret_n = n, KR_OK;
  if (!kr_bytes_add(out, text + copied, n - copied)) return kr_fail_memory(err, "text");
  *ret_text = out->data, *ret_n = out->n;
  return KR_OK;
}

/* ---- NFC ------------------------------------------------------------------------------------ */

enum { /* Hangul: syllables are composed of jamo by arithmetic (Unicode 16, 3.12) */
       HANGUL = 0xac00,
       HANGUL_L = 0x1100,
       HANGUL_V = 0x1161,
       HANGUL_T = 0x11a7,
       N_L = 19,
       N_V = 21,
       N_T = 28
};

/* A starter and what may compose with it or be reordered behind it. An element is a code point in
 * 21 bits and its combining class above them, so that the classes sort. */
typedef struct nfc_run {
  uint32_t *data, *spare; /* kr_array_free; spare is as large as data */
  size_t n, capacity;
  kr_bytes *out;
} nfc_run;

#define ELEMENT(code, ccc) ((code) | (uint32_t)(ccc) << 21)
#define CODE(element)      ((element)&0x1fffff)
#define CCC(element)       ((element) >> 21)

static bool push(nfc_run *run, uint32_t element) {
  if (run->n == run->capacity) {
    size_t capacity = run->capacity ? run->capacity * 2 : 64;
    uint32_t *data = kr_array_grow(run->data, capacity, sizeof *data);
    if (!data) return false;
    run->data = data;
    uint32_t *spare = kr_array_grow(run->spare, capacity, sizeof *spare);
    if (!spare) return false;
    run->spare = spare, run->capacity = capacity;
  }
  run->data[run->n++] = element;
  return true;
}

/* Sorts marks by combining class, stably; long runs by counting, so that time stays linear. */
static void sort_marks(uint32_t *marks, uint32_t *spare, size_t n) {
  if (n <= 32) {
    for (size_t i = 1; i < n; i++) {
      uint32_t mark = marks[i];
      size_t k = i;
      for (; k && CCC(marks[k - 1]) > CCC(mark); k--) marks[k] = marks[k - 1];
      marks[k] = mark;
    }
    return;
  }
  size_t place[257] = {0};
  for (size_t i = 0; i < n; i++) place[CCC(marks[i]) + 1]++;
  for (size_t c = 1; c < 257; c++) place[c] += place[c - 1];
  for (size_t i = 0; i < n; i++) spare[place[CCC(marks[i])]++] = marks[i];
  memcpy(marks, spare, n * sizeof *marks);
}

static bool compose(uint32_t a, uint32_t b, uint32_t *ret) {
  if (a >= HANGUL_L && a < HANGUL_L + N_L && b >= HANGUL_V && b < HANGUL_V + N_V)
    return *ret = HANGUL + ((a - HANGUL_L) * N_V + (b - HANGUL_V)) * N_T, true;
  if (a >= HANGUL && a < HANGUL + N_L * N_V * N_T && (a - HANGUL) % N_T == 0 && b > HANGUL_T &&
      b < HANGUL_T + N_T)
    return *ret = a + (b - HANGUL_T), true;
  size_t low = 0, high = kr_norm_n_pairs;
  while (low < high) {
    size_t middle = (low + high) / 2;
    const kr_norm_pair *pair = &kr_norm_pairs[middle];
    if (pair->first == a && pair->second == b) return *ret = pair->composed, true;
    if (pair->first < a || (pair->first == a && pair->second < b))
      low = middle + 1;
    else
      high = middle;
  }
  return false;
}

static bool flush(nfc_run *run) {
  uint32_t *data = run->data;
  size_t n = run->n, kept = 0;
  for (size_t i = 0, end; i < n; i = end) { /* marks between starters */
    end = i + 1;
    if (!CCC(data[i])) continue;
    while (end < n && CCC(data[end])) end++;
    sort_marks(data + i, run->spare, end - i);
  }
  size_t starter = SIZE_MAX;
  int32_t last = -1; /* class of the last element kept behind the starter; -1: none */
  for (size_t i = 0; i < n; i++) {
    int32_t ccc = (int32_t)CCC(data[i]);
    uint32_t composed;
    if (starter != SIZE_MAX && last < ccc && compose(data[starter], CODE(data[i]), &composed)) {
      data[starter] = composed;
      continue;
    }
    last = ccc ? ccc : -1;
    if (!ccc) starter = kept;
    data[kept++] = data[i];
  }
  if (!kr_bytes_reserve(run->out, 4 * kept)) return false;
  for (size_t i = 0; i < kept; i++)
    run->out->n += kr_utf8_put(CODE(data[i]), run->out->data + run->out->n);
  run->n = 0;
  return true;
}

static bool add_decomposed(nfc_run *run, uint32_t code) {
  const kr_norm_record *norm = kr_norm(code);
  if (run->n && !norm->ccc && !norm->second && !flush(run)) return false;
  return push(run, ELEMENT(code, norm->ccc));
}

static bool add(nfc_run *run, uint32_t code) {
  if (code >= HANGUL && code < HANGUL + N_L * N_V * N_T) {
    uint32_t s = code - HANGUL, t = s % N_T;
    return add_decomposed(run, HANGUL_L + s / (N_V * N_T)) &&
           add_decomposed(run, HANGUL_V + s / N_T % N_V) &&
           (!t || add_decomposed(run, HANGUL_T + t));
  }
  const kr_norm_record *norm = kr_norm(code);
  if (!norm->n) return add_decomposed(run, code);
  for (uint32_t i = 0; i < norm->n; i++)
    if (!add_decomposed(run, kr_norm_sequences[norm->at + i])) return false;
  return true;
}

int kr_text_nfc(const char *text, size_t n, kr_bytes *out, const char **ret_text, size_t *ret_n,
                kr_error *err) {
  const uint8_t *s = (const uint8_t *)text;
  size_t at = 0;
  /* below U+0300, whose UTF-8 starts with 0xcc, nothing changes */
  while (at < n && s[at] < 0xcc) at++;
  if (at == n) return *ret_text = text, *ret_n = n, KR_OK;
  while (at && s[at - 1] >= 0x80 && s[at - 1] < 0xc0) at--; /* to the character before it */
  if (at) at--;
  nfc_run run = {.out = out};
  out->n = 0;
  bool ok = kr_bytes_add(out, text, at);
  while (ok && at < n) {
    if (s[at] < 0x80 && at + 1 < n && s[at + 1] < 0x80) { /* nothing composes with the first */
      size_t end = at + 1;
      while (end + 1 < n && s[end + 1] < 0x80) end++;
      ok = flush(&run) && kr_bytes_add(out, text + at, end - at);
      at = end;
      continue;
    }
    uint32_t code;
    at += kr_utf8_next(s + at, n - at, &code);
    ok = add(&run, code == KR_UTF8_INVALID ? 0xfffd : code);
  }
  ok = ok && flush(&run);
  kr_array_free(run.data);
  kr_array_free(run.spare);
  if (!ok) return kr_fail_memory(err, "text");
  *ret_text = out->data, *ret_n = out->n;
  return KR_OK;
}
