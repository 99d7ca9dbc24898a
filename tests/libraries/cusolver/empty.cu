/* Matrices of no rows or of four, with an info or NULL: the status, the device's error, and the info. */
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <cusolverDn.h>

int main(int, char **argv)
{
    char routine[16];
    int n, is_null;
    if (sscanf(argv[1], "%15[a-z]_%d_%d", routine, &n, &is_null) != 3)
        return 2;
    cusolverDnHandle_t handle;
    float *A, *work, *tau;
    int *info, *pivots, status = -1, got = -1, lda = n ? n : 1;
    cusolverDnCreate(&handle);
    cudaMalloc(&A, 4096);
    cudaMalloc(&work, 1 << 20);
    cudaMalloc(&tau, 4096);
    cudaMalloc(&info, 4);
    cudaMalloc(&pivots, 4096);
    const float four[16] = {4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 4, 0, 0, 0, 0, 4};
    const int before = 77;
    cudaMemcpy(A, four, sizeof four, cudaMemcpyHostToDevice);
    cudaMemcpy(info, &before, sizeof before, cudaMemcpyHostToDevice);
    const auto lower = CUBLAS_FILL_MODE_LOWER;
    int *to = is_null ? nullptr : info;
    if (!strcmp(routine, "potrf"))
        status = cusolverDnSpotrf(handle, lower, n, A, lda, work, 1 << 18, to);
    else if (!strcmp(routine, "getrf"))
        status = cusolverDnSgetrf(handle, n, n, A, lda, work, pivots, to);
    else if (!strcmp(routine, "sytrf"))
        status = cusolverDnSsytrf(handle, lower, n, A, lda, pivots, work, 1 << 18, to);
    else if (!strcmp(routine, "geqrf"))
        status = cusolverDnSgeqrf(handle, n, n, A, lda, tau, work, 1 << 18, to);
    else if (!strcmp(routine, "potri"))
        status = cusolverDnSpotri(handle, lower, n, A, lda, work, 1 << 18, to);
    else if (!strcmp(routine, "potrs"))
        status = cusolverDnSpotrs(handle, lower, n, 1, A, lda, work, lda, to);
    else if (!strcmp(routine, "syevd"))
        status = cusolverDnSsyevd(handle, CUSOLVER_EIG_MODE_VECTOR, lower, n, A, lda, tau, work, 1 << 18, to);
    const int error = cudaDeviceSynchronize();
    if (!error)
        cudaMemcpy(&got, info, sizeof got, cudaMemcpyDeviceToHost);
    printf("%s: %d %d %d\n", argv[1], status, error, got);
    return 0;
}
