/* What every entry point of libcuda.so.1 needs: the log, answers for what is not there. Private to cuda/. */
#ifndef HEDDLE_CUDA_API_H
#define HEDDLE_CUDA_API_H

#include "base/log.h"
#include "cuda/cuda.h"

#include <stdbool.h>

#define CU_API __attribute__((visibility("default")))

/* A line on stderr where HEDDLE_LOG has the topic. */
void log_line(enum log_topic topic, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Hands lines about LOG_ERROR to a function, too. */
void log_listen(void (*listener)(const char *text));

/* What a user has to know: always on stderr. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Exported for libcudart, whose errors are what a program sees: a call has failed; the calling thread asks for its last error.
 * watch.c */
CU_API void heddle_call_failed(int error, const char *name);
CU_API void heddle_error_seen(void);

/* For calls, or uses of them, that Heddle does not have: names them in the log. */
CUresult api_not_supported(const char *what);

#endif
