// A kernel that returns a value: it can only write to memory.
__global__ int add(int a, int b) { return a + b; }
