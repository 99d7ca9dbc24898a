/* Events that several processes record and wait for; driver/ipc.c. Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_IPC_H
#define HEDDLE_CUDA_STATE_IPC_H

#include "cuda/state/state.h"

struct ipc_event;

CUresult ipc_event_new(struct device *d, struct ipc_event **event);
void ipc_event_drop(struct ipc_event *e); /* NULL is allowed */
CUresult ipc_event_record(struct ipc_event *e, hd_stream *s);
/* The stream waits for the last record of all processes. */
CUresult ipc_event_wait(struct ipc_event *e, hd_stream *s);
bool ipc_event_is_done(const struct ipc_event *e);
void ipc_event_synchronize(const struct ipc_event *e, CUcontext c);

#endif
