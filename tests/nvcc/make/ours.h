#pragma once
__device__ float scaled(float x);
bool is_right(const float *values, int n);
