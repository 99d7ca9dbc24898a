/* Memory that is mapped, not allocated: memory at reserved addresses (driver/vmm.c), and memory
 * that processes share (driver/ipc.c, driver/pool.c). It consists of memory files, which are mapped
 * outside the machines' ranges: kernels reach it as they reach host memory. Private to cuda/.
 */
#ifndef HEDDLE_CUDA_STATE_MAPPING_H
#define HEDDLE_CUDA_STATE_MAPPING_H

#include "cuda/state/state.h"

/* The granularity of virtual memory on an H200. */
#define GRANULE ((size_t)2 << 20)

/* A file in memory: behind a CUmemGenericAllocationHandle, a pool, memory of another process. */
struct physical {
    void *handle;           /* while the program has one, or several that are the same: */
    unsigned handles, refs; /* refs: handles, mappings, pools */
    int file;
    uint64_t number;       /* the same in all processes */
    size_t bytes, counted; /* counted: of the device's memory, where this process has created it */
    struct device *device;
    CUmemAllocationProp properties;
};

/* A new file; properties may be NULL. */
CUresult physical_new(struct device *d, size_t bytes, const CUmemAllocationProp *properties,
                      struct physical **physical);
/* Of a file of another process of ours; `file` is not taken. CUDA_ERROR_INVALID_VALUE where it is
 * none. */
CUresult physical_open(struct device *d, int file, struct physical **physical);
/* The file gets longer; *offset, if not NULL, is where the new part begins. */
CUresult physical_grow(struct physical *p, size_t bytes, size_t *offset);
/* What a device has left. */
size_t device_free_bytes(struct device *d);
bool physical_keep(struct physical *p); /* false where it is about to be freed */
void physical_drop(struct physical *p);

struct mapping {
    char *start;
    size_t bytes;
    struct physical *physical;
    size_t offset;                   /* in its file */
    unsigned opened;                 /* how often by cuIpcOpenMemHandle */
    struct CUmemPoolHandle_st *pool; /* that it is allocated from */
    uint8_t access[MAX_DEVICES];     /* CUmemAccess_flags of cuMemMap's */
};

/* Maps a part of a file where the system likes, or over `m->start`; the mapping is known from then
 * on. */
CUresult mapping_add(struct mapping *m, int protection);
/* An allocation of a pool, by its start, is forgotten; mapping_end() then ends it. */
bool mapping_take(const void *start, struct mapping *m);
/* Its memory goes, too, where this process has created it. */
void mapping_end(const struct mapping *m);
bool mapping_find(const void *address, struct mapping *m);
/* The widest CUmemAccess_flags of all devices, which share the process's addresses. */
unsigned mapping_access(const struct mapping *m);
/* May copies and fills use these bytes? Memory of cuMemMap needs the access rights; true if no
 * address is mapped here or reserved. */
bool mapping_allows(const void *start, size_t bytes, bool writes);
/* The mapping of this part of a file that cuIpcOpenMemHandle has made; *start, and it is opened
 * once more. */
bool mapping_open_again(uint64_t number, size_t offset, size_t bytes, void **start);
/* Closes it once; the last close ends the mapping. False: nothing was opened there. */
bool mapping_close(const void *start);
/* Calls visit for the mappings that make up start..start+bytes exactly, the last one first, with
 * the state's lock held; false where they do not, or where visit says so. */
bool mapping_each(const void *start, size_t bytes, bool (*visit)(struct mapping *m, void *data), void *data);
/* Ends these mappings; their addresses stay reserved. */
bool mapping_unmap(const void *start, size_t bytes);
/* As hd_find() for mapped memory: *info covers everything mapped without a gap. */
struct device *mapping_device(const void *address, hd_memory_info *info);

/* hd_machine_options.host_ranges, as registered_ranges_held() has it. */
size_t mapping_ranges_held(hd_range *ranges, size_t n, size_t at);

/* ---- reserved addresses ---- */

struct reservation {
    char *start;
    size_t bytes;
};
CUresult reservation_add(struct reservation r);
/* False where none is exactly this, or something is mapped there. */
bool reservation_remove(struct reservation r);
/* The one that an address is in. */
bool reservation_find(const void *address, struct reservation *r);
/* Whether all of it is reserved and nothing is mapped there. */
bool reservation_is_free(const void *start, size_t bytes);

#endif
