/* What the programs of this folder share that write down the errors of calls, line by line, for an
 * H200 and for Heddle. */
#ifndef RULES_H
#define RULES_H

#include <cuda.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CUcontext context;
static CUdevice device;
static CUmodule module;
static CUfunction add, mul;
static CUdeviceptr memory, other_memory;

static const char ptx[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".visible .global .align 4 .u32 total;\n"
    ".visible .entry add(.param .u64 p, .param .u32 n)\n{\n    .reg .u64 %rd<2>; .reg .u32 %r<3>;\n"
    "    ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; ld.u32 %r2, [%rd1]; add.u32 %r2, %r2, %r1; st.u32 [%rd1], "
    "%r2;\n    ret;\n}\n"
    ".visible .entry mul(.param .u64 p, .param .u32 n)\n{\n    .reg .u64 %rd<2>; .reg .u32 %r<3>;\n"
    "    ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; ld.u32 %r2, [%rd1]; mul.lo.u32 %r2, %r2, %r1; st.u32 [%rd1], "
    "%r2;\n    ret;\n}\n"
    ".visible .entry bounded(.param .u64 p, .param .u32 n)\n.maxntid 64, 1, 1\n{\n    ret;\n}\n"
    ".visible .entry many(.param .u64 p, .param .u32 n, .param .u64 q)\n{\n    ret;\n}\n";

/* A call that brings down the driver is an answer, too. */
static sigjmp_buf after_crash;

static void crashed(int number)
{
    (void)number;
    siglongjmp(after_crash, 1);
}

static void catch_crashes(void)
{
    struct sigaction a = {.sa_handler = crashed, .sa_flags = SA_NODEFER};
    sigaction(SIGSEGV, &a, NULL);
    sigaction(SIGBUS, &a, NULL);
}

/* Writes a call and its error down. */
#define SAY(call)                                                                                                      \
    do {                                                                                                               \
        if (sigsetjmp(after_crash, 1))                                                                                 \
            printf("  %s: crash\n", #call);                                                                            \
        else                                                                                                           \
            printf("  %s: %d\n", #call, (int)(call));                                                                  \
        fflush(stdout);                                                                                                \
    } while (0)
#define VALUE(what) printf("  %s = %lld\n", #what, (long long)(what))
#define NEEDED(call)                                                                                                   \
    do {                                                                                                               \
        CUresult needed_ = (call);                                                                                     \
        if (needed_) {                                                                                                 \
            printf("%s:%d: %s gives %d\n", __FILE__, __LINE__, #call, (int)needed_);                                   \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static inline void begin_rules(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    NEEDED(cuInit(0));
    NEEDED(cuDeviceGet(&device, 0));
    NEEDED(cuDevicePrimaryCtxRetain(&context, device));
    NEEDED(cuCtxSetCurrent(context));
    NEEDED(cuModuleLoadData(&module, ptx));
    NEEDED(cuModuleGetFunction(&add, module, "add"));
    NEEDED(cuModuleGetFunction(&mul, module, "mul"));
    NEEDED(cuMemAlloc(&memory, 1 << 20));
    NEEDED(cuMemAlloc(&other_memory, 1 << 20));
    NEEDED(cuMemsetD8(memory, 0, 1 << 20));
    catch_crashes();
}

static inline CUresult launch(CUfunction f, CUstream s)
{
    static unsigned n = 1;
    void *params[] = {&memory, &n};
    return cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, params, NULL);
}

#endif
