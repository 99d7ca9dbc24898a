/* Events that several processes record and wait for, in a memory file. Private to cuda/. */
#ifndef HEDDLE_CUDA_STATE_IPC_EVENT_H
#define HEDDLE_CUDA_STATE_IPC_EVENT_H

#include "cuda/state/state.h"

struct ipc_event;
struct physical;
enum { IPC_EVENT_BYTES = 4096 }; /* size of the file */

CUresult ipc_event_new(struct device *d, struct ipc_event **event);
/* Opens an event of another process; owns the file. */
CUresult ipc_event_on(struct physical *file, struct ipc_event **event);
struct physical *ipc_event_file(const struct ipc_event *e);
void ipc_event_drop(struct ipc_event *e); /* NULL is allowed */
CUresult ipc_event_record(struct ipc_event *e, hd_stream *s);
/* Lets the stream wait for the last record of any process. */
CUresult ipc_event_wait(struct ipc_event *e, hd_stream *s);
bool ipc_event_is_done(const struct ipc_event *e);
void ipc_event_synchronize(const struct ipc_event *e, CUcontext c);

#endif
