/* Option groups that several programs have, and how values of options are read. */
#ifndef KR_FRONT_OPTIONS_H
#define KR_FRONT_OPTIONS_H

#include <glib.h>
#include <krafla/krafla.h>

/* Values are read from text that GOption passes on as bytes (G_OPTION_ARG_FILENAME): it would
 * refuse or recode what is not of the locale's charset. text NULL leaves *value as it is. option is
 * for messages: "-t". */
gboolean kr_front_integer(const char *option, const char *text, gint64 min, gint64 max,
                          gint64 *value, GError **error);
gboolean kr_front_int32(const char *option, const char *text, gint32 min, gint32 max, gint32 *value,
                        GError **error);
gboolean kr_front_real(const char *option, const char *text, double min, double max, float *value,
                       GError **error);
gboolean kr_front_usage(GError **error, const char *option, const char *text, const char *wanted);

/* Which backends to use: --isa, --backend-dir. These structs stand still from the making of the
 * group to the end of the program, and their strings live as long. */
typedef struct kr_front_backend_options {
  char *isa, *directory;
} kr_front_backend_options;
GOptionGroup *kr_front_backend_group(kr_front_backend_options *options);

/* How the model is computed: -t, --batch, --kv, --ctx; and -z, the tokenizer. */
typedef struct kr_front_engine_options {
  kr_engine_options engine;         /* as the library takes it */
  char *threads, *batch, *kv, *ctx; /* as given */
  char *tokenizer;                  /* a file to use instead of the model's own, or NULL */
} kr_front_engine_options;
GOptionGroup *kr_front_engine_group(kr_front_engine_options *options);
const char *kr_front_kv_name(int32_t kv);

/* How tokens are chosen: -T, -p, --top-k, --min-p, --repeat-penalty, --repeat-last-n, -s. */
typedef struct kr_front_sampling_options {
  kr_sampler_options sampler; /* seed is random unless it was given */
  char *temperature, *top_p, *top_k, *min_p, *repeat_penalty, *repeat_last_n, *seed;
} kr_front_sampling_options;
GOptionGroup *kr_front_sampling_group(kr_front_sampling_options *options);

/* --version: prints "PROGRAM VERSION" and ends the program. */
extern const GOptionEntry kr_front_version_entries[];

#endif
