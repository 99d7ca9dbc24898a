/* See ranks.h. */
#include "ranks/ranks.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/places.h"

static unsigned number_of(const char *variable)
{
    const char *text = getenv(variable);
    return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

void ranks_find(struct ranks *r)
{
    static const struct launcher {
        const char *size, *rank, *name;
    } launchers[] = {
#define LAUNCHER(size, rank, name) {size, rank, name},
#include "ranks/launchers.def"
#undef LAUNCHER
    };
    *r = (struct ranks){.n = 1, .on_this_host = 1};
    for (size_t i = 0; i < sizeof launchers / sizeof launchers[0]; i++)
        if (getenv(launchers[i].size) && getenv(launchers[i].rank)) {
            unsigned n = number_of(launchers[i].size);
            if (n > 1)
                *r = (struct ranks){
                    .n = n, .number = number_of(launchers[i].rank), .on_this_host = 1, .launcher = launchers[i].name};
            return;
        }
}

const char *ranks_connect(struct ranks *r, struct arena *arena)
{
    if (r->n < 2 || r->transport)
        return NULL;
    const char *place = place_of_libraries(arena);
    void *library = place ? dlopen(arena_printf(arena, "%s/libheddle-mpi.so", place), RTLD_NOW | RTLD_GLOBAL) : NULL;
    const struct rank_transport *t = library ? dlsym(library, "heddle_rank_transport") : NULL;
    if (!t)
        return arena_printf(arena,
                            "started by %s with %u ranks, but this Heddle was built without MPI and cannot share work "
                            "among them (%s): start one process, or build Heddle on a machine with mpicc",
                            r->launcher, r->n, library || !place ? "no libheddle-mpi.so" : dlerror());
    unsigned n, number;
    sigset_t all, before;
    sigfillset(&all); /* its threads get no signals: they are for those who wait for them */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool connected = t->connect(&n, &number, &r->on_this_host);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!connected)
        return arena_printf(arena,
                            "started by %s, but MPI_Init_thread failed or does not offer MPI_THREAD_SERIALIZED: check "
                            "the launcher and the MPI that Heddle was built with",
                            r->launcher);
    if (n != r->n || number != r->number)
        return arena_printf(arena,
                            "started by %s as rank %u of %u, but the MPI that Heddle was built with says rank %u of "
                            "%u: use the launcher of that MPI",
                            r->launcher, r->number, r->n, number, n);
    r->transport = t;
    return NULL;
}

void ranks_disconnect(struct ranks *r)
{
    if (r->transport && r->lost)
        r->transport->abort(1);
    else if (r->transport)
        r->transport->disconnect();
    r->transport = NULL;
}

void ranks_hide(void)
{
    static const char *const prefixes[] = {"OMPI_", "PMIX_", "PMI_",           "PRTE_",
                                           "MV2_",  "PALS_", "JSM_NAMESPACE_", "FLUX_TASK_"};
    extern char **environ;
    for (char **at = environ; at && *at;) {
        size_t i = 0, n = sizeof prefixes / sizeof prefixes[0];
        while (i < n && strncmp(*at, prefixes[i], strlen(prefixes[i])) != 0)
            i++;
        char *name = i < n ? strndup(*at, strcspn(*at, "=")) : NULL;
        if (name && unsetenv(name) == 0) /* the others move up */
            free(name);
        else
            at++;
    }
}
