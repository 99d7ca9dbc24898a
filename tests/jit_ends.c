/* A program that uses CUDA and ends while its kernels are being compiled: jit-ends HOW
 * MICROSECONDS. Says "began" when it has launched them, and "done" where it has waited for them.
 * tests/compiler runs it many times.
 */
#include <cuda.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KERNELS = 3, STEPS = 600, TURNS = 400, THREADS = 64, FILES = 2000 };

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    (void)number;
    signals = signals + 1;
}

static void say(const char *text)
{
    if (write(1, text, strlen(text)) < 0)
        _exit(3);
}

static void fail(const char *what)
{
    say(what);
    say(" failed\n");
    _exit(3);
}

#define OK(call)                                                                                                       \
    if ((call) != CUDA_SUCCESS)                                                                                        \
    fail(#call)

/* Kernels that take a while to compile: STEPS multiplications and additions, TURNS times; k0, k1
 * and so on differ. */
static char *write_ptx(void)
{
    size_t bytes = 0;
    char *text = NULL;
    FILE *f = open_memstream(&text, &bytes);
    fputs(".version 7.0\n.target sm_75\n.address_size 64\n", f);
    for (int k = 0; k < KERNELS; k++) {
        fprintf(f,
                ".visible .entry k%d(.param .u64 out)\n{\n.reg .u64 %%rd<4>; .reg .u32 %%r<6>; .reg .pred %%p;\n"
                "ld.param.u64 %%rd1, [out];\nmov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, 0;\nmov.u32 %%r3, 1;\nL:\n",
                k);
        for (int i = 0; i < STEPS; i++)
            fprintf(f, "mad.lo.u32 %%r%d, %%r%d, %%r%d, %d;\n", 3 + i % 2, 4 - i % 2, 1 + 2 * (i % 2), 17 * i + k);
        fprintf(f,
                "add.u32 %%r2, %%r2, 1;\nsetp.lt.u32 %%p, %%r2, %d;\n@%%p bra L;\nmul.wide.u32 %%rd2, %%r1, 4;\n"
                "add.u64 %%rd3, %%rd1, %%rd2;\nst.global.u32 [%%rd3], %%r3;\nret;\n}\n",
                TURNS);
    }
    fclose(f);
    return text;
}

static uint32_t expected(uint32_t thread, uint32_t k)
{
    uint32_t r[5] = {0, thread, 0, 1, 0};
    for (int turn = 0; turn < TURNS; turn++)
        for (uint32_t i = 0; i < STEPS; i++)
            r[3 + i % 2] = r[4 - i % 2] * r[1 + 2 * (i % 2)] + 17 * i + k;
    return r[3];
}

static CUdeviceptr out[KERNELS];

static void begin(void)
{
    CUdevice device;
    CUcontext context;
    CUmodule module;
    char *text = write_ptx(), name[3] = "k0";
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, text));
    for (int k = 0; k < KERNELS; k++, name[1]++) {
        CUfunction f;
        CUstream stream;
        void *params[1] = {&out[k]};
        OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        OK(cuModuleGetFunction(&f, module, name));
        OK(cuMemAlloc(&out[k], 4 * THREADS));
        OK(cuLaunchKernel(f, 1, 1, 1, THREADS, 1, 1, 0, stream, params, NULL));
    }
    say("began\n");
    free(text);
}

static void finish(void)
{
    OK(cuCtxSynchronize());
    for (int k = 0; k < KERNELS; k++) {
        uint32_t got[THREADS];
        OK(cuMemcpyDtoH(got, out[k], sizeof got));
        for (uint32_t t = 0; t < THREADS; t++)
            if (got[t] != expected(t, (uint32_t)k))
                fail("the kernel");
    }
    say("done\n");
}

/* A child of the program's own is the only one that wait() finds. */
static void start_true(void)
{
    pid_t pid = fork();
    if (pid == 0)
        execl("/bin/true", "true", (char *)NULL);
    if (wait(NULL) != pid)
        fail("wait");
}

/* What a daemon does, and then numbers of files come again. */
static void close_all(void)
{
    struct stat null, s;
    stat("/dev/null", &null);
    for (int fd = 3; fd < FILES; fd++)
        close(fd);
    for (int fd = 3; fd < FILES; fd++)
        if (open("/dev/null", O_RDWR) < 0)
            break;
    finish();
    for (int fd = 3; fd < FILES; fd++)
        if (fstat(fd, &s) == 0 && s.st_rdev != null.st_rdev)
            fail("fstat");
}

int main(int argc, char **argv)
{
    const char *how = argc > 2 ? argv[1] : "return";
    signal(SIGCHLD, count_signal);
    begin();
    usleep(argc > 2 ? (unsigned)atoi(argv[2]) : 0);
    if (wait(NULL) != -1 || errno != ECHILD || signals)
        fail("wait for nobody");
    if (strcmp(how, "exit") == 0)
        exit(0);
    if (strcmp(how, "_exit") == 0)
        _exit(0);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "exec") == 0)
        execl("/bin/true", "true", (char *)NULL);
    if (strcmp(how, "fork") == 0)
        start_true();
    if (strcmp(how, "close") == 0)
        close_all();
    if (strcmp(how, "finish") == 0)
        finish();
    return 0;
}
