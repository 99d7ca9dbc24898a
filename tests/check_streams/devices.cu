// Two devices: each case's kernels are instances of its own, so that findings name their case. "ordered": those that CUDA orders; "races": the others.
#include <cstring>
#include <cuda_runtime.h>

template <int CASE> __global__ void fill(int *p)
{
    p[threadIdx.x] = threadIdx.x;
}

template <int CASE> __global__ void read(const int *p, int *out)
{
    out[threadIdx.x] = p[threadIdx.x];
}

template <int CASE> __global__ void count(int *p)
{
    atomicAdd_system(p, 1);
}

enum { N = 256, BYTES = N * sizeof(int) };
static int *near, *far, *out[2];
static cudaStream_t stream[2];
static cudaEvent_t filled;

template <int CASE> static void fill_on(int device, int *p, bool default_stream = false)
{
    cudaSetDevice(device);
    fill<CASE><<<1, N, 0, default_stream ? 0 : stream[device]>>>(p);
}

template <int CASE> static void read_on(int device, const int *p, bool default_stream = false)
{
    cudaSetDevice(device);
    read<CASE><<<1, N, 0, default_stream ? 0 : stream[device]>>>(p, out[device]);
}

static void wait_for(int device)
{
    cudaSetDevice(device);
    cudaDeviceSynchronize();
}

static void wait_for_both()
{
    wait_for(1);
    wait_for(0);
}

template <int CASE> static void follow_event(int device)
{
    cudaEventRecord(filled, stream[0]);
    cudaStreamWaitEvent(stream[device], filled, 0);
}

static void ordered(int *managed)
{
    fill_on<0>(0, near), follow_event<0>(1), read_on<0>(1, near), wait_for_both(); // by an event
    fill_on<1>(0, near), wait_for(0), read_on<1>(1, near), wait_for_both();        // by the host
    fill_on<2>(0, managed), wait_for(0), read_on<2>(1, managed), wait_for_both();
    fill_on<3>(0, near), cudaMemcpyPeerAsync(far, 1, near, 0, BYTES, stream[0]), follow_event<3>(1), read_on<3>(1, far), wait_for_both();
    // a copy between devices in the default stream comes between the earlier and the later work of both
    fill_on<4>(1, far), cudaSetDevice(0), cudaMemcpyPeer(near, 0, far, 1, BYTES), read_on<4>(0, near), fill_on<5>(1, far), wait_for_both();
    fill_on<6>(1, far, true), cudaSetDevice(0), cudaMemcpy(near, far, BYTES, cudaMemcpyDefault), fill_on<7>(1, far, true), wait_for_both();
    fill_on<8>(0, near), cudaSetDevice(1), cudaMemcpyPeerAsync(far, 1, near, 0, BYTES), fill_on<9>(0, near), read_on<9>(1, far), wait_for_both();
    cudaSetDevice(0), count<10><<<1, N, 0, stream[0]>>>(near), cudaSetDevice(1), count<11><<<1, N, 0, stream[1]>>>(near), wait_for_both();
}

static void races(int *managed)
{
    fill_on<20>(0, near), read_on<20>(1, near), wait_for_both();
    fill_on<21>(0, near), wait_for(1), read_on<21>(1, near), wait_for_both(); // for the wrong device
    fill_on<22>(0, near, true), read_on<22>(1, near, true), wait_for_both();  // default streams of two devices
    fill_on<23>(0, near), cudaMemcpyPeerAsync(far, 1, near, 0, BYTES, stream[1]), wait_for_both();
    fill_on<24>(0, near), cudaMemcpyPeerAsync(far, 1, near, 0, BYTES, stream[0]), read_on<24>(1, far), wait_for_both();
    fill_on<25>(0, managed), read_on<25>(1, managed), wait_for_both();
    fill_on<26>(0, near), cudaSetDevice(1), cudaMemsetAsync(near, 0, BYTES, stream[1]), wait_for_both();
}

int main(int, char **argv)
{
    int *managed;
    for (int device = 1; device >= 0; device--) {
        cudaSetDevice(device);
        cudaDeviceEnablePeerAccess(!device, 0);
        cudaMalloc(device ? &far : &near, BYTES);
        cudaMalloc(&out[device], BYTES);
        cudaStreamCreate(&stream[device]);
    }
    cudaEventCreate(&filled);
    cudaMallocManaged(&managed, BYTES);
    (strcmp(argv[1], "ordered") ? races : ordered)(managed);
    return cudaDeviceSynchronize();
}
