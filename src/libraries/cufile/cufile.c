/* cuFile is not supported: functions whose result is not a status. */
#include <sys/types.h>

#include "libraries/common/library.h"

enum { CU_FILE_PLATFORM_NOT_SUPPORTED = 5007 };

/* Fails; a non-negative result would be a number of bytes. */
#define NO_TRANSFER(name)                                                                                              \
    LIBRARY_API ssize_t name(void);                                                                                    \
    ssize_t name(void)                                                                                                 \
    {                                                                                                                  \
        LIBRARY_REFUSE(#name);                                                                                         \
        return -CU_FILE_PLATFORM_NOT_SUPPORTED;                                                                        \
    }
NO_TRANSFER(cuFileRead)
NO_TRANSFER(cuFileWrite)

LIBRARY_API long cuFileUseCount(void);
long cuFileUseCount(void)
{
    return 0;
}
