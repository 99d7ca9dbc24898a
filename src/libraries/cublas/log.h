/* What cuBLAS's logger is told. */
#ifndef HEDDLE_LIBRARIES_CUBLAS_LOG_H
#define HEDDLE_LIBRARIES_CUBLAS_LOG_H

#include "libraries/cublas/call.h"

/* A function is called; `c`, its arguments, or NULL. */
void log_call(cublasHandle_t handle, const char *function, const struct call *c);

#endif
