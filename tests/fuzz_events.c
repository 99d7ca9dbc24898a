/* Any bytes as a file of events (record/replay.h), as text or not: replaying them must end with
 * findings or with an error. For libFuzzer: `make fuzz`; tests/campaigns/events.py makes cases
 * without it. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/replay.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    const char *error;
    char path[64];
    bool whole = false;
    int file = memfd_create("events", MFD_CLOEXEC);
    if (file < 0 || write(file, data, bytes) != (ssize_t)bytes)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    struct replay *r = replay_run(path, &arena, &error);
    for (unsigned i = 0; r && replay_report(r, i, &diags, &whole); i++)
        ;
    replay_free(r);
    arena_free(&arena);
    close(file);
    return 0;
}
