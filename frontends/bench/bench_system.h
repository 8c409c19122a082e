/* What the machine gives: the speed of reading memory, and the memory that this process holds. */
#ifndef KR_BENCH_SYSTEM_H
#define KR_BENCH_SYSTEM_H

#include <glib.h>

/* Bytes a second at which this many threads, each with its own share, sum a buffer of 256 MiB for
 * which huge pages are asked: the median of five passes. 0 without the memory or the threads. */
double kr_bench_read_bandwidth(int threads);

/* Bytes of this process in memory, now and at most so far; 0 where the system does not tell. The
 * buffer of kr_bench_read_bandwidth counts for the peak. */
gint64 kr_bench_memory(void);
gint64 kr_bench_memory_peak(void);

/* The median of n > 0 values, which are sorted. */
double kr_bench_median(double *values, gsize n);

#endif
