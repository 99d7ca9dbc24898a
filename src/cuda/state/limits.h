/* Limits of a program, from the environment. */
#ifndef HEDDLE_CUDA_STATE_LIMITS_H
#define HEDDLE_CUDA_STATE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/* 0: no limit, or the machine's default. */
struct limits {
    uint64_t memory_bytes, stack_bytes, steps;
    int devices;     /* 1 by default */
    double deadline; /* for all kernels, by CLOCK_MONOTONIC */
};

/* Reads the environment, once. False after an error in a variable's value, which it has printed. */
bool limits_start(void);
const struct limits *limits_given(void);
/* The number of devices; works before the environment was read. */
int limits_devices(void);
/* The time for a launch: hd_launch_config.timeout_seconds. */
double limits_time_left(const struct limits *l);
/* Do kernels reach all of the host's memory (CUDA's pageable memory access)? HEDDLE_PAGEABLE=1; an
 * H200's do not. */
bool host_is_pageable(void);

#endif
