/* What the machine claims to be, as constants: DEVICE_MULTIPROCESSOR_COUNT and so on, the rows of device.def. */
#ifndef HEDDLE_EXEC_DEVICE_H
#define HEDDLE_EXEC_DEVICE_H

enum device_attribute {
#define ATTRIBUTE(number, name, value) DEVICE_##name = (value),
#include "exec/device.def"
#undef ATTRIBUTE
};

#endif
