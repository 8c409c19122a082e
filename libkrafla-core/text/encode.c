/* Text to token ids.
 *
 * Invalid UTF-8 is replaced; special tokens are matched; what is between them is normalized and cut
 * into pieces; each piece is looked up whole, and merged from its smallest parts if it is no token
 * or its merges lead elsewhere. Every step is linear in the text, but for the heap of long pieces.
 */
#include "text/normalize.h"
#include "text/vocab_parts.h"

#define MARK "\xe2\x96\x81" /* "▁" */

typedef struct encoder {
  const kr_vocab *vocab;
  kr_ids ids;
  const char *whole;  /* the text */
  kr_bytes text;      /* of a part */
  kr_bytes marked;    /* of a part, normalized, where tokens are matched in that */
  kr_plain plain;     /* of the whole text */
  bool joined;        /* the part before is one of ids: no space comes between */
  kr_symbol *symbols; /* kr_array_free */
  size_t n_symbols;
  kr_merge_room room;
  bool unknown; /* the id before is that of unknown text */
} encoder;

static bool emit(encoder *e, int32_t id, bool unknown) {
  if (unknown && e->unknown && !e->vocab->keep_unknown)
    return true; /* unknown characters in a row are one token */
  e->unknown = unknown;
  return kr_ids_add(&e->ids, id);
}

/* Merges a piece; the symbols are in e->symbols. SIZE_MAX when memory is gone. */
static size_t merge(encoder *e, const uint8_t *piece, size_t n) {
  if (n > e->n_symbols) {
    size_t capacity = n > 2 * e->n_symbols ? n + 64 : 2 * e->n_symbols;
    kr_symbol *symbols = kr_array_grow(e->symbols, capacity, sizeof *symbols);
    if (!symbols) return SIZE_MAX;
    e->symbols = symbols, e->n_symbols = capacity;
  }
  const kr_vocab *v = e->vocab;
  bool bpe = v->kind == KR_VOCAB_BPE;
  size_t count = bpe ? kr_bpe_symbols(&v->tokens, piece, n, e->symbols)
                     : kr_spm_symbols(&v->spm, piece, n, e->symbols);
  if (!bpe && !v->pairs)
    return kr_merge(kr_spm_pair, &v->spm, piece, e->symbols, count, 0, &e->room);
  return kr_merge(kr_bpe_pair, &v->bpe, piece, e->symbols, count, v->bpe.n, &e->room);
}

static bool encode_piece(encoder *e, const uint8_t *piece, size_t n) {
  const kr_vocab *v = e->vocab;
  int32_t id = kr_tokens_find(&v->tokens, piece, n, false);
  if (id >= 0) {
    if (v->ignore_merges && !kr_vocab_is_hidden(v, id)) return emit(e, id, false);
    uint8_t whole = atomic_load_explicit(&v->whole[id], memory_order_relaxed);
    if (whole == KR_WHOLE_YES) return emit(e, id, false);
    if (whole == KR_WHOLE_NO) id = -1;
  }
  size_t count = merge(e, piece, n);
  if (count == SIZE_MAX) return false;
  if (id >= 0) {
    bool yes = count == 1 && e->symbols[0].id == id && e->symbols[0].n == n;
    atomic_store_explicit(&v->whole[id], yes ? KR_WHOLE_YES : KR_WHOLE_NO, memory_order_relaxed);
  }
  bool spm = v->kind == KR_VOCAB_SPM;
  for (size_t i = 0; i < count; i++)
    if (!emit(e, e->symbols[i].id, spm && e->symbols[i].id == v->spm.unknown)) return false;
  return true;
}

static int split_bpe(encoder *e, const char *text, size_t n, kr_error *err) {
  kr_splitter splitter;
  const uint8_t *piece;
  kr_split_start(&splitter, e->vocab->split, text, n);
  while (kr_split_next(&splitter, &piece, &n))
    if (!encode_piece(e, piece, n)) return kr_fail_memory(err, "tokens");
  return KR_OK;
}

/* Before a part whose text starts so, and at the start of the text or not. */
static bool has_prefix(kr_prefix prefix, bool first, bool space) {
  switch (prefix) {
  case KR_PREFIX_NONE:
    return false;
  case KR_PREFIX_EACH:
    return true;
  case KR_PREFIX_FIRST:
    return first && !space;
  case KR_PREFIX_ALWAYS:
    return !space;
  }
  return false;
}

/* "▁" and space are the same to the model. */
static int encode_spm(encoder *e, const char *text, size_t n, kr_prefix prefix, bool first,
                      kr_error *err) {
  const kr_vocab *v = e->vocab;
  kr_bytes *b = &e->text;
  b->n = 0;
  if (!kr_bytes_reserve(b, n + 1)) return kr_fail_memory(err, "text");
  bool space = text[0] == ' ' || (n >= 3 && !memcmp(text, MARK, 3));
  if (!e->joined && has_prefix(prefix, first, space)) b->data[b->n++] = ' ';
  for (size_t i = 0; i < n; b->n++) {
    bool mark = n - i >= 3 && !memcmp(text + i, MARK, 3);
    b->data[b->n] = mark ? ' ' : text[i];
    i += mark ? 3 : 1;
  }
  const uint8_t *s = (const uint8_t *)b->data;
  for (size_t at = 0, length; at < b->n; at += length) {
    size_t end = b->n;
    if (v->split_spaces) {
      const void *next = memchr(s + at + 1, ' ', b->n - at - 1);
      if (next) end = (size_t)((const uint8_t *)next - s);
      if (s[at] == ' ') e->unknown = false;
    }
    length = kr_spm_piece(&v->spm, s + at, end - at);
    if (!encode_piece(e, s + at, length)) return kr_fail_memory(err, "tokens");
  }
  return KR_OK;
}

/* What SentencePiece's normalizer makes of a part. */
static bool mark_spaces(encoder *e, const char *text, size_t n) {
  kr_bytes *b = &e->marked;
  b->n = 0;
  bool prefix = !e->joined && has_prefix(e->vocab->prefix, true, true);
  if (prefix && !kr_bytes_add(b, MARK, 3)) return false;
  for (size_t i = 0; i < n; i++)
    if (!kr_bytes_add(b, text[i] == ' ' ? MARK : text + i, text[i] == ' ' ? 3 : 1)) return false;
  return true;
}

static int encode_parts(encoder *e, const kr_special *special, kr_plain *plain, const char *text,
                        size_t n, bool first, kr_error *err);

/* The same for tokens that are looked for in normalized text, whose places are not those of the
 * spans: beside what is plain no control token of this kind counts, on the safe side. */
static kr_plain plain_of_part(const encoder *e, const char *text, size_t n) {
  const kr_plain *plain = &e->plain;
  size_t start = (size_t)(text - e->whole);
  bool all = plain->all;
  for (size_t i = 0; !all && i < plain->n && plain->spans[i].start < start + n; i++)
    all = plain->spans[i].end > start;
  return (kr_plain){.all = all};
}

/* A part between special tokens; first: at the start of the text. */
static int encode_part(encoder *e, const char *text, size_t n, bool first, kr_error *err) {
  const kr_vocab *v = e->vocab;
  bool more = v->normalized.n;
  kr_plain plain = more ? plain_of_part(e, text, n) : e->plain;
  if (v->kind == KR_VOCAB_BPE && v->nfc) {
    int code = kr_text_nfc(text, n, &e->text, &text, &n, err);
    if (code) return code;
  }
  if (more && v->kind == KR_VOCAB_SPM && !v->metaspace) {
    if (!mark_spaces(e, text, n)) return kr_fail_memory(err, "text");
    text = e->marked.data, n = e->marked.n;
  }
  if (more) return encode_parts(e, &v->normalized, &plain, text, n, first, err);
  if (v->kind == KR_VOCAB_BPE) return split_bpe(e, text, n, err);
  return encode_spm(e, text, n, v->prefix, first, err);
}

/* The same between normalized tokens. */
static int encode_normal(encoder *e, const char *text, size_t n, bool first, kr_error *err) {
  const kr_vocab *v = e->vocab;
  if (v->kind == KR_VOCAB_BPE) return split_bpe(e, text, n, err);
  return encode_spm(e, text, n, v->metaspace ? v->prefix : KR_PREFIX_NONE, first, err);
}

static int encode_parts(encoder *e, const kr_special *special, kr_plain *plain, const char *text,
                        size_t n, bool first, kr_error *err) {
  bool raw = special == &e->vocab->special;
  size_t done = 0, from = 0;
  for (bool found = true; found;) {
    kr_match m = {.start = n, .end = n};
    found = kr_special_find(special, (const uint8_t *)text, n, from, done, plain, &m);
    int code = KR_OK;
    e->unknown = false;
    if (m.start > done && raw)
      code = encode_part(e, text + done, m.start - done, first && !done, err);
    else if (m.start > done)
      code = encode_normal(e, text + done, m.start - done, first && !done, err);
    if (code) return code;
    if (found && !kr_ids_add(&e->ids, m.id)) return kr_fail_memory(err, "tokens");
    done = m.end, from = m.next;
    e->joined = false;
  }
  return KR_OK;
}

static bool add_ids(encoder *e, const kr_ids *ids) {
  for (size_t i = 0; i < ids->n; i++)
    if (!kr_ids_add(&e->ids, ids->data[i])) return false;
  return true;
}

/* ---- spans ------------------------------------------------------------------------------------
 */

static bool cuts(const char *text, size_t n, size_t at) {
  return at < n && ((uint8_t)text[at] & 0xc0) == 0x80;
}

static int check_spans(const char *text, size_t n, const kr_text_span *spans, size_t n_spans,
                       kr_error *err) {
  size_t done = 0;
  for (size_t i = 0; i < n_spans; i++) {
    size_t start = spans[i].start, end = spans[i].end;
    if (start < done || end < start || end > n || cuts(text, n, start) || cuts(text, n, end))
      return kr_fail(err, KR_E_ARGUMENT, "spans[%llu]: no part of the text behind the one before",
                     (unsigned long long)i);
    done = end;
  }
  return KR_OK;
}

/* From done to the next span of ids, or to the end. */
static int encode_segment(encoder *e, const char *text, size_t done, size_t end, kr_error *err) {
  kr_plain plain = e->plain;
  plain.base = done;
  const char *from = done ? text + done : text; /* which may be NULL */
  return encode_parts(e, &e->vocab->special, &plain, from, end - done, !done, err);
}

static int encode_spans(encoder *e, const char *text, size_t n, const kr_text_span *spans,
                        size_t n_spans, kr_error *err) {
  size_t done = 0;
  e->whole = text;
  for (size_t i = 0; i < n_spans; i++) {
    if (!spans[i].ids) continue;
    /* the plain spans up to this one, which ends the search */
    int code = encode_segment(e, text, done, spans[i].start, err);
    if (code) return code;
    for (size_t j = 0; j < spans[i].n_ids; j++)
      if (!kr_ids_add(&e->ids, spans[i].ids[j])) return kr_fail_memory(err, "tokens");
    done = spans[i].end;
    e->plain.spans = spans + i + 1, e->plain.n = n_spans - i - 1;
    e->joined = true;
  }
  return encode_segment(e, text, done, n, err);
}

static int encode_all(encoder *e, const char *text, size_t n, const kr_text_span *spans,
                      size_t n_spans, uint32_t flags, kr_error *err) {
  const kr_vocab *v = e->vocab;
  bool special = flags & KR_ENCODE_SPECIAL;
  e->plain = (kr_plain){.all = flags & KR_ENCODE_NO_CONTROL, .spans = spans, .n = n_spans};
  if (special && v->add_bos && v->bos >= 0 && !kr_ids_add(&e->ids, v->bos))
    return kr_fail_memory(err, "tokens");
  if (special && !add_ids(e, &v->before)) return kr_fail_memory(err, "tokens");
  kr_bytes clean = {0};
  const char *given = text;
  int code = n ? kr_text_clean(text, n, &clean, &text, &n, err) : KR_OK;
  if (!code && n_spans && text != given)
    code = kr_fail(err, KR_E_ARGUMENT, "text: is not valid UTF-8, and has spans");
  if (!code) code = check_spans(text, n, spans, n_spans, err);
  /* places in a piece are 32 bits, and a space may come before the text */
  if (!code && n >= UINT32_MAX - 1) code = kr_fail(err, KR_E_ARGUMENT, "text: is over 4 GiB");
  if (!code) code = encode_spans(e, text, n, spans, n_spans, err);
  kr_array_free(clean.data);
  if (!code && special && !add_ids(e, &v->after)) return kr_fail_memory(err, "tokens");
  if (!code && special && v->add_eos && v->eos >= 0 && !kr_ids_add(&e->ids, v->eos))
    return kr_fail_memory(err, "tokens");
  return code;
}

int kr_vocab_encode_spans(const kr_vocab *vocab, const char *text, size_t n,
                          const kr_text_span *spans, size_t n_spans, uint32_t flags,
                          int32_t **ret_ids, size_t *ret_n, kr_error *err) {
  encoder e = {.vocab = vocab};
  int code = encode_all(&e, text, n, spans, n_spans, flags, err);
  if (!code && !e.ids.data && !(e.ids.data = kr_array_grow(NULL, 1, sizeof *e.ids.data)))
    code = kr_fail_memory(err, "tokens");
  kr_array_free(e.text.data);
  kr_array_free(e.marked.data);
  kr_array_free(e.symbols);
  kr_array_free(e.room.block);
  if (code) {
    kr_array_free(e.ids.data);
    return code;
  }
  *ret_ids = e.ids.data, *ret_n = e.ids.n;
  return KR_OK;
}

int kr_vocab_encode(const kr_vocab *vocab, const char *text, size_t n, uint32_t flags,
                    int32_t **ret_ids, size_t *ret_n, kr_error *err) {
  return kr_vocab_encode_spans(vocab, text, n, NULL, 0, flags, ret_ids, ret_n, err);
}

void kr_ids_free(int32_t *ids) {
  kr_array_free(ids);
}
