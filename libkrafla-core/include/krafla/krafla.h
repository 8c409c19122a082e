/* krafla/krafla.h - the library: backends, models, text, engines, sessions, sampling.
 *
 *   kr_backends   the kernel backends that this machine can use
 *   kr_model      one model file, its weights packed, read-only; shared by engines
 *   kr_vocab      its tokenizer, owned by the model, or one by itself
 *   kr_engine     threads, buffers and the pages of the KV cache
 *   kr_session    one conversation of an engine: the positions that it has seen
 *   kr_sampler    chooses tokens from logits
 *
 * Errors. A function that can fail returns KR_OK (0) or a negative kr_status, and describes the
 * failure in its last argument, which may be NULL. Pointers named ret_* are set only on success.
 * The library never prints, exits or aborts. Destructors take NULL.
 *
 * Threads. kr_backends, kr_model and kr_vocab may be used from any number of threads at once; an
 * engine with its sessions, and a sampler, from one at a time. */
#ifndef KRAFLA_H
#define KRAFLA_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define KR_API __declspec(dllexport)
#else
#define KR_API __attribute__((visibility("default")))
#endif

/* ---- errors --------------------------------------------------------------------------------- */

typedef enum kr_status { /* values never change */
                         KR_OK = 0,
                         KR_E_MEMORY = -1, /* out of memory */
                         KR_E_IO = -2, /* the operating system refused: not found, unreadable, disk
                                          full */
                         KR_E_FORMAT = -3, /* a file is damaged or is not what it claims to be */
                         KR_E_UNSUPPORTED =
                             -4, /* well formed, but not something that this version runs */
                         KR_E_ARGUMENT = -5,  /* the caller's mistake */
                         KR_E_CPU = -6,       /* the CPU lacks a feature that was asked for */
                         KR_E_NUMERIC = -7,   /* the model computed a value that is not finite */
                         KR_E_CANCELLED = -8, /* a callback asked to stop */
                         KR_E_FULL = -9       /* no room: the context of a session is used up */
} kr_status;

/* Valid UTF-8 without control characters, whatever the file held: other bytes come as \xNN. */
typedef struct kr_error {
  int32_t code;
  char message[508];
} kr_error;

KR_API const char *kr_version(void); /* "0.1.0" */

/* ---- backends ------------------------------------------------------------------------------- */

typedef struct kr_backends kr_backends;
struct kr_kernels; /* krafla/backend.h */

typedef struct kr_backends_options {
  const char *directory; /* absolute; NULL: KRAFLA_BACKEND_DIR, else where backends are installed */
  const char *isa;       /* the best backend to use; NULL: KRAFLA_ISA or ISA_LM_ISA, else no cap */
} kr_backends_options;

typedef enum kr_backend_state {
  KR_BACKEND_USED = 0,    /* gives at least one kernel */
  KR_BACKEND_UNUSED = 1,  /* fits, but gives none: capped by the ISA asked for, or outranked */
  KR_BACKEND_SKIPPED = 2, /* does not fit; reason says why */
} kr_backend_state;

typedef struct kr_backend_info {
  const char *name;                 /* file name where the descriptor could not be read */
  const char *path;                 /* "" for built-in backends */
  const char *features;             /* of the CPU, as the backend names them */
  const char *provenance;           /* version, licence, author */
  const char *reason;               /* why it was skipped or is not used, else "" */
  const struct kr_kernels *kernels; /* its own table; NULL when skipped */
  int32_t rank;
  int32_t state; /* kr_backend_state */
} kr_backend_info;

/* Finds, checks, ranks and layers the backends. options may be NULL. KR_E_CPU, with the message
 * "CPU lacks F required by ISA=NAME", when the ISA asked for cannot run here; KR_E_ARGUMENT when no
 * backend has its name. A plug-in that does not fit is never an error: it is reported as skipped.
 */
KR_API int kr_backends_new(const kr_backends_options *options, kr_backends **ret_backends,
                           kr_error *err);
KR_API void kr_backends_free(kr_backends *backends);

KR_API size_t kr_backends_count(const kr_backends *backends);
/* Ordered by rank, highest first, skipped ones last. Borrowed; i < count. */
KR_API const kr_backend_info *kr_backends_get(const kr_backends *backends, size_t i);
/* The highest ranking backend in use. Borrowed. */
KR_API const char *kr_backends_isa(const kr_backends *backends);
/* The composed table: every kernel is there. Borrowed. */
KR_API const struct kr_kernels *kr_backends_table(const kr_backends *backends);

/* The kernels by number, 0 <= i < kr_kernel_count(): their names, and which backend gives each. */
KR_API size_t kr_kernel_count(void);
KR_API const char *kr_kernel_name(size_t i);
KR_API const char *kr_backends_owner(const kr_backends *backends, size_t i);

/* The CPU features found here that the core knows by name, separated by spaces. Borrowed. */
KR_API const char *kr_cpu_features(void);

/* ---- models --------------------------------------------------------------------------------- */

typedef struct kr_model kr_model;
typedef struct kr_vocab kr_vocab;

/* Called while a model loads, with 0 <= fraction <= 1; a value other than 0 cancels. */
typedef int kr_progress_fn(void *data, double fraction);

typedef struct kr_model_options {
  int32_t threads; /* for packing; 0: as kr_default_threads */
  int32_t reserved;
  kr_progress_fn *progress; /* may be NULL */
  void *progress_data;
} kr_model_options;

typedef struct kr_model_info {
  const char *architecture; /* "llama" */
  const char *name;         /* "" where the file has none */
  const char *types;        /* weight types of the matrices, most bytes first: "Q4_1 Q8_0" */
  int64_t parameters;
  int64_t weight_bytes; /* of packed weights, all matrices */
  int32_t n_vocab, n_ctx, n_layers, dim, n_heads, n_kv_heads, head_dim;
  int32_t reserved;
} kr_model_info;

/* Opens a GGUF file, reads its weights into the packed form and its tokenizer. options may be NULL.
 * Every message names path. */
KR_API int kr_model_open(const char *path, const kr_model_options *options, kr_model **ret_model,
                         kr_error *err);
KR_API void kr_model_free(kr_model *model);
KR_API const kr_model_info *kr_model_get_info(const kr_model *model);
KR_API const kr_vocab *kr_model_vocab(const kr_model *model);
/* The Jinja source of the chat template, or NULL. Borrowed. */
KR_API const char *kr_model_chat_template(const kr_model *model);

/* ---- text ----------------------------------------------------------------------------------- */

enum {
  KR_ENCODE_SPECIAL = 1,   /* add what the model's post-processor adds: BOS, EOS */
  KR_ENCODE_NO_CONTROL = 2 /* text that spells a control token is ordinary text */
};

/* Encodes n bytes of any content; invalid UTF-8 is read as U+FFFD per maximal invalid part.
 * ret_ids is a new array, for kr_ids_free. Linear in n. */
KR_API int kr_vocab_encode(const kr_vocab *vocab, const char *text, size_t n, uint32_t flags,
                           int32_t **ret_ids, size_t *ret_n, kr_error *err);
KR_API void kr_ids_free(int32_t *ids);

/* A part of a text with a rule of its own. */
typedef struct kr_text_span {
  size_t start, end;  /* bytes of the text */
  const int32_t *ids; /* n_ids of them stand for the part; NULL: no control token reaches into it,
                         what spells one is ordinary text */
  size_t n_ids;
} kr_text_span;

/* As kr_vocab_encode of the whole text, but for n_spans parts, which stand in order and apart. The
 * text must be valid UTF-8, and no part may cut a character. */
KR_API int kr_vocab_encode_spans(const kr_vocab *vocab, const char *text, size_t n,
                                 const kr_text_span *spans, size_t n_spans, uint32_t flags,
                                 int32_t **ret_ids, size_t *ret_n, kr_error *err);

/* The bytes that a token stands for; control tokens have none unless control is not 0. Borrowed,
 * not ended by a zero byte. */
KR_API const char *kr_vocab_bytes(const kr_vocab *vocab, int32_t id, int control, size_t *ret_n);
/* The id of the token that is spelled so in the vocabulary, or -1. */
KR_API int32_t kr_vocab_find(const kr_vocab *vocab, const char *token);
KR_API int32_t kr_vocab_size(const kr_vocab *vocab);
KR_API int32_t kr_vocab_bos(const kr_vocab *vocab); /* or -1 */
KR_API int32_t kr_vocab_eos(const kr_vocab *vocab); /* or -1 */
/* Whether generation ends at this token: EOS, end of turn, BOS and their like. */
KR_API int kr_vocab_is_end(const kr_vocab *vocab, int32_t id);
KR_API int kr_vocab_is_control(const kr_vocab *vocab, int32_t id);

/* A tokenizer alone: from any GGUF model, whose weights are not read, an .mlt file, a Hugging Face
 * tokenizer.json (or the folder that it lies in), or llama2.c's tokenizer.bin. Every message names
 * path. A model's own vocabulary is freed with it, never by kr_vocab_free. */
KR_API int kr_vocab_open(const char *path, kr_vocab **ret_vocab, kr_error *err);
KR_API void kr_vocab_free(kr_vocab *vocab);
/* The Jinja source of the chat template that the file has, or of those beside a tokenizer.json
 * (chat_template.jinja, tokenizer_config.json), or NULL. Borrowed. */
KR_API const char *kr_vocab_chat_template(const kr_vocab *vocab);
/* The same tokenizer as the bytes of an .mlt file. ret_bytes is new, for kr_text_free. */
KR_API int kr_vocab_convert(const char *path, char **ret_bytes, size_t *ret_n, kr_error *err);

/* The text of n ids as the reference decodes it: always valid UTF-8. Without control, control
 * tokens are left out. Where the model puts a space before the text, that one is taken away.
 * ret_text is new, for kr_text_free. */
KR_API int kr_vocab_decode(const kr_vocab *vocab, const int32_t *ids, size_t n, int control,
                           char **ret_text, size_t *ret_n, kr_error *err);

/* Joins the bytes of tokens to valid UTF-8: never half a character, invalid bytes as U+FFFD by the
 * maximal-subpart rule. */
typedef struct kr_decoder {
  uint8_t pending[8]; /* zero at first */
} kr_decoder;

/* Adds n bytes; out must have room for 3 * n + 12. Returns the number of bytes written. */
KR_API size_t kr_decoder_push(kr_decoder *decoder, const char *bytes, size_t n, char *out);
/* What is left at the end of the text: U+FFFD for a character that was cut; out has room for 12. */
KR_API size_t kr_decoder_finish(kr_decoder *decoder, char *out);

/* ---- engines and sessions ------------------------------------------------------------------- */

typedef struct kr_engine kr_engine;
typedef struct kr_session kr_session;

typedef enum kr_kv_type { KR_KV_F32 = 0, KR_KV_F16 = 1, KR_KV_Q8 = 2 } kr_kv_type;

typedef struct kr_engine_options {
  int32_t threads;  /* 0: kr_default_threads() */
  int32_t batch;    /* prompt rows computed together; 0: 128. Never changes a bit of the results */
  int32_t kv;       /* kr_kv_type */
  int32_t n_ctx;    /* positions that a session may hold; 0: least of the model's and 4096 */
  int64_t kv_bytes; /* bound on the KV cache of all sessions; 0: none */
} kr_engine_options;

/* Physical cores (performance cores on hybrid CPUs), affinity mask and cgroup quota: the least. */
KR_API int32_t kr_default_threads(void);

/* model and backends stay the caller's and must outlive the engine. options may be NULL. */
KR_API int kr_engine_new(const kr_model *model, const kr_backends *backends,
                         const kr_engine_options *options, kr_engine **ret_engine, kr_error *err);
KR_API void kr_engine_free(kr_engine *engine); /* after its sessions */
KR_API int32_t kr_engine_threads(const kr_engine *engine);
KR_API int32_t kr_engine_n_ctx(const kr_engine *engine);
KR_API int32_t kr_engine_batch(const kr_engine *engine);
KR_API int64_t kr_engine_kv_bytes(const kr_engine *engine); /* allocated now */

KR_API int kr_session_new(kr_engine *engine, kr_session **ret_session, kr_error *err);
KR_API void kr_session_free(kr_session *session);
KR_API int32_t kr_session_length(const kr_session *session); /* positions computed */
/* Forgets all positions from length on, to continue from there with other tokens. */
KR_API int kr_session_truncate(kr_session *session, int32_t length, kr_error *err);
/* A new session that shares the pages of the first length positions. */
KR_API int kr_session_fork(const kr_session *session, int32_t length, kr_session **ret_session,
                           kr_error *err);

/* One row of a step: the next token of a session. Rows of one session stand in order; its
 * positions follow from its length. */
typedef struct kr_row {
  kr_session *session;
  int32_t token;
  int32_t wants_logits;
} kr_row;

/* Computes n rows: prompt parts, single tokens of many sessions, or both. logits[j] for the j-th
 * row that wants them is written to ret_logits + j * n_vocab, f32; ret_logits may be NULL when none
 * does. Results depend on each session's tokens alone, never on what else is in the step.
 * On failure the sessions are as before the call. */
KR_API int kr_engine_step(kr_engine *engine, const kr_row *rows, size_t n, float *ret_logits,
                          kr_error *err);

/* Appends n tokens to a session, a batch at a time; ret_logits, f32 [n_vocab], are those of the
 * last token, or NULL. stop, which may be NULL, is asked between batches: not 0 cancels. */
KR_API int kr_session_append(kr_session *session, const int32_t *tokens, size_t n,
                             kr_progress_fn *stop, void *stop_data, float *ret_logits,
                             kr_error *err);

/* Where the time of an engine's steps went, in seconds since it was made. */
typedef struct kr_profile {
  double qkv, attention, output, feed_forward, classifier, other, total;
} kr_profile;
KR_API void kr_engine_profile(const kr_engine *engine, kr_profile *ret_profile);

/* ---- sampling ------------------------------------------------------------------------------- */

typedef struct kr_sampler kr_sampler;

/* Applied in this order: repetition penalty, temperature, top-k, min-p, top-p, the draw. */
typedef struct kr_sampler_options {
  uint64_t seed;
  float temperature;     /* 0: the largest logit, ties to the lowest id */
  float top_p;           /* 0 or 1: off */
  float min_p;           /* 0: off */
  float repeat_penalty;  /* 1: off */
  int32_t top_k;         /* 0: off */
  int32_t repeat_last_n; /* tokens that the penalty looks at */
} kr_sampler_options;

KR_API void kr_sampler_options_init(kr_sampler_options *options); /* greedy, penalty off */
KR_API int kr_sampler_new(const kr_sampler_options *options, int32_t n_vocab,
                          kr_sampler **ret_sampler, kr_error *err);
KR_API void kr_sampler_free(kr_sampler *sampler);
/* Tells the sampler of a token of the prompt or of its own, for the repetition penalty. */
KR_API void kr_sampler_accept(kr_sampler *sampler, int32_t token);
/* Takes back all tokens that it was told of; the draws go on. */
KR_API void kr_sampler_forget(kr_sampler *sampler);
/* Draws from logits f32 [n_vocab], which are left as they are. KR_E_NUMERIC if one is not finite.
 */
KR_API int kr_sampler_draw(kr_sampler *sampler, const float *logits, int32_t *ret_token,
                           kr_error *err);

/* ---- chat ----------------------------------------------------------------------------------- */

/* A chat template compiled from its Jinja source. Never changes: any number of threads may render
 * with it at once. */
typedef struct kr_template kr_template;

/* Compiles n bytes. What the template lacks, or what cannot be part of it, is KR_E_FORMAT (or
 * KR_E_UNSUPPORTED) with its line; the message has the word "template". */
KR_API int kr_template_new(const char *source, size_t n, kr_template **ret_template, kr_error *err);
KR_API void kr_template_free(kr_template *chat_template);

/* Renders a conversation, byte for byte as transformers' apply_chat_template does. chat is a JSON
 * object of n bytes with the members
 *
 *   messages               array of objects, not empty
 *   tools, documents       array of objects, or null
 *   add_generation_prompt  true to end with the beginning of a reply
 *   bos_token, eos_token   strings; so unk_token, sep_token, pad_token, cls_token, mask_token
 *   kwargs                 object of more variables
 *   now                    "2026-01-15T12:34:56", for strftime_now; the local time without it
 *
 * of which all but messages may be absent; others are ignored. ret_text is new, ended by a zero
 * byte, for kr_text_free; ret_n may be NULL. KR_E_ARGUMENT: chat is not such an object.
 * KR_E_FORMAT: the template failed, or reached the bounds on steps, depth and memory; what it
 * raised by raise_exception stands alone behind "TemplateError: ". */
KR_API int kr_template_render(const kr_template *chat_template, const char *chat, size_t n,
                              char **ret_text, size_t *ret_n, kr_error *err);
KR_API void kr_text_free(char *text);

/* The source of a template that is known by name (llama3, zephyr, llama2, qwen, smollm, chatml,
 * gemma, qwen3.5, qwen3.5-nothink), or NULL. *ret_stop, which may be NULL: how the token that ends
 * a reply is spelled. */
KR_API const char *kr_chat_template_named(const char *name, const char **ret_stop);
KR_API const char *kr_chat_template_name(size_t i); /* the i-th such name; NULL behind the last */

#ifdef __cplusplus
}
#endif

#endif
