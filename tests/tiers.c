/* Launches of kernels of a module, one after the other: tiers FILE.ptx KERNEL ROUNDS [KERNEL
 * ROUNDS]... [unload]..., for tests/tiers. Each is one block of `launch` (out, rounds) for 1,024
 * threads; `unload` frees the module, and loads it again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle.h"

static hd_machine *machine;
static hd_module *module;

static void must(hd_result r, const char *what)
{
    if (r == HD_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", what, hd_result_string(r));
    exit(1);
}

static void load(const char *path)
{
    static char text[1 << 16];
    FILE *f = fopen(path, "rb");
    hd_source s = {.name = path, .text = text, .bytes = f ? fread(text, 1, sizeof text, f) : 0};
    if (f)
        fclose(f);
    must(hd_module_load(machine, &s, 1, &module, NULL), path);
}

static void launch(const char *name, uint32_t rounds, uint32_t *out)
{
    hd_kernel *kernel;
    hd_launch_config c = {
        .grid = {8, 1, 1}, .block = {128, 1, 1}, .args = (const void *[]){&out, &rounds}, .engine = HD_ENGINE_JIT};
    must(hd_module_get_kernel(module, name, &kernel, NULL), name);
    must(hd_launch(kernel, &c, NULL, NULL), name);
}

int main(int argc, char **argv)
{
    uint32_t *out;
    must(hd_machine_create(&(hd_machine_options){.workers = 2}, &machine, NULL), "machine");
    must(hd_alloc(machine, 4096, (void **)&out), "memory");
    load(argv[1]);
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "unload") == 0) {
            hd_module_unload(module);
            load(argv[1]);
        } else if (i + 1 < argc) {
            launch(argv[i], (uint32_t)atoi(argv[i + 1]), out);
            i++;
        }
    }
    hd_machine_destroy(machine);
    return 0;
}
