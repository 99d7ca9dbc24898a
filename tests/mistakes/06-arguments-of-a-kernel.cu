// A launch with too few arguments.
__global__ void k(int *p, int n) { p[n] = 0; }

int main() { k<<<1, 1>>>(nullptr); }
