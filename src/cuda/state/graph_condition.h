/* Conditions of graphs, and their bodies ("CUDA C++ Programming Guide", "Conditional Graph Nodes").
 * A condition is a word of device memory that exists while a launch of its graph runs. Its handle
 * is the word's address, so that a kernel sets it by a store. Private to cuda/.
 */
#ifndef HEDDLE_CUDA_STATE_GRAPH_CONDITION_H
#define HEDDLE_CUDA_STATE_GRAPH_CONDITION_H

#include "cuda/state/graph.h"

struct condition;

/* A list of conditions, with references. */
struct condition_use {
    struct condition_use *next;
    struct condition *condition;
};

/* Makes a condition for a graph, which holds a reference. With `assigned`, every launch begins with
 * `value`. */
CUresult condition_new(CUgraph g, CUcontext c, unsigned value, bool assigned, cuuint64_t *handle);
/* By handle, with a reference; NULL if there is none. */
struct condition *condition_at(cuuint64_t handle);
struct condition *condition_hold(struct condition *c); /* NULL gives NULL */
void condition_release(struct condition *c);           /* NULL is allowed */
/* Claims the condition for its only node; false if it already has one. */
bool condition_use(struct condition *c);
void condition_leave(struct condition *c);
unsigned condition_value(const struct condition *c);
bool condition_is_used(const struct condition *c);
void conditions_release(struct condition_use **list);
/* Adds references to the conditions of the graph and its bodies. */
CUresult conditions_collect(CUgraph g, struct condition_use **list);
/* Called at a launch's begin, to set the initial values, and at its end. */
CUresult conditions_begin(const struct condition_use *list, hd_stream *stream);
CUresult conditions_end(const struct condition_use *list, hd_stream *stream);

#endif
