/* Messages about kernels that cannot be loaded: one sentence with the kernel and its file, because
 * CUDA's errors name neither. The runtime, which knows both, asks for it. At the end of a program
 * that checks no errors, the number of refused launches. */
#include "cuda/api.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/demangle.h"

enum { MOST_OF_NAME = 200 }; /* templates of lambdas have names of thousands of characters */

/* Libraries whose code the user cannot compile, and alternatives. */
static const struct {
    const char *library, *instead;
} known[] = {
    {"libtorch_cuda", "; scripts/torch-kernels makes packs of PyTorch (docs/PYTORCH.md), and torch.compile makes PTX "
                      "of most operations"},
};

static const char *instead_of(const char *file)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strncmp(file, known[i].library, strlen(known[i].library)) == 0)
            return known[i].instead;
    return "";
}

const char *file_of(const void *address)
{
    Dl_info at;
    if (!dladdr(address, &at) || !at.dli_fname)
        return program_invocation_short_name;
    const char *slash = strrchr(at.dli_fname, '/');
    return slash ? slash + 1 : at.dli_fname;
}

void heddle_symbol_refused(const char *kind, const char *name, const void *host, const char *why)
{
    struct arena scratch = {0};
    const char *file = file_of(host);
    const char *readable = demangle(str_of(name), &scratch);
    bool long_name = strlen(readable) > MOST_OF_NAME;
    say("%s `%.*s%s` of %s cannot be loaded: %s%s", kind, MOST_OF_NAME, readable, long_name ? "..." : "", file, why,
        instead_of(file));
    arena_free(&scratch);
}

static unsigned launches_refused;
static pid_t refused_of; /* children inherit the exit handler, but have launched nothing */

static void tell_at_end(int status, void *data)
{
    unsigned n = __atomic_load_n(&launches_refused, __ATOMIC_RELAXED);
    (void)data;
    if (status == 0 && getpid() == refused_of)
        say("%s: %u %s refused, for the reasons above, but the program ended with status 0: its output is not that of "
            "a GPU",
            program_invocation_short_name, n, n == 1 ? "launch was" : "launches were");
}

void heddle_launch_refused(void)
{
    if (__atomic_fetch_add(&launches_refused, 1, __ATOMIC_RELAXED) == 0) {
        refused_of = getpid();
        on_exit(tell_at_end, NULL);
    }
}
