/* The errors of a grid's threads, and their reports; see nested.h. */
#include "api/nest.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/demangle.h"

static struct nest_thread_error *error_of(struct nest *n, const struct nested_call *c)
{
    uint64_t block = nested_block(c);
    uint32_t thread = nested_thread(c);
    for (uint32_t i = 0; i < n->errors.n; i++)
        if (n->errors.at[i].block == block && n->errors.at[i].thread == thread)
            return &n->errors.at[i];
    return NULL;
}

enum nest_error nest_last_error(struct nest *n, const struct nested_call *c, bool forget)
{
    enum nest_error e = NEST_SUCCESS;
    if (!atomic_load(&n->n_errors))
        return e;
    pthread_mutex_lock(&n->lock);
    struct nest_thread_error *x = error_of(n, c);
    if (x)
        e = x->error;
    if (x && forget) {
        *x = n->errors.at[--n->errors.n];
        atomic_store(&n->n_errors, n->errors.n);
    }
    pthread_mutex_unlock(&n->lock);
    return e;
}

enum nest_error nest_failed(struct nest *n, const struct nested_call *c, enum nest_error e)
{
    if (!e)
        return e;
    pthread_mutex_lock(&n->lock);
    struct nest_thread_error *x = error_of(n, c);
    if (!x && (x = VEC_ADD(&n->errors)))
        *x = (struct nest_thread_error){.block = nested_block(c), .thread = nested_thread(c), .at = nested_place(c)};
    if (x)
        x->error = e;
    atomic_store(&n->n_errors, n->errors.n);
    pthread_mutex_unlock(&n->lock);
    return e;
}

static const char *error_text(enum nest_error e)
{
    switch ((int)e) {
#define CUDA_ERROR(number, name, text)                                                                                 \
    case number: return "cudaError" #name " (" text ")";
#include <cuda/cuda_errors.def>
#undef CUDA_ERROR
    default: return "an error";
    }
}

static void note(const struct nest *n, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints a note beside the program's own output: "kernel `f` ...". */
static void note(const struct nest *n, const char *format, ...)
{
    struct machine *m = nest_engine(n);
    struct arena scratch = {0};
    char text[512];
    va_list args;
    int length = snprintf(text, sizeof text, "kernel `%.200s` ", demangle(str_of(n->kernel), &scratch));
    va_start(args, format);
    vsnprintf(text + length, sizeof text - (size_t)length, format, args);
    va_end(args);
    pthread_mutex_lock(&m->print_lock);
    m->config.note(m->config.print_data, text);
    pthread_mutex_unlock(&m->print_lock);
    arena_free(&scratch);
}

/* Reports errors that no thread has asked for. A GPU does not report them. */
void nest_tell_errors(struct nest *n)
{
    const struct nest_thread_error *x = n->errors.at;
    struct arena scratch = {0};
    if (n->errors.n && nest_engine(n)->config.note && !atomic_exchange(&n->context->machine->told_nested, true))
        note(n,
             "has unread errors of the device runtime (no cudaGetLastError()) in %u thread%s; thread %u of block %llu, "
             "at %s: %s",
             n->errors.n, n->errors.n == 1 ? "" : "s", x->thread, (unsigned long long)x->block,
             fault_line(x->at, &scratch), error_text(x->error));
    n->errors.n = 0;
    arena_free(&scratch);
}

void nest_tell_zeros(struct nest *n, const struct nested_call *c)
{
    struct arena scratch = {0};
    if (nest_engine(n)->config.note && !atomic_exchange(&n->context->machine->told_zeros, true))
        note(n,
             "fills memory at %s: in kernels, cudaMemsetAsync writes zeros whatever its value, as on an H200 with "
             "CUDA 13.0",
             fault_line(nested_place(c), &scratch));
    arena_free(&scratch);
}
