/* NVRTC as a C program uses it: nvrtc FILE: what it writes, and the results of the kernel `scale`
 * for 2 and 3, by machine code. */
#include <cuda.h>
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEED(call, result)                                                                                             \
    do {                                                                                                               \
        int got = (int)(call);                                                                                         \
        if (got != (result)) {                                                                                         \
            printf("%s: %d, not %d\n", #call, got, (int)(result));                                                     \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

static int stop(void *payload, void *unused)
{
    (void)unused;
    return ++*(int *)payload == 2;
}

static const char source[] =
    "#include \"deep/factor.h\"\n"
    "#include \"../../up.h\"\n"
    "namespace mine {\n"
    "template <class T> __global__ void scale(T *p) { p[threadIdx.x] = twice(p[threadIdx.x]) * FACTOR - UP; }\n"
    "__constant__ int table[4];\n"
    "}\n";
static const char *const headers[] = {"#include \"inner.h\"\ntemplate <class T> T twice(T v) { return v + v; }\n",
                                      "#define FACTOR 5\n", "#define UP 1\n"};
static const char *const header_names[] = {"deep/factor.h", "deep/inner.h", "../../up.h"};
static const char *const options[] = {
    "--gpu-architecture=sm_80", "-default-device", "--std", "c++17", "-lineinfo", "--fmad=false"};

static int mistakes(void)
{
    nvrtcProgram p;
    const char *name;
    size_t n;
    int calls = 0;
    NEED(nvrtcCreateProgram(NULL, "", NULL, 0, NULL, NULL), NVRTC_ERROR_INVALID_INPUT);
    NEED(nvrtcCreateProgram(&p, "int x = ;\n", "mine.cu", 0, NULL, NULL), NVRTC_SUCCESS);
    NEED(nvrtcGetLoweredName(p, "f", &name), NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION);
    NEED(nvrtcGetPTXSize(p, &n), NVRTC_ERROR_INVALID_PROGRAM);
    NEED(nvrtcSetFlowCallback(p, stop, &calls), NVRTC_SUCCESS);
    NEED(nvrtcCompileProgram(p, 0, NULL), NVRTC_ERROR_CANCELLED);
    NEED(calls, 2);
    NEED(nvrtcSetFlowCallback(p, NULL, NULL), NVRTC_SUCCESS);
    NEED(nvrtcCompileProgram(p, 0, NULL), NVRTC_ERROR_COMPILATION);
    NEED(nvrtcAddNameExpression(p, "f"), NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION);
    NEED(nvrtcGetProgramLogSize(p, &n), NVRTC_SUCCESS);
    char *log = malloc(n);
    NEED(nvrtcGetProgramLog(p, log), NVRTC_SUCCESS);
    NEED(strlen(log) + 1 == n && strstr(log, "mine.cu:1:9: error:"), 1);
    free(log);
    NEED(nvrtcDestroyProgram(&p), NVRTC_SUCCESS);
    NEED(p != NULL, 0);
    NEED(nvrtcDestroyProgram(&p), NVRTC_ERROR_INVALID_PROGRAM);
    NEED(strcmp(nvrtcGetErrorString(NVRTC_ERROR_COMPILATION), "NVRTC_ERROR_COMPILATION"), 0);
    return 0;
}

static int run(const void *image, const char *kernel)
{
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUdeviceptr memory;
    int values[2] = {2, 3};
    void *arguments[] = {&memory};
    NEED(cuInit(0), CUDA_SUCCESS);
    NEED(cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    NEED(cuCtxSetCurrent(context), CUDA_SUCCESS);
    NEED(cuModuleLoadData(&module, image), CUDA_SUCCESS);
    NEED(cuModuleGetFunction(&function, module, kernel), CUDA_SUCCESS);
    NEED(cuMemAlloc(&memory, sizeof values), CUDA_SUCCESS);
    NEED(cuMemcpyHtoD(memory, values, sizeof values), CUDA_SUCCESS);
    NEED(cuLaunchKernel(function, 1, 1, 1, 2, 1, 1, 0, NULL, arguments, NULL), CUDA_SUCCESS);
    NEED(cuMemcpyDtoH(values, memory, sizeof values), CUDA_SUCCESS);
    printf("%d %d\n", values[0], values[1]);
    return 0;
}

int main(void)
{
    nvrtcProgram p;
    const char *kernel, *table, *name = "mine::scale<int>";
    size_t n;
    int major, minor;
    NEED(nvrtcVersion(&major, &minor), NVRTC_SUCCESS);
    printf("%d\n", major);
    NEED(nvrtcCreateProgram(&p, source, "scale.cu", 3, headers, header_names), NVRTC_SUCCESS);
    NEED(nvrtcAddNameExpression(p, name), NVRTC_SUCCESS);
    NEED(nvrtcAddNameExpression(p, "&mine::table"), NVRTC_SUCCESS);
    int result = nvrtcCompileProgram(p, sizeof options / sizeof options[0], options);
    NEED(nvrtcGetProgramLogSize(p, &n), NVRTC_SUCCESS);
    char *log = malloc(n);
    NEED(nvrtcGetProgramLog(p, log), NVRTC_SUCCESS);
    printf("%s", log);
    free(log);
    NEED(result, NVRTC_SUCCESS);
    NEED(nvrtcGetLoweredName(p, name, &kernel), NVRTC_SUCCESS);
    NEED(nvrtcGetLoweredName(p, "&mine::table", &table), NVRTC_SUCCESS);
    NEED(nvrtcGetLoweredName(p, "mine::other", &table), NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID);
    NEED(strcmp(table, "_ZN4mine5tableE"), 0);
    NEED(nvrtcGetPTXSize(p, &n), NVRTC_SUCCESS);
    char *ptx = malloc(n);
    NEED(nvrtcGetPTX(p, ptx), NVRTC_SUCCESS);
    NEED(strlen(ptx) + 1 == n && strstr(ptx, kernel) && strstr(ptx, "scale.cu\"") && !strstr(ptx, "__heddle_name"), 1);
    free(ptx);
    NEED(nvrtcGetLTOIRSize(p, &n), NVRTC_ERROR_INVALID_PROGRAM);
    NEED(nvrtcGetCUBINSize(p, &n), NVRTC_SUCCESS);
    char *image = malloc(n);
    NEED(nvrtcGetCUBIN(p, image), NVRTC_SUCCESS);
    result = run(image, kernel);
    free(image);
    NEED(nvrtcDestroyProgram(&p), NVRTC_SUCCESS);
    return result ? result : mistakes();
}
