/* Engines and sessions, inside. */
#ifndef KR_ENGINE_H
#define KR_ENGINE_H

#include "base/pace.h"
#include "forward/forward.h"

struct kr_engine {
  const kr_model *model;
  const kr_backends *backends;
  kr_pool *pool;
  kr_pace pace; /* how many of its threads take part */
  kr_kv_cache kv;
  kr_forward forward;
  kr_step_row *step; /* [batch] */
  int32_t batch, n_ctx;
  int32_t n_sessions;
};

struct kr_session {
  kr_engine *engine;
  kr_kv_page **pages; /* [pages of n_ctx]; those below length are there */
  int32_t length;
  int32_t saved; /* the length to go back to when a step fails */
};

#endif
