/* OpenCL as a backend, of the platform whose name has the text in it, or the first: PEER FILE.cl
 * [TEXT]. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "problem.h"

static cl_context context;
static cl_command_queue queue;
static cl_program program;

static bool complain(const char *what, cl_int error)
{
    fprintf(stderr, "opencl: %s: error %d\n", what, error);
    return false;
}

static bool build(cl_device_id device)
{
    cl_int error = clBuildProgram(program, 1, &device, "-cl-std=CL1.2", NULL, NULL);
    if (error == CL_SUCCESS)
        return true;
    char log[16384] = "";
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    fputs(log, stderr);
    return complain("the program does not build", error);
}

static bool find_platform(const char *text, cl_platform_id *found)
{
    enum { MOST = 16 };
    cl_platform_id all[MOST];
    cl_uint n;
    cl_int error = clGetPlatformIDs(MOST, all, &n);
    if (error)
        return complain("no platform", error);
    for (cl_uint i = 0; i < n && i < MOST; i++) {
        char name[256] = "";
        clGetPlatformInfo(all[i], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
        *found = all[i];
        if (!text || strstr(name, text))
            return true;
    }
    fprintf(stderr, "opencl: no platform `%s`\n", text);
    return false;
}

bool backend_open(int argc, char **argv)
{
    static char text[1 << 16];
    const char *path = argc > 1 ? argv[1] : "kernels.cl", *source = text;
    FILE *f = fopen(path, "r");
    if (!f || fread(text, 1, sizeof text - 1, f) == 0) {
        perror(path);
        return false;
    }
    fclose(f);
    cl_platform_id platform;
    cl_device_id device;
    if (!find_platform(argc > 2 ? argv[2] : NULL, &platform))
        return false;
    cl_int error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, NULL);
    if (error)
        return complain("no CPU device", error);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    if (!error)
        queue = clCreateCommandQueue(context, device, 0, &error);
    if (!error)
        program = clCreateProgramWithSource(context, 1, &source, NULL, &error);
    return error ? complain("context", error) : build(device);
}

void *backend_alloc(size_t bytes)
{
    return aligned_alloc(4096, (bytes + 4095) & ~(size_t)4095);
}

const char *backend_refuses(const struct problem *p)
{
    if (strcmp(p->name, "shuffle_reduce") == 0)
        return "no subgroups";
    if (strcmp(p->name, "matmul_wmma") == 0)
        return "no tensor cores";
    if (strcmp(p->name, "matmul_pipelined16") == 0)
        return "not written";
    if (strcmp(p->name, "spin_lock") == 0)
        return "hangs: work-items that wait for each other";
    return NULL;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Copies of the buffers to and from the device; the device being this CPU, outside the time that
 * counts. */
static void copy(struct problem *p, cl_mem *buffer, bool to_device, size_t most)
{
    for (int i = 0; i < MAX_BUFFERS && p->size[i]; i++) {
        if (p->size[i] > most)
            continue;
        if (to_device)
            clEnqueueWriteBuffer(queue, buffer[i], CL_TRUE, 0, p->size[i], p->at[i], 0, NULL, NULL);
        else
            clEnqueueReadBuffer(queue, buffer[i], CL_TRUE, 0, p->size[i], p->at[i], 0, NULL, NULL);
    }
}

static double launch(struct problem *p, cl_kernel kernel, cl_mem *buffer)
{
    size_t global[3], local[3];
    double seconds = 0;
    bool again = false;
    for (int i = 0; i < 3; i++) {
        local[i] = p->block[i];
        global[i] = (size_t)p->grid[i] * p->block[i];
    }
    do {
        if (again)
            copy(p, buffer, true, 4096);
        double start = now();
        cl_int error = clEnqueueNDRangeKernel(queue, kernel, 3, NULL, global, local, 0, NULL, NULL);
        error = error ? error : clFinish(queue);
        seconds += now() - start;
        if (error) {
            complain(p->name, error);
            return -1;
        }
        if (p->step)
            copy(p, buffer, false, 4096);
        again = p->step && p->step(p);
    } while (again);
    return seconds;
}

double backend_run(struct problem *p)
{
    cl_int error;
    cl_mem buffer[MAX_BUFFERS] = {0};
    cl_kernel kernel = clCreateKernel(program, p->name, &error);
    cl_uint n = 0;
    for (; !error && n < MAX_BUFFERS && p->size[n]; n++) {
        buffer[n] = clCreateBuffer(context, CL_MEM_READ_WRITE, p->size[n], NULL, &error);
        if (!error)
            error = clSetKernelArg(kernel, n, sizeof buffer[n], &buffer[n]);
    }
    if (!error)
        error = clSetKernelArg(kernel, n, sizeof p->n, &p->n);
    if (error) {
        complain(p->name, error);
        return -1;
    }
    copy(p, buffer, true, SIZE_MAX);
    double seconds = launch(p, kernel, buffer);
    copy(p, buffer, false, SIZE_MAX);
    for (cl_uint i = 0; i < n; i++)
        clReleaseMemObject(buffer[i]);
    clReleaseKernel(kernel);
    return seconds;
}
