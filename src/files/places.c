/* Where Heddle's own files are: beside the program where it was built,
 * or where it was installed. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/places.h"

const char *place_of_program(struct arena *arena)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    return n > 0 ? arena_strndup(arena, self, (size_t)n) : NULL;
}

/* The first of `folders`, relative to this program's own, that has the file; NULL: none. */
static const char *find(const char *const *folders, const char *file, struct arena *arena)
{
    const char *program = place_of_program(arena);
    if (!program)
        return NULL;
    const char *self = arena_strndup(arena, program, (size_t)(strrchr(program, '/') - program));
    for (; *folders; folders++) {
        char real[PATH_MAX];
        const char *folder = arena_printf(arena, "%s/%s", self, *folders);
        if (access(arena_printf(arena, "%s/%s", folder, file), R_OK) == 0 && realpath(folder, real))
            return arena_printf(arena, "%s", real);
    }
    return NULL;
}

const char *place_of_libraries(struct arena *arena)
{
    static const char *const folders[] = {"lib", HEDDLE_CUDA_LIBRARIES, /* for heddle-tools: */ "..", "../../lib",
                                          NULL};
    return find(folders, "libcuda.so.1", arena);
}

const char *place_of_headers(struct arena *arena)
{
    static const char *const folders[] = {"cuda/include", HEDDLE_CUDA_ROOT "/include", NULL};
    return find(folders, "heddle/cuda_c.h", arena);
}

const char *place_of_cuda(struct arena *arena)
{
    static const char *const folders[] = {"cuda", HEDDLE_CUDA_ROOT, NULL};
    return find(folders, "include/cuda_runtime.h", arena);
}

const char *place_of_tools(struct arena *arena)
{
    static const char *const folders[] = {"src/toolkit", HEDDLE_CUDA_LIBRARIES "/bin", NULL};
    return find(folders, "ptxas", arena);
}

const char *place_of_nvrtc(struct arena *arena)
{
    static const char *const folders[] = {"src/toolkit", HEDDLE_CUDA_LIBRARIES "/nvrtc", NULL};
    return find(folders, "libnvrtc.so.12", arena);
}
