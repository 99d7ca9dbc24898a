// A ticket lock: a thread draws a number and waits until it is served. lock[0] is the next number, lock[1] the number served now.
#include <cuda/atomic>

using device_int = cuda::atomic_ref<int, cuda::thread_scope_device>;

// Drawing may be relaxed. Waiting acquires, what serves the next one releases.
// $ heddle explore 06_ticket_lock.ptx right --grid 3 --block 1 'u32[2]' 'u32[1]+outcomes'
__global__ void right(int *lock, int *counter)
{
    int ticket = device_int(lock[0]).fetch_add(1, cuda::memory_order_relaxed);
    while (device_int(lock[1]).load(cuda::memory_order_acquire) != ticket) {
    }
    *counter += 1;
    device_int(lock[1]).store(ticket + 1, cuda::memory_order_release);
}

// The other way around it is wrong: acquiring where the ticket is drawn reads nothing that a holder has released.
// $ heddle explore 06_ticket_lock.ptx acquires_ticket --grid 2 --block 1 'u32[2]' 'u32[1]+outcomes'
__global__ void acquires_ticket(int *lock, int *counter)
{
    int ticket = device_int(lock[0]).fetch_add(1, cuda::memory_order_acquire);
    while (device_int(lock[1]).load(cuda::memory_order_relaxed) != ticket) {
    }
    *counter += 1;
    device_int(lock[1]).store(ticket + 1, cuda::memory_order_release);
}

// Who forgets to serve the next one leaves it spinning for ever.
// $ heddle explore 06_ticket_lock.ptx never_served --grid 2 --block 1 'u32[2]' 'u32[1]+outcomes'
__global__ void never_served(int *lock, int *counter)
{
    int ticket = device_int(lock[0]).fetch_add(1, cuda::memory_order_relaxed);
    while (device_int(lock[1]).load(cuda::memory_order_acquire) != ticket) {
    }
    *counter += 1;
    device_int(lock[1]).store(ticket, cuda::memory_order_release);
}
