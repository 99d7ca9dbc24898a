/* Events behind the driver's functions, of this process or shared by several (ipc_event.h). Private
 * to cuda/. */
#ifndef HEDDLE_CUDA_STATE_EVENTS_H
#define HEDDLE_CUDA_STATE_EVENTS_H

#include "cuda/state/state.h"

struct ipc_event;

/* Makes an event: shared by several processes if `shared` is not NULL,
 * which is then owned by it. */
CUresult event_new(CUcontext c, unsigned flags, struct ipc_event *shared, CUevent *handle);
/* By handle; NULL if it is invalid. */
struct CUevent_st *event_of(CUevent handle);
void event_free(void *record);
CUresult event_record(struct CUevent_st *e, hd_stream *s);
CUresult event_wait(struct CUevent_st *e, hd_stream *s);

#endif
