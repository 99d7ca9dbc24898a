/* A user of the library, compiled against the header of version 0.1.0 and kept as first-x86-64.xz:
 * later libraries run it. Every struct that may grow is used, as what the library reads and as what
 * it writes, between bytes that have to stay as they are.
 *
 *     cc -O1 -s -o first first.c -I INCLUDE -L LIBRARIES -lheddle       (of 0.1.0)
 */
#include <heddle.h>
#include <stdio.h>
#include <string.h>

static int failed;

static void ok(int is, const char *what)
{
    failed += !is;
    printf("%s %s\n", is ? "ok" : "FAILED", what);
}

enum { GUARD = 256, MARK = 0xa5 };

/* What the library writes, and room behind it in which nothing is written. */
#define OUT(type, name)                                                                                                \
    struct {                                                                                                           \
        type is;                                                                                                       \
        unsigned char behind[GUARD];                                                                                   \
    } name;                                                                                                            \
    memset(&name, MARK, sizeof name)
#define IS_WHOLE(name) is_marked((name).behind)

static int is_marked(const unsigned char *p)
{
    for (int i = 0; i < GUARD; i++)
        if (p[i] != MARK)
            return 0;
    return 1;
}

static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .global .align 4 .u32 total = 5;\n"
    ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
    ".global .align 1 .b8 hello[4] = {104, 105, 10, 0};\n"
    ".visible .entry count(.param .u64 p, .param .u32 n)\n.maxntid 128, 1, 1\n{\n"
    "    .reg .u64 %rd<4>;\n    .reg .u32 %r<3>;\n    .reg .pred %p;\n"
    "    ld.param.u64 %rd1, [p];\n    atom.global.add.u32 %r1, [%rd1], 1;\n"
    "    setp.ne.u32 %p, %r1, 0;\n    @%p ret;\n"
    "    mov.u64 %rd2, hello;\n    mov.u64 %rd3, 0;\n"
    "    { .param .b64 f; .param .b64 a; .param .b32 r;\n"
    "    st.param.b64 [f], %rd2; st.param.b64 [a], %rd3; call.uni (r), vprintf, (f, a); }\n"
    "    ret;\n}\n"
    ".visible .entry beyond(.param .u64 p)\n{\n    .reg .u64 %rd<3>;\n"
    "    ld.param.u64 %rd1, [p];\n    st.global.u32 [%rd1+4096], 7;\n    ret;\n}\n"
    ".visible .entry race(.param .u64 p)\n{\n    .reg .u64 %rd<3>; .reg .u32 %r<2>;\n"
    "    ld.param.u64 %rd1, [p];\n    mov.u32 %r1, %tid.x;\n    st.global.u32 [%rd1], %r1;\n    ret;\n}\n";
static const hd_source source = {"first.ptx", text, sizeof text - 1};

static char printed[64];
static void print(void *data, const char *t, size_t n)
{
    (void)data;
    strncat(printed, t, n < 40 ? n : 40);
}

static int asked;
static bool origin(void *data, const void *start, bool freed, char *t, size_t n)
{
    (void)start;
    (void)freed;
    asked = data == printed;
    snprintf(t, n, "allocated in first.c");
    return true;
}

static void reports(hd_kernel *beyond, const hd_launch_config *config)
{
    hd_report *report = NULL, *own = NULL;
    OUT(hd_diagnostic, d);
    ok(hd_launch(beyond, config, NULL, &report) == HD_ERROR_ILLEGAL_ADDRESS, "a launch that goes beyond memory fails");
    ok(hd_report_count(report) > 0 && hd_report_get(report, 0, &d.is), "it has a report");
    ok(IS_WHOLE(d) && d.is.severity == HD_SEVERITY_ERROR && !strcmp(d.is.file, "first.ptx") && d.is.text && asked,
       "whose diagnostic has a place and a text");
    ok(strstr(hd_report_text(report), "allocated in first.c") != NULL, "that says where memory is from");
    const hd_frame frames[] = {{.function = "main", .file = "first.c", .line = 7}};
    const hd_diagnostic mine = {
        .severity = HD_SEVERITY_WARNING, .code = "mine", .text = "a text", .frames = frames, .frame_count = 1};
    ok(hd_report_add_diagnostic(&own, &mine) == HD_SUCCESS && strstr(hd_report_text(own), "a text"),
       "a diagnostic of one's own");
    hd_report_free(own);
    hd_report_free(report);
}

static void kernels(hd_module *module, hd_kernel *count)
{
    OUT(hd_kernel_info, k);
    OUT(hd_param_info, p);
    OUT(hd_variable_info, v);
    const hd_machine_code code = {.registers = 24};
    hd_kernel_get_info(count, &k.is);
    ok(IS_WHOLE(k) && !strcmp(k.is.name, "count") && k.is.param_count == 2 && k.is.max_threads == 128 &&
           k.is.instructions,
       "what a kernel is");
    ok(hd_kernel_get_param(count, 1, &p.is) && IS_WHOLE(p) && p.is.offset == 8 && p.is.bytes == 4 && !p.is.is_pointer,
       "what a parameter is");
    ok(hd_module_get_variable(module, 0, &v.is) && IS_WHOLE(v) && !strcmp(v.is.name, "total") && v.is.bytes == 4 &&
           *(unsigned *)v.is.pointer == 5,
       "what a variable is");
    ok(hd_module_set_machine_code(module, "race", &code) == HD_SUCCESS, "machine code is told");
    ok(hd_module_set_machine_code(module, "none", &code) == HD_ERROR_NOT_FOUND, "of kernels that there are");
}

static void launches(hd_machine *machine, hd_kernel *count)
{
    unsigned *counter, n = 0;
    OUT(hd_launch_stats, s);
    OUT(hd_memory_info, m);
    hd_alloc(machine, 256, (void **)&counter);
    *counter = 0;
    const void *args[] = {&counter, &n};
    const hd_launch_config config = {
        .grid = {3, 1, 1}, .block = {64, 1, 1}, .engine = HD_ENGINE_INTERP, .args = args, .timeout_seconds = 60};
    hd_launch_config wide = config;
    wide.block[0] = 256;
    ok(hd_launch_check(count, &wide, NULL) != HD_SUCCESS && hd_launch_check(count, &config, NULL) == HD_SUCCESS,
       "a launch is checked");
    ok(hd_launch(count, &config, &s.is, NULL) == HD_SUCCESS && *counter == 192, "a launch counts");
    ok(IS_WHOLE(s) && s.is.blocks == 3 && s.is.warp_instructions && s.is.lost_print_bytes == 0 && s.is.seconds > 0,
       "what it did");
    ok(!strcmp(printed, "hi\n"), "its printf is heard");
    ok(hd_find(machine, counter + 1, &m.is) && IS_WHOLE(m) && m.is.start == counter && m.is.bytes == 256 &&
           m.is.allocated && !m.is.name,
       "what memory is");
    ok(hd_free(machine, counter) == HD_SUCCESS, "it is freed");
}

static int fault;
static void on_fault(void *data, hd_result result, hd_report *report)
{
    (void)report;
    fault = data == &fault ? (int)result : -1;
}

static void streams(hd_machine *machine, hd_kernel *count, hd_kernel *beyond)
{
    const hd_context_options options = {.fault = on_fault, .data = &fault};
    hd_context *context;
    hd_stream *stream;
    unsigned *counter, n = 0, rows[4] = {1, 2, 3, 4};
    hd_alloc(machine, 64, (void **)&counter);
    const void *args[] = {&counter, &n};
    const hd_launch_config config = {.grid = {2, 1, 1}, .block = {32, 1, 1}, .args = args};
    ok(hd_context_create(machine, &options, &context) == HD_SUCCESS &&
           hd_stream_create(context, 0, &stream) == HD_SUCCESS,
       "a context and a stream");
    const hd_fill fill = {.to = counter, .value = 7, .element_bytes = 4, .width = 16, .height = 1};
    const hd_copy copy = {
        .to = counter + 1, .from = rows, .width = 4, .height = 2, .depth = 1, .to_pitch = 8, .from_pitch = 12};
    ok(hd_stream_fill(stream, &fill, HD_NO_WAIT) == HD_SUCCESS &&
           hd_stream_copy(stream, &copy, HD_NO_WAIT) == HD_SUCCESS &&
           hd_stream_launch(stream, count, &config, NULL) == HD_SUCCESS && hd_stream_synchronize(stream) == HD_SUCCESS,
       "a fill, a copy and a launch in it");
    ok(counter[0] == 7 + 64 && counter[1] == 1 && counter[2] == 7 && counter[3] == 4 && counter[15] == 7,
       "do what they are told");
    ok(hd_stream_launch(stream, beyond, &config, NULL) == HD_SUCCESS &&
           hd_stream_synchronize(stream) == HD_ERROR_ILLEGAL_ADDRESS && fault == HD_ERROR_ILLEGAL_ADDRESS,
       "a fault is told to the context's function");
    hd_context_destroy(context);
    hd_free(machine, counter);
}

static int begun;
static void on_begun(void *data, const char *kernel)
{
    begun += data == &begun && !strcmp(kernel, "race");
}

static void checking(hd_machine *machine, hd_kernel *race)
{
    const hd_checker_options check = {
        .tools = HD_TOOL_RACECHECK, .begun = on_begun, .data = &begun, .shadow_bytes = 64 << 20};
    const hd_explainer_options explain = {.device = "H200", .begun = on_begun, .data = &begun};
    hd_checker *checker;
    hd_explainer *explainer;
    hd_report *found = NULL;
    char *json;
    unsigned *p;
    hd_alloc_host(machine, 64, (void **)&p);
    const void *args[] = {&p};
    const hd_launch_config config = {.grid = {2, 1, 1}, .block = {32, 1, 1}, .args = args};
    ok(hd_checker_create(machine, &check, &checker) == HD_SUCCESS &&
           hd_explainer_create(machine, &explain, &explainer) == HD_SUCCESS,
       "a checker and an explainer");
    ok(hd_launch(race, &config, NULL, NULL) == HD_SUCCESS && begun == 2, "are told of a launch");
    ok(hd_checker_report(checker, &found) == HD_SUCCESS && strstr(hd_report_json(found), "data-race"),
       "a race is found");
    ok(hd_explainer_kernel(explainer, 0, &json) == HD_SUCCESS && json && strstr(json, "race"), "it is counted");
    hd_report_free(found);
    hd_explainer_destroy(explainer);
    hd_checker_destroy(checker);
}

static void texts(void)
{
    hd_ptx *ptx;
    OUT(hd_ptx_info, i);
    OUT(hd_ptx_function, f);
    const hd_ptx_code code = {.max_registers = 32};
    ok(hd_ptx_read(&source, &ptx, NULL) == HD_SUCCESS, "PTX is read");
    hd_ptx_get_info(ptx, &i.is);
    ok(IS_WHOLE(i) && i.is.version_major == 8 && !strcmp(i.is.target, "sm_90") && i.is.kernels == 3 &&
           i.is.instructions > 10,
       "what it has");
    ok(hd_ptx_get_function(ptx, 1, &f.is) && IS_WHOLE(f) && !strcmp(f.is.name, "beyond") && f.is.is_kernel &&
           f.is.params == 1,
       "what a function is");
    ok(strstr(hd_ptx_rewrite(ptx, &code, NULL), ".maxnreg 32") != NULL, "bounds are written in");
    hd_ptx_free(ptx);
}

static void tables(void)
{
    OUT(hd_isa_form, f);
    OUT(hd_isa_set, s);
    OUT(hd_isa_register, r);
    OUT(hd_cache_info, c);
    ok(hd_isa_get_form(0, &f.is) && IS_WHOLE(f) && f.is.opcode && f.is.target[0], "a form of an instruction");
    ok(hd_isa_get_set(0, &s.is) && IS_WHOLE(s) && s.is.words, "a set of words");
    ok(hd_isa_get_register(0, &r.is) && IS_WHOLE(r) && r.is.name && r.is.target[0], "a special register");
    hd_cache_get_info(&c.is);
    ok(IS_WHOLE(c), "what is kept on disk");
}

static void maps(hd_machine *machine)
{
    void *p;
    unsigned char bytes[128] = {0};
    hd_alloc(machine, 4096, &p);
    const hd_tensor_map map = {.type = 7, .rank = 1, .address = p, .dims = {256}, .steps = {1}, .box = {64}};
    const char *error = "";
    ok(hd_tensor_map_encode(&map, bytes, &error) == HD_SUCCESS && memcmp(bytes, (char[128]){0}, 128), "a tensor map");
    hd_free(machine, p);
}

int main(void)
{
    const hd_machine_options options = {.workers = 2,
                                        .memory_bytes = 64 << 20,
                                        .print = print,
                                        .print_data = printed,
                                        .origin = origin,
                                        .device = "sm_90"};
    hd_machine *machine, *plain;
    hd_module *module;
    hd_kernel *count, *beyond, *race;
    OUT(hd_machine_info, i);
    OUT(hd_progress, progress);
    if (hd_machine_create(&options, &machine, NULL) || hd_module_load(machine, &source, 1, &module, NULL) ||
        hd_module_get_kernel(module, "count", &count, NULL) || hd_module_get_kernel(module, "beyond", &beyond, NULL))
        return puts("FAILED to begin"), 2;
    ok(hd_machine_create(NULL, &plain, NULL) == HD_SUCCESS, "a machine without options");
    hd_machine_destroy(plain);
    hd_machine_get_info(machine, &i.is);
    ok(IS_WHOLE(i) && i.is.workers == 2 && i.is.warp_lanes == 32 && i.is.memory_bytes == 64 << 20 &&
           i.is.addresses.bytes,
       "what a machine is");
    hd_machine_get_progress(machine, &progress.is);
    ok(IS_WHOLE(progress) && progress.is.launches == 0, "how far it is");
    kernels(module, count);
    launches(machine, count);
    void *p;
    hd_alloc(machine, 64, &p);
    const void *args[] = {&p};
    const hd_launch_config one = {.grid = {1, 1, 1}, .block = {32, 1, 1}, .args = args};
    reports(beyond, &one);
    streams(machine, count, beyond);
    hd_module_get_kernel(module, "race", &race, NULL);
    checking(machine, race);
    maps(machine);
    texts();
    tables();
    ok(hd_machine_destroy(machine) == HD_SUCCESS, "all of it goes");
    return failed != 0;
}
