/* HEDDLE_DEVICE=auto: the device that the images of what the process has loaded are for. Private to
 * cuda/. */
#ifndef HEDDLE_CUDA_IMAGE_AUTO_DEVICE_H
#define HEDDLE_CUDA_IMAGE_AUTO_DEVICE_H

#include "heddle.h"

/* Creates a machine: the default device, or, where an image has PTX for later ones alone, the first
 * on which it runs, if there is one. All machines of a process are alike, whatever it loads later.
 * Not to be called by several threads at once. */
hd_result auto_machine(const hd_machine_options *options, hd_machine **machine, const char **error);

#endif
