#include "run_logits.h"
#include <stdio.h>
#include <string.h>

gboolean kr_run_logits_open(kr_run_logits *logits, const char *file, gboolean fingerprint,
                            GError **error) {
  memset(logits, 0, sizeof *logits);
  if (file && !(logits->file = kr_front_file_new(file, error))) return FALSE;
  if (fingerprint) logits->sum = g_checksum_new(G_CHECKSUM_SHA256);
  return TRUE;
}

gboolean kr_run_logits_wanted(const kr_run_logits *logits) {
  return logits->file || logits->sum;
}

static gboolean add_bytes(kr_run_logits *logits, const void *bytes, gsize n, GError **error) {
  if (logits->sum) g_checksum_update(logits->sum, bytes, (gssize)n);
  return !logits->file || kr_front_file_write(logits->file, bytes, n, error);
}

gboolean kr_run_logits_add(kr_run_logits *logits, const float *values, gsize n, GError **error) {
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
  return add_bytes(logits, values, n * sizeof *values, error);
#else
  for (gsize i = 0; i < n; i++) {
    guint32 word;
    memcpy(&word, values + i, sizeof word);
    word = GUINT32_TO_LE(word);
    if (!add_bytes(logits, &word, sizeof word, error)) return FALSE;
  }
  return TRUE;
#endif
}

gboolean kr_run_logits_finish(kr_run_logits *logits, GError **error) {
  kr_front_file *file = logits->file;
  logits->file = NULL;
  if (file && !kr_front_file_commit(file, error)) return FALSE;
  if (logits->sum) fprintf(stderr, "fingerprint: %s\n", g_checksum_get_string(logits->sum));
  return TRUE;
}

void kr_run_logits_clear(kr_run_logits *logits) {
  kr_front_file_abandon(logits->file);
  if (logits->sum) g_checksum_free(logits->sum);
  memset(logits, 0, sizeof *logits);
}
