/* Attention over the cache, a page of 256 positions at a time.
 *
 * For each page, in order: scores = keys x queries (a product, one accumulator a position), softmax
 * within the page, values x probabilities (a product, one accumulator a dimension, positions
 * ascending). Pages are combined in ascending order by their maxima:
 *
 *   M' = max(M, m),  o = o exp(M - M') + a exp(m - M'),  l = l exp(M - M') + s exp(m - M')
 *
 * with m, s, a the page's maximum, sum and weighted values; at the end out = o / l. The bounds of a
 * page depend on the position alone, so neither threads, batches nor sharing change a bit; a page's
 * part may be computed anywhere and at any time before it is combined.
 *
 * Rows of one sequence and the queries of one KV head go together as columns: column r * group + g
 * is row r of the tile, query head head * group + g. */
#include "base/real.h"
#include "forward/forward.h"
#include <math.h>
#include <string.h>

/* One thread's buffers for n columns; see kr_attention_scratch. */
typedef struct buffers {
  float *q;                         /* [n][k_dim] */
  float *scores;                    /* [n][KR_PAGE] */
  float *a;                         /* [n][v_row] */
  float *o;                         /* [n][v_row] */
  float *max, *sum, *o_max, *o_sum; /* [n] */
  int32_t *last;                    /* [n] positions of the page that a column sees */
  kr_columns columns;
} buffers;

typedef struct job {
  kr_forward *f;
  const kr_step_row *rows;
  int64_t layer, group; /* query heads of a KV head */
  int64_t n_pages;      /* split: pages of the one tile */
} job;

static int64_t tile_columns(const kr_forward *f) {
  int64_t group = f->model->hp.n_heads / f->model->hp.n_kv_heads;
  return group > KR_TILE_COLUMNS ? group : KR_TILE_COLUMNS;
}

int64_t kr_attention_scratch(const kr_forward *f) {
  int64_t n = tile_columns(f), k = f->kv->k_row, v = f->kv->v_row;
  /* q, scores, a, o, five of [n], then the quantized queries; slack to align */
  return n * (k + KR_PAGE + 2 * v + 5) + n * (k / 4 + 2 * (k / KR_BLOCK + 1)) + 256;
}

static buffers lay_out(const kr_forward *f, float *scratch) {
  int64_t n = tile_columns(f), k = f->kv->k_row, v = f->kv->v_row;
  buffers b = {.q = scratch};
  b.scores = b.q + n * k;
  b.a = b.scores + n * KR_PAGE;
  b.o = b.a + n * v;
  b.max = b.o + n * v;
  b.sum = b.max + n, b.o_max = b.sum + n, b.o_sum = b.o_max + n;
  b.last = (int32_t *)(b.o_sum + n);
  float *d = b.o_sum + 2 * n;
  int32_t *s = (int32_t *)(d + n * (k / KR_BLOCK + 1));
  int8_t *q = (int8_t *)(s + n * (k / KR_BLOCK + 1));
  b.columns = (kr_columns){.q = q, .d = d, .s = s, .f = b.q, .ldf = k};
  return b;
}

/* The tile's queries of a KV head, side by side. */
static void gather(const job *j, const kr_tile *tile, int64_t head, buffers *b) {
  const kr_forward *f = j->f;
  int64_t dim = f->kv->k_dim, ld = f->kv->k_row, group = j->group;
  for (int64_t r = 0; r < tile->n; r++) {
    const float *q = f->q + (tile->first + r) * f->ld_q + head * group * dim;
    for (int64_t g = 0; g < group; g++)
      memcpy(b->q + (r * group + g) * ld, q + g * dim, (size_t)dim * sizeof *q);
  }
  b->columns.n = tile->n * group;
  if (f->kv->type == KR_KV_Q8)
    f->table->quantize(b->q, ld, b->columns.n, dim, ld, (int8_t *)b->columns.q,
                       (float *)b->columns.d, (int32_t *)b->columns.s);
}

static kr_product_fn *product_of(const kr_forward *f, int64_t n) {
  kr_format format = f->kv->type == KR_KV_F32   ? KR_FORMAT_F32
                     : f->kv->type == KR_KV_F16 ? KR_FORMAT_F16
                                                : KR_FORMAT_Q8_0;
  return kr_format_product(f->table, format, n);
}

/* Positions of the page that each column sees, and the most that any does. */
static int32_t visible(const job *j, const kr_tile *tile, int64_t page, buffers *b) {
  int32_t most = 0;
  for (int64_t c = 0; c < b->columns.n; c++) {
    int64_t end = j->rows[tile->first + c / j->group].position + 1 - page * KR_PAGE;
    b->last[c] = end < 0 ? 0 : end > KR_PAGE ? KR_PAGE : (int32_t)end;
    if (b->last[c] > most) most = b->last[c];
  }
  return most;
}

/* One page: b->max, b->sum and b->a of every column that sees any of it. */
static void attend_page(const job *j, const kr_tile *tile, int64_t head, int64_t page, buffers *b) {
  const kr_forward *f = j->f;
  const kr_kv_page *data = j->rows[tile->first].pages[page];
  int32_t end = visible(j, tile, page, b);
  int64_t groups = (end + 15) / 16, n = b->columns.n;
  float scale = (float)(1 / sqrt((double)f->kv->k_dim));
  kr_panel keys = kr_kv_keys(f->kv, data, j->layer, head);
  product_of(f, n)(&keys, 0, groups, &b->columns, b->scores, KR_PAGE);
  for (int64_t c = 0; c < n; c++) {
    float *row = b->scores + c * KR_PAGE, ret[2] = {0, 0};
    if (b->last[c])
      f->table->softmax(row, 0, b->last[c], groups * 16, scale, ret);
    else
      memset(row, 0, (size_t)(groups * 16) * sizeof *row);
    b->max[c] = ret[0], b->sum[c] = ret[1];
  }
  kr_panel values = kr_kv_values(f->kv, data, j->layer, head);
  int64_t ld = f->kv->v_row;
  if (f->kv->type == KR_KV_Q8) {
    f->table->values_q8((const int8_t *)values.data, kr_kv_scales(f->kv, data, j->layer, head), ld,
                        0, end, b->scores, KR_PAGE, n, b->a, ld);
  } else {
    kr_columns x = {.f = b->scores, .ldf = KR_PAGE, .n = n};
    values.k = end;
    product_of(f, n)(&values, 0, ld / 16, &x, b->a, ld);
  }
}

static float decay(float below) { /* exp of what is <= 0 */
  return below > -87 ? (float)kr_real_exp((double)below) : 0;
}

/* Adds a page's part (m, s, a) to a column's (o_max, o_sum, o). */
static void combine(float m, float s, const float *a, int64_t n, bool first, float *o_max,
                    float *o_sum, float *o) {
  if (first) { /* what the formula gives from o = l = 0; adding 0 gives zeros one sign */
    *o_max = m, *o_sum = s;
    for (int64_t i = 0; i < n; i++) o[i] = a[i] + 0.0f;
    return;
  }
  float top = m > *o_max ? m : *o_max, old = decay(*o_max - top), new = decay(m - top);
  *o_max = top;
  *o_sum = *o_sum * old + s * new;
  for (int64_t i = 0; i < n; i++) o[i] = o[i] * old + a[i] * new;
}

static void scatter(const job *j, const kr_tile *tile, int64_t head, int64_t c, const float *o,
                    float sum) {
  const kr_forward *f = j->f;
  int64_t dim = f->kv->v_dim;
  float *out =
      f->out + (tile->first + c / j->group) * f->ld_out + (head * j->group + c % j->group) * dim;
  for (int64_t i = 0; i < dim; i++) out[i] = o[i] / sum + 0.0f;
}

static int64_t pages_of(const job *j, const kr_tile *tile) {
  return j->rows[tile->first + tile->n - 1].position / KR_PAGE + 1;
}

/* Item: tile * n_kv_heads + head. All pages of it, one after the other. */
static void attend_task(void *data, int64_t first, int64_t last, int32_t worker) {
  const job *j = data;
  kr_forward *f = j->f;
  buffers b = lay_out(f, f->scratch + worker * f->scratch_floats);
  int64_t heads = f->kv->n_heads, ld = f->kv->v_row;
  for (int64_t item = first; item < last; item++) {
    const kr_tile *tile = &f->tiles[item / heads];
    int64_t head = item % heads, pages = pages_of(j, tile);
    gather(j, tile, head, &b);
    for (int64_t page = 0; page < pages; page++) {
      attend_page(j, tile, head, page, &b);
      for (int64_t c = 0; c < b.columns.n; c++)
        if (b.last[c])
          combine(b.max[c], b.sum[c], b.a + c * ld, ld, page == 0, &b.o_max[c], &b.o_sum[c],
                  b.o + c * ld);
    }
    for (int64_t c = 0; c < b.columns.n; c++) scatter(j, tile, head, c, b.o + c * ld, b.o_sum[c]);
  }
}

/* ---- few rows far into a context: the pages are shared out too ------------------------------- */

/* f->partial: of each head, page and column of the one tile, {max, sum, a[v_row]}. */
static float *partial(const job *j, int64_t head, int64_t page, int64_t c) {
  const kr_forward *f = j->f;
  return f->partial + ((head * j->n_pages + page) * j->group + c) * (2 + f->kv->v_row);
}

/* Item: head * n_pages + page. */
static void partial_task(void *data, int64_t first, int64_t last, int32_t worker) {
  const job *j = data;
  kr_forward *f = j->f;
  buffers b = lay_out(f, f->scratch + worker * f->scratch_floats);
  int64_t ld = f->kv->v_row;
  for (int64_t item = first; item < last; item++) {
    int64_t head = item / j->n_pages, page = item % j->n_pages;
    if (item == first || page == 0) gather(j, &f->tiles[0], head, &b);
    attend_page(j, &f->tiles[0], head, page, &b);
    for (int64_t c = 0; c < b.columns.n; c++) {
      float *p = partial(j, head, page, c);
      p[0] = b.max[c], p[1] = b.sum[c];
      memcpy(p + 2, b.a + c * ld, (size_t)ld * sizeof *p);
    }
  }
}

static void combine_partials(const job *j) {
  kr_forward *f = j->f;
  buffers b = lay_out(f, f->scratch);
  for (int64_t head = 0; head < f->kv->n_heads; head++)
    for (int64_t c = 0; c < j->group; c++) {
      for (int64_t page = 0; page < j->n_pages; page++) {
        const float *p = partial(j, head, page, c);
        combine(p[0], p[1], p + 2, f->kv->v_row, page == 0, b.o_max, b.o_sum, b.o);
      }
      scatter(j, &f->tiles[0], head, c, b.o, b.o_sum[0]);
    }
}

int64_t kr_attention_partial(const kr_forward *f, int32_t n_ctx) {
  int64_t pages = (n_ctx + KR_PAGE - 1) / KR_PAGE;
  return f->model->hp.n_heads * pages * (2 + f->kv->v_row);
}

/* Cuts the rows into tiles: consecutive rows of one sequence. */
static int32_t cut_tiles(kr_forward *f, const kr_step_row *rows, int32_t n, int64_t group) {
  int32_t n_tiles = 0, most = (int32_t)(tile_columns(f) / group);
  for (int32_t i = 0; i < n; i++) {
    kr_tile *last = n_tiles ? &f->tiles[n_tiles - 1] : NULL;
    if (last && rows[i].pages == rows[i - 1].pages && last->n < most)
      last->n++;
    else
      f->tiles[n_tiles++] = (kr_tile){i, 1};
  }
  return n_tiles;
}

void kr_attention_run(kr_forward *f, const kr_step_row *rows, int32_t n, int64_t layer) {
  int64_t heads = f->kv->n_heads, group = f->model->hp.n_heads / heads;
  job j = {.f = f, .rows = rows, .layer = layer, .group = group};
  int32_t n_tiles = cut_tiles(f, rows, n, group), threads = kr_pool_threads(f->pool);
  j.n_pages = pages_of(&j, &f->tiles[0]);
  if (threads > 1 && n == 1 && j.n_pages > 1) {
    kr_pool_run(f->pool, heads * j.n_pages, 1, partial_task, &j);
    combine_partials(&j);
  } else {
    kr_pool_run(f->pool, n_tiles * heads, 1, attend_task, &j);
  }
}
