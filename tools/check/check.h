/* krafla-check: compares each kernel of a backend with the scalar one, bit by bit, and times it.
 *
 * A kernel of the table is one line in check_list.c: its name, kind and weight format. A kind knows
 * how to choose a shape, build the operands and make the call (check_products.c, check_vectors.c).
 * The same job is compared (check_compare.c) and timed (check_time.c). */
#ifndef KR_CHECK_H
#define KR_CHECK_H

#include <krafla/backend.h>
#include <stdbool.h>

/* ---- random numbers and values: check_values.c ---------------------------------------------- */

typedef struct kr_check_random {
  uint64_t state;
} kr_check_random;

/* The numbers of one case depend on these three alone, so that a case can be repeated by itself. */
kr_check_random kr_check_seed(uint64_t seed, uint64_t kernel, uint64_t index);
uint64_t kr_check_next(kr_check_random *random);
int64_t kr_check_below(kr_check_random *random, int64_t n); /* 0 <= result < n */

/* What values a case is made of. */
typedef enum kr_check_style {
  KR_CHECK_ORDINARY,  /* what a model holds */
  KR_CHECK_WIDE,      /* exponents of all sizes, without overflow of a sum of products */
  KR_CHECK_TINY,      /* at and below the smallest normal number */
  KR_CHECK_ZEROS,     /* mostly zeros of both signs */
  KR_CHECK_EXTREME,   /* largest magnitudes: q of -127 and 127, weights of -128, nibbles 0 and 15 */
  KR_CHECK_EDGES,     /* the bounds of exp, ties of rounding, powers of two */
  KR_CHECK_NONFINITE, /* an infinity or a NaN here and there */
  KR_CHECK_STYLES
} kr_check_style;
kr_check_style kr_check_pick_style(kr_check_random *random);
const char *kr_check_style_name(kr_check_style style);

void kr_check_fill_f32(kr_check_random *random, kr_check_style style, float *x, int64_t n);
void kr_check_fill_q(kr_check_random *random, kr_check_style style, int8_t *q, int64_t n);
/* Positive scales of activations. */
void kr_check_fill_d(kr_check_random *random, kr_check_style style, float *d, int64_t n);

typedef struct kr_check_format {
  const char *name;
  int64_t pair_bytes; /* of one group; 0 for float weights */
  int64_t halves;     /* f16 scales and minima in front of a pair's quants */
  int64_t bytes;      /* of one float weight; 0 for quantized ones */
} kr_check_format;
/* Bytes of one group of k values. */
int64_t kr_check_group_bytes(const kr_check_format *format, int64_t k);
void kr_check_fill_group(kr_check_random *random, kr_check_style style,
                         const kr_check_format *format, int64_t k, uint8_t *group);

/* ---- buffers: check_buffers.c --------------------------------------------------------------- */

typedef enum kr_check_element {
  KR_CHECK_F32,
  KR_CHECK_I32,
  KR_CHECK_U16,
  KR_CHECK_I8
} kr_check_element;
int64_t kr_check_element_bytes(kr_check_element element);

/* Memory of one operand: between pages that must not be touched, and with 0xAA around it. */
typedef struct kr_check_buffer {
  const char *name;
  kr_check_element element;
  uint8_t *map; /* with the guard pages */
  size_t map_bytes;
  uint8_t *pages; /* without them */
  size_t page_bytes;
  uint8_t *data; /* somewhere in pages */
  size_t bytes;
  uint8_t *initial, *expected; /* images of pages, for operands that are written; else NULL */
} kr_check_buffer;

/* data ends at a guard page, begins at one, or stands at an odd place; align 0 means the element's
 * own. False when memory is gone. */
bool kr_check_buffer_new(kr_check_buffer *buffer, kr_check_random *random, const char *name,
                         kr_check_element element, int64_t n, size_t align);
void kr_check_buffer_clear(kr_check_buffer *buffer);
/* After data was filled: an input turns read-only; of an output the image is kept. */
bool kr_check_buffer_seal(kr_check_buffer *buffer, bool written);

/* ---- kernels and jobs: check_list.c, check_products.c, check_vectors.c ---------------------- */

typedef struct kr_check_job kr_check_job;
typedef void kr_check_fn(void); /* any kernel; cast to its own type before a call */

/* Sizes of a call; each kind uses some of them. */
typedef struct kr_check_shape {
  int64_t groups, first, last; /* products: groups of rows. softmax, values_q8: first and last */
  int64_t k;                   /* length of a row */
  int64_t n;                   /* columns, rows or heads */
  int64_t gap;                 /* elements between rows of activations and results */
  int64_t alias;               /* which input is the output too; 0 = none */
} kr_check_shape;

typedef struct kr_check_kind {
  const char *unit; /* of speed: work per nanosecond */
  void (*pick)(const kr_check_job *job, kr_check_random *random, int64_t index,
               kr_check_shape *ret_shape);
  void (*pick_timed)(const kr_check_job *job, int64_t bytes, kr_check_shape *ret_shape);
  bool (*build)(kr_check_job *job, kr_check_random *random);
  void (*call)(const kr_check_job *job, kr_check_fn *fn);
  /* What the contract leaves open is made equal in the buffers before they are compared. */
  void (*settle)(kr_check_job *job);
  double (*work)(const kr_check_job *job);
} kr_check_kind;

typedef struct kr_check_kernel {
  const char *name;
  size_t offset; /* in kr_kernels */
  const kr_check_kind *kind;
  const kr_check_format *format; /* of products */
  bool many;                     /* matrix_*: any number of columns */
} kr_check_kernel;

extern const kr_check_kernel kr_check_kernels[];
extern const size_t kr_check_n_kernels;
/* NULL when the table does not have it. */
kr_check_fn *kr_check_get(const kr_kernels *table, const kr_check_kernel *kernel);

extern const kr_check_kind kr_check_vector_product, kr_check_matrix_product, kr_check_quantize,
    kr_check_rms_norm, kr_check_softmax, kr_check_gate, kr_check_rope, kr_check_add,
    kr_check_to_f16, kr_check_values_q8;

enum { KR_CHECK_BUFFERS = 6 };

struct kr_check_job {
  const kr_check_kernel *kernel;
  kr_check_shape shape;
  kr_check_style style; /* of weights, or of all values */
  kr_check_style x_style;
  int64_t index; /* of the case; -1 for the timed one */
  kr_check_buffer buffer[KR_CHECK_BUFFERS];
  int n_buffers;
  kr_panel panel;
  kr_columns columns;
  int64_t ldx, ldy;
  float scale;
};

/* False when memory is gone; the job is to be cleared in any case. */
bool kr_check_job_new(kr_check_job *job, const kr_check_kernel *kernel, uint64_t seed,
                      int64_t index);
bool kr_check_job_new_timed(kr_check_job *job, const kr_check_kernel *kernel, uint64_t seed,
                            int64_t bytes);
void kr_check_job_clear(kr_check_job *job);
/* The next buffer of a job being built, or NULL. */
kr_check_buffer *kr_check_job_add(kr_check_job *job, kr_check_random *random, const char *name,
                                  kr_check_element element, int64_t n, size_t align);

/* ---- comparing, timing: check_compare.c, check_time.c --------------------------------------- */

/* Runs both kernels and compares all that they may have written. On a difference the message says
 * where. */
bool kr_check_compare(kr_check_job *job, kr_check_fn *reference, kr_check_fn *candidate,
                      char *message, size_t size);
/* Calls with subnormals flushed, as the engine makes them. NULL, or what went wrong: a memory
 * fault, an illegal instruction, a changed floating-point environment. */
const char *kr_check_run(const kr_check_job *job, kr_check_fn *fn, int calls);

typedef struct kr_check_speed {
  double speed, reference; /* in the kind's unit; 0: not timed */
  double share;            /* of the read bandwidth; 0 where weights are not the work */
  double bandwidth;        /* GB/s read from the same buffer, by a plain sum */
} kr_check_speed;

/* Best of several calls of each, after the same comparison; bytes is the size of the operand that
 * is read. False with a message on a difference, a fault, or no memory. */
bool kr_check_time(const kr_check_kernel *kernel, kr_check_fn *reference, kr_check_fn *candidate,
                   uint64_t seed, int64_t bytes, kr_check_speed *ret_speed, char *message,
                   size_t size);

/* ---- reports: check_report.c ---------------------------------------------------------------- */

typedef struct kr_check_result {
  const char *kernel, *unit;
  int64_t cases; /* 0: the backend does not have the kernel */
  bool equal;
  char message[400];
  kr_check_speed speed;
} kr_check_result;

typedef struct kr_check_backend {
  const char *name, *path, *features, *provenance;
  const char *reason; /* why it was not checked, else "" */
  int rank;
  size_t n_results;
  kr_check_result *results;
} kr_check_backend;

void kr_check_report_open(bool json, const char *version, uint64_t seed);
void kr_check_report_backend(bool json, const kr_check_backend *backend, bool first, bool timed);
void kr_check_report_close(bool json, int code); /* the program's exit code */

#endif
