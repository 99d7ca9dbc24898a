/* Calls of libraries as work: cuda/library.h. Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_LIBRARY_WORK_H
#define HEDDLE_CUDA_STATE_LIBRARY_WORK_H

#include "cuda/state/state.h"

#include "cuda/library.h"

/* A call, shared by all that may still run it: a stream's task, nodes of graphs. */
struct library_work;

/* Returns it with one reference; NULL if memory is exhausted: then the task was dropped. */
struct library_work *library_work_new(const struct library_task *t);
struct library_work *library_work_hold(struct library_work *w);
void library_work_release(struct library_work *w);
CUresult library_work_run(hd_stream *s, struct library_work *w, bool wait);
/* The bytes from the first to the last; false if that exceeds any memory. */
bool library_extent(const hd_used *u, size_t *bytes);

#endif
