/* Eight threads use machines through the library, two machines between them: modules, launches,
 * memory, streams; a ninth cancels what runs. `make sanitize-thread` runs it for the races. Usage:
 * machines [ROUNDS]
 */
#include "heddle.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, MACHINES = 2, N = 256 };

static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b64 r) malloc (.param .b64 n);\n.extern .func free (.param .b64 p);\n"
    ".extern .func (.param .b32 r) vprintf (.param .b64 format, .param .b64 args);\n"
    ".global .align 1 .b8 format[7] = {104, 101, 108, 108, 111, 10, 0};\n"
    "// p[i] += n, by way of memory of the kernel's own\n"
    ".visible .entry add(.param .u64 p, .param .u32 n)\n{\n"
    "    .reg .b64 %rd<8>; .reg .b32 %r<6>;\n"
    "    ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; mov.u64 %rd4, 64;\n"
    "    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    "    mad.lo.u32 %r2, %r2, %r3, %r4; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd3, %rd1, %rd2;\n"
    "    { .param .b64 a; .param .b64 b; st.param.b64 [a], %rd4; call (b), malloc, (a); ld.param.b64 %rd5, [b]; }\n"
    "    ld.u32 %r5, [%rd3]; add.u32 %r5, %r5, %r1; st.u32 [%rd5], %r5; ld.u32 %r5, [%rd5]; st.u32 [%rd3], %r5;\n"
    "    { .param .b64 a; st.param.b64 [a], %rd5; call free, (a); }\n    ret;\n}\n"
    ".visible .entry hello()\n{\n"
    "    .reg .b64 %rd<3>; .reg .b32 %r<2>;\n"
    "    mov.u64 %rd1, format; cvta.global.u64 %rd1, %rd1; mov.u64 %rd2, 0;\n"
    "    { .param .b64 f; .param .b64 a; .param .b32 n; st.param.b64 [f], %rd1; st.param.b64 [a], %rd2;\n"
    "      call (n), vprintf, (f, a); ld.param.b32 %r1, [n]; }\n    ret;\n}\n"
    "// until it is cancelled\n"
    ".visible .entry endless()\n{\nagain: bra again;\n}\n";

static unsigned rounds = 10;
static hd_machine *machines[MACHINES];
static atomic_uint mistakes, said, cancelled;
static atomic_bool done;

#define MUST(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition);                                                   \
            mistakes++;                                                                                                \
        }                                                                                                              \
    } while (0)

static void print(void *data, const char *line, size_t bytes)
{
    (void)data;
    for (size_t i = 0; i < bytes; i++)
        said += line[i] == '\n';
}

static hd_module *load(hd_machine *m)
{
    hd_source source = {"machines.ptx", text, sizeof text - 1};
    hd_module *module = NULL;
    MUST(hd_module_load(m, &source, 1, &module, NULL) == HD_SUCCESS);
    return module;
}

static hd_kernel *kernel(hd_module *module, const char *name)
{
    hd_kernel *k = NULL;
    MUST(hd_module_get_kernel(module, name, &k, NULL) == HD_SUCCESS);
    return k;
}

/* Work may be cancelled, and is then done again. */
static void launch(hd_kernel *k, const hd_launch_config *c)
{
    hd_result r;
    while ((r = hd_launch(k, c, NULL, NULL)) == HD_ERROR_CANCELLED)
        ;
    MUST(r == HD_SUCCESS);
}

static void one_round(hd_machine *m, hd_module *shared, unsigned number)
{
    hd_module *own = load(m);
    void *p = NULL;
    uint32_t *words;
    unsigned add = number + 1;
    hd_launch_config c = {.grid = {2, 1, 1}, .block = {N / 2, 1, 1}, .args = (const void *const[]){&p, &add}};
    hd_launch_config one = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    hd_context *context;
    hd_stream *stream;
    hd_event *event;
    MUST(hd_alloc(m, 4 * N, &p) == HD_SUCCESS);
    words = p;
    memset(words, 0, 4 * N);
    /* by streams, whose context a cancelled launch ends; then by itself */
    MUST(hd_context_create(m, NULL, &context) == HD_SUCCESS);
    MUST(hd_stream_create(context, 0, &stream) == HD_SUCCESS);
    MUST(hd_event_create(&event) == HD_SUCCESS);
    hd_result r = hd_stream_launch(stream, kernel(shared, "hello"), &one, NULL);
    r = r ? r : hd_event_record(event, stream);
    r = r ? r : hd_stream_wait_event(hd_context_default_stream(context), event);
    r = r ? r
          : hd_stream_copy(
                stream, &(hd_copy){.to = words, .from = words + N / 2, .width = 2 * N, .height = 1, .depth = 1}, true);
    MUST(r == HD_SUCCESS || r == HD_ERROR_CANCELLED);
    hd_event_synchronize(event);
    hd_event_destroy(event);
    hd_stream_destroy(stream);
    hd_context_destroy(context);
    memset(words, 0, 4 * N);
    hd_kernel *k = kernel(number % 2 ? own : shared, "add");
    hd_result again;
    do { /* what a cancelled launch has done stays */
        memset(words, 0, 4 * N);
        again = hd_launch(k, &c, NULL, NULL);
    } while (again == HD_ERROR_CANCELLED);
    MUST(again == HD_SUCCESS);
    for (unsigned i = 0; i < N && again == HD_SUCCESS; i++)
        MUST(words[i] == add);
    launch(kernel(own, "hello"), &one);
    if (number % 5 == 4)
        cancelled += hd_launch(kernel(own, "endless"), &one, NULL, NULL) == HD_ERROR_CANCELLED;
    MUST(hd_free(m, p) == HD_SUCCESS);
    hd_module_unload(own);
}

struct job {
    pthread_t thread;
    unsigned number;
    hd_module *shared;
};

static void *job_main(void *data)
{
    struct job *j = data;
    for (unsigned i = 0; i < rounds; i++)
        one_round(machines[j->number % MACHINES], j->shared, i);
    return NULL;
}

static void *cancel_main(void *data)
{
    (void)data;
    while (!done) {
        struct timespec t = {0, 3000000};
        nanosleep(&t, NULL);
        for (unsigned i = 0; i < MACHINES; i++)
            hd_machine_cancel(machines[i]);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct job jobs[THREADS];
    hd_module *modules[MACHINES];
    pthread_t canceller;
    if (argc > 1)
        rounds = (unsigned)atoi(argv[1]);
    for (unsigned i = 0; i < MACHINES; i++) {
        MUST(hd_machine_create(&(hd_machine_options){.print = print}, &machines[i], NULL) == HD_SUCCESS);
        modules[i] = load(machines[i]);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){.number = i, .shared = modules[i % MACHINES]};
        pthread_create(&jobs[i].thread, NULL, job_main, &jobs[i]);
    }
    pthread_create(&canceller, NULL, cancel_main, NULL);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(jobs[i].thread, NULL);
    done = true;
    pthread_join(canceller, NULL);
    MUST(said >= THREADS * rounds);
    MUST(cancelled == THREADS * (rounds / 5));
    for (unsigned i = 0; i < MACHINES; i++) {
        hd_module_unload(modules[i]);
        hd_machine_destroy(machines[i]);
    }
    printf("%sok 1 - eight threads use two machines while launches are cancelled\n1..1\n", mistakes ? "not " : "");
    return mistakes != 0;
}
