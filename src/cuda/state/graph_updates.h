/* Kernel nodes that kernels update ("CUDA C++ Programming Guide", "Device Node Update"). The
 * updatable state is in device memory, where image/device_graphs.c writes it, and is read when a
 * stream reaches the node. Private to cuda/.
 */
#ifndef HEDDLE_CUDA_STATE_GRAPH_UPDATES_H
#define HEDDLE_CUDA_STATE_GRAPH_UPDATES_H

#include "cuda/state/graph.h"

struct updatable;

/* Makes the record for a node's kernel, which gets a reference. */
CUresult updatable_new(CUgraphNode n);
struct updatable *updatable_hold(struct updatable *u); /* NULL gives NULL */
void updatable_release(struct updatable *u);           /* NULL is allowed */
CUgraphDeviceNode updatable_handle(const struct updatable *u);

/* Sets the state that the host specified. */
void updatable_set(struct updatable *u, const struct work_launch *l);
void updatable_enable(struct updatable *u, bool enabled);
void updatable_upload(struct updatable *u, bool uploaded);

/* Reads the current state of a launch; false: it is disabled. */
bool updatable_read(const struct updatable *u, struct work_launch *l);

#endif
