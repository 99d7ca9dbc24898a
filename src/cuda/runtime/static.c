/* libcudart_static.a, for programs that are linked without a shared CUDA runtime. NVIDIA's contains
 * the runtime and finds the driver when the program starts; ours finds Heddle's libcudart.so.13
 * then, where `heddle cc --install-tools` recorded it, else in the usual search path. Without it
 * every call fails as without a driver.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/place.h"

static const char library[] = "libcudart.so.13";

/* The path of Heddle's libraries; --install-tools writes it into its copy of the archive
   (cc/toolkit.c). */
__attribute__((visibility("hidden"))) volatile const char heddle_static_place[PLACE_BYTES] = PLACE_MARK;

static const char *const names[] = {
#define STATIC(name) #name,
#include "cuda/runtime/static.def"
};

enum { N_NAMES = sizeof names / sizeof names[0] };

__attribute__((visibility("hidden"))) void *heddle_static_slots[N_NAMES];

static long no_driver(void)
{
    return 35; /* cudaErrorInsufficientDriver */
}

static const char *no_driver_text(void)
{
    return "Heddle's libcudart.so.13 cannot be found: start the program with `heddle run`";
}

static void *open_library(void)
{
    static char path[PLACE_BYTES + sizeof library];
    const char *preload = getenv("LD_PRELOAD");
    bool brings_its_own = preload && strstr(preload, "libheddle-preload"); /* under `heddle run` */
    size_t n = 0;
    for (size_t i = sizeof PLACE_MARK - 1; i < PLACE_BYTES && heddle_static_place[i]; i++)
        path[n++] = heddle_static_place[i];
    snprintf(path + n, sizeof path - n, "/%s", library);
    void *found = n && !brings_its_own ? dlopen(path, RTLD_NOW) : NULL;
    return found ? found : dlopen(library, RTLD_NOW);
}

/* Runs before all constructors that register device code. */
__attribute__((constructor(101))) static void fill_slots(void)
{
    void *found = open_library();
    for (size_t i = 0; i < N_NAMES; i++) {
        bool is_text = strcmp(names[i], "cudaGetErrorString") == 0 || strcmp(names[i], "cudaGetErrorName") == 0;
        heddle_static_slots[i] = found ? dlsym(found, names[i]) : NULL;
        if (!heddle_static_slots[i])
            heddle_static_slots[i] = is_text ? (void *)no_driver_text : (void *)no_driver;
    }
}
