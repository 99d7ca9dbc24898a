/* Copies and fills as tasks of a stream. Private to api/. */
#ifndef HEDDLE_API_MEMORY_TASK_H
#define HEDDLE_API_MEMORY_TASK_H

#include "api/box.h"

/* Returns NULL if memory is exhausted. */
struct task *copy_task_new(hd_machine *m, const hd_copy *copy);
struct task *fill_task_new(hd_machine *m, const hd_fill *fill);

#endif
