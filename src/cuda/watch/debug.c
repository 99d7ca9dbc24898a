/* See debug.h. */
#include "cuda/watch/debug.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/debug.h"

static struct debugger *debugger;
static int connection = -1; /* this process's own */

/* Processes that a program forks share one connection: the first one that reads the byte from a
   pipe gets it. */
static bool may_have(int link, int pipe)
{
    char byte;
    ssize_t n = read(pipe, &byte, 1);
    close(pipe);
    if (n == 1)
        return true;
    close(link);
    fprintf(stderr,
            "heddle: process %d is not debugged, because another process of the program is; its kernels run as they do "
            "without `heddle debug`\n",
            (int)getpid());
    return false;
}

/* The first process that uses CUDA takes the connection, and hides it from the processes that it
   starts. */
bool debug_start(const char *text)
{
    int link, pipe, type, always, policy = 0;
    socklen_t n = sizeof type;
    unsigned long long snapshot_bytes;
    if (sscanf(text, "%d %d %llu %d %n", &link, &pipe, &snapshot_bytes, &always, &policy) != 4 || !policy)
        return false;
    unsetenv("HEDDLE_DEBUG");
    if (getsockopt(link, SOL_SOCKET, SO_TYPE, &type, &n) != 0 || fcntl(link, F_SETFD, FD_CLOEXEC) != 0)
        return false;
    if (!may_have(link, pipe))
        return true;
    Dl_info own;
    char library[4096 + 32] = "";
    if (dladdr((void *)debug_start, &own) && own.dli_fname && strrchr(own.dli_fname, '/'))
        snprintf(library, sizeof library, "%.*slibheddle-dwarf.so",
                 (int)(strrchr(own.dli_fname, '/') + 1 - own.dli_fname), own.dli_fname);
    const struct debug_settings settings = {
        .dwarf_library = library, .policy = text + policy, .snapshot_bytes = snapshot_bytes, .always = always};
    debugger = api_debugger_create(link, &settings);
    connection = debugger ? link : -1;
    return debugger;
}

void debug_after_fork(void)
{
    debugger = NULL;
    if (connection >= 0) /* the connection ends with the process */
        close(connection);
    connection = -1;
}

void debug_machine(hd_machine *m)
{
    if (debugger)
        api_debug(m, debugger);
}
