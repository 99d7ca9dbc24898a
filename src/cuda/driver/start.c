/* See start.h. */
#include "cuda/driver/start.h"

#include <stdlib.h>

#include "cuda/process/printed.h"
#include "cuda/process/tails.h"
#include "cuda/state/devices.h"
#include "cuda/state/limits.h"
#include "cuda/watch/check.h"
#include "cuda/watch/debug.h"
#include "cuda/watch/explain.h"
#include "cuda/watch/explore.h"

/* A child has none of its parent's threads, so CUDA must be used either before fork or
 * behind it. In a child of a process that used CUDA every call returns an error,
 * whatever lock a thread held. */
static void after_fork(void)
{
    state_after_fork();
    print_after_fork();
    tails_after_fork();
    check_after_fork();
    explain_after_fork();
    explore_after_fork();
    debug_after_fork();
}

/* Starts for the command that started the program, if its environment variable is set. */
static bool commands_start(void)
{
    static const struct {
        const char *variable, *command;
        bool (*start)(const char *text);
    } commands[] = {
        {"HEDDLE_CHECK", "heddle check", check_start},
        {"HEDDLE_EXPLAIN", "heddle explain", explain_start},
        {"HEDDLE_EXPLORE", "heddle explore", explore_start},
        {"HEDDLE_DEBUG", "heddle debug", debug_start},
    };
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const char *text = secure_getenv(commands[i].variable);
        if (text && *text && !commands[i].start(text)) {
            say("%s is set, but not by `%s`: unset it", commands[i].variable, commands[i].command);
            return false;
        }
    }
    return true;
}

static CUresult start(void)
{
    if (!limits_start() || !commands_start())
        return CUDA_ERROR_INVALID_VALUE;
    devices_start();
    pthread_atfork(NULL, NULL, after_fork);
    state_set_ready();
    return CUDA_SUCCESS;
}

CUresult cuda_start(void)
{
    CUresult r = CUDA_SUCCESS;
    state_lock();
    if (state_has_forked())
        r = CUDA_ERROR_NOT_INITIALIZED;
    else if (state_ready())
        r = start();
    if (!r && device_count() == 0)
        r = CUDA_ERROR_NO_DEVICE;
    state_unlock();
    return r;
}
