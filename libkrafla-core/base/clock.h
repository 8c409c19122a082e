/* Time. */
#ifndef KR_BASE_CLOCK_H
#define KR_BASE_CLOCK_H

/* Seconds since some moment, on a clock that never goes back. */
double kr_seconds(void);

#endif
