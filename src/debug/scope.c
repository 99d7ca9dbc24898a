/* What is visible in a frame of a thread: see expression.h. */
#include "debug/debugger.h"

struct scope scope_of(struct run *r, const struct call_frame *frame)
{
    return (struct scope){.code = frame && frame->act ? frame->act->code : NULL,
                          .kernel = r->kernel,
                          .data = r->names->data,
                          .global = r->names->global};
}
