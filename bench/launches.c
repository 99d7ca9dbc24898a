/* What launches and copies cost a program of the driver API: the time to the first result, an empty
 * kernel queued back to back, a round trip. Each process measures its own first call, so that is
 * taken in a child. */
#include "bench.h"

#include <cuda.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry empty()\n{\n    ret;\n}\n"
                          ".visible .entry add(.param .u64 p)\n{\n"
                          "    .reg .u64 %rd<4>; .reg .u32 %r<3>;\n"
                          "    ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n"
                          "    add.u64 %rd3, %rd1, %rd2; ld.global.u32 %r2, [%rd3]; add.u32 %r2, %r2, 1;\n"
                          "    st.global.u32 [%rd3], %r2;\n    ret;\n}\n";

/* A kernel that launches `n` empty ones into the stream of fire and forget (4), by the device
 * runtime's own calls. */
static const char nested_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".extern .func (.param .b64 p) __cudaCDP2GetParameterBufferV2(.param .b64 k, .param .align 4 .b8 g[12],\n"
    "                                                             .param .align 4 .b8 b[12], .param .b32 s);\n"
    ".extern .func (.param .b32 e) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 s);\n"
    ".visible .entry empty()\n{\n    ret;\n}\n"
    ".visible .entry empties(.param .u32 n)\n{\n"
    "    .reg .u32 %n, %e; .reg .u64 %p, %k; .reg .pred %more;\n"
    "    ld.param.u32 %n, [n]; mov.u64 %k, empty;\n"
    "next:\n"
    "    { .param .b64 k; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 r;\n"
    "      st.param.b64 [k], %k; st.param.b32 [g], 1; st.param.b32 [g+4], 1; st.param.b32 [g+8], 1;\n"
    "      st.param.b32 [b], 1; st.param.b32 [b+4], 1; st.param.b32 [b+8], 1; st.param.b32 [s], 0;\n"
    "      call (r), __cudaCDP2GetParameterBufferV2, (k, g, b, s); ld.param.b64 %p, [r]; }\n"
    "    { .param .b64 q; .param .b64 t; .param .b32 r; st.param.b64 [q], %p; st.param.b64 [t], 4;\n"
    "      call (r), __cudaCDP2LaunchDeviceV2, (q, t); ld.param.b32 %e, [r]; }\n"
    "    setp.ne.u32 %more, %e, 0;\n    @%more trap;\n"
    "    sub.u32 %n, %n, 1; setp.ne.u32 %more, %n, 0;\n    @%more bra next;\n    ret;\n}\n";

static void must(CUresult r)
{
    const char *name = "?";
    if (r == CUDA_SUCCESS)
        return;
    cuGetErrorName(r, &name);
    fprintf(stderr, "bench-launches: %s\n", name);
    exit(1);
}

static CUfunction start(const char *name)
{
    CUcontext c;
    CUmodule m;
    CUfunction f;
    must(cuInit(0));
    must(cuDevicePrimaryCtxRetain(&c, 0));
    must(cuCtxSetCurrent(c));
    must(cuModuleLoadData(&m, ptx));
    must(cuModuleGetFunction(&f, m, name));
    return f;
}

/* From cuInit to the kernel's result on the host, in milliseconds. */
static double first_result(void)
{
    unsigned v[64] = {0};
    CUdeviceptr p;
    double begin = bench_now();
    CUfunction f = start("add");
    must(cuMemAlloc(&p, sizeof v));
    must(cuMemcpyHtoD(p, v, sizeof v));
    must(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, 0, (void *[]){&p}, NULL));
    must(cuMemcpyDtoH(v, p, sizeof v));
    return v[63] == 1 ? 1e3 * (bench_now() - begin) : -1;
}

static double in_child(double (*measure)(void))
{
    int fd[2];
    double value = -1;
    if (pipe(fd) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        value = measure();
        _exit(write(fd[1], &value, sizeof value) != sizeof value);
    }
    if (child < 0 || waitpid(child, NULL, 0) != child || read(fd[0], &value, sizeof value) != sizeof value)
        value = -1;
    close(fd[0]);
    close(fd[1]);
    return value;
}

enum { LAUNCHES = 20000, ROUNDS = 5, PROGRAMS = 40, TRIPS = 2000 };

/* Microseconds a launch, of which the caller spends *put. */
static double queued(CUfunction f, unsigned threads, double *put)
{
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = bench_now();
        for (int i = 0; i < LAUNCHES; i++)
            must(cuLaunchKernel(f, 1, 1, 1, threads, 1, 1, 0, 0, NULL, NULL));
        double returned = bench_now();
        must(cuCtxSynchronize());
        double all = 1e6 * (bench_now() - begin) / LAUNCHES;
        if (all < best) {
            best = all;
            *put = 1e6 * (returned - begin) / LAUNCHES;
        }
    }
    return best;
}

/* Microseconds of a launch of so many blocks that is waited for, and of processor time, of all
 * threads. */
static double round_trip(CUfunction f, unsigned blocks, unsigned threads, double *processor)
{
    double best = *processor = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = bench_now(), used = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
        for (int i = 0; i < TRIPS; i++) {
            must(cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, 0, NULL, NULL));
            must(cuCtxSynchronize());
        }
        double each = 1e6 * (bench_now() - begin) / TRIPS;
        best = each < best ? each : best;
        used = 1e6 * (bench_clock(CLOCK_PROCESS_CPUTIME_ID) - used) / TRIPS;
        *processor = used < *processor ? used : *processor;
    }
    return best;
}

/* Microseconds of an empty launch by a kernel that makes 10,000. */
static double by_a_kernel(void)
{
    enum { AT_ONCE = 10000 };
    CUmodule m;
    CUfunction f;
    unsigned n = AT_ONCE;
    double best = 1e9;
    must(cuModuleLoadData(&m, nested_ptx));
    must(cuModuleGetFunction(&f, m, "empties"));
    must(cuCtxSetLimit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2 * AT_ONCE));
    for (int round = 0; round < ROUNDS; round++) {
        double begin = bench_now();
        must(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, (void *[]){&n}, NULL));
        must(cuCtxSynchronize());
        double each = 1e6 * (bench_now() - begin) / AT_ONCE;
        best = each < best ? each : best;
    }
    return best;
}

/* Milliseconds of processor time of `heddle run` of this program, which launches once: the least of
 * some. */
static double whole_program(const char *self)
{
    double least = 1e9;
    for (int round = 0; round < PROGRAMS; round++) {
        struct rusage u;
        int status;
        pid_t child = fork();
        if (child == 0) {
            execl(HEDDLE_PROGRAM, "heddle", "run", self, "--once", NULL);
            _exit(127);
        }
        bench_must(child > 0 && wait4(child, &status, 0, &u) == child && status == 0, HEDDLE_PROGRAM);
        double ms = 1e3 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                    1e-3 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
        least = ms < least ? ms : least;
    }
    return least;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--once") == 0)
        return first_result() < 0;
    double first = 1e9, put, all, used;
    for (int round = 0; round < ROUNDS; round++) {
        double ms = in_child(first_result);
        first = ms > 0 && ms < first ? ms : first;
    }
    CUfunction empty = start("empty");
    bench_title("launches through libcuda.so.1");
    bench_at_most("heddle run of a program of one launch, processor time", whole_program(argv[0]), "ms", 4);
    bench_at_most("first call to first result", first, "ms", 20);
    all = queued(empty, 1, &put);
    bench_at_most("an empty kernel, queued back to back", all, "us", 2.6); /* what an H200 takes */
    bench_line("  of which cuLaunchKernel", put, "us");
    bench_line("the same, a block of 1024 threads", queued(empty, 1024, &put), "us");
    bench_at_most("the same, launched by a kernel (fire and forget)", by_a_kernel(), "us", 20);
    bench_line("an empty kernel, launched and waited for", round_trip(empty, 1, 1, &used), "us");
    bench_at_most("  processor time", used, "us", 12);
    bench_line("the same, 1,024 blocks of 256 threads", round_trip(empty, 1024, 256, &used), "us");
    bench_at_most("  processor time", used, "us", 60);
    return 0;
}
