/* Time that never goes back: seconds of CLOCK_MONOTONIC, and conditions that wait until then. */
#ifndef HEDDLE_BASE_MONOTONIC_H
#define HEDDLE_BASE_MONOTONIC_H

#include <pthread.h>
#include <time.h>

double seconds_now(void);
static inline struct timespec seconds_to_timespec(double seconds)
{
    time_t whole = (time_t)seconds;
    return (struct timespec){whole, (long)(1e9 * (seconds - (double)whole))};
}

/* For waiting until a moment of that clock. */
void cond_init_monotonic(pthread_cond_t *c);

#endif
