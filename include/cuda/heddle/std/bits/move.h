/* <bits/move.h>, whose functions are of both sides, as those of <type_traits> are, which declares
 * some of them. -*- C++ -*- */
#ifdef __CUDA__
#pragma clang force_cuda_host_device begin
#endif
#include_next <bits/move.h>
#ifdef __CUDA__
#pragma clang force_cuda_host_device end
#endif
