/* The library as its users see it (include/heddle.h). */
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "heddle.h"

/* Adds 1 to counter[0] once a thread, and to `total`. */
static const char counting[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                               ".visible .global .align 4 .u32 total = 5;\n"
                               ".visible .entry count(.param .u64 p)\n{\n"
                               "    .reg .u64 %rd<3>;\n    .reg .u32 %r<3>;\n"
                               "    ld.param.u64 %rd1, [p];\n"
                               "    atom.global.add.u32 %r1, [%rd1], 1;\n"
                               "    mov.u64 %rd2, total;\n"
                               "    atom.global.add.u32 %r2, [%rd2], 1;\n"
                               "    ret;\n}\n";

static hd_source source(const char *text)
{
    return (hd_source){"test.ptx", text, strlen(text)};
}

/* ---- several machines, several threads ---- */

enum { THREADS = 4, BEGINNERS = 2, ROUNDS = 20, BLOCKS = 8, BLOCK = 64 };

/* One machine of its own: made, used and destroyed; returns what the counter says. */
static void *count_on_own_machine(void *sum)
{
    for (int i = 0; i < ROUNDS; i++) {
        hd_machine_options options = {.workers = 2, .memory_bytes = 1 << 20};
        hd_machine *m;
        hd_module *module;
        hd_kernel *k;
        hd_source s = source(counting);
        uint32_t *counter, *total;
        if (hd_machine_create(&options, &m, NULL) || hd_alloc(m, 4, (void **)&counter) ||
            hd_module_load(m, &s, 1, &module, NULL) || hd_module_get_kernel(module, "count", &k, NULL) ||
            hd_module_get_global(module, "total", (void **)&total, NULL))
            return NULL;
        *counter = 0;
        hd_launch_config c = {.grid = {BLOCKS, 1, 1}, .block = {BLOCK, 1, 1}, .args = (const void *[]){&counter}};
        if (hd_launch(k, &c, NULL, NULL) || *total != 5 + BLOCKS * BLOCK)
            return NULL;
        *(uint64_t *)sum += *counter;
        hd_machine_destroy(m);
    }
    return sum;
}

static void machines_in_several_threads_do_not_meet(void **state)
{
    (void)state;
    pthread_t thread[THREADS];
    uint64_t sum[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, count_on_own_machine, &sum[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(thread[i], &result);
        assert_non_null(result);
        assert_int_equal(sum[i], ROUNDS * BLOCKS * BLOCK);
    }
}

/* Counts in compiled code, which there is one of a shape of blocks; 2 where there is no compiler. */
static int count_compiled(hd_machine *m, hd_module *module, uint32_t block)
{
    hd_kernel *k;
    uint32_t *counter;
    if (hd_alloc(m, 4, (void **)&counter) || hd_module_get_kernel(module, "count", &k, NULL))
        return 1;
    *counter = 0;
    hd_launch_config c = {
        .grid = {BLOCKS, 1, 1}, .block = {block, 1, 1}, .args = (const void *[]){&counter}, .engine = HD_ENGINE_JIT};
    hd_report *report = NULL;
    hd_result r = hd_launch(k, &c, NULL, &report);
    bool none = r && strstr(hd_report_text(report), "heddle-jit is not there");
    hd_report_free(report);
    return none ? 2 : r || *counter != BLOCKS * block;
}

/* A machine that has compiled a kernel. */
static void open_before_fork(hd_machine **m, hd_module **module)
{
    hd_machine_options options = {.workers = 1, .memory_bytes = 1 << 20};
    hd_source s = source(counting);
    if (getenv("UNDER_QEMU")) /* whose children of fork() cannot start threads */
        skip();
    setenv("HEDDLE_CACHE", "off", 1);
    assert_int_equal(hd_machine_create(&options, m, NULL), HD_SUCCESS);
    assert_int_equal(hd_module_load(*m, &s, 1, module, NULL), HD_SUCCESS);
    int first = count_compiled(*m, *module, BLOCK);
    if (first == 2)
        skip();
    assert_int_equal(first, 0);
}

/* The parent's compiler is not the child's; both have what they ask for. */
static void a_child_of_fork_compiles_too(void **state)
{
    hd_machine *m;
    hd_module *module;
    int status;
    (void)state;
    open_before_fork(&m, &module);
    pid_t child = fork();
    if (child == 0)
        _exit(count_compiled(m, module, BLOCK / 2));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(count_compiled(m, module, BLOCK / 2), 0);
    hd_machine_destroy(m);
}

struct beginner {
    hd_machine *machine;
    hd_module *module;
    atomic_int *waiting;
};

static void *begin_together(void *data)
{
    struct beginner *b = data;
    atomic_fetch_sub(b->waiting, 1);
    while (atomic_load(b->waiting) > 0) /* together to the nanosecond, where there are cores for that */
        ;
    return count_compiled(b->machine, b->module, BLOCK / 2) ? data : NULL;
}

/* What is left of the parent's threads is put away once, whichever thread launches first. */
static int begin_in_child(hd_machine *m, hd_module *module)
{
    pthread_t threads[BEGINNERS];
    atomic_int waiting = BEGINNERS;
    struct beginner b = {m, module, &waiting};
    int failed = 0;
    alarm(60);
    for (int i = 0; i < BEGINNERS; i++)
        failed |= pthread_create(&threads[i], NULL, begin_together, &b);
    for (int i = 0; i < BEGINNERS && !failed; i++) {
        void *wrong;
        failed |= pthread_join(threads[i], &wrong) || wrong;
    }
    return failed;
}

static void threads_of_a_child_of_fork_compile_at_once(void **state)
{
    hd_machine *m;
    hd_module *module;
    int status;
    (void)state;
    open_before_fork(&m, &module);
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0)
            _exit(begin_in_child(m, module));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    hd_machine_destroy(m);
}

struct shared {
    hd_machine *machine;
    hd_module *module;
    uint32_t *counter;
};

static void *count_on_shared_machine(void *data)
{
    struct shared *s = data;
    for (int i = 0; i < ROUNDS; i++) {
        hd_kernel *k;
        hd_progress progress;
        void *other;
        if (hd_module_get_kernel(s->module, "count", &k, NULL) || hd_alloc(s->machine, 100 + (size_t)i, &other))
            return NULL;
        hd_launch_config c = {.grid = {BLOCKS, 1, 1}, .block = {BLOCK, 1, 1}, .args = (const void *[]){&s->counter}};
        if (hd_launch(k, &c, NULL, NULL) || hd_free(s->machine, other))
            return NULL;
        hd_machine_get_progress(s->machine, &progress);
        if (progress.launches > THREADS || progress.blocks_done > progress.blocks)
            return NULL;
    }
    return s;
}

static void threads_share_a_machine(void **state)
{
    (void)state;
    hd_machine_options options = {.workers = 2, .memory_bytes = 1 << 20};
    struct shared s;
    hd_source text = source(counting);
    pthread_t thread[THREADS];
    assert_int_equal(hd_machine_create(&options, &s.machine, NULL), HD_SUCCESS);
    assert_int_equal(hd_module_load(s.machine, &text, 1, &s.module, NULL), HD_SUCCESS);
    assert_int_equal(hd_alloc(s.machine, 4, (void **)&s.counter), HD_SUCCESS);
    *s.counter = 0;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, count_on_shared_machine, &s), 0);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(thread[i], &result);
        assert_non_null(result);
    }
    assert_int_equal(*s.counter, THREADS * ROUNDS * BLOCKS * BLOCK);
    hd_progress progress;
    hd_machine_get_progress(s.machine, &progress);
    assert_int_equal(progress.launches, 0);
    hd_machine_destroy(s.machine);
}

/* ---- progress ---- */

/* Waits until the host writes to its cell. */
static const char waiting[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                              ".visible .entry wait(.param .u64 p)\n{\n"
                              "    .reg .u64 %rd<3>;\n    .reg .u32 %r<3>;\n    .reg .pred %p<2>;\n"
                              "    ld.param.u64 %rd1, [p];\n"
                              "    mov.u32 %r2, %ctaid.x;\n"
                              "    setp.eq.u32 %p1, %r2, 0;\n"
                              "    @%p1 bra done;\n"
                              "again:\n"
                              "    ld.volatile.global.u32 %r1, [%rd1];\n"
                              "    setp.eq.u32 %p1, %r1, 0;\n"
                              "    @%p1 bra again;\n"
                              "done:\n    ret;\n}\n";

struct waiting_launch {
    hd_kernel *kernel;
    uint32_t *cell;
    hd_result result;
};

static void *launch_waiting(void *data)
{
    struct waiting_launch *w = data;
    hd_launch_config c = {.grid = {2, 1, 1}, .block = {1, 1, 1}, .args = (const void *[]){&w->cell}};
    w->result = hd_launch(w->kernel, &c, NULL, NULL);
    return NULL;
}

static void progress_is_seen_while_a_launch_runs(void **state)
{
    (void)state;
    hd_machine *m;
    hd_module *module;
    struct waiting_launch w;
    hd_source text = source(waiting);
    hd_progress progress = {0};
    pthread_t thread;
    assert_int_equal(hd_machine_create(NULL, &m, NULL), HD_SUCCESS);
    assert_int_equal(hd_module_load(m, &text, 1, &module, NULL), HD_SUCCESS);
    assert_int_equal(hd_module_get_kernel(module, "wait", &w.kernel, NULL), HD_SUCCESS);
    assert_int_equal(hd_alloc(m, 4, (void **)&w.cell), HD_SUCCESS);
    *w.cell = 0;
    assert_int_equal(pthread_create(&thread, NULL, launch_waiting, &w), 0);
    while (progress.blocks_done != 1)
        hd_machine_get_progress(m, &progress);
    assert_true(progress.launches == 1 && progress.blocks == 2);
    __atomic_store_n(w.cell, 1, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    assert_int_equal(w.result, HD_SUCCESS);
    hd_machine_destroy(m);
}

/* ---- variables, attributes, levels ---- */

static void variables_are_listed(void **state)
{
    (void)state;
    hd_machine *m;
    hd_module *module;
    hd_variable_info v;
    hd_source text = source(counting);
    assert_int_equal(hd_machine_create(NULL, &m, NULL), HD_SUCCESS);
    assert_int_equal(hd_module_load(m, &text, 1, &module, NULL), HD_SUCCESS);
    assert_int_equal(hd_module_variable_count(module), 1);
    assert_true(hd_module_get_variable(module, 0, &v));
    assert_string_equal(v.name, "total");
    assert_string_equal(v.space, "global");
    assert_string_equal(v.type, "u32");
    assert_int_equal(v.bytes, 4);
    assert_int_equal(*(uint32_t *)v.pointer, 5);
    assert_false(hd_module_get_variable(module, 1, &v));
    hd_machine_destroy(m);
}

static void a_variable_can_stand_in_the_callers_memory(void **state)
{
    (void)state;
    static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                               ".visible .global .align 4 .u32 total = 5;\n"
                               ".visible .global .align 8 .u64 where = total;\n"
                               ".visible .const .align 4 .u32 fixed = 5;\n"
                               ".visible .entry count()\n{\n"
                               "    .reg .u64 %rd<3>;\n    .reg .u32 %r<3>;\n"
                               "    ld.global.u64 %rd1, [where];\n"
                               "    atom.add.u32 %r1, [%rd1], 1;\n"
                               "    atom.global.add.u32 %r2, [total], 1;\n"
                               "    ret;\n}\n";
    hd_engine engines[] = {HD_ENGINE_INTERP, HD_ENGINE_JIT};
    for (int i = 0; i < 2; i++) {
        hd_machine_options options = {.workers = 1, .host_memory = true, .engine = engines[i]};
        hd_machine *m;
        hd_module *module;
        hd_kernel *k;
        hd_source s = source(text);
        static uint32_t total;
        void *at;
        size_t bytes;
        total = 70;
        assert_int_equal(hd_machine_create(&options, &m, NULL), HD_SUCCESS);
        assert_int_equal(hd_module_load(m, &s, 1, &module, NULL), HD_SUCCESS);
        assert_int_equal(hd_module_place_global(module, "total", &total), HD_SUCCESS);
        assert_int_equal(hd_module_get_global(module, "total", &at, &bytes), HD_SUCCESS);
        assert_ptr_equal(at, &total);
        assert_int_equal(bytes, 4);
        assert_int_equal(hd_module_place_global(module, "fixed", &total), HD_ERROR_NOT_FOUND);
        assert_int_equal(hd_module_place_global(module, "nothing", &total), HD_ERROR_NOT_FOUND);
        assert_int_equal(hd_module_get_kernel(module, "count", &k, NULL), HD_SUCCESS);
        hd_launch_config c = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
        assert_int_equal(hd_launch(k, &c, NULL, NULL), HD_SUCCESS);
        assert_int_equal(total, 70 + 64);
        hd_machine_destroy(m);
    }
}

static void attributes_agree_with_the_info(void **state)
{
    (void)state;
    hd_machine *m;
    hd_machine_info info;
    int value;
    assert_int_equal(hd_machine_create(NULL, &m, NULL), HD_SUCCESS);
    hd_machine_get_info(m, &info);
    assert_string_equal(hd_attribute_name(1), "MAX_THREADS_PER_BLOCK");
    assert_true(hd_machine_get_attribute(m, 1, &value) && (unsigned)value == info.max_threads_per_block);
    assert_true(hd_machine_get_attribute(m, 16, &value) && (unsigned)value == info.multiprocessors);
    assert_false(hd_machine_get_attribute(m, 0, &value));
    assert_false(hd_machine_get_attribute(m, HD_ATTRIBUTE_LAST + 1, &value));
    assert_null(hd_attribute_name(-1));
    if (!getenv("HEDDLE_CPU"))
        assert_string_equal(info.cpu_level, hd_cpu_level(0));
    hd_machine_destroy(m);
}

static void every_level_gives_a_machine(void **state)
{
    (void)state;
    size_t n = 0;
    for (; hd_cpu_level(n); n++) {
        hd_machine_options options = {.cpu_level = hd_cpu_level(n)};
        hd_machine *m;
        assert_int_equal(hd_machine_create(&options, &m, NULL), HD_SUCCESS);
        hd_machine_destroy(m);
    }
    assert_true(n >= 1);
    hd_machine *m;
    assert_int_equal(hd_machine_create(&(hd_machine_options){.cpu_level = "abacus"}, &m, NULL), HD_ERROR_INVALID_VALUE);
}

/* ---- PTX as text ---- */

static void ptx_is_described(void **state)
{
    (void)state;
    hd_ptx *ptx;
    hd_ptx_info info;
    hd_ptx_function f;
    hd_report *report;
    hd_source text = source(counting);
    assert_int_equal(hd_ptx_read(&text, &ptx, &report), HD_SUCCESS);
    assert_null(report);
    hd_ptx_get_info(ptx, &info);
    assert_true(info.version_major == 7 && info.version_minor == 0 && info.address_bits == 64);
    assert_true(info.kernels == 1 && info.functions == 0 && info.variables == 1 && info.instructions == 5);
    assert_string_equal(info.target, "sm_75");
    assert_true(hd_ptx_get_function(ptx, 0, &f));
    assert_true(f.is_kernel && f.line == 5 && f.params == 1 && strcmp(f.name, "count") == 0);
    assert_false(hd_ptx_get_function(ptx, 1, &f));
    hd_ptx_free(ptx);
}

static void ptx_that_cannot_run_is_warned_of_once(void **state)
{
    (void)state;
    static const char text[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n.global .texref t;\n"
        ".entry k()\n{\n    .reg .b32 %r<5>;\n    .reg .f32 %f<5>;\n"
        "    tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1, %r2, %r2, %r2}];\n"
        "    tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1, %r2, %r2, %r2}];\n    ret;\n}\n";
    hd_ptx *ptx;
    hd_report *report;
    hd_diagnostic d;
    hd_source s = source(text);
    assert_int_equal(hd_ptx_read(&s, &ptx, &report), HD_SUCCESS);
    assert_int_equal(hd_report_count(report), 1);
    assert_true(hd_report_get(report, 0, &d));
    assert_true(d.severity == HD_SEVERITY_WARNING && d.line == 9);
    assert_string_equal(d.code, "not-supported");
    assert_non_null(strstr(d.text, "textures of several samples"));
    hd_report_free(report);
    hd_ptx_free(ptx);
}

static void bad_ptx_has_a_report_with_places(void **state)
{
    (void)state;
    hd_ptx *ptx;
    hd_report *report;
    hd_diagnostic d;
    hd_source s = source(".version 7.0\n.target sm_75\n.entry k() { bogus.u32 x, y; }\n");
    assert_int_equal(hd_ptx_read(&s, &ptx, &report), HD_ERROR_INVALID_PTX);
    assert_true(hd_report_get(report, 0, &d));
    assert_int_equal(d.line, 3);
    assert_string_equal(d.file, "test.ptx");
    hd_report_free(report);
}

/* ---- the instruction set ---- */

static void the_instruction_table_is_complete(void **state)
{
    (void)state;
    hd_isa_form f;
    hd_isa_set set;
    hd_isa_register r;
    size_t forms = 0, runs = 0, sets = 0, registers = 0;
    bool saw_add = false, saw_texture = false;
    for (; hd_isa_get_form(forms, &f); forms++) {
        assert_true(*f.opcode && *f.section && *f.doc && *f.target && f.ptx_major >= 1);
        runs += f.missing == NULL;
        saw_add |= strcmp(f.opcode, "add") == 0 && strcmp(f.syntax, ".INT") == 0 && strcmp(f.operands, "d, a, b") == 0;
        saw_texture |=
            strcmp(f.opcode, "tex") == 0 && f.missing && strcmp(f.missing, "textures of several samples") == 0;
    }
    assert_true(forms > 300 && runs > 200 && saw_add && saw_texture);
    for (; hd_isa_get_set(sets, &set); sets++)
        assert_true(*set.name && *set.words);
    assert_true(sets > 40);
    for (; hd_isa_get_register(registers, &r); registers++)
        assert_true(*r.name && *r.doc);
    assert_true(registers > 40);
    assert_string_equal(hd_isa_suggest("atmo"), "atom");
}

/* A diagnostic of the caller's, with the host's stack: in all three forms, and copied. */
static void hosts_mistakes_are_reported_with_their_stack(void **state)
{
    (void)state;
    const hd_frame frames[] = {{.function = "helper", .object = "/lib/x.so", .offset = 0x1234},
                               {.function = "main", .file = "main.cu", .line = 27}};
    hd_diagnostic d = {.severity = HD_SEVERITY_ERROR,
                       .code = "double-free",
                       .text = "cudaFree of what was freed before",
                       .count = 2,
                       .frames = frames,
                       .frame_count = 2},
                  note = {.severity = HD_SEVERITY_NOTE,
                          .code = "freed",
                          .text = "it was freed here",
                          .frames = frames + 1,
                          .frame_count = 1},
                  placed = {.code = "x", .text = "x", .file = "x.ptx"};
    hd_report *report = NULL, *copy = NULL;
    assert_int_equal(hd_report_add_diagnostic(&report, &placed), HD_ERROR_INVALID_VALUE);
    assert_null(report);
    assert_int_equal(hd_report_add_diagnostic(&report, &d), HD_SUCCESS);
    assert_int_equal(hd_report_add_diagnostic(&report, &note), HD_SUCCESS);
    assert_int_equal(hd_report_add(&copy, report), HD_SUCCESS);
    hd_report_free(report);
    hd_diagnostic back;
    assert_true(hd_report_get(copy, 0, &back));
    assert_string_equal(back.cuda_file, "main.cu");
    assert_int_equal(back.cuda_line, 27);
    assert_int_equal(back.frame_count, 2);
    assert_string_equal(back.frames[0].object, "/lib/x.so");
    assert_string_equal(hd_report_text(copy),
                        "main.cu:27: error: cudaFree of what was freed before [double-free, 2 times]\n"
                        "  in helper in x.so+0x1234\n"
                        "  called by main at main.cu:27\n"
                        "main.cu:27: note: it was freed here [freed]\n"
                        "  in main at main.cu:27\n");
    assert_non_null(strstr(hd_report_json(copy), "\"offset\": 4660"));
    assert_non_null(strstr(hd_report_sarif(copy), "\"relativeAddress\": 4660"));
    assert_non_null(strstr(hd_report_sarif(copy), "\"relatedLocations\""));
    hd_report_free(copy);
}

/* ---- memory ---- */

static void names_of_memory_take_no_more_when_they_come_again(void **state)
{
    (void)state;
    enum { TIMES = 20000, MOST_BYTES = 8 * TIMES };
    hd_machine *m;
    assert_int_equal(hd_machine_create(NULL, &m, NULL), HD_SUCCESS);
    size_t before = mallinfo2().uordblks;
    for (int i = 0; i < TIMES; i++) {
        void *p;
        hd_memory_info info;
        const char *name = i % 2 ? "argument 1" : "argument 2";
        assert_int_equal(hd_alloc_named(m, 4, name, &p), HD_SUCCESS);
        assert_true(hd_find(m, p, &info));
        assert_string_equal(info.name, name);
        assert_int_equal(hd_free(m, p), HD_SUCCESS);
    }
    assert_in_range(mallinfo2().uordblks, 0, before + MOST_BYTES);
    hd_machine_destroy(m);
}

/* ---- names ---- */

static void kernels_are_found_by_the_names_of_their_source(void **state)
{
    (void)state;
    static const char text[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                               ".visible .entry _Z5scalePff() { ret; }\n.visible .entry _Z4copyILi16EEvPf() { ret; }\n"
                               ".visible .entry _Z4copyILi32EEvPf() { ret; }\n";
    static const char *const found[][2] = {
        {"_Z5scalePff", "_Z5scalePff"}, {"scale", "_Z5scalePff"}, {"copy<16>", "_Z4copyILi16EEvPf"}};
    hd_source s = source(text);
    hd_machine *m;
    hd_module *module;
    hd_report *report;
    const char *name;
    assert_int_equal(hd_machine_create(NULL, &m, NULL), HD_SUCCESS);
    assert_int_equal(hd_module_load(m, &s, 1, &module, NULL), HD_SUCCESS);
    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
        assert_int_equal(hd_module_find_kernel(module, found[i][0], &name, NULL), HD_SUCCESS);
        assert_string_equal(name, found[i][1]);
    }
    assert_int_equal(hd_module_find_kernel(module, "copy", &name, &report), HD_ERROR_NOT_FOUND);
    assert_non_null(strstr(hd_report_text(report), "copy<32>"));
    hd_report_free(report);
    assert_int_equal(hd_module_find_kernel(module, NULL, &name, NULL), HD_ERROR_NOT_FOUND);
    assert_int_equal(hd_module_find_kernel(module, "scale", NULL, NULL), HD_ERROR_INVALID_VALUE);
    hd_machine_destroy(m);
}

static void null_is_refused_where_it_is_not_allowed(void **state)
{
    (void)state;
    hd_source s = source(counting);
    hd_machine *m;
    hd_module *module;
    hd_kernel *k;
    hd_ptx *ptx;
    hd_machine_info info = {.workers = 1};
    hd_kernel_info kernel_info = {.registers = 1};
    hd_ptx_info ptx_info = {.kernels = 1};
    hd_progress progress = {.launches = 1};
    assert_int_equal(hd_machine_create(NULL, &m, NULL), HD_SUCCESS);
    assert_int_equal(hd_module_load(m, &s, 1, &module, NULL), HD_SUCCESS);
    assert_int_equal(hd_module_get_kernel(module, "count", &k, NULL), HD_SUCCESS);
    assert_int_equal(hd_ptx_read(&s, &ptx, NULL), HD_SUCCESS);

    assert_int_equal(hd_report_add(NULL, NULL), HD_ERROR_INVALID_VALUE);
    hd_machine_get_info(NULL, &info);
    hd_machine_get_info(m, NULL);
    assert_int_equal(info.workers, 0);
    hd_machine_get_progress(NULL, &progress);
    hd_machine_get_progress(m, NULL);
    assert_int_equal(progress.launches, 0);
    assert_ptr_equal(hd_own_view(NULL, &s), &s);
    assert_int_equal(hd_module_kernel_count(NULL), 0);
    assert_null(hd_module_kernel_name(NULL, 0));
    assert_int_equal(hd_module_variable_count(NULL), 0);
    assert_false(hd_module_get_variable(NULL, 0, NULL) || hd_module_get_variable(module, 0, NULL));
    hd_kernel_get_info(NULL, &kernel_info);
    hd_kernel_get_info(k, NULL);
    assert_int_equal(kernel_info.registers, 0);
    assert_int_equal(hd_kernel_max_clusters(NULL, 32, 0, 1), 0);
    assert_int_equal(hd_kernel_max_clusters(k, 32, 0, 0), 0);
    assert_false(hd_kernel_get_param(NULL, 0, NULL) || hd_kernel_get_param(k, 0, NULL));
    assert_int_equal(hd_stream_number(NULL), 0);
    assert_false(hd_cache_get_info(NULL));
    hd_ptx_get_info(NULL, &ptx_info);
    hd_ptx_get_info(ptx, NULL);
    assert_int_equal(ptx_info.kernels, 0);
    assert_false(hd_ptx_get_function(NULL, 0, NULL) || hd_ptx_get_function(ptx, 0, NULL));
    assert_true(!hd_ptx_print(NULL, NULL) && !hd_ptx_rewrite(NULL, NULL, NULL) && !hd_ptx_rewrite(ptx, NULL, NULL));
    hd_ptx_free(ptx);
    hd_machine_destroy(m);
}

static void what_is_no_flag_or_engine_is_refused(void **state)
{
    (void)state;
    hd_source s = source(counting);
    hd_machine_options no_engine = {.engine = (hd_engine)77};
    hd_checker_options no_word = {.on_error = (enum hd_on_error)77};
    hd_machine *m;
    hd_module *module;
    hd_kernel *k;
    hd_checker *checker;
    uint32_t *counter;
    assert_int_equal(hd_machine_create(&no_engine, &m, NULL), HD_ERROR_INVALID_VALUE);
    assert_int_equal(hd_machine_create(NULL, &m, NULL), HD_SUCCESS);
    assert_int_equal(hd_module_load(m, &s, 1, &module, NULL), HD_SUCCESS);
    assert_int_equal(hd_module_get_kernel(module, "count", &k, NULL), HD_SUCCESS);
    assert_int_equal(hd_alloc(m, 4, (void **)&counter), HD_SUCCESS);
    hd_launch_config c = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .args = (const void *[]){&counter}};
    assert_int_equal(hd_launch(k, &c, NULL, NULL), HD_SUCCESS);
    c.engine = (hd_engine)77;
    assert_int_equal(hd_launch(k, &c, NULL, NULL), HD_ERROR_INVALID_VALUE);
    c.engine = HD_ENGINE_AUTO;
    c.flags = 1u << 31;
    assert_int_equal(hd_launch(k, &c, NULL, NULL), HD_ERROR_INVALID_VALUE);
    assert_int_equal(hd_checker_create(m, &no_word, &checker), HD_ERROR_INVALID_VALUE);
    hd_machine_destroy(m);
}

/* Whoever can watch a launch does: a timeline, an explainer, and each part of a checker, for
 * asynchronous copies, wgmma and proxies, too. */
static void all_who_watch_a_launch_can_at_once(void **state)
{
    static const char text[] =
        ".version 8.0\n.target sm_90a\n.address_size 64\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .u64 %rd<4>; .reg .u32 %r<2>; .reg .f32 %f<5>; .reg .pred %p<2>;\n"
        ".shared .align 128 .b8 tile[4096];\n"
        "ld.param.u64 %rd1, [p];\nmov.u32 %r1, tile;\n"
        "cp.async.ca.shared.global [%r1], [%rd1], 16;\ncp.async.wait_all;\n"
        "mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1;\n"
        "mov.b64 %rd3, 0x0000000800080000; setp.eq.u32 %p1, %r1, %r1;\n"
        "wgmma.fence.sync.aligned;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %rd3, %rd3, %p1, 1, 1, 0, 0;\n"
        "wgmma.commit_group.sync.aligned;\n"
        "st.global.f32 [%rd1], %f1;\nwgmma.wait_group.sync.aligned 0;\nret;\n}\n";
    hd_source s = source(text);
    char path[] = "/tmp/heddle-trace-XXXXXX";
    hd_machine_options options = {.trace_path = path};
    hd_machine *m;
    hd_module *module;
    hd_kernel *k;
    hd_checker *checker;
    hd_explainer *explainer, *second;
    void *p;
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(hd_machine_create(&options, &m, NULL), HD_SUCCESS);
    assert_int_equal(hd_checker_create(m, NULL, &checker), HD_SUCCESS);
    assert_int_equal(hd_explainer_create(m, NULL, &explainer), HD_SUCCESS);
    assert_int_equal(hd_explainer_create(m, NULL, &second), HD_ERROR_INVALID_VALUE);
    assert_int_equal(hd_module_load(m, &s, 1, &module, NULL), HD_SUCCESS);
    assert_int_equal(hd_module_get_kernel(module, "k", &k, NULL), HD_SUCCESS);
    assert_int_equal(hd_alloc(m, 4096, &p), HD_SUCCESS);
    memset(p, 0, 4096);
    hd_launch_config c = {.grid = {1, 1, 1}, .block = {128, 1, 1}, .args = (const void *[]){&p}};
    assert_int_equal(hd_launch(k, &c, NULL, NULL), HD_SUCCESS);
    hd_report *found;
    assert_int_equal(hd_checker_report(checker, &found), HD_SUCCESS);
    assert_non_null(strstr(hd_report_json(found), "wgmma"));
    hd_report_free(found);
    hd_explainer_destroy(explainer);
    hd_checker_destroy(checker);
    hd_machine_destroy(m);
    struct stat written;
    assert_int_equal(stat(path, &written), 0);
    assert_true(written.st_size > 0);
    unlink(path);
}

/* ---- structs of other versions ---- */

struct grown { /* as a later header would have them */
    hd_launch_config config;
    uint64_t added;
};
struct grown_info {
    hd_kernel_info info;
    uint64_t added[2];
};

static hd_kernel *counting_kernel(hd_machine *m, uint32_t **counter)
{
    hd_module *module;
    hd_kernel *k;
    hd_source s = source(counting);
    assert_int_equal(hd_alloc(m, 4, (void **)counter), HD_SUCCESS);
    assert_int_equal(hd_module_load(m, &s, 1, &module, NULL), HD_SUCCESS);
    assert_int_equal(hd_module_get_kernel(module, "count", &k, NULL), HD_SUCCESS);
    **counter = 0;
    return k;
}

/* What is larger than the library knows is taken if the rest is zeros, and refused if it asks for
 * something. */
static void structs_that_the_library_reads_may_be_of_later_versions(void **state)
{
    (void)state;
    hd_machine *m;
    uint32_t *counter;
    hd_report *report = (hd_report *)&m;
    assert_int_equal(hd_machine_create(NULL, &m, NULL), HD_SUCCESS);
    hd_kernel *k = counting_kernel(m, &counter);
    struct grown g = {.config = {.grid = {2, 1, 1}, .block = {32, 1, 1}, .args = (const void *[]){&counter}}};
    assert_int_equal(hd_launch_sized(k, &g.config, sizeof g, NULL, 0, NULL), HD_SUCCESS);
    assert_int_equal(*counter, 64);
    g.added = 1ull << 56;
    assert_int_equal(hd_launch_sized(k, &g.config, sizeof g, NULL, 0, &report), HD_ERROR_NOT_SUPPORTED);
    assert_null(report);
    assert_int_equal(hd_launch_check_sized(k, &g.config, sizeof g, NULL), HD_ERROR_NOT_SUPPORTED);
    assert_int_equal(*counter, 64);
    assert_int_equal(hd_launch_sized(k, &g.config, offsetof(hd_launch_config, graph) - 1, NULL, 0, NULL),
                     HD_ERROR_INVALID_VALUE);
    assert_int_equal(hd_launch_sized(k, &g.config, 0, NULL, 0, NULL), HD_ERROR_INVALID_VALUE);
    hd_machine_destroy(m);
}

/* Each function that reads a struct holds it to its size. */
static void no_struct_of_a_wrong_size_is_read(void **state)
{
    (void)state;
    hd_machine *m, *none = NULL;
    hd_context *context, *no_context = NULL;
    hd_stream *s;
    hd_checker *checker = NULL;
    hd_explainer *explainer = NULL;
    hd_report *report = NULL;
    uint32_t *counter;
    char map[128];
    const union {
        unsigned char bytes[512];
        hd_copy copy;
    } set = {.bytes = {[511] = 1}};
    const void *p = &set;
    assert_int_equal(hd_machine_create(NULL, &m, NULL), HD_SUCCESS);
    assert_int_equal(hd_context_create(m, NULL, &context), HD_SUCCESS);
    assert_int_equal(hd_stream_create(context, 0, &s), HD_SUCCESS);
    hd_kernel *k = counting_kernel(m, &counter);
    for (int i = 0; i < 2; i++) {
        size_t bytes = i ? sizeof set : 4;
        hd_result why = i ? HD_ERROR_NOT_SUPPORTED : HD_ERROR_INVALID_VALUE;
        assert_int_equal(hd_machine_create_sized(p, bytes, &none, NULL), why);
        assert_int_equal(hd_context_create_sized(m, p, bytes, &no_context), why);
        assert_int_equal(hd_checker_create_sized(m, p, bytes, &checker), why);
        assert_int_equal(hd_explainer_create_sized(m, p, bytes, &explainer), why);
        assert_int_equal(hd_stream_launch_sized(s, k, p, bytes, NULL), why);
        assert_int_equal(hd_stream_copy_sized(s, p, bytes, HD_WAIT), why);
        assert_int_equal(hd_stream_fill_sized(s, p, bytes, HD_WAIT), why);
        assert_int_equal(hd_stream_work_sized(s, p, bytes, HD_WAIT), why);
        assert_int_equal(hd_report_add_diagnostic_sized(&report, p, bytes), why);
        assert_int_equal(hd_tensor_map_encode_sized(p, bytes, map, NULL), HD_ERROR_INVALID_VALUE);
    }
    assert_null(none);
    assert_null(no_context);
    assert_null(checker);
    assert_null(explainer);
    assert_null(report);
    hd_context_destroy(context);
    hd_machine_destroy(m);
}

/* What is written is as much as there is room for; behind what the library knows it is zeros. */
static void structs_that_the_library_writes_may_be_of_any_size(void **state)
{
    (void)state;
    hd_machine *m;
    uint32_t *counter;
    assert_int_equal(hd_machine_create(NULL, &m, NULL), HD_SUCCESS);
    hd_kernel *k = counting_kernel(m, &counter);
    struct grown_info g;
    memset(&g, 0xff, sizeof g);
    hd_kernel_get_info_sized(k, &g.info, sizeof g.info + 8);
    assert_string_equal(g.info.name, "count");
    assert_int_equal(g.added[0], 0);
    assert_true(g.added[1] == UINT64_MAX);
    memset(&g, 0xff, sizeof g);
    hd_kernel_get_info_sized(k, &g.info, offsetof(hd_kernel_info, param_bytes));
    assert_int_equal(g.info.param_count, 1);
    assert_true(g.info.param_bytes == SIZE_MAX);
    hd_launch_stats stats = {.seconds = -1, .blocks = 77, .warp_instructions = 77};
    hd_launch_config c = {.grid = {2, 1, 1}, .block = {32, 1, 1}, .args = (const void *[]){&counter}};
    assert_int_equal(hd_launch_sized(k, &c, sizeof c, &stats, offsetof(hd_launch_stats, warp_instructions), NULL),
                     HD_SUCCESS);
    assert_int_equal(stats.blocks, 2);
    assert_int_equal(stats.warp_instructions, 77);
    hd_machine_destroy(m);
}

static void the_header_has_the_library_s_version(void **state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", HD_VERSION_MAJOR, HD_VERSION_MINOR, HD_VERSION_PATCH);
    assert_string_equal(text, hd_version());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_memory_take_no_more_when_they_come_again),
        cmocka_unit_test(kernels_are_found_by_the_names_of_their_source),
        cmocka_unit_test(null_is_refused_where_it_is_not_allowed),
        cmocka_unit_test(what_is_no_flag_or_engine_is_refused),
        cmocka_unit_test(all_who_watch_a_launch_can_at_once),
        cmocka_unit_test(machines_in_several_threads_do_not_meet),
        cmocka_unit_test(a_child_of_fork_compiles_too),
        cmocka_unit_test(threads_of_a_child_of_fork_compile_at_once),
        cmocka_unit_test(threads_share_a_machine),
        cmocka_unit_test(progress_is_seen_while_a_launch_runs),
        cmocka_unit_test(variables_are_listed),
        cmocka_unit_test(a_variable_can_stand_in_the_callers_memory),
        cmocka_unit_test(attributes_agree_with_the_info),
        cmocka_unit_test(every_level_gives_a_machine),
        cmocka_unit_test(ptx_is_described),
        cmocka_unit_test(ptx_that_cannot_run_is_warned_of_once),
        cmocka_unit_test(bad_ptx_has_a_report_with_places),
        cmocka_unit_test(hosts_mistakes_are_reported_with_their_stack),
        cmocka_unit_test(structs_that_the_library_reads_may_be_of_later_versions),
        cmocka_unit_test(no_struct_of_a_wrong_size_is_read),
        cmocka_unit_test(structs_that_the_library_writes_may_be_of_any_size),
        cmocka_unit_test(the_header_has_the_library_s_version),
        cmocka_unit_test(the_instruction_table_is_complete),
    };
    return cmocka_run_group_tests_name("api", tests, NULL, NULL);
}
