#include "cuda.h" /* which has the profiler's functions of the driver API, too */
