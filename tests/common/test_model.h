/* Models and backends for tests. */
#ifndef KR_TEST_MODEL_H
#define KR_TEST_MODEL_H

#include <glib.h>
#include <krafla/krafla.h>

/* The path of a model made by krafla-make-model with these options ("--type Q4_0 --dim 96"), in a
 * folder of this process; made at first use. Borrowed. */
const char *kr_test_model_path(const char *options);
/* The same, opened. The caller frees it. */
kr_model *kr_test_model(const char *options);
/* A new name in that folder. The caller frees it. */
char *kr_test_path(const char *name);
/* Removes the folder; returns code. Called at the end of main. */
int kr_test_clean(int code);

/* The build's backends, none above isa; NULL where this CPU cannot run that one. */
kr_backends *kr_test_backends(const char *isa);
/* The names of backends to test, all that run here, "scalar" last; NULL at the end. g_strfreev. */
char **kr_test_isas(void);

/* An engine; other options 0. Aborts the test on failure. */
kr_engine *kr_test_engine(const kr_model *model, const kr_backends *backends, int threads,
                          int batch, int kv);
kr_session *kr_test_session(kr_engine *engine);
/* n tokens of a vocabulary, the same for the same seed. The caller frees them. */
int32_t *kr_test_tokens(int n, int n_vocab, unsigned seed);
/* Appends tokens; logits f32 [n_vocab] may be NULL. Aborts the test on failure. */
void kr_test_append(kr_session *session, const int32_t *tokens, int n, float *logits);

#endif
