/* The sandbox (include/heddle.h). */
#include "sandbox/sandbox.h"

#include <errno.h>

#include "api/handles.h"
#include "exec/compiler.h"
#include "sandbox/broker.h"

static atomic_bool entered;

hd_result hd_sandbox_enter(hd_machine *m, const char **error)
{
    const char *ignored;
    error = error ? error : &ignored;
    *error = NULL;
    if (!m || m->machine->config.host_memory || m->machine->config.host_ranges || atomic_exchange(&entered, true))
        return HD_ERROR_INVALID_VALUE;
    *error = sandbox_obstacle();
    if (*error)
        return HD_ERROR_NOT_SUPPORTED;
    const struct compiler *c = m->machine->compiler;
    if ((c && !c->confine(m->machine)) || !broker_start()) {
        *error = broker_shortage(errno);
        return HD_ERROR_OUT_OF_MEMORY;
    }
    *error = sandbox_enter(SANDBOX_KERNELS);
    return *error ? HD_ERROR_NOT_SUPPORTED : HD_SUCCESS;
}
