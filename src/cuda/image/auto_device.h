/* HEDDLE_DEVICE=auto: the device that suits the images in the files that the process has loaded.
 * Private to cuda/. */
#ifndef HEDDLE_CUDA_IMAGE_AUTO_DEVICE_H
#define HEDDLE_CUDA_IMAGE_AUTO_DEVICE_H

#include "heddle.h"

/* Creates a machine: the default device, or, if an image has PTX only for later devices, the first
 * device that can run it. All machines of a process are alike, whatever it loads later. Only one
 * thread at a time may call this. */
hd_result auto_machine(const hd_machine_options *options, hd_machine **machine, const char **error);

#endif
