// A function of the device, called on the host.
__device__ int square(int x) { return x * x; }

int main() { return square(3); }
