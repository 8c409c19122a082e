/* What the system says of time. */
#ifndef KR_BASE_CLOCK_H
#define KR_BASE_CLOCK_H

#include <stdint.h>

/* Seconds since some moment, on a clock that never goes back. */
double kr_seconds(void);

/* How often the system has taken a core away from a thread of this process that wanted to go on;
 * -1 where it does not tell. */
int64_t kr_times_preempted(void);

#endif
