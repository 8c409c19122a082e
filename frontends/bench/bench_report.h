/* What was measured, as a table for people or as JSON for programs. */
#ifndef KR_BENCH_REPORT_H
#define KR_BENCH_REPORT_H

#include "bench_measure.h"

/* The table: its head, after kr_bench_open, and the lines of one group. */
void kr_bench_show_head(const kr_bench *bench);
void kr_bench_show_group(const kr_bench_group *group);

/* One JSON object on standard output; speeds in tokens and bytes a second, times in seconds, sizes
 * in bytes. What is unknown is null. */
void kr_bench_show_json(const kr_bench *bench);

#endif
