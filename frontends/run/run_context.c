#include "run_context.h"
#include "front_error.h"
#include <string.h>

/* A reply in the text, and its ids among those said. */
typedef struct {
  gsize start, end;
  guint first, n;
} reply_place;

void kr_run_context_init(kr_run_context *context) {
  memset(context, 0, sizeof *context);
  context->ids = g_array_new(FALSE, FALSE, sizeof(int32_t));
  context->text = g_string_new(NULL);
  context->replies = g_array_new(FALSE, FALSE, sizeof(reply_place));
  context->said = g_array_new(FALSE, FALSE, sizeof(int32_t));
}

void kr_run_context_clear(kr_run_context *context) {
  if (!context->ids) return;
  g_array_free(context->ids, TRUE);
  g_string_free(context->text, TRUE);
  g_array_free(context->replies, TRUE);
  g_array_free(context->said, TRUE);
  memset(context, 0, sizeof *context);
}

static const int32_t *ids_of(const GArray *ids) {
  return (const int32_t *)(const void *)ids->data;
}

static gsize common_text(const GString *a, const GString *b) {
  gsize n = 0, most = MIN(a->len, b->len);
  while (n < most && a->str[n] == b->str[n]) n++;
  return n;
}

static gsize common_ids(const GArray *a, const int32_t *b, gsize n) {
  gsize i = 0, most = MIN(a->len, n);
  while (i < most && ids_of(a)[i] == b[i]) i++;
  return i;
}

/* The replies that stand in text as they were said, with their ids, and the plain parts beside
 * them. The other replies are forgotten. */
static GArray *spans_of(kr_run_context *c, const kr_run_rendering *r) {
  GArray *spans = g_array_new(FALSE, FALSE, sizeof(kr_text_span));
  gsize same = common_text(c->text, r->text);
  guint kept = 0, next = 0;
  for (; kept < c->replies->len; kept++) {
    const reply_place *place = &g_array_index(c->replies, reply_place, kept);
    if (place->end > same) break;
    for (; next < r->plain->len; next++) {
      const kr_text_span *plain = &g_array_index(r->plain, kr_text_span, next);
      if (plain->end > place->start) break;
      g_array_append_val(spans, *plain);
    }
    while (next < r->plain->len && g_array_index(r->plain, kr_text_span, next).start < place->end)
      next++;
    const kr_text_span span = {place->start, place->end, ids_of(c->said) + place->first, place->n};
    g_array_append_val(spans, span);
  }
  if (next < r->plain->len)
    g_array_append_vals(spans, &g_array_index(r->plain, kr_text_span, next), r->plain->len - next);
  return spans;
}

/* Those that are not in the new rendering; it has the same text up to the end of the last that is.
 */
static void forget_replies(kr_run_context *c, const GString *text) {
  gsize same = common_text(c->text, text);
  guint kept = 0;
  while (kept < c->replies->len && g_array_index(c->replies, reply_place, kept).end <= same) kept++;
  g_array_set_size(c->replies, kept);
  const reply_place *last = kept ? &g_array_index(c->replies, reply_place, kept - 1) : NULL;
  g_array_set_size(c->said, last ? last->first + last->n : 0);
}

/* Takes the session, and what the sampler was told, back to the first n ids. */
static gboolean rewind_to(kr_run_context *c, kr_run *run, gsize n, GError **error) {
  kr_error err;
  if (n == (gsize)kr_session_length(run->session)) return TRUE;
  if (kr_session_truncate(run->session, (int32_t)n, &err) != KR_OK)
    return kr_front_fail_library(error, &err, run->front.path);
  gsize window = (gsize)run->options->sampling.sampler.repeat_last_n;
  kr_sampler_forget(run->sampler);
  for (gsize i = n > window ? n - window : 0; i < n; i++)
    kr_sampler_accept(run->sampler, ids_of(c->ids)[i]);
  g_array_set_size(c->ids, (guint)n);
  return TRUE;
}

/* Computes what the session lacks of n ids. */
static gboolean compute(kr_run_context *c, kr_run *run, const int32_t *ids, gsize n,
                        GError **error) {
  gsize common = common_ids(c->ids, ids, n);
  if (common == n) common--; /* the logits of the last are wanted */
  if (!rewind_to(c, run, common, error) || !kr_run_prompt(run, ids + common, n - common, error))
    return FALSE;
  g_array_append_vals(c->ids, ids + common, (guint)(n - common));
  c->kept = (gint64)common, c->computed = (gint64)(n - common);
  return TRUE;
}

gboolean kr_run_context_compute(kr_run_context *c, kr_run *run, kr_run_rendering *r,
                                GError **error) {
  kr_error err;
  int32_t *ids, n_ctx = kr_engine_n_ctx(run->front.engine);
  gsize n;
  GArray *spans = spans_of(c, r);
  int status = kr_vocab_encode_spans(run->front.vocab, r->text->str, r->text->len,
                                     (const kr_text_span *)(const void *)spans->data, spans->len, 0,
                                     &ids, &n, &err);
  g_array_free(spans, TRUE);
  if (status != KR_OK) return kr_front_fail_library(error, &err, run->front.path);
  gboolean ok = n > 0 || kr_front_fail(error, KR_EXIT_FAILED, "the template renders nothing");
  if (ok && n >= (gsize)n_ctx) {
    g_autofree char *advice = kr_run_full_advice(run);
    ok = kr_front_fail(error, KR_EXIT_FAILED,
                       "the conversation of %" G_GSIZE_FORMAT
                       " tokens does not fit in the context of %d positions; %s%s",
                       n, n_ctx, c->may_reset ? "/reset forgets it; " : "", advice);
  }
  ok = ok && compute(c, run, ids, n, error);
  kr_ids_free(ids);
  if (!ok) return FALSE;
  forget_replies(c, r->text);
  g_string_truncate(c->text, 0);
  g_string_append_len(c->text, r->text->str, (gssize)r->text->len);
  return TRUE;
}

/* How many of the ids say no more than text, and *ret_bytes of it: all, half a character at the end
 * included, unless a stop text cut the reply. */
static guint ids_within(const kr_run *run, const GString *text, const GArray *ids,
                        gsize *ret_bytes) {
  kr_decoder decoder = {{0}};
  guint kept = 0;
  gsize done = 0;
  char tail[13];
  g_autoptr(GString) piece = g_string_new(NULL);
  *ret_bytes = 0;
  guint i = 0;
  for (; i < ids->len; i++) {
    gsize n;
    const char *bytes = kr_run_text_bytes(&run->text, ids_of(ids)[i], &n);
    g_string_set_size(piece, 3 * n + 12);
    n = kr_decoder_push(&decoder, bytes, n, piece->str);
    if (n > text->len - done || memcmp(text->str + done, piece->str, n) != 0) break;
    done += n;
    kr_decoder rest = decoder;
    if (kr_decoder_finish(&rest, tail) > 0) continue; /* half a character */
    kept = i + 1, *ret_bytes = done;
  }
  gsize n = kr_decoder_finish(&decoder, tail);
  if (i < ids->len || n != text->len - done || memcmp(text->str + done, tail, n) != 0) return kept;
  *ret_bytes = text->len;
  return ids->len;
}

void kr_run_context_add_reply(kr_run_context *c, const kr_run *run, const GString *text,
                              const GArray *ids) {
  reply_place place = {.start = c->text->len, .first = c->said->len};
  gsize bytes;
  place.n = ids_within(run, text, ids, &bytes);
  place.end = place.start + bytes;
  guint computed = (guint)kr_session_length(run->session) - c->ids->len;
  g_array_append_vals(c->ids, ids->data, MIN(computed, ids->len));
  if (place.n == 0) return;
  g_array_append_vals(c->said, ids->data, place.n);
  g_array_append_val(c->replies, place);
  g_string_append_len(c->text, text->str, (gssize)text->len);
}
