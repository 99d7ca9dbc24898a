/* Debuggers of machines, for the command and for programs: what the public functions would be to
 * debug/run.h. */
#ifndef HEDDLE_API_DEBUG_H
#define HEDDLE_API_DEBUG_H

#include "heddle.h"

struct debugger;

struct debug_settings {
    const char *policy;        /* "serial", "random:SEED", "replay:FILE"; copied */
    uint64_t snapshot_bytes;   /* what may be kept of memory to go back in a launch */
    const char *dwarf_library; /* the path of libheddle-dwarf.so, which reads debugging information; or NULL */
    bool always;               /* launches in which nothing is to stop do not run compiled: a fault stops them, too */
};

/* `link`: a connected socket to a front end (debug/requests.h), the debugger's from now on. NULL
 * where memory is exhausted. */
struct debugger *api_debugger_create(int link, const struct debug_settings *settings);
void api_debugger_destroy(struct debugger *d);
/* From now on the debugger, which outlives it, has to do with the machine's launches; before
 * kernels are asked for. */
void api_debug(hd_machine *m, struct debugger *d);

#endif
