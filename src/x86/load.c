/* Finds the library of insn.h: beside Heddle's other libraries of programs (lib/heddle), or in the
 * folder of the build. */
#include "x86/insn.h"

#ifdef __x86_64__

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct x86_reader *reader;

/* Its own names go before the program's, which may be of another Zydis. What sanitizers put into a
 * process cannot bear that. */
static int apart(void)
{
    return dlsym(RTLD_DEFAULT, "__sanitizer_print_stack_trace") ? 0 : RTLD_DEEPBIND;
}

static void load(void)
{
    static const char *const places[] = {"", "heddle/", "../"};
    char own[PATH_MAX], path[PATH_MAX + 64];
    Dl_info self;
    if (!dladdr((void *)(uintptr_t)load, &self) || !self.dli_fname || !realpath(self.dli_fname, own))
        return;
    strrchr(own, '/')[1] = 0;
    for (size_t i = 0; !reader && i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, sizeof path, "%s%slibheddle-x86.so", own, places[i]);
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | apart());
        reader = library ? dlsym(library, "heddle_x86_reader") : NULL;
    }
}

const struct x86_reader *x86_reader(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return reader;
}

#else

const struct x86_reader *x86_reader(void)
{
    return NULL;
}

#endif
