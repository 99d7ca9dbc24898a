/* Heddle as a backend: PEER FILE.ptx [ENGINE]. Built with -DCHECKED, a checker with all tools
 * watches every launch; with -DEXPLAINED, an explainer counts what it does. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle.h"
#include "problem.h"

static hd_machine *machine;
static hd_module *module;

static bool complain(const char *what, hd_result r, hd_report *report)
{
    fprintf(stderr, "heddle: %s: %s\n%s", what, hd_result_string(r), hd_report_text(report));
    hd_report_free(report);
    return false;
}

static char *read_text(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    if (f && fseek(f, 0, SEEK_END) == 0) {
        *bytes = (size_t)ftell(f);
        rewind(f);
        text = malloc(*bytes + 1);
        if (text && fread(text, 1, *bytes, f) != *bytes) {
            free(text);
            text = NULL;
        }
    }
    if (f)
        fclose(f);
    return text;
}

bool backend_open(int argc, char **argv)
{
    hd_report *report = NULL;
    hd_source source = {.name = argc > 1 ? argv[1] : "kernels.ptx"};
    source.text = read_text(source.name, &source.bytes);
    if (!source.text) {
        perror(source.name);
        return false;
    }
    bool jit = argc > 2 && strcmp(argv[2], "jit") == 0;
    if (argc > 2 && !jit && strcmp(argv[2], "interp") != 0) {
        fprintf(stderr, "heddle: there is no engine %s\n", argv[2]);
        return false;
    }
    if (jit && setenv("HEDDLE_TIER", "2", 0) != 0) /* the code of a kernel that is launched often, from the start */
        return false;
    hd_machine_options options = {.engine = jit ? HD_ENGINE_JIT : HD_ENGINE_INTERP};
    hd_result r = hd_machine_create(&options, &machine, NULL);
#ifdef CHECKED
    hd_checker *checker; /* for as long as the process lives */
    if (!r)
        r = hd_checker_create(machine, NULL, &checker);
#endif
#ifdef EXPLAINED
    hd_explainer *explainer;
    if (!r)
        r = hd_explainer_create(machine, NULL, &explainer);
#endif
    if (!r)
        r = hd_module_load(machine, &source, 1, &module, &report);
    free((char *)source.text);
    return r ? complain(source.name, r, report) : true;
}

void *backend_alloc(size_t bytes)
{
    void *p;
    return hd_alloc(machine, bytes, &p) ? NULL : p;
}

const char *backend_refuses(const struct problem *p)
{
    (void)p;
    return NULL;
}

double backend_run(struct problem *p)
{
    hd_kernel *kernel;
    hd_report *report = NULL;
    hd_launch_stats stats;
    hd_launch_config c = {.flags = HD_LAUNCH_CLOSED};
    const void *args[MAX_BUFFERS + 1];
    size_t n = 0;
    double seconds = 0;
    for (; n < MAX_BUFFERS && p->size[n]; n++)
        args[n] = &p->at[n];
    args[n] = &p->n;
    c.args = args;
    for (int i = 0; i < 3; i++) {
        c.grid[i] = p->grid[i];
        c.block[i] = p->block[i];
    }
    hd_result r = hd_module_get_kernel(module, p->name, &kernel, &report);
    do {
        if (!r)
            r = hd_launch(kernel, &c, &stats, &report);
        if (r) {
            complain(p->name, r, report);
            return -1;
        }
        seconds += stats.seconds;
    } while (p->step && p->step(p));
    return seconds;
}
