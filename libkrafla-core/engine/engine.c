/* Engines: threads, buffers, and steps over rows of many sessions. */
#include "engine/engine.h"
#include "base/float_state.h"
#include "base/system.h"
#include <string.h>

enum { DEFAULT_BATCH = 128, MAX_BATCH = 4096, DEFAULT_CTX = 4096 };

static int check_options(const kr_model *model, const kr_engine_options *o, kr_error *err) {
  if (o->threads < 0 || o->threads > 1024)
    return kr_fail(err, KR_E_ARGUMENT, "threads: %d is not in 1..1024", o->threads);
  if (o->batch < 0 || o->batch > MAX_BATCH)
    return kr_fail(err, KR_E_ARGUMENT, "batch: %d is not in 1..%d", o->batch, MAX_BATCH);
  if (o->kv < KR_KV_F32 || o->kv > KR_KV_Q8)
    return kr_fail(err, KR_E_ARGUMENT, "kv: %d is no type of KV cache", o->kv);
  if (o->n_ctx < 0 || o->n_ctx > model->hp.n_ctx)
    return kr_fail(err, KR_E_ARGUMENT, "ctx: %d is not in 1..%lld, the model's context", o->n_ctx,
                   (long long)model->hp.n_ctx);
  if (o->kv_bytes < 0)
    return kr_fail(err, KR_E_ARGUMENT, "kv_bytes: %lld is negative", (long long)o->kv_bytes);
  return KR_OK;
}

static int start(kr_engine *e, const kr_engine_options *o, kr_error *err) {
  int64_t n_ctx = e->model->hp.n_ctx < DEFAULT_CTX ? e->model->hp.n_ctx : DEFAULT_CTX;
  e->batch = o->batch ? o->batch : DEFAULT_BATCH;
  e->n_ctx = o->n_ctx ? o->n_ctx : (int32_t)n_ctx;
  if (e->batch > e->n_ctx) e->batch = e->n_ctx;
  e->step = kr_alloc((size_t)e->batch, sizeof *e->step);
  if (!e->step) return kr_fail_memory(err, "rows of a step");
  int code = kr_pool_new(o->threads ? o->threads : kr_default_threads(), &e->pool, err);
  if (!code) kr_pace_init(&e->pace, kr_pool_threads(e->pool));
  if (!code) code = kr_kv_init(&e->kv, &e->model->hp, (kr_kv_type)o->kv, o->kv_bytes, err);
  if (!code)
    code = kr_forward_init(&e->forward, e->model, kr_backends_table(e->backends), e->pool,
                           &e->kv.layout, e->batch, e->n_ctx, err);
  return code;
}

int kr_engine_new(const kr_model *model, const kr_backends *backends,
                  const kr_engine_options *options, kr_engine **ret_engine, kr_error *err) {
  const kr_engine_options defaults = {0}, *o = options ? options : &defaults;
  int code = check_options(model, o, err);
  if (code) return code;
  kr_engine *e = kr_alloc(1, sizeof *e);
  if (!e) return kr_fail_memory(err, "engine");
  e->model = model, e->backends = backends;
  uint64_t state = kr_float_state_set(); /* frequencies of the rotation are computed here */
  code = start(e, o, err);
  kr_float_state_restore(state);
  if (code) {
    kr_engine_free(e);
    return code;
  }
  *ret_engine = e;
  return KR_OK;
}

void kr_engine_free(kr_engine *e) {
  if (!e) return;
  kr_forward_clear(&e->forward);
  kr_kv_clear(&e->kv);
  kr_pool_free(e->pool);
  kr_free(e->step);
  kr_free(e);
}

int32_t kr_engine_threads(const kr_engine *e) {
  return kr_pool_threads(e->pool);
}
int32_t kr_engine_n_ctx(const kr_engine *e) {
  return e->n_ctx;
}
int32_t kr_engine_batch(const kr_engine *e) {
  return e->batch;
}

int64_t kr_engine_kv_bytes(const kr_engine *e) {
  return (int64_t)(e->kv.n_pages * e->kv.layout.page_bytes);
}

void kr_engine_profile(const kr_engine *e, kr_profile *ret_profile) {
  *ret_profile = e->forward.profile;
  const kr_profile *p = ret_profile;
  ret_profile->other =
      p->total - p->qkv - p->attention - p->output - p->feed_forward - p->classifier;
}

/* ---- a step --------------------------------------------------------------------------------- */

static int check_row(const kr_engine *e, const kr_row *row, size_t i, kr_error *err) {
  if (!row->session || row->session->engine != e)
    return kr_fail(err, KR_E_ARGUMENT, "row %zu: not a session of this engine", i);
  if (row->token < 0 || row->token >= e->model->hp.n_vocab)
    return kr_fail(err, KR_E_ARGUMENT, "row %zu: token %d is not in 0..%lld, the vocabulary", i,
                   row->token, (long long)e->model->hp.n_vocab - 1);
  return KR_OK;
}

/* Makes the page that the session's next position falls into, or makes it the session's own: a page
 * that others share is copied before it is written to. */
static int make_room(kr_session *s, kr_error *err) {
  kr_engine *e = s->engine;
  if (s->length >= e->n_ctx)
    return kr_fail(err, KR_E_FULL, "the context of %d positions is full", e->n_ctx);
  kr_kv_page **slot = &s->pages[s->length / KR_PAGE], *fresh;
  if (*slot && (*slot)->refs == 1) return KR_OK;
  int code = kr_kv_take(&e->kv, &fresh, err);
  if (code) return code;
  if (*slot) {
    memcpy(fresh->data, (*slot)->data, e->kv.layout.page_bytes);
    kr_kv_unref(&e->kv, *slot);
  }
  *slot = fresh;
  return KR_OK;
}

/* The rows that are set up in e->step. */
static int forward(kr_engine *e, int32_t n, float *ret_logits, kr_error *err) {
  kr_pool_limit(e->pool, kr_pace_begin(&e->pace, n, kr_times_preempted()));
  double before = e->forward.profile.total;
  uint64_t state = kr_float_state_set();
  int code = kr_forward_step(&e->forward, e->step, n, ret_logits, err);
  kr_float_state_restore(state);
  kr_pace_end(&e->pace, e->forward.profile.total - before, kr_times_preempted());
  return code;
}

/* Rows first <= i < last, no more than a batch. *ret_wanted counts those that want logits. */
static int run_batch(kr_engine *e, const kr_row *rows, size_t first, size_t last, float *ret_logits,
                     size_t *ret_wanted, kr_error *err) {
  size_t wanted = 0;
  for (size_t i = first; i < last; i++) {
    kr_session *s = rows[i].session;
    int code = make_room(s, err);
    if (code) return code;
    e->step[i - first] = (kr_step_row){.pages = s->pages,
                                       .token = rows[i].token,
                                       .position = s->length++,
                                       .wants_logits = rows[i].wants_logits != 0};
    wanted += rows[i].wants_logits != 0;
  }
  *ret_wanted = wanted;
  return forward(e, (int32_t)(last - first), ret_logits, err);
}

int kr_engine_step(kr_engine *e, const kr_row *rows, size_t n, float *ret_logits, kr_error *err) {
  for (size_t i = 0; i < n; i++) {
    int code = check_row(e, &rows[i], i, err);
    if (code) return code;
    if (rows[i].wants_logits && !ret_logits)
      return kr_fail(err, KR_E_ARGUMENT, "row %zu wants logits, but there is no room for them", i);
  }
  for (size_t i = 0; i < n; i++) rows[i].session->saved = rows[i].session->length;
  for (size_t first = 0; first < n;) {
    size_t last = n - first > (size_t)e->batch ? first + (size_t)e->batch : n, wanted = 0;
    int code = run_batch(e, rows, first, last, ret_logits, &wanted, err);
    if (code) {
      for (size_t i = 0; i < n; i++)
        kr_session_truncate(rows[i].session, rows[i].session->saved, NULL);
      return code;
    }
    if (ret_logits) ret_logits += wanted * (size_t)e->model->hp.n_vocab;
    first = last;
  }
  return KR_OK;
}
