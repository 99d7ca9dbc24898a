/* See remedy.h. */
#include "check/report/remedy.h"

#include "base/demangle.h"
#include "base/text.h"

/* As CUDA C++, numba and Triton have it. */
static const struct {
    const char *cuda, *numba, *triton;
} words[] = {
    {"__syncthreads()", "cuda.syncthreads()", "tl.debug_barrier()"},
    {"__syncwarp()", "cuda.syncwarp()", "tl.debug_barrier()"},
    {"__threadfence()", "cuda.threadfence()", "sem=\"acq_rel\" of an atomic operation"},
    {"cudaDeviceSynchronize()", "cuda.synchronize()", "torch.cuda.synchronize()"},
    {"cudaStreamSynchronize()", "stream.synchronize()", "stream.synchronize()"},
    {"atomicAdd", "cuda.atomic.add", "tl.atomic_add"},
};

static bool is_python_file(const struct place *p)
{
    const char *dot = p->cuda ? strrchr(p->cuda->file, '.') : NULL;
    return dot && strcmp(dot, ".py") == 0;
}

const char *remedy_in_language(const char *help, const char *kernel, const struct place *p, struct arena *arena)
{
    bool numba = kernel && is_python_symbol(kernel);
    struct text t = {.arena = arena};
    if (!help || !(numba || is_python_file(p)))
        return help;
    for (const char *at = help; *at;) {
        size_t i = 0, n = sizeof words / sizeof words[0];
        while (i < n && strncmp(at, words[i].cuda, strlen(words[i].cuda)) != 0)
            i++;
        text_put(&t, i < n ? (numba ? words[i].numba : words[i].triton) : at,
                 i < n ? strlen(numba ? words[i].numba : words[i].triton) : 1);
        at += i < n ? strlen(words[i].cuda) : 1;
    }
    return t.p;
}
