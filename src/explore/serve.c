/* What may still come: whether a write can show up that an open read waits for, an arrival that a barrier waits for; see search.h. */
#include "explore/search.h"

bool may_be_served(struct explorer *x, struct state *s, uint16_t event)
{
    (void)x, (void)s, (void)event;
    return true;
}

bool may_arrive(struct explorer *x, struct state *s, uint16_t thread, uint8_t barrier)
{
    (void)x, (void)s, (void)thread, (void)barrier;
    return s->runs[thread]->end == RUN_WAITS;
}
