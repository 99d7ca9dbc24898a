/* The logger of cuBLAS. */
#ifndef HEDDLE_LIBRARIES_CUBLAS_LOG_H
#define HEDDLE_LIBRARIES_CUBLAS_LOG_H

#include "libraries/cublas/call.h"

/* Logs a call of a function; `c`: its arguments, or NULL. */
void log_call(cublasHandle_t handle, const char *function, const struct call *c);

#endif
