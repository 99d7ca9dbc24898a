/* See box.h. */
#include "api/box.h"

void box_note(const hd_machine *m, uint32_t task, struct box x, bool write)
{
    struct mem_block b;
    if (!m->checker || !task || !mem_reach(&m->machine->mem, (uint64_t)(uintptr_t)x.at, &b))
        return;
    const struct box_runs runs = box_runs(&x);
    for (size_t z = 0; z < x.depth; z++)
        for (size_t y = 0; y < runs.n; y++)
            checker_host(m->checker->checker,
                         &(struct host_event){.kind = HOST_RANGE,
                                              .task = task,
                                              .address = (uintptr_t)x.at + z * x.slice + y * x.pitch,
                                              .bytes = runs.bytes,
                                              .write = write});
}

hd_result box_may_use(const hd_machine *m, struct box x, bool writes)
{
    const struct mem *mem = &m->machine->mem;
    const struct machine_config *o = &m->machine->config;
    struct mem_block b;
    uint64_t at = (uint64_t)(uintptr_t)x.at, bytes = box_extent(&x);
    if (at - mem->heap_start < mem->heap_size)
        return mem_find(mem, at, &b) && bytes <= b.start + b.size - at ? HD_SUCCESS : HD_ERROR_ILLEGAL_ADDRESS;
    return !o->host_allows || o->host_allows(o->print_data, x.at, bytes, writes) ? HD_SUCCESS : HD_ERROR_LAUNCH_FAILED;
}
