/* Any bytes as PTX: reading, verifying and printing must end with a module or with errors, and what
 * is accepted must run, within a limit of steps, to a result of the library. Printed, it must be
 * accepted again.
 *
 * With libFuzzer (`make fuzz`) this is fuzz-ptx. As fuzz-replay FILE... it runs each file once:
 * tests/fuzz/test.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heddle.h"

enum { STEP_LIMIT = 3000, MEMORY_BYTES = 4 << 20, BUFFER_BYTES = 4096, MAX_PARAM_BYTES = 4096, MAX_SHARED = 4096 };

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

/* Every parameter of 8 bytes is the address of a buffer; the others count up. */
static void run_kernel(hd_module *module, const char *name, void *buffer)
{
    static uint8_t packed[MAX_PARAM_BYTES];
    hd_kernel *kernel;
    hd_kernel_info info;
    hd_param_info param;
    hd_report *report;
    hd_result r = hd_module_get_kernel(module, name, &kernel, &report);
    hd_report_text(report);
    hd_report_free(report);
    if (r)
        return;
    hd_kernel_get_info(kernel, &info);
    if (info.param_bytes > sizeof packed)
        return;
    for (size_t i = 0; i < sizeof packed; i++)
        packed[i] = (uint8_t)i;
    for (size_t i = 0; hd_kernel_get_param(kernel, i, &param); i++)
        if (param.bytes == sizeof buffer)
            memcpy(packed + param.offset, &buffer, sizeof buffer);
    hd_launch_config c = {.grid = {2, 1, 1},
                          .block = {40, 1, 1},
                          .shared_bytes = MAX_SHARED,
                          .flags = HD_LAUNCH_CLOSED,
                          .packed_args = info.param_bytes ? packed : NULL,
                          .packed_bytes = info.param_bytes};
    memcpy(c.block, info.required_block[0] ? info.required_block : c.block, sizeof c.block);
    hd_launch(kernel, &c, NULL, &report);
    hd_report_text(report);
    hd_report_free(report);
}

static void run(const hd_source *source)
{
    hd_machine_options options = {
        .workers = 1, .memory_bytes = MEMORY_BYTES, .step_limit = STEP_LIMIT, .policy = "serial"};
    hd_machine *machine;
    hd_module *module;
    hd_report *report;
    void *buffer;
    check(hd_machine_create(&options, &machine, NULL) == HD_SUCCESS, "no machine");
    if (hd_alloc(machine, BUFFER_BYTES, &buffer) == HD_SUCCESS)
        memset(buffer, 1, BUFFER_BYTES);
    if (hd_module_load(machine, source, 1, &module, &report) == HD_SUCCESS)
        for (size_t i = 0; i < hd_module_kernel_count(module) && i < 4; i++)
            run_kernel(module, hd_module_kernel_name(module, i), buffer);
    hd_report_text(report);
    hd_report_free(report);
    hd_machine_destroy(machine);
}

static void print_and_read_again(hd_ptx *ptx)
{
    hd_ptx *again;
    hd_report *report;
    hd_source source = {.name = "printed"};
    source.text = hd_ptx_print(ptx, &source.bytes);
    if (!source.text)
        return; /* out of memory */
    hd_result r = hd_ptx_read(&source, &again, &report);
    if (r)
        fputs(hd_report_text(report), stderr);
    check(r == HD_SUCCESS, "what was printed is not accepted");
    check(strcmp(hd_ptx_print(again, NULL), source.text) == 0, "printed twice, it differs");
    hd_report_free(report);
    hd_ptx_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* its own piece of memory, so that a sanitizer sees reads behind its end */
    memcpy(text, data, size);
    hd_source source = {"input.ptx", text, size};
    hd_ptx *ptx;
    hd_report *report;
    hd_result r = hd_ptx_read(&source, &ptx, &report);
    check(r == HD_SUCCESS || r == HD_ERROR_INVALID_PTX || r == HD_ERROR_OUT_OF_MEMORY, "an unexpected result");
    check(r != HD_ERROR_INVALID_PTX || hd_report_count(report) > 0, "refused without an error");
    hd_report_text(report);
    hd_report_free(report);
    if (r == HD_SUCCESS) {
        print_and_read_again(ptx);
        hd_ptx_free(ptx);
        run(&source);
    }
    free(text);
    return 0;
}

#ifdef FUZZ_REPLAY
int main(int argc, char **argv)
{
    static uint8_t bytes[1 << 20];
    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f)
            return 2;
        size_t n = fread(bytes, 1, sizeof bytes, f);
        fclose(f);
        LLVMFuzzerTestOneInput(bytes, n);
        printf("ok %d - %s ends\n", i, argv[i]);
        fflush(stdout);
    }
    printf("1..%d\n", argc - 1);
    return 0;
}
#endif
