/* Who a checker asks, and who hears of what it is told; see world.h. */
#include "check/checker.h"

void checker_listen(struct checker *c, const struct checker_listener *l)
{
    c->listener = l;
}

void checker_hold(const struct checker *c)
{
    if (c->listener)
        c->listener->hold(c->listener->data);
}

void checker_give_back(const struct checker *c)
{
    if (c->listener)
        c->listener->give_back(c->listener->data);
}

void checker_tell(const struct checker *c, const struct host_event *e)
{
    if (c->listener)
        c->listener->host(c->listener->data, c, e);
}

bool checker_find(const struct checker *c, uint64_t address, struct mem_block *block)
{
    return c->world.find(c->world.data, address, block);
}

const char *checker_buffer(const struct checker *c, const struct mem_block *block, struct arena *arena)
{
    const char *text = c->world.buffer(c->world.data, block, arena);
    if (c->listener)
        c->listener->buffer(c->listener->data, block->start, text);
    return text;
}
