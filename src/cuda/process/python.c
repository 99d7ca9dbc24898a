/* See python.h. CPython's traceback for faulthandler needs no lock (_Py_DumpTraceback) and goes to
 * a descriptor: here to a memory file of the thread's own. */
#include "cuda/process/python.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda/api.h"

static struct {
    void (*dump)(int fd, void *thread);
    void *(*this_thread)(void);
} python;

static __thread int file; /* numbered from 1 */

static bool is_python(void)
{
    static _Atomic int known; /* 1: there is none; 2: there is */
    if (!known) {
        *(void **)&python.dump = dlsym(RTLD_DEFAULT, "_Py_DumpTraceback");
        *(void **)&python.this_thread = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
        known = python.dump && python.this_thread ? 2 : 1;
    }
    return known == 2;
}

/* pytest's current test is printed behind the calls:
 * PYTEST_CURRENT_TEST is "FILE::NAME (PHASE)". */
static const char test_line[] = "  Test \"";

static size_t put_test(char *text, size_t room)
{
    const char *test = getenv("PYTEST_CURRENT_TEST"), *end = test ? strrchr(test, ' ') : NULL;
    int n = end ? snprintf(text, room, "%s%.*s\n", test_line, (int)(end - test), test) : 0;
    if (n < (int)room)
        return (size_t)n;
    text[0] = 0; /* a truncated name would be another test's */
    return 0;
}

size_t python_calls(char *text, size_t room)
{
    void *thread = is_python() ? python.this_thread() : NULL;
    if (!thread)
        return 0;
    if (!file)
        file = memfd_create("heddle-python", MFD_CLOEXEC) + 1;
    if (!file || ftruncate(file - 1, 0) || lseek(file - 1, 0, SEEK_SET) < 0)
        return 0;
    python.dump(file - 1, thread);
    ssize_t n = pread(file - 1, text, room - 1, 0);
    size_t size = n > 0 ? (size_t)n : 0;
    text[size] = 0;
    return size ? size + put_test(text + size, room - size) : 0;
}

static bool next_test(const char **text, struct python_call *call, struct arena *arena)
{
    const char *at = strstr(*text, test_line), *name = at ? at + sizeof test_line - 1 : NULL,
               *end = at ? strchr(at, '\n') : NULL;
    if (!end)
        return false;
    *call = (struct python_call){.function = arena_printf(arena, "test %.*s", (int)(end - name), name)};
    *text = end + 1;
    return true;
}

bool python_next(const char **text, struct python_call *call, struct arena *arena)
{
    static const char before[] = "  File \"", between[] = "\", line ", in[] = " in ";
    const char *at = strstr(*text, before), *end = at ? strchr(at, '\n') : NULL;
    const char *name = at ? at + sizeof before - 1 : NULL, *number = at ? strstr(name, between) : NULL;
    if (!end || !number || number > end)
        return next_test(text, call, arena);
    call->file = arena_strndup(arena, name, (size_t)(number - name));
    char *rest;
    call->line = (unsigned)strtoul(number + sizeof between - 1, &rest, 10);
    bool has = strncmp(rest, in, sizeof in - 1) == 0;
    call->function = has ? arena_strndup(arena, rest + sizeof in - 1, (size_t)(end - rest) - (sizeof in - 1)) : NULL;
    *text = end + 1;
    return true;
}

bool python_is_library(const char *name)
{
    static const char *const folders[] = {"/site-packages/", "/dist-packages/", "/lib/python3", "<frozen "};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (strstr(name, folders[i]))
            return true;
    return false;
}

/* ---- numba without its compiler ---- */

struct loaded {
    bool numba, asked, nvvm; /* asked: libnvvm's loader exists */
};

/* Does a package folder contain NVIDIA's wheel, even if nothing was compiled? */
static bool has_nvvm(const char *module)
{
    static const char folder[] = "/site-packages/";
    const char *end = strstr(module, folder);
    char pattern[4096];
    int n = end ? (int)(end - module) : 0;
    glob_t found;
    if (!end || snprintf(pattern, sizeof pattern, "%.*s%snvidia/*/{lib,nvvm/lib64}/libnvvm.so*", n, module, folder) >=
                    (int)sizeof pattern)
        return false;
    bool any = glob(pattern, GLOB_BRACE | GLOB_NOSORT, NULL, &found) == 0;
    if (any)
        globfree(&found);
    return any;
}

static int look(struct dl_phdr_info *object, size_t bytes, void *data)
{
    struct loaded *l = data;
    const char *name = object->dlpi_name ? object->dlpi_name : "";
    (void)bytes;
    l->numba |= strstr(name, "/numba") != NULL;
    l->asked |= strstr(name, "/bindings/_internal/nvvm.") != NULL;
    l->nvvm |= strstr(name, "/libnvvm.so") || (strstr(name, "/numba") && has_nvvm(name));
    return 0;
}

/* numba's error names a file, not the package that has it. */
__attribute__((destructor)) static void tell_what_numba_lacks(void)
{
    struct loaded l = {0};
    if (!is_python())
        return;
    dl_iterate_phdr(look, &l);
    if (l.numba && l.asked && !l.nvvm)
        say("numba compiles with NVIDIA's libnvvm, which is not installed: pip install 'numba-cuda[cu13]'");
}
