/* Errors as CUDA has them: which, when they are reported, which stay. */
#include "program.h"

#include <assert.h>
#include <sys/wait.h>

KERNEL store(int *p, int value) BODY(
    p[threadIdx.x] = value;
)
KERNEL stop_here(void) BODY(
    __trap();
)
KERNEL assert_that(int x) BODY(
    assert(x == 1);
)
KERNEL misaligned(char *p) BODY(
    *(volatile int *)(p + 1) = 1;
)
KERNEL __launch_bounds__(64) small_blocks(int *p) BODY(
    *p = 1;
)
REGISTER_KERNEL(store)
REGISTER_KERNEL(stop_here)
REGISTER_KERNEL(assert_that)
REGISTER_KERNEL(misaligned)
REGISTER_KERNEL(small_blocks)

static void never(void)
{
}

static void launches(void)
{
    int *p = (int *)device_memory(4096), one = 1;
    EXPECT_ERROR(LAUNCH(store, 0, 32, 0, 0, &p, &one), cudaErrorInvalidValue);
    EXPECT_ERROR(LAUNCH(store, 1, 2048, 0, 0, &p, &one), cudaErrorInvalidValue);
    EXPECT_ERROR(LAUNCH(store, 1, 0, 0, 0, &p, &one), cudaErrorInvalidValue);
    EXPECT_ERROR(LAUNCH(store, 1, 32, 1 << 20, 0, &p, &one), cudaErrorInvalidValue);
    expect(LAUNCH(small_blocks, 1, 128, 0, 0, &p) != cudaSuccess, "blocks beyond __launch_bounds__ are refused");
    EXPECT_ERROR(LAUNCH(never, 1, 1, 0, 0, &p), cudaErrorInvalidResourceHandle);
    EXPECT_ERROR(cudaPeekAtLastError(), cudaErrorInvalidResourceHandle);
    EXPECT_ERROR(cudaGetLastError(), cudaErrorInvalidResourceHandle);
    EXPECT_ERROR(cudaGetLastError(), cudaSuccess);
    EXPECT_ERROR(LAUNCH(store, 1, 32, 0, 0, &p, &one), cudaSuccess);
    EXPECT_ERROR(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_ERROR(cudaFree(p), cudaSuccess);
}

static void calls(void)
{
    int value = 0;
    void *p = NULL;
    size_t n;
    EXPECT_ERROR(cudaSetDevice(99), cudaErrorInvalidDevice);
    EXPECT_ERROR(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, -1), cudaErrorInvalidDevice);
    EXPECT_ERROR(cudaMalloc(NULL, 4), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaMalloc(&p, (size_t)1 << 60), cudaErrorMemoryAllocation);
    EXPECT_ERROR(cudaFree(&value), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaFree(NULL), cudaSuccess);
    EXPECT_ERROR(cudaFreeHost(&value), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaDeviceGetLimit(&n, (enum cudaLimit)77), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaMemset(&value, 0, 4), cudaErrorInvalidValue);
    EXPECT_ERROR(cudaHostUnregister(&value), cudaErrorHostMemoryNotRegistered);
    expect(strcmp(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress") == 0, "names of errors");
    expect(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0, "strings of errors");
    expect(strcmp(cudaGetErrorName((cudaError_t)123456), "unrecognized error code") == 0, "no name for what is none");
    cudaGetLastError();
}

/* In a process of its own, since a fault ends the use of a device: the error of the fault, and that it stays. */
static void fault(const char *self, const char *which, const char *what)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        execl(self, self, which, (char *)NULL);
        _exit(99);
    }
    waitpid(child, &status, 0);
    expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, what);
}

static int fault_here(const char *which)
{
    int *p = NULL, zero = 0;
    char *q;
    cudaError_t want = cudaErrorIllegalAddress;
    CHECK(cudaMalloc((void **)&q, 64));
    if (strcmp(which, "address") == 0) {
        CHECK(LAUNCH(store, 1, 1, 0, 0, &p, &zero));
    } else if (strcmp(which, "trap") == 0) {
        want = cudaErrorLaunchFailure;
        CHECK(LAUNCH(stop_here, 1, 1, 0, 0, &zero));
    } else if (strcmp(which, "assert") == 0) {
        want = cudaErrorAssert;
        CHECK(LAUNCH(assert_that, 1, 1, 0, 0, &zero));
    } else {
        want = cudaErrorMisalignedAddress;
        CHECK(LAUNCH(misaligned, 1, 1, 0, 0, &q));
    }
    return !(cudaDeviceSynchronize() == want && cudaGetLastError() == want && cudaDeviceSynchronize() == want &&
             cudaMalloc((void **)&q, 4) == want && cudaMemcpy(&zero, q, 4, cudaMemcpyDeviceToHost) == want &&
             cudaGetLastError() == want);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return fault_here(argv[1]);
    fault(argv[0], "address", "an illegal address is 700, and stays");
    fault(argv[0], "trap", "a trap is 719, and stays");
    fault(argv[0], "assert", "a failed assertion is 710, and stays");
    fault(argv[0], "misaligned", "a misaligned address is 716, and stays");
    launches();
    calls();
    return done();
}
