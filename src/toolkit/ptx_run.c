/* libgpuocelot.so: the one function by which programs (tinygrad's mock of CUDA among them) have had
 * the emulator GPU Ocelot run a kernel. Buffers are memory of the process.
 *
 * ptx_run() can return no error: what is wrong stands on stderr, and the kernel has not run to its
 * end. Modules are kept by their text; those that have variables begin anew each time, as all did
 * there. One call at a time runs, on all cores.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heddle.h"

/* `src`: PTX text with one kernel. args[i]: the value of its parameter i, as wide as a pointer,
 * whose lowest bytes count. Blocks of bx * by * bz threads, gx * gy * gz of them, `smem` bytes of
 * dynamic shared memory. */
HD_API void ptx_run(const char *src, int n_args, void *args[], int bx, int by, int bz, int gx, int gy, int gz,
                    int smem);

enum { KEPT = 256, MOST_ARGS = 1024 };

struct kept {
    hd_module *module;
    hd_kernel *kernel;
    char *text;
    unsigned long long used;
};

static struct {
    pthread_mutex_t lock;
    pid_t process; /* whose machine it is: a child of fork() has no threads of its parent's */
    hd_machine *machine;
    struct kept kept[KEPT];
    unsigned long long calls;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void print(void *data, const char *text, size_t bytes)
{
    (void)data;
    fwrite(text, 1, bytes, stdout);
    fflush(stdout);
}

/* Says why; frees the report. */
static bool failed(hd_result result, const char *what, hd_report *report)
{
    if (result)
        fprintf(stderr, "heddle: ptx_run: %s: %s\n%s", what, hd_result_string(result),
                report ? hd_report_text(report) : "");
    hd_report_free(report);
    return result != HD_SUCCESS;
}

static bool start(void)
{
    hd_machine_options options = {.host_memory = true, .print = print};
    const char *error = NULL, *device = getenv("HEDDLE_DEVICE");
    if (state.machine && state.process == getpid())
        return true;
    if (device && strcmp(device, "auto") != 0) /* there are no images to choose a device by */
        options.device = device;
    memset(state.kept, 0, sizeof state.kept);
    state.machine = NULL;
    state.process = getpid();
    hd_result r = hd_machine_create(&options, &state.machine, &error);
    return !failed(r, error ? error : "no machine can be made", NULL);
}

static void drop(struct kept *k)
{
    hd_module_unload(k->module);
    free(k->text);
    *k = (struct kept){0};
}

static bool load(struct kept *k, const char *src)
{
    hd_source source = {"<ptx>", src, strlen(src)};
    hd_report *report = NULL;
    const char *name;
    hd_result r = hd_module_load(state.machine, &source, 1, &k->module, &report);
    if (failed(r, "the PTX cannot be loaded", report))
        return false;
    r = hd_module_find_kernel(k->module, NULL, &name, &report);
    if (!failed(r, "one kernel is needed", report)) {
        r = hd_module_get_kernel(k->module, name, &k->kernel, &report);
        if (!failed(r, "the kernel cannot run", report) && (k->text = strdup(src)))
            return true;
    }
    drop(k);
    return false;
}

/* The module of that text, in the place of the one that has not been used for longest where there
 * is none. */
static struct kept *find(const char *src)
{
    struct kept *k = &state.kept[0];
    for (size_t i = 0; i < KEPT; i++) {
        if (state.kept[i].text && strcmp(state.kept[i].text, src) == 0)
            return &state.kept[i];
        if (state.kept[i].used < k->used)
            k = &state.kept[i];
    }
    if (k->text)
        drop(k);
    return load(k, src) ? k : NULL;
}

/* Parameters that are wider than a pointer cannot come in one. */
static bool arguments_fit(const hd_kernel *kernel, int n_args)
{
    hd_kernel_info info;
    hd_param_info p;
    hd_kernel_get_info(kernel, &info);
    if (n_args < 0 || (size_t)n_args != info.param_count || n_args > MOST_ARGS) {
        fprintf(stderr, "heddle: ptx_run: kernel `%s` has %zu parameters, and got %d arguments\n", info.name,
                info.param_count, n_args);
        return false;
    }
    for (size_t i = 0; hd_kernel_get_param(kernel, i, &p); i++)
        if (p.bytes > sizeof(void *)) {
            fprintf(stderr, "heddle: ptx_run: parameter %zu of kernel `%s` has %zu bytes; an argument has %zu\n", i + 1,
                    info.name, p.bytes, sizeof(void *));
            return false;
        }
    return true;
}

static void launch(const struct kept *k, int n_args, void *args[], hd_launch_config *config)
{
    const void *values[MOST_ARGS];
    hd_report *report = NULL;
    if (!arguments_fit(k->kernel, n_args))
        return;
    for (int i = 0; i < n_args; i++)
        values[i] = &args[i]; /* little-endian: its lowest bytes come first */
    config->args = values;
    hd_result r = hd_launch(k->kernel, config, NULL, &report);
    failed(r, "the kernel has failed", report);
}

void ptx_run(const char *src, int n_args, void *args[], int bx, int by, int bz, int gx, int gy, int gz, int smem)
{
    hd_launch_config config = {.grid = {(unsigned)gx, (unsigned)gy, (unsigned)gz},
                               .block = {(unsigned)bx, (unsigned)by, (unsigned)bz},
                               .shared_bytes = (size_t)smem};
    pthread_mutex_lock(&state.lock);
    struct kept *k = start() ? find(src) : NULL;
    if (k) {
        k->used = ++state.calls;
        launch(k, n_args, args, &config);
        if (hd_module_variable_count(k->module))
            drop(k);
    }
    pthread_mutex_unlock(&state.lock);
}
