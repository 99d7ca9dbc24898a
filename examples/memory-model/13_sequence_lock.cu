// A sequence lock: a writer increments a count before and after it writes; a reader repeats if the count was odd or has changed.
// The data are relaxed atomics, because readers may read them while they are written. Both words must be the same.
#include <cuda/atomic>

using device_int = cuda::atomic_ref<int, cuda::thread_scope_device>;
constexpr auto relaxed = cuda::memory_order_relaxed, acquire = cuda::memory_order_acquire,
               release = cuda::memory_order_release;

static __device__ void write(int *count, int *data, bool fenced)
{
    device_int(*count).store(1, relaxed);
    if (fenced)
        cuda::atomic_thread_fence(release, cuda::thread_scope_device);
    device_int(data[0]).store(5, relaxed);
    device_int(data[1]).store(5, relaxed);
    device_int(*count).store(2, release);
}

static __device__ void read(int *count, int *data, int *seen, bool fenced)
{
    int before, first, second;
    do {
        before = device_int(*count).load(acquire);
        first = device_int(data[0]).load(relaxed);
        second = device_int(data[1]).load(relaxed);
        if (fenced)
            cuda::atomic_thread_fence(acquire, cuda::thread_scope_device);
    } while (before % 2 || device_int(*count).load(relaxed) != before);
    seen[0] = first;
    seen[1] = second;
}

// What is read between two looks at the count stays there: by a fence behind the first count of the writer, and one before the second look of
// the reader.
// $ heddle explore 13_sequence_lock.ptx right --grid 2 --block 1 'u32[1]' 'u32[2]' 'u32[2]+outcomes'
__global__ void right(int *count, int *data, int *seen)
{
    if (blockIdx.x == 0)
        write(count, data, true);
    else
        read(count, data, seen, true);
}

// The reader's second look may come before its reads: acquire holds back what stands behind it, and not what stands before.
// $ heddle explore 13_sequence_lock.ptx reader_without_fence --grid 2 --block 1 'u32[1]' 'u32[2]' 'u32[2]+outcomes'
__global__ void reader_without_fence(int *count, int *data, int *seen)
{
    if (blockIdx.x == 0)
        write(count, data, true);
    else
        read(count, data, seen, false);
}

// The writer's data may come before its first count: release holds back what stands before it, and not what stands behind.
// $ heddle explore 13_sequence_lock.ptx writer_without_fence --grid 2 --block 1 'u32[1]' 'u32[2]' 'u32[2]+outcomes'
__global__ void writer_without_fence(int *count, int *data, int *seen)
{
    if (blockIdx.x == 0)
        write(count, data, false);
    else
        read(count, data, seen, true);
}
