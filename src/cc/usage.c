/* What each kernel takes, in the words of `ptxas -v`, which scripts read. There is no machine code:
 * registers are the estimate that reports of occupancy go by, and nothing is spilled. See job.h. */
#include <stdio.h>
#include <string.h>

#include "cc/job.h"

bool cc_wants_usage(struct job *j)
{
    cc_words parts = {0};
    job_add_parts(j, &parts, CC_XPTXAS, NULL);
    for (uint32_t i = 0; i < parts.n; i++)
        if (strcmp(parts.at[i], "-v") == 0 || strcmp(parts.at[i], "--verbose") == 0)
            return true;
    return j->o.given[CC_RESOURCE_USAGE];
}

static void print_kernel(hd_module *module, const char *name, const char *target)
{
    hd_kernel *kernel;
    hd_kernel_info info;
    if (hd_module_get_kernel(module, name, &kernel, NULL))
        return;
    hd_kernel_get_info(kernel, &info);
    fprintf(stderr,
            "ptxas info    : Compiling entry function '%s' for '%s'\n"
            "ptxas info    : Function properties for %s\n"
            "    %zu bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
            "ptxas info    : Used %u registers, %zu bytes smem, %zu bytes cmem[0]\n",
            name, target, name, info.local_bytes, info.registers, info.static_shared_bytes, info.param_bytes);
}

void cc_print_usage(const hd_ptx *ptx, const hd_source *source)
{
    hd_machine_options options = {.workers = 1, .memory_bytes = 1u << 30};
    hd_machine *machine;
    hd_module *module;
    hd_report *report = NULL;
    hd_ptx_info info;
    hd_ptx_function f;
    hd_ptx_get_info(ptx, &info);
    if (hd_machine_create(&options, &machine, NULL))
        return;
    fputs("ptxas info    : Heddle makes no machine code: registers are an estimate\n", stderr);
    if (hd_module_load(machine, source, 1, &module, &report) == HD_SUCCESS) {
        for (size_t i = 0; hd_ptx_get_function(ptx, i, &f); i++)
            if (f.is_kernel)
                print_kernel(module, f.name, info.target);
    } else {
        fputs("ptxas info    : registers and memory are shown when all device code is linked\n", stderr);
    }
    hd_report_free(report);
    hd_machine_destroy(machine);
}
