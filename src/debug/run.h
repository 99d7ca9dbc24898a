/* Named so as the C++ library has a <debug/debug.h> of its own, which a header here would hide.
 *
 * The debugger of a process: it runs launches so that they can stop inside of kernels, and go back.
 *
 * It has no face. A front end, another process, asks it over a connection (link.h) in JSON:
 * requests.h lists what it can ask. Launches whose kernels nothing is to stop run as without it,
 * compiled.
 */
#ifndef HEDDLE_DEBUG_RUN_H
#define HEDDLE_DEBUG_RUN_H

#include "base/diag.h"
#include "exec/launch.h"
#include "exec/machine.h"

struct debugger;
struct run;

/* Who checks the launch, too. */
struct debug_checks {
    void *data;
    size_t (*count)(void *data); /* of what has been found */
    bool (*report)(void *data, struct diags *diags);
};

/* What is known of a kernel's module. */
struct debug_names {
    void *data;
    const struct debug_checks *checks; /* or NULL */
    /* A variable in global or constant memory, by its name in the PTX or in the source. */
    bool (*global)(void *data, struct str name, uint64_t *address, const struct ptx_var **var);
};

/* `link`: a connected socket, the debugger's from now on; `policy`: copied; snapshot_bytes: what
 * may be kept of memory to go back; `always`: launches in which nothing is to stop run under it,
 * too, so that a fault stops them; `dwarf_library`: the path of libheddle-dwarf.so, or NULL. NULL
 * where memory is exhausted. */
struct debugger *debugger_create(int link, const char *policy, uint64_t snapshot_bytes, bool always,
                                 const char *dwarf_library);
void debugger_destroy(struct debugger *d);

/* A launch, in three steps around launch_begin() and launch_end():
 *
 *     struct run *r = debug_open(d, m, request, names);   NULL: it runs like any other
 *     do {
 *         debug_run(r);                                   prepares the request
 *         ... checkers become its clients: debug_listen(request) ...
 *         ... launch_begin, launch_step, launch_end ...
 *     } while (debug_again(r, result, diags));
 *     debug_close(r);
 *
 * The first tells the front end that it can say what is to be stopped at, before anything runs. */
struct run *debug_open(struct debugger *d, struct machine *m, struct launch_request *request,
                       const struct debug_names *names);
void debug_run(struct run *r);
/* Findings of the request's clients up to here are stops. False where memory is exhausted. */
bool debug_listen(struct launch_request *q);
/* True: the launch has been ended to be run again from its start, and its result says nothing. */
bool debug_again(struct run *r, hd_result result, const struct diags *diags);
void debug_close(struct run *r);
/* A launch that ran like any other has failed. */
void debug_tell_failure(struct debugger *d, const struct kernel *k, const struct diags *diags);

#endif
