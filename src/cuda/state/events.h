/* Events, behind the driver's functions: of this process, or of several (ipc_event.h). Private to
 * cuda/. */
#ifndef HEDDLE_CUDA_STATE_EVENTS_H
#define HEDDLE_CUDA_STATE_EVENTS_H

#include "cuda/state/state.h"

struct ipc_event;

/* Of several processes or, where `shared` is NULL, of this one. Takes `shared` over. */
CUresult event_new(CUcontext c, unsigned flags, struct ipc_event *shared, CUevent *handle);
/* By its handle; NULL where it is none. */
struct CUevent_st *event_of(CUevent handle);
void event_free(void *record);
CUresult event_record(struct CUevent_st *e, hd_stream *s);
CUresult event_wait(struct CUevent_st *e, hd_stream *s);

#endif
