/* assembly LEVEL FILE.ptx: what kernels are compiled to for a CPU level that need not be this
 * machine's: LLVM and assembly of every kernel of the file, for blocks of one warp, on stderr
 * (HEDDLE_TARGET and HEDDLE_DUMP, docs/JIT.md). Nothing is run. Parameters may be 256 bytes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "heddle.h"

static char *read_text(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    size_t room = 1 << 24;
    char *text = f ? malloc(room) : NULL;
    *n = text ? fread(text, 1, room, f) : 0;
    if (f)
        fclose(f);
    return text;
}

/* Every launch fails: its code is for another CPU. One that does not has been run, on this one. */
static bool compile_all(hd_module *module)
{
    for (size_t i = 0; i < hd_module_kernel_count(module); i++) {
        static const char params[256];
        hd_kernel *k;
        hd_kernel_info info;
        if (hd_module_get_kernel(module, hd_module_kernel_name(module, i), &k, NULL) != HD_SUCCESS)
            return false;
        hd_kernel_get_info(k, &info);
        hd_launch_config c = {.grid = {1, 1, 1},
                              .block = {32, 1, 1},
                              .engine = HD_ENGINE_JIT,
                              .packed_args = params,
                              .packed_bytes = info.param_bytes};
        if (hd_launch(k, &c, NULL, NULL) == HD_SUCCESS)
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    hd_machine *m;
    hd_module *module;
    hd_source source = {.name = argc == 3 ? argv[2] : NULL};
    if (argc != 3 || !(source.text = read_text(argv[2], &source.bytes))) {
        fputs("usage: assembly LEVEL FILE.ptx\n", stderr);
        return 2;
    }
    setenv("HEDDLE_TARGET", argv[1], true);
    setenv("HEDDLE_DUMP", "llvm,asm", true);
    hd_report *report = NULL;
    hd_diagnostic d;
    if (hd_machine_create(NULL, &m, NULL) != HD_SUCCESS)
        return 1;
    if (hd_module_load(m, &source, 1, &module, &report) != HD_SUCCESS) {
        fprintf(stderr, "%s\n", hd_report_get(report, 0, &d) ? d.text : "the module cannot be loaded");
        return 1;
    }
    bool ok = compile_all(module);
    hd_machine_destroy(m);
    free((char *)source.text);
    return ok ? 0 : 1;
}
