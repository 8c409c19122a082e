/* What becomes of the logits of a run: a file, a fingerprint, or both. */
#ifndef KR_RUN_LOGITS_H
#define KR_RUN_LOGITS_H

#include "front_files.h"

typedef struct kr_run_logits {
  kr_front_file *file; /* or NULL */
  GChecksum *sum;      /* or NULL */
} kr_run_logits;

/* file: --dump-logits, or NULL. */
gboolean kr_run_logits_open(kr_run_logits *logits, const char *file, gboolean fingerprint,
                            GError **error);
gboolean kr_run_logits_wanted(const kr_run_logits *logits);
/* Adds n values, as little-endian f32. */
gboolean kr_run_logits_add(kr_run_logits *logits, const float *values, gsize n, GError **error);
/* Gives the file its name and tells the fingerprint on standard error. */
gboolean kr_run_logits_finish(kr_run_logits *logits, GError **error);
void kr_run_logits_clear(kr_run_logits *logits);

#endif
