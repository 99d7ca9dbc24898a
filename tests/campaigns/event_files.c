/* event-files: damaged files of events (record/replay.h), replayed, and copied in the other form;
 * see cases.h for how it is used. Each ends with findings or an error with its reason; what could
 * be copied is replayed from the copy, too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "cases.h"
#include "record/replay.h"

const char *const case_counts[] = {"replayed", "refused", "copied", NULL};

struct bytes {
    const char *at;
    size_t n;
};

static bool replay(const char *path)
{
    struct arena arena = {0};
    struct diags diags = {.arena = &arena};
    const char *error = NULL;
    bool whole = false;
    struct replay *r = replay_run(path, &arena, &error);
    for (unsigned i = 0; r && replay_report(r, i, &diags, &whole); i++)
        ;
    if (!r && !(error && *error))
        case_fails(V_DIFFERS, "refused without a reason");
    bool good = r;
    replay_free(r);
    arena_free(&arena);
    return good;
}

static void do_file(const void *argument)
{
    const struct bytes *b = argument;
    struct arena arena = {0};
    char from[64], to[64];
    int file = memfd_create("events", MFD_CLOEXEC), copy = memfd_create("copy", MFD_CLOEXEC);
    if (file < 0 || copy < 0 || write(file, b->at, b->n) != (ssize_t)b->n)
        abort();
    snprintf(from, sizeof from, "/proc/self/fd/%d", file);
    snprintf(to, sizeof to, "/proc/self/fd/%d", copy);
    bool good = replay(from);
    told->counts[!good]++;
    if (good && !replay_copy(from, to, &arena)) {
        told->counts[2]++;
        if (!replay(to))
            case_fails(V_PRINT, "its copy cannot be replayed");
    }
    arena_free(&arena);
}

void do_case(const char *bytes, size_t n)
{
    do_in_child(do_file, &(struct bytes){bytes, n});
}
