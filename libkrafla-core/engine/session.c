/* Sessions: the positions that a conversation has seen, as pages that others may share. */
#include "engine/engine.h"
#include <string.h>

static int32_t page_count(const kr_engine *e) {
  return (e->n_ctx + KR_PAGE - 1) / KR_PAGE;
}

int kr_session_new(kr_engine *engine, kr_session **ret_session, kr_error *err) {
  kr_session *s = kr_alloc(1, sizeof *s);
  if (s) s->pages = kr_alloc((size_t)page_count(engine), sizeof *s->pages);
  if (!s || !s->pages) {
    kr_free(s);
    return kr_fail_memory(err, "session");
  }
  s->engine = engine;
  engine->n_sessions++;
  *ret_session = s;
  return KR_OK;
}

/* Gives back the pages from the first on that holds no position below length. */
static void drop_pages(kr_session *s, int32_t length) {
  for (int32_t i = (length + KR_PAGE - 1) / KR_PAGE; i < page_count(s->engine); i++) {
    kr_kv_unref(&s->engine->kv, s->pages[i]);
    s->pages[i] = NULL;
  }
}

void kr_session_free(kr_session *s) {
  if (!s) return;
  drop_pages(s, 0);
  s->engine->n_sessions--;
  kr_free(s->pages);
  kr_free(s);
}

int32_t kr_session_length(const kr_session *s) {
  return s->length;
}

static int check_length(const kr_session *s, int32_t length, kr_error *err) {
  if (length >= 0 && length <= s->length) return KR_OK;
  return kr_fail(err, KR_E_ARGUMENT, "length: %d is not in 0..%d, the session's", length,
                 s->length);
}

int kr_session_truncate(kr_session *s, int32_t length, kr_error *err) {
  int code = check_length(s, length, err);
  if (code) return code;
  drop_pages(s, length);
  s->length = length;
  return KR_OK;
}

int kr_session_fork(const kr_session *s, int32_t length, kr_session **ret_session, kr_error *err) {
  kr_session *twin = NULL;
  int code = check_length(s, length, err);
  if (!code) code = kr_session_new(s->engine, &twin, err);
  if (code) return code;
  for (int32_t i = 0; i < (length + KR_PAGE - 1) / KR_PAGE; i++) {
    twin->pages[i] = s->pages[i];
    kr_kv_ref(twin->pages[i]);
  }
  twin->length = length;
  *ret_session = twin;
  return KR_OK;
}

int kr_session_append(kr_session *s, const int32_t *tokens, size_t n, kr_progress_fn *stop,
                      void *stop_data, float *ret_logits, kr_error *err) {
  if (!n && ret_logits)
    return kr_fail(err, KR_E_ARGUMENT, "there is no last token, so there are no logits");
  size_t batch = (size_t)s->engine->batch;
  int32_t before = s->length;
  kr_row *rows = kr_alloc(batch, sizeof *rows);
  if (!rows) return kr_fail_memory(err, "rows");
  int code = KR_OK;
  for (size_t at = 0; !code && at < n;) {
    size_t count = n - at < batch ? n - at : batch;
    for (size_t i = 0; i < count; i++)
      rows[i] = (kr_row){s, tokens[at + i], ret_logits && at + i == n - 1};
    code = kr_engine_step(s->engine, rows, count, ret_logits, err);
    at += count;
    if (!code && stop && at < n && stop(stop_data, (double)at / (double)n))
      code = kr_fail(err, KR_E_CANCELLED, "the prompt was cancelled");
  }
  kr_free(rows);
  if (code) kr_session_truncate(s, before, NULL);
  return code;
}
