/* exec/rows: loads and stores of consecutive lanes, of every width, in vectors and in wider
 * registers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "heddle.h"

enum { THREADS = 96, MAX_BYTES = THREADS * 32 };

/* Every thread copies its n elements from `in` to `out`, and writes the last one as its register
 * holds it to `wide`. */
static const char kernel[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 wide)\n{\n"
    ".reg .b64 %%a, %%b, %%c, %%d;\n.reg .b32 %%t;\n.reg .b%u %%v<4>;\n"
    "ld.param.u64 %%a, [in];\nld.param.u64 %%b, [out];\nld.param.u64 %%c, [wide];\n"
    "mov.u32 %%t, %%tid.x;\n"
    "mul.wide.u32 %%d, %%t, %u;\nadd.u64 %%a, %%a, %%d;\nadd.u64 %%b, %%b, %%d;\n"
    "mul.wide.u32 %%d, %%t, %u;\nadd.u64 %%c, %%c, %%d;\n"
    "ld.global%s.%s %s, [%%a];\nst.global%s.%s [%%b], %s;\nst.global.b%u [%%c], %%v%u;\nret;\n}\n";

struct memory {
    uint8_t *in, *out, *wide;
};

/* The last element of each thread, extended to the register. */
static void expect_wide(const struct memory *m, const char *type, unsigned bytes, unsigned n, unsigned width)
{
    for (unsigned t = 0; t < THREADS; t++) {
        uint64_t v = 0, got = 0;
        memcpy(&v, m->in + (t * n + n - 1) * bytes, bytes);
        if (type[0] == 's' && bytes < 8 && v >> (8 * bytes - 1))
            v |= ~0ull << 8 * bytes;
        memcpy(&got, m->wide + t * width / 8, width / 8);
        v = width == 64 ? v : v & ((1ull << width) - 1);
        if (got != v)
            fail_msg("%s in %u bits, thread %u: got 0x%llx, expected 0x%llx", type, width, t, (unsigned long long)got,
                     (unsigned long long)v);
    }
}

static void check(hd_machine *m, const struct memory *memory, const char *type, unsigned bytes, unsigned n,
                  unsigned width)
{
    static const char *const vectors[] = {"", "", ".v2", "", ".v4"};
    static const char *const values[] = {"", "%v0", "{%v0, %v1}", "", "{%v0, %v1, %v2, %v3}"};
    char text[2048];
    hd_module *module;
    hd_kernel *k;
    hd_report *report = NULL;
    snprintf(text, sizeof text, kernel, width, bytes * n, width / 8, vectors[n], type, values[n], vectors[n], type,
             values[n], width, n - 1);
    hd_source source = {"k.ptx", text, strlen(text)};
    for (unsigned i = 0; i < MAX_BYTES; i++)
        memory->in[i] = (uint8_t)(i * 167 + (i >> 8) + n);
    memset(memory->out, 0, MAX_BYTES);
    hd_launch_config c = {.grid = {1, 1, 1},
                          .block = {THREADS, 1, 1},
                          .args = (const void *[]){&memory->in, &memory->out, &memory->wide}};
    if (hd_module_load(m, &source, 1, &module, &report) || hd_module_get_kernel(module, "k", &k, &report) ||
        hd_launch(k, &c, NULL, &report))
        fail_msg("%s", hd_report_text(report));
    if (memcmp(memory->in, memory->out, THREADS * bytes * n) != 0)
        fail_msg("%u x %s in %u bits are not copied", n, type, width);
    expect_wide(memory, type, bytes, n, width);
    hd_module_unload(module);
}

static void consecutive_lanes_are_copied_and_extended(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        unsigned bytes;
    } types[] = {{"u8", 1}, {"s8", 1}, {"u16", 2}, {"s16", 2}, {"u32", 4}, {"s32", 4}, {"u64", 8}, {"s64", 8}};
    for (size_t level = 0; hd_cpu_level(level); level++) {
        hd_machine_options options = {
            .workers = 1, .memory_bytes = 16 << 20, .cpu_level = hd_cpu_level(level), .engine = HD_ENGINE_INTERP};
        hd_machine *m;
        struct memory memory;
        assert_int_equal(hd_machine_create(&options, &m, NULL), HD_SUCCESS);
        assert_int_equal(hd_alloc(m, MAX_BYTES, (void **)&memory.in), HD_SUCCESS);
        assert_int_equal(hd_alloc(m, MAX_BYTES, (void **)&memory.out), HD_SUCCESS);
        assert_int_equal(hd_alloc(m, MAX_BYTES, (void **)&memory.wide), HD_SUCCESS);
        for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
            for (unsigned n = 1; n * types[i].bytes <= 16 && n <= 4; n *= 2)
                for (unsigned width = types[i].bytes == 1 ? 16 : 8 * types[i].bytes; width <= 64; width *= 2)
                    check(m, &memory, types[i].type, types[i].bytes, n, width);
        hd_machine_destroy(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(consecutive_lanes_are_copied_and_extended)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
