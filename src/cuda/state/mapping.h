/* Memory that is mapped, not allocated: memory at reserved addresses (driver/vmm.c), and memory
 * that processes share (driver/ipc.c, driver/pool.c). It consists of memory files, which are mapped
 * outside the machines' ranges: kernels reach it as they reach host memory. Private to cuda/.
 */
#ifndef HEDDLE_CUDA_STATE_MAPPING_H
#define HEDDLE_CUDA_STATE_MAPPING_H

#include "cuda/state/state.h"

/* The granularity of virtual memory on an H200. */
#define GRANULE ((size_t)2 << 20)

/* A memory file: behind a CUmemGenericAllocationHandle, a pool, or memory of another process. */
struct physical {
    void *handle;           /* while the program has handles, all of them equal: */
    unsigned handles, refs; /* refs: handles, mappings, pools */
    int file;
    uint64_t number;       /* equal in all processes */
    size_t bytes, counted; /* counted: what this process created counts as the device's memory */
    struct device *device;
    CUmemAllocationProp properties;
};

/* A new file; properties may be NULL. */
CUresult physical_new(struct device *d, size_t bytes, const CUmemAllocationProp *properties,
                      struct physical **physical);
/* Opens another process's file; `file` is not owned. CUDA_ERROR_INVALID_VALUE if it is not one of
 * ours. */
CUresult physical_open(struct device *d, int file, struct physical **physical);
/* Grows the file; *offset, if not NULL, is where the new part begins. */
CUresult physical_grow(struct physical *p, size_t bytes, size_t *offset);
/* The free memory of a device. */
size_t device_free_bytes(struct device *d);
bool physical_keep(struct physical *p); /* false if it is about to be freed */
void physical_drop(struct physical *p);

struct mapping {
    char *start;
    size_t bytes;
    struct physical *physical;
    size_t offset;                   /* in the file */
    unsigned opened;                 /* opened so often by cuIpcOpenMemHandle */
    struct CUmemPoolHandle_st *pool; /* the pool that it is allocated from */
    uint8_t access[MAX_DEVICES];     /* CUmemAccess_flags, for memory of cuMemMap */
};

/* Maps a part of a file, where the system likes or over `m->start`, and registers the mapping. */
CUresult mapping_add(struct mapping *m, int protection);
/* Removes a pool's allocation, by its start; mapping_end() then ends it. */
bool mapping_take(const void *start, struct mapping *m);
/* Unmaps it, and frees the memory if this process created it. */
void mapping_end(const struct mapping *m);
bool mapping_find(const void *address, struct mapping *m);
/* The widest CUmemAccess_flags of all devices, which share the process's addresses. */
unsigned mapping_access(const struct mapping *m);
/* May copies and fills use these bytes? Memory of cuMemMap needs the access rights; true if no
 * address is mapped here or reserved. */
bool mapping_allows(const void *start, size_t bytes, bool writes);
/* Finds the mapping of this part of a file by cuIpcOpenMemHandle, and opens it once more; *start is
 * its address. */
bool mapping_open_again(uint64_t number, size_t offset, size_t bytes, void **start);
/* Closes it once; the last close ends the mapping. False: nothing was opened there. */
bool mapping_close(const void *start);
/* Calls visit for the mappings that exactly cover start..start+bytes, the last one first, with the
 * state's lock held. Returns false if there is no exact cover, or if visit returns false. */
bool mapping_each(const void *start, size_t bytes, bool (*visit)(struct mapping *m, void *data), void *data);
/* Ends these mappings; their addresses stay reserved. */
bool mapping_unmap(const void *start, size_t bytes);
/* Like hd_find() for mapped memory; *info covers adjacent mappings. */
struct device *mapping_device(const void *address, hd_memory_info *info);

/* hd_machine_options.host_ranges; like registered_ranges_held(). */
size_t mapping_ranges_held(hd_range *ranges, size_t n, size_t at);

/* ---- reserved addresses ---- */

struct reservation {
    char *start;
    size_t bytes;
};
CUresult reservation_add(struct reservation r);
/* Returns false if no reservation is exactly this, or something is mapped there. */
bool reservation_remove(struct reservation r);
/* The reservation that contains an address. */
bool reservation_find(const void *address, struct reservation *r);
/* Is all of it reserved, without mappings? */
bool reservation_is_free(const void *start, size_t bytes);

#endif
