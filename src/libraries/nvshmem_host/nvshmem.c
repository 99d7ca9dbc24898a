/* NVSHMEM is not supported: functions whose result is not a status. */
#include "libraries/common/library.h"

#define REFUSED(type, name, value)                                                                                     \
    LIBRARY_API type name(void);                                                                                       \
    type name(void)                                                                                                    \
    {                                                                                                                  \
        LIBRARY_REFUSE(#name);                                                                                         \
        return value;                                                                                                  \
    }
REFUSED(void *, nvshmem_malloc, NULL)
REFUSED(void *, nvshmem_calloc, NULL)
REFUSED(void *, nvshmem_align, NULL)
REFUSED(void *, nvshmem_ptr, NULL)
REFUSED(void *, nvshmemx_mc_ptr, NULL)
REFUSED(void *, nvshmemx_buffer_register_symmetric, NULL)
REFUSED(int, nvshmem_my_pe, -1)
REFUSED(int, nvshmem_n_pes, -1)
REFUSED(int, nvshmem_team_my_pe, -1)
REFUSED(int, nvshmem_team_n_pes, -1)
REFUSED(int, nvshmem_team_translate_pe, -1)
REFUSED(int, nvshmemx_init_status, 0) /* NVSHMEM_STATUS_NOT_INITIALIZED */
REFUSED(int, nvshmemid_init_status, 0)

/* The transport of device code: 0, since there is none. */
extern LIBRARY_API int nvshmem_selected_device_transport;
int nvshmem_selected_device_transport;
