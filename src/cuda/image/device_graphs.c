/* See object.h. Graph functions for kernels, in PTX of Heddle's own ("CUDA Runtime API", device
 * management of graphs). A condition's handle is the address of its word. A node that kernels
 * update is a struct updated (state/graph_updates.h) in device memory: offset 0: was it uploaded;
 * 4: is it enabled; 8: its grid; 20: bytes of parameters; 24: the parameters. cudaErrorInvalidValue
 * is 1.
 */
#include "cuda/image/object.h"

#include <string.h>

/* Requires that %node was uploaded. */
#define NEED_NODE                                                                                                      \
    "    setp.eq.u64 %p, %node, 0;\n"                                                                                  \
    "    @%p bra bad;\n"                                                                                               \
    "    ld.u32 %there, [%node];\n"                                                                                    \
    "    setp.eq.u32 %p, %there, 0;\n"                                                                                 \
    "    @%p bra bad;\n"
/* The two ends of a function: success, and `bad`. */
#define ANSWER                                                                                                         \
    "    st.param.b32 [error], 0;\n"                                                                                   \
    "    ret;\n"                                                                                                       \
    "bad:\n"                                                                                                           \
    "    st.param.b32 [error], 1;\n"                                                                                   \
    "    ret;\n"                                                                                                       \
    "}\n"

const char device_graphs_ptx[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    "\n"
    "// void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value)\n"
    ".weak .func cudaGraphSetConditional(.param .b64 handle, .param .b32 value)\n"
    "{\n"
    "    .reg .b64 %handle; .reg .b32 %value;\n"
    "    ld.param.u64 %handle, [handle];\n"
    "    ld.param.u32 %value, [value];\n"
    "    st.u32 [%handle], %value;\n"
    "    ret;\n"
    "}\n"
    "\n"
    "// cudaError_t cudaGraphKernelNodeSetParam(cudaGraphDeviceNode_t node, size_t offset, const void *value, size_t "
    "size)\n"
    ".weak .func (.param .b32 error) cudaGraphKernelNodeSetParam(.param .b64 node, .param .b64 offset, .param .b64 "
    "value,\n"
    "                                                           .param .b64 size)\n"
    "{\n"
    "    .reg .b64 %node, %offset, %value, %size, %left; .reg .b32 %there, %room, %byte; .reg .pred %p;\n"
    "    ld.param.u64 %node, [node];\n"
    "    ld.param.u64 %offset, [offset];\n"
    "    ld.param.u64 %value, [value];\n"
    "    ld.param.u64 %size, [size];\n" NEED_NODE "    ld.u32 %room, [%node+20];\n"
    "    cvt.u64.u32 %left, %room;\n"
    "    setp.gt.u64 %p, %offset, %left;\n"
    "    @%p bra bad;\n"
    "    sub.u64 %left, %left, %offset;\n"
    "    setp.gt.u64 %p, %size, %left;\n"
    "    @%p bra bad;\n"
    "    add.u64 %node, %node, %offset;\n"
    "next:\n"
    "    setp.eq.u64 %p, %size, 0;\n"
    "    @%p bra done;\n"
    "    ld.u8 %byte, [%value];\n"
    "    st.u8 [%node+24], %byte;\n"
    "    add.u64 %node, %node, 1;\n"
    "    add.u64 %value, %value, 1;\n"
    "    sub.u64 %size, %size, 1;\n"
    "    bra next;\n"
    "done:\n" ANSWER "\n"
    "// cudaError_t cudaGraphKernelNodeSetEnabled(cudaGraphDeviceNode_t node, bool enable)\n"
    ".weak .func (.param .b32 error) cudaGraphKernelNodeSetEnabled(.param .b64 node, .param .b32 enable)\n"
    "{\n"
    "    .reg .b64 %node; .reg .b32 %there, %enable; .reg .pred %p;\n"
    "    ld.param.u64 %node, [node];\n"
    "    ld.param.u32 %enable, [enable];\n" NEED_NODE "    and.b32 %enable, %enable, 255;\n"
    "    st.u32 [%node+4], %enable;\n" ANSWER "\n"
    "// cudaError_t cudaGraphKernelNodeSetGridDim(cudaGraphDeviceNode_t node, dim3 gridDim)\n"
    ".weak .func (.param .b32 error) cudaGraphKernelNodeSetGridDim(.param .b64 node, .param .align 4 .b8 gridDim[12])\n"
    "{\n"
    "    .reg .b64 %node; .reg .b32 %there, %x, %y, %z; .reg .pred %p;\n"
    "    ld.param.u64 %node, [node];\n"
    "    ld.param.u32 %x, [gridDim];\n"
    "    ld.param.u32 %y, [gridDim+4];\n"
    "    ld.param.u32 %z, [gridDim+8];\n" NEED_NODE "    setp.eq.u32 %p, %x, 0;\n"
    "    @%p bra bad;\n"
    "    setp.eq.u32 %p, %y, 0;\n"
    "    @%p bra bad;\n"
    "    setp.eq.u32 %p, %z, 0;\n"
    "    @%p bra bad;\n"
    "    st.u32 [%node+8], %x;\n"
    "    st.u32 [%node+12], %y;\n"
    "    st.u32 [%node+16], %z;\n" ANSWER "\n"
    "// cudaError_t cudaGraphKernelNodeUpdatesApply(const cudaGraphKernelNodeUpdate *updates, size_t updateCount): 40 "
    "bytes each, the node at 0,\n"
    "// the field at 8, what it is to be at 16\n"
    ".weak .func (.param .b32 error) cudaGraphKernelNodeUpdatesApply(.param .b64 updates, .param .b64 count)\n"
    "{\n"
    "    .reg .b64 %at, %count, %node, %value, %offset, %size; .reg .b32 %field, %x, %y, %z, %error; .reg .pred %p;\n"
    "    ld.param.u64 %at, [updates];\n"
    "    ld.param.u64 %count, [count];\n"
    "    mov.u32 %error, 0;\n"
    "next:\n"
    "    setp.eq.u64 %p, %count, 0;\n"
    "    @%p bra done;\n"
    "    ld.u64 %node, [%at];\n"
    "    ld.u32 %field, [%at+8];\n"
    "    setp.eq.u32 %p, %field, 1;\n"
    "    @%p bra grid;\n"
    "    setp.eq.u32 %p, %field, 2;\n"
    "    @%p bra parameter;\n"
    "    setp.eq.u32 %p, %field, 3;\n"
    "    @%p bra enabled;\n"
    "    mov.u32 %error, 1;\n"
    "    bra done;\n"
    "grid:\n"
    "    ld.u32 %x, [%at+16];\n"
    "    ld.u32 %y, [%at+20];\n"
    "    ld.u32 %z, [%at+24];\n"
    "    {\n"
    "        .param .b64 a; .param .align 4 .b8 b[12]; .param .b32 r;\n"
    "        st.param.b64 [a], %node;\n"
    "        st.param.b32 [b], %x;\n"
    "        st.param.b32 [b+4], %y;\n"
    "        st.param.b32 [b+8], %z;\n"
    "        call.uni (r), cudaGraphKernelNodeSetGridDim, (a, b);\n"
    "        ld.param.b32 %error, [r];\n"
    "    }\n"
    "    bra applied;\n"
    "parameter:\n"
    "    ld.u64 %value, [%at+16];\n"
    "    ld.u64 %offset, [%at+24];\n"
    "    ld.u64 %size, [%at+32];\n"
    "    {\n"
    "        .param .b64 a; .param .b64 b; .param .b64 c; .param .b64 d; .param .b32 r;\n"
    "        st.param.b64 [a], %node;\n"
    "        st.param.b64 [b], %offset;\n"
    "        st.param.b64 [c], %value;\n"
    "        st.param.b64 [d], %size;\n"
    "        call.uni (r), cudaGraphKernelNodeSetParam, (a, b, c, d);\n"
    "        ld.param.b32 %error, [r];\n"
    "    }\n"
    "    bra applied;\n"
    "enabled:\n"
    "    ld.u32 %x, [%at+16];\n"
    "    setp.ne.u32 %p, %x, 0;\n"
    "    selp.u32 %x, 1, 0, %p;\n"
    "    {\n"
    "        .param .b64 a; .param .b32 b; .param .b32 r;\n"
    "        st.param.b64 [a], %node;\n"
    "        st.param.b32 [b], %x;\n"
    "        call.uni (r), cudaGraphKernelNodeSetEnabled, (a, b);\n"
    "        ld.param.b32 %error, [r];\n"
    "    }\n"
    "applied:\n"
    "    setp.ne.u32 %p, %error, 0;\n"
    "    @%p bra done;\n"
    "    add.u64 %at, %at, 40;\n"
    "    sub.u64 %count, %count, 1;\n"
    "    bra next;\n"
    "done:\n"
    "    st.param.b32 [error], %error;\n"
    "    ret;\n"
    "}\n";

/* The functions' names, as PTX that calls them spells them. */
static const char *const names[] = {"cudaGraphSetConditional", "cudaGraphKernelNode"};

bool device_graphs_wanted(const char *text, size_t bytes)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (memmem(text, bytes, names[i], strlen(names[i])))
            return true;
    return false;
}
