/* cuBLAS: alpha and beta of 0 and -0, on the host and on the device: how many of the result's elements are NaN, where A has an
 * infinity and C a NaN. nvcc -std=c++17 -arch=sm_90 zeros.cu -lcublas */
#include "ora.h"
#include <cublas_v2.h>
#include <functional>
static cublasHandle_t h;
struct Open { Open() { S0(cublasCreate(&h)); } ~Open() { S0(cublasDestroy(h)); } };
static const auto N=CUBLAS_OP_N,TT=CUBLAS_OP_T; static const auto LO=CUBLAS_FILL_MODE_LOWER,UP=CUBLAS_FILL_MODE_UPPER; static const auto L=CUBLAS_SIDE_LEFT; static const auto NU=CUBLAS_DIAG_NON_UNIT;
#define C(p) ((cuComplex *)(p))
#define Z(p) ((cuDoubleComplex *)(p))
template<class T> struct Q{static bool nan(T x){return x!=x;}}; template<>struct Q<cf>{static bool nan(cf x){return x.real()!=x.real()||x.imag()!=x.imag();}};template<>struct Q<cd>{static bool nan(cd x){return x.real()!=x.real()||x.imag()!=x.imag();}};template<>struct Q<__half>{static bool nan(__half x){return __half2float(x)!=__half2float(x);}};template<>struct Q<__nv_bfloat16>{static bool nan(__nv_bfloat16 x){return __bfloat162float(x)!=__bfloat162float(x);}};
// counts NaNs of the result: alpha and beta of 0, -0; host and device; A has an infinity, C a NaN
template<class T,class S,class F> static void z(const char*k,int n,F f){for(int dev:{0,1})for(double x:{0.,-0.})for(double y:{0.,-0.}){auto a=ints<T>(n*n,1),c=ints<T>(n*n,2);c[3]=Num<T>::of(NAN,0);a[5]=Num<T>::of(INFINITY,0);Dev<T> A(a),D(c);std::vector<S> sc{Num<S>::of(x,0),Num<S>::of(y,0)};if(x!=0||std::signbit(x)){}memcpy((void*)&sc[0],&(const S&)sc[0],sizeof(S));Dev<S> ds(sc);S0(cublasSetPointerMode(h,dev?CUBLAS_POINTER_MODE_DEVICE:CUBLAS_POINTER_MODE_HOST));int s=f(n,dev?ds.p:sc.data(),dev?ds.p+1:sc.data()+1,A.p,D.p);if(cudaDeviceSynchronize()){E(k,"fault");return;}auto v=D.get();int nan=0;for(auto q:v)nan+=Q<T>::nan(q);E(k,"%d,%d",s,nan);}}
#define Z4(name,CALLS,CALLD,CALLC,CALLZ) for(int n:{8,40,200}){z<float,float>("s" name,n,[](int n,float*x,float*y,float*a,float*c){return CALLS;});z<double,double>("d" name,n,[](int n,double*x,double*y,double*a,double*c){return CALLD;});z<cf,cf>("c" name,n,[](int n,cf*x_,cf*y_,cf*a_,cf*c_){auto x=C(x_),y=C(y_),a=C(a_),c=C(c_);return CALLC;});z<cd,cd>("z" name,n,[](int n,cd*x_,cd*y_,cd*a_,cd*c_){auto x=Z(x_),y=Z(y_),a=Z(a_),c=Z(c_);return CALLZ;});}
#define ALL(name,fn,...) Z4(name,cublasS##fn(h,__VA_ARGS__),cublasD##fn(h,__VA_ARGS__),cublasC##fn(h,__VA_ARGS__),cublasZ##fn(h,__VA_ARGS__))
CASE(z_gemm){Open o;ALL("gemm",gemm,N,N,n,n,n,x,a,n,a,n,y,c,n)}
CASE(z_gemmt){Open o;ALL("gemmt",gemm,TT,N,n,n,n,x,a,n,a,n,y,c,n)}
CASE(z_strided){Open o;ALL("str",gemmStridedBatched,N,N,n/2,n/2,n/2,x,a,n/2,n*n/4,a,n/2,n*n/4,y,c,n/2,n*n/4,4)}
CASE(z_gemv){Open o;ALL("gemv",gemv,N,n,n,x,a,n,a,1,y,c,1)}
CASE(z_syr2k){Open o;ALL("syr2k",syr2k,LO,N,n,n,x,a,n,a,n,y,c,n)}
CASE(z_symm){Open o;ALL("symm",symm,L,LO,n,n,x,a,n,a,n,y,c,n)}
CASE(z_geam){Open o;ALL("geam",geam,N,TT,n,n,x,a,n,y,a,n,c,n)}
CASE(z_trmm){Open o;ALL("trmm",trmm,L,LO,N,NU,n,n,x,a,n,a,n,c,n)}
CASE(z_syrk){Open o;ALL("syrk",syrk,LO,N,n,n,x,a,n,y,c,n)}
CASE(z_half){Open o;for(int n:{8,40,200}){z<__half,float>("h",n,[](int n,float*x,float*y,__half*a,__half*c){return cublasGemmEx(h,N,N,n,n,n,x,a,CUDA_R_16F,n,a,CUDA_R_16F,n,y,c,CUDA_R_16F,n,CUBLAS_COMPUTE_32F,CUBLAS_GEMM_DEFAULT);});z<__nv_bfloat16,float>("b",n,[](int n,float*x,float*y,__nv_bfloat16*a,__nv_bfloat16*c){return cublasGemmEx(h,TT,N,n,n,n,x,a,CUDA_R_16BF,n,a,CUDA_R_16BF,n,y,c,CUDA_R_16BF,n,CUBLAS_COMPUTE_32F,CUBLAS_GEMM_DEFAULT);});z<__half,__half>("hh",n,[](int n,__half*x,__half*y,__half*a,__half*c){return cublasHgemm(h,N,N,n,n,n,x,a,n,a,n,y,c,n);});z<float,float>("tf",n,[](int n,float*x,float*y,float*a,float*c){return cublasGemmEx(h,N,N,n,n,n,x,a,CUDA_R_32F,n,a,CUDA_R_32F,n,y,c,CUDA_R_32F,n,CUBLAS_COMPUTE_32F_FAST_TF32,CUBLAS_GEMM_DEFAULT);});z<__half,float>("hsb",n,[](int n,float*x,float*y,__half*a,__half*c){return cublasGemmStridedBatchedEx(h,N,N,n/2,n/2,n/2,x,a,CUDA_R_16F,n/2,n*n/4,a,CUDA_R_16F,n/2,n*n/4,y,c,CUDA_R_16F,n/2,n*n/4,4,CUBLAS_COMPUTE_32F,CUBLAS_GEMM_DEFAULT);});z<__half,float>("gv",n,[](int n,float*x,float*y,__half*a,__half*c){return cublasHSHgemvStridedBatched(h,N,n,n,x,a,n,0,a,1,0,y,c,1,n,1);});}}
