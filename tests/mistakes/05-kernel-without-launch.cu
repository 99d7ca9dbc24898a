// A kernel called like a function: <<<blocks, threads>>> is missing.
__global__ void k() {}

int main() { k(); }
