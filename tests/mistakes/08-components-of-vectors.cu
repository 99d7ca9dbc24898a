// Vectors have .x .y .z .w, and no .r .g .b .a as in shaders.
__global__ void k(float4 *v) { v[0].r = 1; }
