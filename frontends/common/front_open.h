/* Backends, a model and an engine on it, opened together. */
#ifndef KR_FRONT_OPEN_H
#define KR_FRONT_OPEN_H

#include "front_options.h"

typedef struct kr_front {
  const char *path; /* of the model; borrowed */
  kr_backends *backends;
  kr_model *model;
  kr_engine *engine;
  kr_vocab *own;         /* of the file that -z names, or NULL */
  const kr_vocab *vocab; /* that one, else the model's */
} kr_front;

/* Opens all. While a model takes long to load, a bar on the terminal shows how far it is.
 * kr_front_close is called for by success and failure alike; *front is zero before. */
gboolean kr_front_open(const char *path, const kr_front_backend_options *backend,
                       const kr_front_engine_options *engine, kr_front *front, GError **error);
void kr_front_close(kr_front *front);

gboolean kr_front_open_backends(const kr_front_backend_options *options, kr_backends **backends,
                                GError **error);
gboolean kr_front_open_model(const char *path, int32_t threads, kr_model **model, GError **error);

#endif
