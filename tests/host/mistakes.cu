/* What programs do wrong on the host, one mistake a case, and clean ones that look like it. What is to be found stands behind its
 * line: a code, and the codes of notes with a `+` before them. Cases without such marks are clean.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda_runtime.h>

enum { N = 900, BYTES = N * sizeof(float) };

static float host[2 * N];
static __constant__ float table[64];

__global__ void set(float *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = i;
}

__global__ void stop()
{
    __trap();                                                         //! trap
}

static float *make()
{
    float *p;
    if (cudaMalloc(&p, BYTES)) // of make()
        exit(9);
    return p;
}

#include "../cases.cuh"

/* ---- copies and fills ---- */

CASE(copy_to_past_the_end)
{
    float *p = make();                                                //! +allocated
    cudaMemcpy(p, host, BYTES + 4, cudaMemcpyHostToDevice);           //! copy-out-of-bounds
    cudaFree(p);
}

CASE(copy_from_past_the_end)
{
    float *p = make();                                                //! +allocated
    cudaMemset(p, 0, BYTES);
    cudaMemcpy(host, p + 1, BYTES, cudaMemcpyDeviceToHost);           //! copy-out-of-bounds
    cudaFree(p);
}

CASE(copy_in_a_stream_past_the_end)
{
    float *p = make();                                                //! +allocated
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMemcpyAsync(p, host, 2 * BYTES, cudaMemcpyDefault, s);        //! copy-out-of-bounds
    cudaStreamDestroy(s);
    cudaFree(p);
}

CASE(copy_of_rows_past_the_end)
{
    float *p = make();                                                //! +allocated
    cudaMemcpy2D(p, 120, host, 100, 100, 31, cudaMemcpyHostToDevice); //! copy-out-of-bounds
    cudaFree(p);
}

CASE(fill_past_the_end)
{
    float *p = make();                                                //! +allocated
    cudaMemset(p + 10, 0, BYTES);                                     //! copy-out-of-bounds
    cudaFree(p);
}

// Whatever a call is given, a context that has failed refuses it.
CASE(copies_behind_a_fault)
{
    float *p = make(), *q = nullptr;
    cudaMemset(p, 0, BYTES);
    stop<<<1, 1>>>();
    cudaDeviceSynchronize();
    cudaMalloc(&q, BYTES);
    cudaMemcpy(q, host, BYTES, cudaMemcpyHostToDevice);
    cudaMemset(q, 0, BYTES);
    cudaMemcpyAsync(host, p, BYTES + 4, cudaMemcpyDeviceToHost);
    cudaFree(p + 1);
    cudaDeviceReset();
}

CASE(copy_past_the_end_of_a_variable)
{
    float rows[65] = {0};
    cudaMemcpyToSymbol(table, rows, sizeof rows);                     //! api-error
    puts("on");
}

CASE(copies_and_fills_of_all_that_is_there)
{
    float *p = make(), rows[64] = {0};
    cudaMemcpy(p, host, BYTES, cudaMemcpyHostToDevice);
    cudaMemcpy(host, p, BYTES, cudaMemcpyDeviceToHost);
    cudaMemcpy2D(p, 120, host, 100, 100, 30, cudaMemcpyHostToDevice);
    cudaMemset(p + 10, 0, BYTES - 40);
    cudaMemcpyToSymbol(table, rows, sizeof rows);
    cudaMemcpy(p, host, 0, cudaMemcpyHostToDevice);
    cudaFree(p);
}

CASE(arguments_of_a_copy_in_the_wrong_order)
{
    float *p = make();
    cudaMemcpy(host, p, BYTES, cudaMemcpyHostToDevice);               //! copy-direction
    cudaFree(p);
}

CASE(direction_of_a_copy_to_the_host_that_is_none)
{
    float *p = make(), *q = make();                                   //! +allocated
    cudaMemset(p, 0, BYTES);
    cudaMemcpy(q, p, BYTES, cudaMemcpyDeviceToHost);                  //! copy-direction
    cudaFree(p);
    cudaFree(q);
}

CASE(direction_of_rows_that_is_wrong)
{
    float *p = make();                                                //! +allocated
    cudaMemset(p, 0, BYTES);
    cudaMemcpy2D(host, 100, p, 100, 100, 10, cudaMemcpyHostToHost);   //! copy-direction
    cudaFree(p);
}

CASE(directions_that_are_right)
{
    float *p = make(), *pinned, *managed;
    cudaMallocHost(&pinned, BYTES);
    cudaMallocManaged(&managed, BYTES);
    memset(pinned, 0, BYTES);
    memset(managed, 0, BYTES);
    cudaMemcpy(p, pinned, BYTES, cudaMemcpyHostToDevice);
    cudaMemcpy(p, pinned, BYTES, cudaMemcpyDeviceToDevice); /* mapped for the device */
    cudaMemcpy(managed, p, BYTES, cudaMemcpyDeviceToHost);
    cudaMemcpy(managed, p, BYTES, cudaMemcpyDeviceToDevice);
    cudaMemcpy(host, managed, BYTES, cudaMemcpyHostToHost);
    cudaMemcpy(host, p, BYTES, cudaMemcpyDefault);
    cudaFree(p);
    cudaFree(managed);
    cudaFreeHost(pinned);
}

CASE(fill_of_host_memory)
{
    cudaMemset(host, 0, BYTES);                                       //! invalid-pointer
    puts("on"); /* so that it is no tail call, after which nothing of this function is on the stack */
}

CASE(copy_from_a_null_pointer)
{
    float *p = make();
    cudaMemcpy(p, NULL, BYTES, cudaMemcpyHostToDevice);               //! invalid-pointer
    cudaFree(p);
}

CASE(copy_of_what_nobody_has_written)
{
    float *p = make();                                                //! +allocated
    cudaMemcpy(host, p, BYTES, cudaMemcpyDeviceToHost);               //! copy-uninitialised
    cudaFree(p);
}

CASE(copy_of_what_is_written_in_part)
{
    float *p = make();                                                //! +allocated
    cudaStream_t s;
    cudaStreamCreate(&s);
    set<<<4, 256, 0, s>>>(p, N - 1);
    cudaMemcpyAsync(host, p, BYTES, cudaMemcpyDeviceToHost, s);       //! copy-uninitialised
    cudaStreamSynchronize(s);
    cudaStreamDestroy(s);
    cudaFree(p);
}

struct padded {
    char a;
    double b;
    short c;
};

__global__ void set_members(padded *p)
{
    p[threadIdx.x].a = 1;
    p[threadIdx.x].b = 2;
    p[threadIdx.x].c = 3;
}

CASE(copy_of_structs_with_padding)
{
    padded *p, own[32];
    cudaMalloc(&p, sizeof own);
    set_members<<<1, 32>>>(p);
    cudaMemcpy(own, p, sizeof own, cudaMemcpyDeviceToHost);
    cudaFree(p);
}

CASE(copy_of_a_copy_of_what_nobody_has_written)
{
    float *p = make(), *q = make();                                   //! +allocated
    cudaMemcpy(q, p, BYTES, cudaMemcpyDeviceToDevice);                //! copy-uninitialised
    cudaMemcpy(host, q, 4, cudaMemcpyDeviceToHost);                   //! copy-uninitialised
    cudaFree(p);
    cudaFree(q);
}

CASE(copies_of_what_has_been_written)
{
    float *p = make(), *q = make(), *managed;
    cudaStream_t s;
    cudaStreamCreate(&s);
    cudaMallocManaged(&managed, BYTES);
    set<<<4, 256, 0, s>>>(p, N);
    cudaMemcpyAsync(q, p, BYTES, cudaMemcpyDeviceToDevice, s);
    cudaMemcpyAsync(host, q, BYTES, cudaMemcpyDeviceToHost, s);
    cudaMemcpyAsync(managed, q, BYTES, cudaMemcpyDefault, s);
    cudaStreamSynchronize(s);
    cudaMemset2D(q, 120, 0, 100, 30);
    cudaMemcpy2D(host, 100, q, 120, 100, 30, cudaMemcpyDeviceToHost);
    cudaStreamDestroy(s);
    cudaFree(p);
    cudaFree(q);
    cudaFree(managed);
}

/* ---- memory ---- */

CASE(freed_twice)
{
    float *p = make();                                                //! +allocated
    cudaFree(p);                                                      //! +freed
    cudaFree(p);                                                      //! double-free
}

CASE(freed_twice_with_another_between)
{
    float *p = make();                                                //! +allocated
    cudaFree(p);                                                      //! +freed
    float *q = make();
    cudaFree(p);                                                      //! double-free
    cudaFree(q);
}

CASE(freed_twice_in_a_stream)
{
    float *p;
    cudaMallocAsync(&p, BYTES, 0);                                    //! +allocated
    cudaFreeAsync(p, 0);                                              //! +freed
    cudaFreeAsync(p, 0);                                              //! double-free
    cudaDeviceSynchronize();
}

CASE(repeated)
{
    for (int i = 0; i < 1000; i++)
        cudaFree(host + i);                                           //! invalid-free
    puts("on");
}

CASE(freed_inside)
{
    float *p = make();                                                //! +allocated
    cudaFree(p + 1);                                                  //! invalid-free
    cudaFree(p);
}

CASE(freed_that_was_never_allocated)
{
    cudaFree(host);                                                   //! invalid-free
    cudaFreeHost(host);                                               //! invalid-free
    puts("on");
}

CASE(freed_by_the_other_function)
{
    float *p = make(), *q;                                            //! +allocated
    cudaMallocHost(&q, BYTES);                                        //! +allocated
    cudaFreeHost(p);                                                  //! invalid-free
    cudaFree(q);                                                      //! invalid-free
    cudaFree(p);
    cudaFreeHost(q);
}

CASE(freed_once)
{
    float *p = make(), *q;
    cudaFree(p);
    cudaMallocHost(&q, BYTES);
    cudaFreeHost(q);
    cudaFree(NULL);
    cudaFreeHost(NULL);
    cudaMallocAsync(&p, BYTES, 0);
    cudaFreeAsync(p, 0);
    for (int i = 0; i < 100; i++)
        cudaFree(make());
}

CASE(copied_from_after_it_was_freed)
{
    float *p = make();                                                //! +allocated
    cudaMemset(p, 0, BYTES);
    cudaFree(p);                                                      //! +freed
    cudaMemcpy(host, p + 2, 16, cudaMemcpyDeviceToHost);              //! use-after-free
    cudaMemcpy(host, p + 2, 16, cudaMemcpyDefault);                   //! use-after-free
}

CASE(used_by_a_kernel_after_it_was_freed)
{
    float *p = make();
    cudaFree(p);
    float *q = make();
    set<<<4, 256>>>(p, N); // found at the kernel's line
    cudaDeviceSynchronize();
    cudaFree(q);
}

CASE(used_by_a_kernel_past_the_end)
{
    float *p = make();
    set<<<4, 256>>>(p, N + 1); // found at the kernel's line
    cudaDeviceSynchronize();
    cudaFree(p);
}

__global__ void add(float *p)
{
    *p += 1;
}

CASE(used_by_a_kernel_before_it_was_written)
{
    float *p = make();
    add<<<1, 1>>>(p);
    cudaFree(p);
}

CASE(used_by_kernels_that_race)
{
    float *p = make();
    cudaMemset(p, 0, BYTES);
    add<<<2, 1>>>(p);
    cudaFree(p);
}

/* ---- streams and events ---- */

CASE(stream_used_after_it_was_destroyed)
{
    cudaStream_t s;
    cudaStreamCreate(&s);                                             //! +created
    cudaStreamDestroy(s);                                             //! +destroyed
    cudaStreamSynchronize(s);                                         //! use-after-destroy
}

CASE(stream_destroyed_twice)
{
    cudaStream_t s;
    cudaStreamCreate(&s);                                             //! +created
    cudaStreamDestroy(s);                                             //! +destroyed
    cudaStreamDestroy(s);                                             //! use-after-destroy
}

CASE(event_used_after_it_was_destroyed)
{
    cudaEvent_t e;
    cudaEventCreate(&e);                                              //! +created
    cudaEventDestroy(e);                                              //! +destroyed
    cudaEventRecord(e, 0);                                            //! use-after-destroy
}

CASE(event_that_is_none)
{
    long none[16] = {0};
    cudaEventSynchronize((cudaEvent_t)none);                          //! invalid-handle
}

CASE(streams_and_events_used_until_they_are_destroyed)
{
    for (int i = 0; i < 10; i++) {
        cudaStream_t s;
        cudaEvent_t e;
        cudaStreamCreate(&s);
        cudaEventCreate(&e);
        cudaEventRecord(e, s);
        cudaStreamWaitEvent(0, e, 0);
        cudaStreamSynchronize(s);
        cudaEventDestroy(e);
        cudaStreamDestroy(s);
    }
    cudaStreamSynchronize(0);
    cudaStreamSynchronize(cudaStreamPerThread);
}

/* ---- errors ---- */

CASE(error_that_nobody_looks_at)
{
    cudaSetDevice(77);                                                //! api-error
    puts("on");
}

CASE(launch_that_fails_and_nobody_looks)
{
    float *p = make();
    set<<<1, 4096>>>(p, 1);                                           //! api-error
    cudaFree(p);
}

__attribute__((noinline)) static void quiet(int device)
{
    cudaSetDevice(device);                                            //! api-error
}

CASE(error_that_a_function_drops)
{
    quiet(77);
    puts("on");
}

static cudaError_t handed_on(int device)
{
    return cudaSetDevice(device);
}

static bool is_good(cudaError_t e)
{
    return e == cudaSuccess;
}

CASE(errors_that_are_looked_at)
{
    float *p;
    cudaError_t e = cudaSetDevice(77);
    if (e != cudaSuccess)
        puts(cudaGetErrorString(e));
    if (cudaMalloc(&p, (size_t)1 << 60))
        puts("too much");
    if (handed_on(77))
        puts("handed on");
    puts(is_good(cudaSetDevice(77)) ? "good" : "not good");
    p = make();
    set<<<1, 4096>>>(p, 1);
    if (cudaGetLastError() == cudaSuccess)
        puts("launched");
    cudaSetDevice(77);
    if (cudaPeekAtLastError())
        puts("peeked");
    std::vector<cudaError_t> all;
    all.push_back(cudaFreeHost(NULL));
    all.push_back(cudaSetDevice(77));
    cudaStreamQuery(0);
    cudaFree(p);
}

/* ---- what is left ---- */

CASE(left)
{
    float *p = make(), *managed, *pinned; // leak
    cudaStream_t s;
    cudaEvent_t e;
    for (int i = 0; i < 3; i++)
        cudaMallocManaged(&managed, 100); // leak
    cudaMallocHost(&pinned, 50);          // leak
    cudaStreamCreate(&s);                 // leak
    cudaEventCreate(&e);                  // leak
    cudaMemset(p, 0, BYTES);
}

CASE(left_when_the_device_is_reset)
{
    make(); // leak
    cudaDeviceReset();
    cudaFree(make());
}

CASE(left_unused)
{
    float *p = make(), *q, *r; // unused in part
    cudaMalloc(&q, 1000);      // unused
    cudaMallocAsync(&r, 64, 0);
    cudaMemset(p, 0, BYTES - 8);
    cudaMemset(r, 0, 64);
    cudaFreeAsync(r, 0);
    cudaFree(p);
}

/* One of the cases; or all, but for those that are told apart by more than their lines. */
int main(int argc, char **argv)
{
    bool found = false;
    for (registered *r = first; r; r = r->next)
        if (argc < 2 ? strncmp(r->name, "used", 4) && strncmp(r->name, "left", 4) : !strcmp(argv[1], r->name)) {
            r->run();
            found = true;
        }
    return !found;
}
