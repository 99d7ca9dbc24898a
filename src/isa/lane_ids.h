/* The lane functions of lanes.def by name: for files that name one; all others pass on lane_id. */
#ifndef HEDDLE_ISA_LANE_IDS_H
#define HEDDLE_ISA_LANE_IDS_H

enum {
    LANE_none,
#include "lane_names.h" // made by the build: LANE_add_b16, LANE_add_b32, ...
    LANE_COUNT
};

#endif
