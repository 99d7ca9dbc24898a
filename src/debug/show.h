/* Values, places and threads in words. */
#ifndef HEDDLE_DEBUG_SHOW_H
#define HEDDLE_DEBUG_SHOW_H

#include "debug/debugger.h"

/* The value of a node in a lane as text: as C writes it, or as `format` (x, d, u, o, t, c, a, f; 0)
 * has it. What cannot be had is said in words, in <>. */
void show_node(const struct node *n, const struct frame *f, unsigned lane, char format, struct text *t);
/* The same of bytes that are at hand. */
void show_bytes(const struct c_type *type, const uint8_t *bytes, uint64_t n, const struct frame *f, unsigned lane,
                char format, struct text *t);
/* A scalar, as a number. */
void show_value(const struct c_type *type, union c_value v, char format, struct text *t);

/* {"function", "file", "line", "ptx_line"} */
json_t *show_frame(const struct call_frame *f);
/* {"block": [x, y, z], "thread": [x, y, z], "warp", "lane"} */
json_t *show_thread(const struct run *r, const struct thread_name *t);

void coordinates_of_block(const struct run *r, uint64_t index, uint32_t at[3]);
void coordinates_of_thread(const struct run *r, const struct thread_name *t, uint32_t at[3]);
bool block_at(const struct run *r, const uint32_t at[3], uint64_t *index);
bool thread_at(const struct run *r, const uint32_t at[3], struct thread_name *t);

#endif
