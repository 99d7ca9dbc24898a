/* Heddle: runs, checks and explains CUDA programs with no GPU. The C library.
 *
 * A machine is a virtual GPU with its own memory. It loads modules of PTX text and launches their
 * kernels. Its global memory is memory of this process: the host can read and write a pointer of
 * hd_alloc() directly, and can pass it to a kernel. Several machines may live in one process. Every
 * function may be called from several threads at once, also for one machine. But nothing may use an
 * object while it is being destroyed.
 *
 * Functions return HD_SUCCESS or an error whose number is that of CUDA's driver API for the same
 * fault. A forbidden NULL is HD_ERROR_INVALID_VALUE; a function without hd_result then returns
 * NULL, false or 0, or fills in zeros. The library never exits, prints, or jumps out of its caller.
 * "PTX ISA" is NVIDIA's "Parallel Thread Execution ISA", 9.0.
 * Sections: reports, machines, memory, modules and kernels, checking, explaining, launches,
 * streams, textures, tensor maps, compiled code, PTX as text, the instruction set, how it grows.
 */
#ifndef HEDDLE_H
#define HEDDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header; hd_version() is that of the library. */
#define HD_VERSION_MAJOR 0
#define HD_VERSION_MINOR 1
#define HD_VERSION_PATCH 0

#define HD_API __attribute__((visibility("default")))
/* Has a part at the end of this header, "how it grows". */
#define HD_INLINE static inline __attribute__((unused))

typedef enum hd_result {
    HD_SUCCESS = 0,
    HD_ERROR_INVALID_VALUE = 1,
    HD_ERROR_OUT_OF_MEMORY = 2,
    HD_ERROR_NO_BINARY = 209,
    HD_ERROR_INVALID_PTX = 218,
    HD_ERROR_FILE = 304,
    HD_ERROR_NOT_FOUND = 500,
    HD_ERROR_NOT_READY = 600, /* not an error: still running */
    HD_ERROR_ILLEGAL_ADDRESS = 700,
    HD_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
    HD_ERROR_LAUNCH_TIMEOUT = 702, /* the step limit */
    HD_ERROR_CONTEXT_IS_DESTROYED = 709,
    HD_ERROR_ASSERT = 710,
    HD_ERROR_STACK = 714,
    HD_ERROR_ILLEGAL_INSTRUCTION = 715,
    HD_ERROR_MISALIGNED_ADDRESS = 716,
    HD_ERROR_INVALID_ADDRESS_SPACE = 717,
    HD_ERROR_INVALID_PC = 718,
    HD_ERROR_LAUNCH_FAILED = 719, /* trap, deadlock */
    HD_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    HD_ERROR_NOT_SUPPORTED = 801,
    HD_ERROR_INVALID_CLUSTER_SIZE = 912,
    HD_ERROR_CANCELLED = 999,
} hd_result;

/* "HD_ERROR_ILLEGAL_ADDRESS", and a sentence. Static strings; never NULL. */
HD_API const char *hd_result_name(hd_result result);
HD_API const char *hd_result_string(hd_result result);

/* The version of the library that runs, "0.1.0", which may be newer than the header's
 * (HD_VERSION_MAJOR, ...). */
HD_API const char *hd_version(void);

/* ---- reports ---- */

/* What went wrong, and where: the errors of a module, the fault of a
 * launch. Owned by the caller. */
typedef struct hd_report hd_report;

typedef enum hd_severity { HD_SEVERITY_ERROR, HD_SEVERITY_WARNING, HD_SEVERITY_NOTE } hd_severity;

/* A call on the host's stack. Unknown members are NULL or 0. */
typedef struct hd_frame {
    const char *function; /* demangled */
    const char *file;     /* of the source */
    unsigned line;
    const char *object; /* the program or library that it is in */
    uint64_t offset;    /* of the return address in the object */
} hd_frame;

typedef struct hd_diagnostic {
    hd_severity severity;
    const char *code;              /* stable and short: "ptx-type", "illegal-address" */
    const char *file;              /* of the PTX; NULL where there is no place */
    unsigned line, column, length; /* from 1; length of the marked text, in bytes */
    /* The line of CUDA C (PTX ISA 11.5.3), or NULL where the PTX does not tell. */
    const char *cuda_file;
    unsigned cuda_line; /* for a mistake of the host: its line */
    /* Where that line calls an inlined function: the line in the function, or NULL. */
    const char *inlined_file;
    unsigned inlined_line;
    const char *text;   /* one sentence or paragraph */
    const char *help;   /* what to do about it, or NULL */
    uint64_t count;     /* for a checker's finding: how often it was seen; else 0 */
    const char *kernel; /* for a checker's finding: the kernel's name in the source, or NULL */
    /* A stable word that tells findings of one code and place apart, or NULL. */
    const char *reason;
    /* For a mistake of the host: the call stack, innermost first; else NULL. */
    const hd_frame *frames;
    size_t frame_count;
    /* For a finding in a kernel: the call stack of its launch, where it says more than main;
     * else NULL. */
    const hd_frame *launch;
    size_t launch_count;
} hd_diagnostic;

HD_API size_t hd_report_count(const hd_report *report);
/* False where i is not less than the count. The strings belong to the report. */
HD_INLINE bool hd_report_get(const hd_report *report, size_t i, hd_diagnostic *diagnostic);
/* The report as text for people (with source lines and carets, if their files can be read),
 * as a JSON array, or as a SARIF 2.1.0 log for editors and code hosts. Belongs to the
 * report. */
HD_API const char *hd_report_text(hd_report *report);
HD_API const char *hd_report_json(hd_report *report);
HD_API const char *hd_report_sarif(hd_report *report);
/* Adds copies of the diagnostics of `from` (which may be NULL) to *to. Creates *to if it is NULL.
 * Errors: HD_ERROR_OUT_OF_MEMORY. */
HD_API hd_result hd_report_add(hd_report **to, const hd_report *from);
/* Adds a diagnostic that the caller has made about the host. Its line is that of the first frame
 * with a line. A note belongs to the error or warning that was added before it. Errors:
 * HD_ERROR_INVALID_VALUE (a place in PTX, no code or text), HD_ERROR_OUT_OF_MEMORY. */
HD_INLINE hd_result hd_report_add_diagnostic(hd_report **to, const hd_diagnostic *diagnostic);
HD_API void hd_report_free(hd_report *report); /* NULL is allowed */

/* ---- machines ---- */

typedef struct hd_machine hd_machine;

/* The engine that runs kernels. */
typedef enum hd_engine {
    HD_ENGINE_AUTO,   /* starts in the interpreter; compiles kernels that run long */
    HD_ENGINE_INTERP, /* the interpreter */
    /* Compiled code from the first block on; a launch that cannot be compiled fails. */
    HD_ENGINE_JIT,
} hd_engine;

/* A part of this process's memory. */
typedef struct hd_range {
    const void *start;
    size_t bytes;
} hd_range;

#define HD_DEFAULT_PRINT_BYTES ((uint64_t)64 << 20)

/* Zero means the default throughout, so that `hd_machine_options o = {0}` is a machine like an H200
 * with this host's cores and memory. */
typedef struct hd_machine_options {
    unsigned workers; /* threads that run blocks; default: the CPUs that this process may use */
    /* Limit of device memory: allocations, variables, the kernels' heap, and the registers, local
     * and shared memory of running threads. Default: three quarters of the host's memory. Beyond
     * it: HD_ERROR_OUT_OF_MEMORY */
    uint64_t memory_bytes;
    uint64_t heap_bytes; /* limit of the kernels' own malloc; default 8 MiB, as under CUDA */
    /* Limit of what the kernels of a launch print; default HD_DEFAULT_PRINT_BYTES. */
    uint64_t print_bytes;
    /* Limit of a thread's stack for recursive and indirect calls, each of which takes at least 16
     * bytes. At most 1 GiB; default 64 KiB. Beyond it: HD_ERROR_STACK */
    uint64_t stack_bytes;
    /* Limit of warp instructions of a launch, over all its blocks, as in hd_launch_stats; 0: none.
     * A launch that exceeds it soon fails with HD_ERROR_LAUNCH_TIMEOUT. */
    uint64_t step_limit;
    /* One of hd_cpu_level(), or short, as in "v3". Results do not depend on it; it is for tests.
     * Default: the environment variable HEDDLE_CPU, or this CPU's best. */
    const char *cpu_level;
    /* Of launches that choose none; default: the environment variable HEDDLE_ENGINE, or auto. */
    hd_engine engine;
    /* Gets the text that kernels print, at once and in order; default: discarded. Called from any
     * thread, one at a time. Text beyond print_bytes is lost; `note` and hd_launch_stats tell how
     * much. */
    void (*print)(void *data, const char *text, size_t bytes);
    /* Gets remarks while a launch runs, for example that it has spun for five seconds. */
    void (*note)(void *data, const char *text);
    void *print_data; /* for both, for host_ranges, used_tail and origin */
    /* The order of warps: "fair" (default), "serial", "random:SEED", "random" (a seed from the
     * clock), "replay:FILE". All but fair are repeatable: they run one launch at a time on one
     * thread, and clocks count instructions. */
    const char *policy;
    /* Where to write a timeline of all warps, for chrome://tracing or Perfetto ("-": to stdout). */
    const char *trace_path;
    /* Where to write the schedule of a serial or random run, for replay ("-": to stdout). */
    const char *record_path;
    /* Kernels may use all memory of this process, not only the machine's (CUDA's pageable memory
     * access). An access to unmapped memory still is an illegal address. */
    bool host_memory;
    /* If host_memory is false: the ranges of this process's memory that kernels may use beside the
     * machine's own, such as registered memory or another machine's. Whole pages count, as on a
     * GPU. Writes up to n ranges in any order and returns their number; if that is larger, it is
     * called again with more room. Called from any thread during a launch, on first need and for an
     * address in no range. NULL: none. */
    size_t (*host_ranges)(void *data, hd_range *ranges, size_t n);
    /* Whether a copy or fill may read (or write) these bytes outside the machine's own memory. It
     * is called when the copy begins. If it returns false, the context's fault is
     * HD_ERROR_LAUNCH_FAILED. NULL: all bytes are allowed. */
    bool (*host_allows)(void *data, const void *start, size_t bytes, bool writes);
    /* To find wrong addresses: allocations have gaps between them, and freed memory is not reused
     * soon (for small allocations, up to 64 MiB). */
    bool guarded;
    /* Kernels may use the bytes between an allocation's end and the next multiple of 512, the unit
     * in which an H200 allocates. They are zero at first and belong to no other allocation.
     * `used_tail` is called after each launch whose kernel has used them. */
    bool open_tails;
    void (*used_tail)(void *data, const char *kernel);
    /* The origin of memory of hd_alloc, by its start, for messages: "allocated at main.cu:27"; if
     * it was `freed`: "at main.cu:40 (allocated at main.cu:27)". Returns false if it is unknown.
     * Called from any thread during a launch. */
    bool (*origin)(void *data, const void *start, bool freed, char *text, size_t bytes);
    const char *device; /* the device that it claims to be: "sm_80"; default: sm_90, an H200 */
} hd_machine_options;

/* The levels of vector instructions that Heddle knows and this CPU has, best first ("x86-64-v3",
 * ...); NULL where i is not less than their count. */
HD_API const char *hd_cpu_level(size_t i);

/* Errors: HD_ERROR_OUT_OF_MEMORY (no address space, no threads), HD_ERROR_INVALID_VALUE (unknown
 * CPU level, policy or device, a file that cannot be opened): then *error, if not NULL, gets a
 * static text. */
HD_INLINE hd_result hd_machine_create(const hd_machine_options *options, hd_machine **machine, const char **error);
/* Destroys the machine with its modules, kernels and memory; no launch may be running. NULL is
 * allowed. HD_ERROR_FILE: a trace or a record was not written completely; the machine is destroyed
 * all the same. */
HD_API hd_result hd_machine_destroy(hd_machine *machine);

/* For programs that run untrusted kernels. The process gives up the rights that kernels do
 * not need, in all threads and for ever. If a bug in Heddle then lets a kernel run code of
 * its own, that code has no more rights. No system call succeeds that names a file, starts
 * a program or process, makes a socket, acts on other processes, or makes writable memory
 * executable. Calls that no library makes by itself end in SIGSYS. Open files stay open.
 * The process's memory, its open files and processor time are not protected.
 *
 * Call it once in a process, before untrusted PTX is loaded, if nothing else in the process
 * needs these rights. It forks a child process, which asks the compiler for this machine,
 * keeps compiled code on disk, and ends with this process. All other machines run only in
 * the interpreter. Traces and records are still written.
 *
 * Errors, with a static text in *error (if not NULL): HD_ERROR_NOT_SUPPORTED (no seccomp
 * filters); HD_ERROR_OUT_OF_MEMORY, also of descriptors or processes;
 * HD_ERROR_INVALID_VALUE (called twice, or the machine's kernels may use this process's
 * memory). */
HD_API hd_result hd_sandbox_enter(hd_machine *machine, const char **error);

/* The device that the machine claims to be: the limits of launches (PTX ISA 2, CUDA's
 * deviceQuery). */
typedef struct hd_machine_info {
    char name[64];
    unsigned compute_major, compute_minor;
    unsigned multiprocessors, warp_lanes, workers;
    const char *cpu_level;
    const char *policy; /* repeats this run: "random:7" if the machine was created with "random" */
    unsigned max_threads_per_block, max_block[3], max_grid[3];
    unsigned max_threads_per_multiprocessor, max_blocks_per_multiprocessor;
    unsigned shared_bytes_per_block, shared_bytes_per_block_optin, shared_bytes_per_multiprocessor;
    unsigned registers_per_block;
    uint64_t memory_bytes, memory_used_bytes, constant_bytes;
    hd_range addresses; /* the range of all its memory */
} hd_machine_info;
HD_INLINE void hd_machine_get_info(const hd_machine *machine, hd_machine_info *info);

/* An attribute by its number in CUDA's CUdevice_attribute; false where there is none. */
HD_API bool hd_machine_get_attribute(const hd_machine *machine, int number, int *value);
/* Its name without CU_DEVICE_ATTRIBUTE_, or NULL; the numbers are 1 to HD_ATTRIBUTE_LAST, some
 * unused. */
HD_API const char *hd_attribute_name(int number);
#define HD_ATTRIBUTE_LAST 147

enum hd_limit {
    HD_LIMIT_STACK_BYTES, /* of hd_machine_options; for kernels that are got afterwards */
    HD_LIMIT_HEAP_BYTES,
    HD_LIMIT_PRINT_BYTES, /* for launches that begin afterwards */
    /* By kernels, that have not ended (cudaLimitDevRuntimePendingLaunchCount); default: 2048. */
    HD_LIMIT_PENDING_LAUNCHES,
};
/* Errors: HD_ERROR_INVALID_VALUE. */
HD_API hd_result hd_machine_set_limit(hd_machine *machine, enum hd_limit limit, uint64_t value);

/* Progress of the launches that run on the machine now: finished blocks, of all blocks. */
typedef struct hd_progress {
    unsigned launches;
    uint64_t blocks_done, blocks;
} hd_progress;
HD_INLINE void hd_machine_get_progress(hd_machine *machine, hd_progress *progress);

/* Makes all launches that run fail with HD_ERROR_CANCELLED, soon. May be called from a signal
 * handler's thread. */
HD_API void hd_machine_cancel(hd_machine *machine);

/* Waits until the machine's kernels, copies and fills pause, and keeps them paused until
 * hd_machine_release(). Meanwhile the caller may unmap memory that they use outside the machine, or
 * change its protection; a kernel that uses it later faults as at any bad address. Not allowed in a
 * kernel's printf, or while another thread holds the machine. */
HD_API void hd_machine_hold(hd_machine *machine);
HD_API void hd_machine_release(hd_machine *machine);

/* ---- memory ---- */

/* Allocates global memory, aligned to 512; contents undefined. *pointer is valid in this process
 * and in kernels. Errors: HD_ERROR_INVALID_VALUE (0 bytes), HD_ERROR_OUT_OF_MEMORY. */
HD_API hd_result hd_alloc(hd_machine *machine, size_t bytes, void **pointer);
/* The same with a name for reports (copied). */
HD_API hd_result hd_alloc_named(hd_machine *machine, size_t bytes, const char *name, void **pointer);
/* The same, zeroed, for memory that the host accesses while kernels run (CUDA's managed and pinned
 * memory). A checker can watch the host's accesses (hd_checker_options.host). */
HD_API hd_result hd_alloc_host(hd_machine *machine, size_t bytes, void **pointer);
/* The address at which a caller accesses the machine's memory without a checker taking it for the
 * program: another mapping, or the same address. */
HD_API void *hd_own_view(hd_machine *machine, const void *pointer);
/* HD_ERROR_INVALID_VALUE: the pointer is not from hd_alloc. NULL is allowed. */
HD_API hd_result hd_free(hd_machine *machine, void *pointer);

/* Reserves addresses for memory that is opened and closed, at once or in stream order
 * (hd_stream_open()). It has no memory at first. */
HD_API hd_result hd_reserve(hd_machine *machine, size_t bytes, void **pointer);
HD_API hd_result hd_open(hd_machine *machine, void *pointer, size_t bytes);
HD_API hd_result hd_close(hd_machine *machine, void *pointer);
/* Frees the addresses and their memory. */
HD_API void hd_unreserve(hd_machine *machine, void *pointer);

/* Lets other processes map memory of hd_alloc: its bytes are in *file from *offset on. The file
 * belongs to the machine and lives as long as the memory. The call waits for running launches,
 * copies and fills, and blocks new ones; the host must not write to the memory during the call. */
HD_API hd_result hd_share(hd_machine *machine, void *pointer, int *file, size_t *offset);

/* The memory that an address lies in. */
typedef struct hd_memory_info {
    void *start;
    size_t bytes;
    bool allocated;   /* by hd_alloc; else a module's variable, or the kernels' own heap */
    bool managed;     /* a variable with .attribute(.managed) */
    const char *name; /* or NULL */
    void *data;       /* of hd_set_data */
} hd_memory_info;
/* False: the address is not in the machine's memory. */
HD_INLINE bool hd_find(hd_machine *machine, const void *pointer, hd_memory_info *info);
/* Sets hd_memory_info.data of memory of hd_alloc, given its start. */
HD_API hd_result hd_set_data(hd_machine *machine, void *pointer, void *data);

/* ---- modules and kernels ---- */

typedef struct hd_module hd_module;
typedef struct hd_kernel hd_kernel;

/* One PTX text, with a name for diagnostics. Both are copied. */
typedef struct hd_source {
    const char *name;
    const char *text;
    size_t bytes;
} hd_source;

/* Parses, verifies and links the texts (PTX ISA 4 to 11) and gives their variables memory. Errors:
 * HD_ERROR_INVALID_PTX; the report (if not NULL) gets the errors, or the warnings of a success. A
 * kernel with an instruction that is not supported loads; its launch fails. */
HD_API hd_result hd_module_load(hd_machine *machine, const hd_source *sources, size_t n, hd_module **module,
                                hd_report **report);
/* Launches that are already in streams still run. NULL is allowed. */
HD_API void hd_module_unload(hd_module *module);

HD_API size_t hd_module_kernel_count(const hd_module *module);
/* In the order of the texts; NULL where i is not less than the count. */
HD_API const char *hd_module_kernel_name(const hd_module *module, size_t i);
/* The kernel that a person means by `typed`: this name, or the only kernel with this name in the
 * source, also without scopes or template arguments. NULL: the only kernel. The name belongs to the
 * module. Errors: HD_ERROR_NOT_FOUND, with a report that lists the kernels. */
HD_API hd_result hd_module_find_kernel(const hd_module *module, const char *typed, const char **name,
                                       hd_report **report);
/* The resources of a kernel's thread in real machine code, if the caller knows them. Occupancy uses
 * the registers; an explainer also the spills. Otherwise both are estimated. Call it before the
 * kernel is first asked for. Errors: HD_ERROR_NOT_FOUND. */
typedef struct hd_machine_code {
    unsigned registers; /* not 0 */
    /* Of local memory: arrays, and registers that were spilled. */
    unsigned frame_bytes;
    /* Instructions of it that access local memory, by words of 32 bits. */
    unsigned local_loads, local_stores;
} hd_machine_code;
HD_INLINE hd_result hd_module_set_machine_code(hd_module *module, const char *kernel, const hd_machine_code *code);

/* The kernel, with its code prepared. Errors: HD_ERROR_NOT_FOUND, HD_ERROR_NOT_SUPPORTED and
 * HD_ERROR_INVALID_PTX with a report. The kernel belongs to the module; a second call returns the
 * same one. */
HD_API hd_result hd_module_get_kernel(hd_module *module, const char *name, hd_kernel **kernel, hd_report **report);
/* A .global or .const variable. Errors: HD_ERROR_NOT_FOUND. */
HD_API hd_result hd_module_get_global(hd_module *module, const char *name, void **pointer, size_t *bytes);
/* Moves a .global variable to `to`, for kernels that are asked for later. `to` is the caller's
 * memory; it must live as long as the module, and kernels must be able to reach it
 * (hd_machine_options.host_memory, host_ranges). Its contents stay; the initial value is at the old
 * place, which is free afterwards. Errors: HD_ERROR_NOT_FOUND. */
HD_API hd_result hd_module_place_global(hd_module *module, const char *name, void *to);

/* A variable of the module in the machine's memory. */
typedef struct hd_variable_info {
    const char *name;
    const char *space; /* "global" or "const" */
    const char *type;  /* PTX type of an element */
    size_t bytes;
    void *pointer;
} hd_variable_info;
HD_API size_t hd_module_variable_count(const hd_module *module);
/* In the order of the texts; false where i is not less than the count. */
HD_INLINE bool hd_module_get_variable(const hd_module *module, size_t i, hd_variable_info *info);

typedef struct hd_param_info {
    const char *name;
    const char *type;            /* PTX type of an element: "u64", "f32", "b8" */
    size_t offset, bytes, align; /* in the packed parameters */
    bool is_pointer;             /* declared .ptr */
} hd_param_info;

typedef struct hd_kernel_info {
    const char *name;
    size_t param_count, param_bytes;
    size_t static_shared_bytes, local_bytes; /* of a block; of a thread */
    unsigned max_threads;                    /* of .maxntid or .reqntid, else the machine's limit */
    /* Of a thread: an estimate, as there is no machine code. */
    unsigned registers;
    unsigned required_block[3]; /* of .reqntid, else 0 */
    /* .explicitcluster: launches have to say how large a cluster is. */
    bool explicit_cluster;
    unsigned required_cluster[3]; /* of .reqnctapercluster, else 0 */
    unsigned max_cluster;         /* of .maxclusterrank, else 0 */
    size_t instructions;          /* of the kernel and all functions it reaches */
} hd_kernel_info;
HD_INLINE void hd_kernel_get_info(const hd_kernel *kernel, hd_kernel_info *info);
/* The functions of CUDA's device runtime, and those of the machine, that it or its
 * callees call: enum hd_nesting. */
enum hd_nesting {
    HD_NESTS_GRAPHS = 1,  /* cudaGraphLaunch() */
    HD_NESTS_KERNELS = 2, /* anything else */
    HD_NESTS_HEAP = 4,    /* malloc(), free() */
    HD_NESTS_PRINTING = 8 /* printf() */
};
HD_API unsigned hd_kernel_nesting(const hd_kernel *kernel);
/* Allows kernels to launch this kernel with more than 48 KiB of static and dynamic
 * shared memory (CUDA's cudaFuncAttributeMaxDynamicSharedMemorySize); hd_launch()
 * needs no such permission. Errors: HD_ERROR_INVALID_VALUE (more than a block can
 * have). */
HD_API hd_result hd_kernel_allow_shared(hd_kernel *kernel, size_t dynamic_bytes);
/* Occupancy: how many blocks of `threads` threads a multiprocessor holds; 0 where none fits. */
HD_API unsigned hd_kernel_max_blocks(const hd_kernel *kernel, unsigned threads, size_t dynamic_shared_bytes);
/* The same of clusters of `cluster` (not 0) such blocks, on the whole device. */
HD_API unsigned hd_kernel_max_clusters(const hd_kernel *kernel, unsigned threads, size_t dynamic_shared_bytes,
                                       unsigned cluster);
/* False where i is not less than param_count. */
HD_INLINE bool hd_kernel_get_param(const hd_kernel *kernel, size_t i, hd_param_info *info);

/* ---- checking ---- */

/* Watches all launches of a machine, in all streams, for accesses out of bounds and misaligned,
 * reads of unwritten memory (global, shared, local), misused barriers and warp masks (PTX ISA
 * 9.7.13), and leaks of the device heap. Watched launches run in the interpreter. Bad accesses are
 * skipped, so a launch goes on and can show several errors. Any thread may call it. Findings that
 * do not depend on the schedule do not depend on the number of workers. */
typedef struct hd_checker hd_checker;

/* Kinds of mistakes, with compute-sanitizer's names. */
enum hd_tool {
    HD_TOOL_MEMCHECK = 1,  /* accesses out of bounds and misaligned, leaks of the device heap */
    HD_TOOL_RACECHECK = 2, /* data races */
    HD_TOOL_INITCHECK = 4, /* reads of unwritten memory */
    HD_TOOL_SYNCCHECK = 8, /* misused barriers and masks */
    HD_TOOLS_ALL = 15,
};

/* What a bad access stops. */
enum hd_on_error {
    /* nothing: the access is skipped (a load gives 0) and the launch goes on. */
    HD_ON_ERROR_NOTHING,
    HD_ON_ERROR_KERNEL,  /* the launch; its context goes on */
    HD_ON_ERROR_CONTEXT, /* the launch and its context, as on a GPU */
};

/* What kernels may do with memory; an atomic operation needs all three. */
enum hd_memory_use { HD_MEMORY_READ = 1, HD_MEMORY_WRITE = 2, HD_MEMORY_ATOMIC = 4, HD_MEMORY_ALL = 7 };

/* A rule of the program for a part of its memory. */
typedef struct hd_memory_rule {
    const void *start;
    size_t bytes;
    unsigned uses;    /* of enum hd_memory_use */
    bool given;       /* false: a pool has not handed it out */
    const char *name; /* or NULL */
} hd_memory_rule;

/* Immutable rules, sorted by address, without overlaps. Memory without a rule may be used freely.
 * The rules are copied. Errors: HD_ERROR_INVALID_VALUE, HD_ERROR_OUT_OF_MEMORY. */
typedef struct hd_memory_rules hd_memory_rules;
HD_API hd_result hd_memory_rules_create(const hd_memory_rule *rules, size_t count, hd_memory_rules **made);
/* Adds a reference; NULL gives NULL. */
HD_API hd_memory_rules *hd_memory_rules_keep(hd_memory_rules *rules);
/* Launches that have them keep them; NULL is allowed. */
HD_API void hd_memory_rules_destroy(hd_memory_rules *rules);

/* Zero is the default throughout. */
typedef struct hd_checker_options {
    unsigned tools; /* of enum hd_tool; 0: all */
    enum hd_on_error on_error;
    /* With HD_TOOL_RACECHECK: also watches the host's own accesses to memory of
     * hd_alloc_host, while launches and copies are pending. That memory is then
     * protected, and handlers of SIGSEGV and SIGTRAP in this process see each access
     * (the program's own handlers get all other signals). Has no effect except on
     * x86-64. */
    bool host;
    /* The checker of another machine of this process, or NULL: streams of the two can wait for each
     * other, and their work can race; that checker reports such races. It must outlive this one. */
    hd_checker *with;
    /* The calling thread's place in the program, for findings about the host and its streams: equal
     * pointers for equal places, valid as long as the checker. May be called from a signal handler.
     * NULL: unknown. */
    const void *(*place)(void *data);
    /* The call stack of a place, innermost first; it lives as long. */
    size_t (*frames)(void *data, const void *place, const hd_frame **frames);
    /* With HD_TOOL_INITCHECK: a copy that was put into a stream at `place` is about to read
     * unwritten bytes; the first is byte `first` of a row of `bytes` bytes. Called once for a copy,
     * by the thread that copies. `to` is NULL for hd_stream_work. */
    void (*undefined_copy)(void *data, const void *place, const void *to, const void *from, size_t bytes, size_t first);
    /* Called before and after each watched launch, by its thread. `fresh`: the launch has shown
     * something new. */
    void (*begun)(void *data, const char *kernel);
    void (*launched)(void *data, const char *kernel, bool fresh);
    void *data;
    /* Limit of the checker's own memory (of both checkers, with `with`). A finding
     * says what it stops watching at this limit. 0: half of this computer's
     * memory. */
    uint64_t shadow_bytes;
} hd_checker_options;

/* From now on the machine's launches are watched. `options` may be NULL. Errors:
 * HD_ERROR_INVALID_VALUE (a machine that has a checker), HD_ERROR_OUT_OF_MEMORY. Destroy it before
 * its machine. */
HD_INLINE hd_result hd_checker_create(hd_machine *machine, const hd_checker_options *options, hd_checker **checker);
HD_API void hd_checker_destroy(hd_checker *checker);              /* NULL is allowed */
HD_API hd_checker *hd_machine_checker(const hd_machine *machine); /* or NULL */
/* Memory of hd_alloc counts as written; this marks it as unwritten. `name` (copied) may be NULL. An
 * impossible address (NULL, a range beyond 2^48) is HD_ERROR_INVALID_VALUE here; the functions
 * below ignore it. */
HD_API hd_result hd_checker_mark_undefined(hd_checker *checker, const void *p, size_t bytes, const char *name);
HD_API void hd_checker_mark_defined(hd_checker *checker, const void *p, size_t bytes);
/* For a copy outside of streams: bytes of `to` become defined where those of `from` are. */
HD_API void hd_checker_mark_copied(hd_checker *checker, const void *to, const void *from, size_t bytes);
/* The number of written bytes before the first unwritten one. */
HD_API size_t hd_checker_defined_bytes(hd_checker *checker, const void *p, size_t bytes);
/* The number of unwritten bytes. */
HD_API size_t hd_checker_undefined_bytes(hd_checker *checker, const void *p, size_t bytes);
/* Memory gets a new use, as in a pool: the checker forgets its history. hd_free does this by
 * itself. */
HD_API void hd_checker_forget(hd_checker *checker, const void *p, size_t bytes);
/* For wrappers of system calls, which cannot access protected memory (hd_checker_options.host): the
 * address at which a call can access it (the same one if it is not protected); and a report of that
 * access, at the program's address. */
HD_API void *hd_host_view(const void *p);
HD_API void hd_host_access(const void *p, size_t bytes, bool write);
/* No more launches will come: reports what is known only at the end (leaks). */
HD_API void hd_checker_end(hd_checker *checker);
/* Records all events of launches and of the host in a file, from which `heddle check
 * --replay-events` makes the same findings without the kernels. Call it before the first event.
 * Checkers that are created `with` this one later write to the same file. Errors:
 * HD_ERROR_INVALID_VALUE (it records already), HD_ERROR_FILE, with errno set. */
HD_API hd_result hd_checker_record(hd_checker *checker, const char *path);
/* Completes the file, with the program's name (or NULL) and findings of others (or NULL).
 * HD_ERROR_FILE, with errno set: the file is incomplete. */
HD_API hd_result hd_checker_record_end(hd_checker *checker, const char *program, const hd_report *others);
/* The findings so far, each once with a count, in the order of the PTX text; NULL if there are
 * none. */
HD_API hd_result hd_checker_report(hd_checker *checker, hd_report **report);

/* ---- explaining ---- */

/* Counts a machine's launches as a GPU would, and estimates their time there:
 * docs/EXPLAIN.md. Counted launches run in the interpreter. Any thread may use
 * it. */
typedef struct hd_explainer hd_explainer;

typedef struct hd_explainer_options {
    /* The device that the figures are of, by architecture or name ("H200"); default: the
     * machine's own. */
    const char *device;
    /* Called before and after each launch, by its thread, with the counts as JSON (NULL: out of
     * memory). */
    void (*begun)(void *data, const char *kernel);
    void (*launched)(void *data, const char *json);
    void *data;
    /* After this many counted warp instructions, only the 1st, 2nd, 4th, 7th, 11th, 17th, ...
     * launch of a kernel with the same sizes is counted; the others get the figures of the last
     * counted one. 0: all launches are counted. */
    uint64_t sample_after;
    /* The explainer of another machine of this process, or NULL: streams of the two can wait for
     * each other and share a timeline. It must outlive this one. */
    hd_explainer *with;
    /* If not NULL: called instead of `launched` for a launch whose figures all equal those
     * of the n-th JSON that `launched` got (from 0). Calls of one explainer come one at a
     * time. */
    void (*again)(void *data, uint64_t n);
} hd_explainer_options;

/* From now on the machine's launches are counted. `options` may be NULL. Errors:
 * HD_ERROR_INVALID_VALUE (no such device, a machine that has an explainer), HD_ERROR_OUT_OF_MEMORY.
 * Destroy it before its machine. */
HD_INLINE hd_result hd_explainer_create(hd_machine *machine, const hd_explainer_options *options,
                                        hd_explainer **explainer);
HD_API void hd_explainer_destroy(hd_explainer *explainer); /* NULL is allowed */
/* The sums of all launches so far of the i-th kernel (in the order of first launches), by line and
 * instruction, as JSON, to be freed with free(). NULL: there are fewer kernels. */
HD_API hd_result hd_explainer_kernel(hd_explainer *explainer, size_t i, char **json);
/* The sums of library calls (hd_stream_work) so far, by function and unit, as JSON, to be freed
 * with free(). */
HD_API hd_result hd_explainer_calls(hd_explainer *explainer, char **json);
/* The program names its work in the calling thread (NVTX's ranges and marks): PUSH and POP begin
 * and end a nested range of the thread; START and END a range of the process with its own
 * identifier; MARK names a moment. */
typedef enum { HD_RANGE_PUSH, HD_RANGE_POP, HD_RANGE_START, HD_RANGE_END, HD_RANGE_MARK } hd_range_event;
HD_API void hd_explainer_range(hd_explainer *explainer, hd_range_event event, uint64_t id, const char *name);
/* The work of streams and the host's waits so far, over estimated time, as
 * JSON, to be freed with free(). Empty if a checker watches the machine,
 * too. */
HD_API hd_result hd_explainer_streams(hd_explainer *explainer, char **json);

/* ---- launches ---- */

enum hd_launch_flags {
    /* All blocks must be resident at once, else HD_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE. */
    HD_LAUNCH_COOPERATIVE = 1,
    /* Nobody else touches the machine's memory until it returns: a kernel that spins on a value
     * that no thread changes fails. */
    HD_LAUNCH_CLOSED = 2,
    HD_LAUNCH_NON_PORTABLE_CLUSTER = 4, /* clusters of up to 16 blocks; else of up to 8 */
    /* The machine's checker does not watch it (all memory then counts as written), and its
     * explainer does not count it. */
    HD_LAUNCH_UNCHECKED = 8,
    HD_LAUNCH_PROGRAMMATIC =
        16, /* may begin before the previous launch of its stream has ended (programmatic dependent launch).
             * Here it does not; a checker reports accesses without griddepcontrol.wait */
    HD_LAUNCH_REPLAYED = 32, /* the one that a machine's policy `replay-launch:FILE` is for */
};

typedef struct hd_launch_config {
    unsigned grid[3], block[3]; /* in blocks, in threads; all at least 1 */
    /* Blocks of a cluster, of which the grid is a multiple. 0: as the kernel requires, or no
     * clusters. HD_ERROR_INVALID_CLUSTER_SIZE: the kernel or the device does not allow it. */
    unsigned cluster[3];
    size_t shared_bytes; /* dynamic shared memory of a block */
    unsigned flags;      /* enum hd_launch_flags */
    hd_engine engine;    /* auto: as the machine */
    /* Parameters: pointers to the values, in order, or the values packed at their offsets. A kernel
     * with parameters needs exactly one of the two. They are read before hd_launch returns. */
    const void *const *args;
    const void *packed_args;
    size_t packed_bytes;
    /* Limit of wall-clock time from the call on, including waits in a stream and for compiled code.
     * Beyond it the launch fails with HD_ERROR_LAUNCH_TIMEOUT. 0: none; at most 1e9. */
    double timeout_seconds;
    /* Rules that a checker with HD_TOOL_MEMCHECK tests beside bounds; NULL:
     * none. */
    hd_memory_rules *rules;
    /* The graph to which the kernel belongs, for %current_graph_exec and the context's
     * launch_graph(); or 0 and NULL. */
    uint64_t graph;
    void *graph_run;
} hd_launch_config;

/* Sums over all blocks of a launch. */
typedef struct hd_launch_stats {
    double seconds;
    uint64_t blocks, warp_instructions, lane_instructions;
    uint64_t lost_print_bytes; /* text of the kernels' printf that was beyond the limit */
} hd_launch_stats;

/* Runs a grid to its end. Errors: before the start HD_ERROR_INVALID_VALUE and
 * HD_ERROR_LAUNCH_OUT_OF_RESOURCES (the report names the limit), later the kernel's fault. Memory
 * then keeps the writes up to the fault. `stats` and `report` may be NULL. */
HD_INLINE hd_result hd_launch(hd_kernel *kernel, const hd_launch_config *config, hd_launch_stats *stats,
                              hd_report **report);
/* Would hd_launch start it? The errors are those before the start. */
HD_INLINE hd_result hd_launch_check(hd_kernel *kernel, const hd_launch_config *config, hd_report **report);

/* ---- streams ---- */

/* A set of streams that fail together. The first failed launch is the context's fault. Unless it is
 * HD_ERROR_ASSERT, it cancels the running launches (HD_ERROR_CANCELLED). Nothing more runs in the
 * context, and every function below returns that error (CUDA's "sticky" errors). Memory and modules
 * belong to the machine. */
typedef struct hd_context hd_context;
/* A stream runs its work in order, concurrently with other streams. */
typedef struct hd_stream hd_stream;
/* A moment in a stream. */
typedef struct hd_event hd_event;

/* A call that a running kernel makes. */
typedef struct hd_kernel_call hd_kernel_call;

typedef struct hd_context_options {
    /* Gets the report of each failed launch, from a stream's thread. The report belongs to the
     * library. */
    void (*fault)(void *data, hd_result result, hd_report *report);
    void *data;
    /* Called when a kernel of a launch with this graph_run calls cudaGraphLaunch() for a graph and
     * a stream. Returns an error of the runtime API, or 0. NULL: no kernel may call it. */
    int (*launch_graph)(void *data, hd_kernel_call *call, void *graph_run, uint64_t graph, uint64_t stream);
} hd_context_options;

/* Errors: HD_ERROR_INVALID_VALUE, HD_ERROR_OUT_OF_MEMORY. Destroy it before its machine. */
HD_INLINE hd_result hd_context_create(hd_machine *machine, const hd_context_options *options, hd_context **context);
/* Waits for the work of all its streams, which are destroyed with it. NULL is allowed. */
HD_API void hd_context_destroy(hd_context *context);
/* Waits for the context's work and accepts no more: other threads' calls get
 * HD_ERROR_CONTEXT_IS_DESTROYED from now on. Frees what the context's kernels have allocated by
 * malloc. Call hd_context_destroy() when the calls have returned. */
HD_API void hd_context_close(hd_context *context);
/* HD_SUCCESS, or the context's fault. */
HD_API hd_result hd_context_status(hd_context *context);
/* Sets the context's fault, if it has none, as a failed launch does. */
HD_API void hd_context_fail(hd_context *context, hd_result fault);
/* Waits for all work of its streams. */
HD_API hd_result hd_context_synchronize(hd_context *context);

enum hd_stream_flags {
    HD_STREAM_NON_BLOCKING = 1, /* it and the default stream do not wait for each other */
};
HD_API hd_result hd_stream_create(hd_context *context, unsigned flags, hd_stream **stream);
/* CUDA's legacy default stream: it and all other streams wait for each other, except those created
 * with HD_STREAM_NON_BLOCKING. It belongs to the context. */
HD_API hd_stream *hd_context_default_stream(hd_context *context);
/* Returns at once; the stream's work still runs. NULL is allowed. */
HD_API void hd_stream_destroy(hd_stream *stream);
/* HD_SUCCESS (all work is done), HD_ERROR_NOT_READY (some work is not), or the fault. */
HD_API hd_result hd_stream_query(hd_stream *stream);
/* The same for callers that do not rely on it: checkers do not count it as a wait. */
HD_API bool hd_stream_is_done(hd_stream *stream);
/* Everything between the two calls is one piece of work: if much is pending,
 * only the end waits for earlier work. It counts as `n` tasks. Batches may be
 * nested. */
HD_API void hd_stream_begin_batch(hd_stream *stream);
HD_API void hd_stream_end_batch(hd_stream *stream, unsigned n);
HD_API hd_result hd_stream_synchronize(hd_stream *stream);
/* A number that no other stream of the context has. */
HD_API uint64_t hd_stream_number(const hd_stream *stream);

/* Puts a launch into a stream and returns. It checks the configuration and reads the parameters
 * first. Errors: those of hd_launch before the start. */
HD_INLINE hd_result hd_stream_launch(hd_stream *stream, hd_kernel *kernel, const hd_launch_config *config,
                                     hd_report **report);

/* Boxes of bytes: `width` bytes in a row, `height` rows, `depth` slices. Rows are `pitch` bytes
 * apart, slices `slice` bytes. */
typedef struct hd_copy {
    void *to;
    const void *from;
    size_t width, height, depth;
    size_t to_pitch, to_slice, from_pitch, from_slice;
    bool host; /* one side would be host memory, which an explainer uses for the time */
} hd_copy;
typedef struct hd_fill {
    void *to;
    uint32_t value;         /* its lowest bytes */
    unsigned element_bytes; /* 1, 2 or 4 */
    size_t width, height;   /* in elements, in rows */
    size_t pitch;           /* in bytes */
} hd_fill;

/* When a copy or a fill returns. */
enum hd_wait {
    HD_NO_WAIT, /* when it has been put into the stream */
    HD_WAIT,    /* when it is done */
    /* When it is done, but CUDA does not promise that: checkers do not count it as a wait. */
    HD_WAIT_UNPROMISED,
};

/* Any memory of this process may be copied or filled; the caller must make sure that it exists and
 * is large enough. If the stream is idle, the calling thread itself does small work, and work that
 * it would wait for. */
HD_INLINE hd_result hd_stream_copy(hd_stream *stream, const hd_copy *copy, enum hd_wait wait);
HD_INLINE hd_result hd_stream_fill(hd_stream *stream, const hd_fill *fill, enum hd_wait wait);

/* Memory that host work uses: `height` rows of `width` bytes, `pitch` bytes
 * apart. */
enum hd_use {
    HD_READS = 1,
    HD_WRITES = 2,
};
typedef struct hd_used {
    const void *at;
    size_t width, height, pitch;
    unsigned use; /* enum hd_use: one of them, or both */
} hd_used;

/* The GPU's unit for the arithmetic, which decides the time that an explainer estimates. */
typedef enum hd_unit {
    HD_UNIT_FP32,
    HD_UNIT_FP64,
    HD_UNIT_INT32,
    HD_UNIT_TENSOR_TF32,
    HD_UNIT_TENSOR_FP16, /* or bfloat16 */
    HD_UNIT_TENSOR_FP8,
    HD_UNIT_TENSOR_INT8,
    HD_UNIT_TENSOR_FP64,
} hd_unit;

/* A host function in place of a kernel, for a library's call. */
typedef struct hd_work {
    const char *name;             /* in reports; the caller keeps it */
    hd_result (*run)(void *data); /* an error is the context's fault; is not called after one */
    void (*drop)(void *data);     /* called once, after `run` or instead of it; may be NULL */
    void *data;
    const hd_used *used; /* until it is dropped */
    size_t used_count;
    /* The operations and bytes of a GPU, for an explainer (hd_explainer_calls()). */
    double flops, bytes;
    hd_unit unit;
    /* Replaces `run` for work that waits for others: called until it returns anything but
     * HD_ERROR_NOT_READY; it must not wait itself. *state is NULL at first; the function owns it,
     * and frees it at its last call. */
    hd_result (*step)(void *data, void **state);
    /* More ranges, which only memory tells: asked by checkers when the work's turn comes; the array
     * is freed by free(). May be NULL. */
    hd_used *(*find_used)(void *data, size_t *count);
} hd_work;

/* Puts the work into the stream. Checkers see its memory as that of copies. If that memory is gone
 * when its turn comes, the work does not run, and the context's fault is HD_ERROR_ILLEGAL_ADDRESS.
 * If the stream is idle, the calling thread itself does small work, and work that it would wait
 * for. The work must not wait for streams, nor allocate or free the machine's memory. */
HD_INLINE hd_result hd_stream_work(hd_stream *stream, const hd_work *work, enum hd_wait wait);
enum hd_call_flags {
    HD_CALL_ALWAYS = 1, /* also after a fault, which `status` tells */
    /* Internal to the caller: it tells nobody that the stream has come so far. */
    HD_CALL_UPKEEP = 2,
};
/* Calls a host function, which must not wait for the stream. A machine runs only a limited number
 * of such functions at a time (at least two, if it has threads for them), so one may have to wait
 * for another. */
HD_API hd_result hd_stream_call(hd_stream *stream, void (*function)(void *data, hd_result status), void *data,
                                unsigned flags);
/* The stream waits until the function returns true. It is called again and again, also after
 * a fault, and must not wait itself. Checkers treat everything that has begun by then as
 * done. */
HD_API hd_result hd_stream_gate(hd_stream *stream, bool (*is_open)(void *data, hd_result status), void *data);
/* Work that is decided when the stream gets here: `next` is called then. It may put work into other
 * streams of the context and record `until` after it. If it returns true, the stream waits for that
 * and calls it again. After a fault it is called, too, and must return false. It must not wait
 * itself. Checkers treat everything that has begun when it returns false as done. */
HD_API hd_result hd_stream_loop(hd_stream *stream, bool (*next)(void *data, hd_result status, hd_event *until),
                                void *data);
/* The same for a kernel, called in launch_graph() of its context's options. It runs in a stream of
 * its own, for which the kernel's launch does not wait, after `begun` (the calling thread's work so
 * far). `ended` is its end. After an error, `next` is not called. */
HD_API hd_result hd_kernel_call_loop(hd_kernel_call *call, bool (*next)(void *data, hd_result status, hd_event *until),
                                     void *data, hd_event *begun, hd_event *ended);
/* For addresses of hd_reserve: when the stream gets here, it opens undefined memory of that many
 * bytes, or closes it. */
HD_API hd_result hd_stream_open(hd_stream *stream, void *pointer, size_t bytes);
HD_API hd_result hd_stream_close(hd_stream *stream, void *pointer, size_t bytes);
/* Memory of hd_alloc belongs to the program from this point of the stream on: checkers report
 * earlier uses. */
HD_API hd_result hd_stream_allocated(hd_stream *stream, void *pointer);
/* Frees memory of hd_alloc at this point of the stream. */
HD_API hd_result hd_stream_free(hd_stream *stream, void *pointer);

HD_API hd_result hd_event_create(hd_event **event);
HD_API void hd_event_destroy(hd_event *event); /* NULL is allowed */
/* The event is now this moment in the stream. */
HD_API hd_result hd_event_record(hd_event *event, hd_stream *stream);
/* The event is now the end of the stream's last task, which may be in the past: cheaper, if only
 * order matters. */
HD_API hd_result hd_event_follow(hd_event *event, hd_stream *stream);
/* An event that has never been recorded is done. */
HD_API hd_result hd_event_query(hd_event *event);
HD_API hd_result hd_event_synchronize(hd_event *event);
/* Later work of the stream waits for the event as it is recorded now. */
HD_API hd_result hd_stream_wait_event(hd_stream *stream, hd_event *event);
/* Errors: HD_ERROR_INVALID_VALUE (never recorded), HD_ERROR_NOT_READY. */
HD_API hd_result hd_event_elapsed(hd_event *start, hd_event *end, double *seconds);

/* ---- arrays, textures and surfaces ---- */

/* Numbers are those of the driver API's types: of formats CUarray_format, of flags of arrays
 * CUDA_ARRAY3D_..., of address modes CUaddress_mode, of filters CUfilter_mode, of flags of textures
 * CU_TRSF_..., of formats of views CUresourceViewFormat. A number that Heddle does not support is
 * HD_ERROR_NOT_SUPPORTED (compressed blocks, video, sparse and depth arrays); an unknown one is
 * HD_ERROR_INVALID_VALUE. *error (NULL is allowed) says why, in static storage. */

/* Texels in the machine's memory, for textures and surfaces: a line, a picture, a volume, layers of
 * lines or pictures, the six faces of a cube, or layers of cubes. Each mipmap level has half the
 * size of the previous one. */
typedef struct hd_array hd_array;

enum hd_array_flags {
    HD_ARRAY_LAYERED = 1,
    HD_ARRAY_SURFACE = 2, /* surface objects can be made of it */
    HD_ARRAY_CUBEMAP = 4, /* depth: 6, with HD_ARRAY_LAYERED a multiple */
    HD_ARRAY_GATHER = 8,  /* four texels can be gathered (tld4) */
};

typedef struct hd_array_desc {
    unsigned format, channels; /* 1, 2 or 4 channels */
    /* In texels; height 0: lines; depth 0: one picture or line; else slices, or layers (times 6
     * of cubes). */
    size_t width, height, depth;
    unsigned flags;  /* enum hd_array_flags */
    unsigned levels; /* 0: no mipmaps (one level); at most as many as the sizes allow */
} hd_array_desc;

/* Contents are undefined. Errors as above; HD_ERROR_OUT_OF_MEMORY. */
HD_INLINE hd_result hd_array_create(hd_machine *machine, const hd_array_desc *desc, hd_array **array,
                                    const char **error);
/* Frees the memory; a kernel that still uses it as a texture or surface faults
 * (HD_ERROR_ILLEGAL_ADDRESS). Arrays of hd_array_of_level remain, without memory, until they are
 * destroyed. NULL is allowed. */
HD_API void hd_array_destroy(hd_array *array);
/* One level as an array of its own, in the same memory. The caller destroys it. Errors:
 * HD_ERROR_INVALID_VALUE (no such level). */
HD_API hd_result hd_array_of_level(hd_array *array, unsigned level, hd_array **of_level);
/* The description of the array; `levels` is at least 1. For a level: that level's
 * sizes. */
HD_INLINE void hd_array_get_desc(const hd_array *array, hd_array_desc *desc);

/* The texels of a level in memory, to be copied and filled as boxes of bytes (hd_stream_copy),
 * which checkers and explainers see. The size of a missing dimension is 1. */
typedef struct hd_array_level {
    void *start;
    size_t width, height, depth; /* depth: slices, layers or faces */
    size_t texel_bytes, pitch_bytes, slice_bytes;
} hd_array_level;
/* False: no such level, or its memory is free. */
HD_INLINE bool hd_array_get_level(const hd_array *array, unsigned level, hd_array_level *at);

/* What a texture reads. */
typedef enum hd_resource {
    HD_RESOURCE_ARRAY,     /* level 0 of an array */
    HD_RESOURCE_MIPMAPPED, /* all its levels */
    /* Memory, read by tex1Dfetch: by integers, without address mode and filter. */
    HD_RESOURCE_LINEAR,
    HD_RESOURCE_PITCH2D, /* rows in memory, as a picture */
} hd_resource;

enum hd_texture_flags {
    HD_TEXTURE_READ_AS_INTEGER =
        1, /* integers of 8 and 16 bits are read as they are; else as fractions of the largest */
    HD_TEXTURE_NORMALIZED_COORDINATES = 2,
    HD_TEXTURE_SRGB = 0x10,
    HD_TEXTURE_DISABLE_TRILINEAR_OPTIMIZATION = 0x20,
    HD_TEXTURE_SEAMLESS_CUBEMAP = 0x40,
};

typedef struct hd_texture_desc {
    hd_resource resource;
    hd_array *array; /* HD_RESOURCE_ARRAY, _MIPMAPPED */
    /* The other two: memory that kernels can reach, a multiple of
     * CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT. */
    void *address;
    unsigned format, channels; /* of that memory */
    size_t bytes;              /* HD_RESOURCE_LINEAR */
    /* HD_RESOURCE_PITCH2D: texels, rows, bytes from one row to the next. */
    size_t width, height, pitch;
    /* 0 wrap, 1 clamp, 2 mirror, 3 border; without normalised coordinates 0 and 2 are clamp. */
    unsigned address_mode[3];
    unsigned filter;         /* 0 nearest, 1 linear */
    unsigned flags;          /* enum hd_texture_flags */
    unsigned mipmap_filter;  /* as filter, of levels */
    unsigned max_anisotropy; /* 0 and 1: none */
    float mipmap_bias, mipmap_min, mipmap_max;
    float border[4];
    /* What of an array is seen, and as what (CUDA_RESOURCE_VIEW_DESC); no view where `viewed` is
     * false. */
    bool viewed;
    unsigned view_format; /* 0: the array's own */
    size_t view_width, view_height, view_depth;
    unsigned first_level, last_level, first_layer, last_layer;
} hd_texture_desc;

/* A texture object of kernels (PTX ISA 9.7.10): an index into a table of the machine, never an
 * address, so a kernel cannot make one up. It does not keep its memory alive: a kernel that reads
 * freed memory through it faults (HD_ERROR_ILLEGAL_ADDRESS). Errors as above;
 * HD_ERROR_OUT_OF_MEMORY. */
HD_INLINE hd_result hd_texture_create(hd_machine *machine, const hd_texture_desc *desc, uint64_t *texture,
                                      const char **error);
/* HD_ERROR_INVALID_VALUE: it is none. Later launches that use it fault. */
HD_API hd_result hd_texture_destroy(hd_machine *machine, uint64_t texture);
/* Only launches of the context may use the texture or surface object from now on: others fault
 * (HD_ERROR_ILLEGAL_ADDRESS). HD_ERROR_INVALID_VALUE: it is none. */
HD_API hd_result hd_texture_of_context(hd_context *context, uint64_t object);
/* The description of the texture; false: it is none. */
HD_INLINE bool hd_texture_get_desc(hd_machine *machine, uint64_t texture, hd_texture_desc *desc);

/* The same for surface objects (PTX ISA 9.7.11), which use level 0 of an array; for another level,
 * use the array of that level. Errors: HD_ERROR_INVALID_VALUE (no HD_ARRAY_SURFACE),
 * HD_ERROR_OUT_OF_MEMORY. */
HD_API hd_result hd_surface_create(hd_machine *machine, hd_array *array, uint64_t *surface, const char **error);
HD_API hd_result hd_surface_destroy(hd_machine *machine, uint64_t surface);
/* The array of the surface (or of its level; its creator destroys that); false: it is no
 * surface. */
HD_API bool hd_surface_get_array(hd_machine *machine, uint64_t surface, hd_array **array);

/* A module's names for textures, surfaces and samplers (.texref, .surfref,
 * .samplerref; PTX ISA 5.3). A launch uses what is bound when it is submitted,
 * whatever is bound later. Nothing is bound at first, except samplers that the PTX
 * initialises. */
typedef enum hd_reference {
    HD_REFERENCE_TEXTURE,
    HD_REFERENCE_SURFACE,
    HD_REFERENCE_SAMPLER,
} hd_reference;
/* The reference belongs to the module; it is also the address of the name in kernels. Errors:
 * HD_ERROR_NOT_FOUND. */
HD_API hd_result hd_module_get_reference(hd_module *module, const char *name, hd_reference kind, uint64_t *reference);
/* Binds `desc` (NULL: nothing) to a texture, or to a sampler, which uses only its modes, filters,
 * flags and numbers. Errors as of hd_texture_create; also HD_ERROR_INVALID_VALUE (no such
 * reference). */
HD_INLINE hd_result hd_texture_bind(hd_machine *machine, uint64_t reference, const hd_texture_desc *desc,
                                    const char **error);
/* Binds an array (NULL: nothing) to a surface. Errors as of hd_surface_create. */
HD_API hd_result hd_surface_bind(hd_machine *machine, uint64_t reference, hd_array *array, const char **error);

/* ---- tensor maps ---- */

/* A tensor in global memory, and the box that copies by its map take (PTX ISA 5.5; CUDA Driver API,
 * "Tensor Map Object Management"). */
typedef struct hd_tensor_map {
    unsigned type, rank;       /* a CUtensorMapDataType; 1 to 5 dimensions */
    void *address;             /* a multiple of 16, with slices of 32 bytes of 32 */
    uint64_t dims[5];          /* elements, the innermost dimension first */
    uint64_t strides_bytes[4]; /* of dimensions 1 and up: multiples likewise, below 2^40 */
    uint32_t steps[5];         /* 1 to 8: every n-th element is taken */
    /* 0 to 2: a CUtensorMapInterleave; 1, 2: channels lie in slices of 16, 32 bytes. */
    unsigned interleave;
    unsigned swizzle;          /* 0 to 3: a CUtensorMapSwizzle */
    bool fill_nan;             /* elements outside the tensor are NaN; else zero */
    bool im2col;               /* or tiled */
    uint32_t box[5];           /* tiled: elements of a copy, 1 to 256 */
    int lower[3], upper[3];    /* im2col: corners of the box of pixels */
    uint32_t channels, pixels; /* im2col: of a pixel, and pixels of a copy */
} hd_tensor_map;
/* Writes the 128 bytes of a tensor map. Errors: HD_ERROR_INVALID_VALUE; *error (NULL is allowed)
 * says why, in static storage. */
HD_INLINE hd_result hd_tensor_map_encode(const hd_tensor_map *map, void *bytes, const char **error);
/* Changes the address in a tensor map. Errors as above. */
HD_API hd_result hd_tensor_map_set_address(void *bytes, void *address, const char **error);

/* ---- compiled code on disk ---- */

/* Compiled code that is kept for later processes, in the folder HEDDLE_CACHE, or heddle in
 * XDG_CACHE_HOME or ~/.cache. */
typedef struct hd_cache_info {
    char folder[4096];
    size_t kernels;
    uint64_t bytes, limit_bytes;
    char refused[512]; /* why the folder is not used: it is not the user's own; else empty */
} hd_cache_info;
/* False: nothing is kept (HEDDLE_CACHE=off). */
HD_INLINE bool hd_cache_get_info(hd_cache_info *info);
/* Removes all of it. Errors: HD_ERROR_FILE (it cannot be removed). */
HD_API hd_result hd_cache_clear(void);

/* ---- PTX as text: no machine needed ---- */

/* A PTX text by itself, read and verified. */
typedef struct hd_ptx hd_ptx;

/* Errors: HD_ERROR_INVALID_PTX with a report. A success may have a report, too, with warnings: one
 * for each form of instruction that Heddle does not run (code "not-supported"). */
HD_API hd_result hd_ptx_read(const hd_source *source, hd_ptx **ptx, hd_report **report);
HD_API void hd_ptx_free(hd_ptx *ptx); /* NULL is allowed */

typedef struct hd_ptx_info {
    unsigned version_major, version_minor; /* .version */
    const char *target;                    /* .target, as written */
    unsigned address_bits;
    size_t kernels, functions; /* with a body */
    size_t kernels_refused;    /* of the kernels: valid PTX, but Heddle cannot run them yet */
    size_t variables;          /* of module scope */
    size_t instructions;
} hd_ptx_info;
HD_INLINE void hd_ptx_get_info(const hd_ptx *ptx, hd_ptx_info *info);

typedef struct hd_ptx_function {
    const char *name;
    bool is_kernel;
    unsigned line;
    size_t params, instructions;
    /* What Heddle lacks to run it and what it calls by name ("textures"), or NULL. */
    const char *missing;
} hd_ptx_function;
/* Kernels and functions with a body, in the order of the text; false where i is not less than their
 * count. */
HD_INLINE bool hd_ptx_get_function(const hd_ptx *ptx, size_t i, hd_ptx_function *function);

/* The module as PTX text, ended by a zero; reading it gives an equal module. It has no comments,
 * constant expressions are values, and each statement has a line. The text belongs to `ptx`;
 * `bytes`, if not NULL, gets its length. NULL: out of memory. */
HD_API const char *hd_ptx_print(hd_ptx *ptx, size_t *bytes);

/* Options of ptxas that PTX itself can express. */
typedef struct {
    /* --fmad=false: .rn where a sum or product of floats names no rounding, so that no two
     * become one fma. */
    bool keep_products;
    /* --maxrregcount: .maxnreg at kernels with no bounds of their own; 0: none. */
    unsigned max_registers;
} hd_ptx_code;
/* The original text with these options. It is ended by a zero and belongs to `ptx`; `bytes` as
 * above. NULL: out of memory. */
HD_INLINE const char *hd_ptx_rewrite(hd_ptx *ptx, const hd_ptx_code *code, size_t *bytes);

/* ---- the instruction set ---- */

/* A form of an instruction: one entry of the table that all of Heddle uses. In `syntax`, ".word" is
 * required, "{.word}" is optional, ".<a,b>" is one of these types, a name in capitals is one word
 * of a set, and "=word" is the default. "*" is anything. */
typedef struct hd_isa_form {
    const char *opcode, *section, *doc; /* section of the PTX ISA; what the opcode does */
    const char *syntax;                 /* what follows the opcode: "{.FRND=rn}{.ftz}{.sat}.f32" */
    char operands[48];                  /* "d, a, b" */
    unsigned ptx_major, ptx_minor;      /* the version that introduced the form */
    char target[12];                    /* the least target: "sm_75", "sm_90a" */
    /* What Heddle lacks to run it ("textures"), or NULL: it runs. */
    const char *missing;
} hd_isa_form;
/* By number, the forms of an opcode together; false where i is not less than their count. */
HD_INLINE bool hd_isa_get_form(size_t i, hd_isa_form *form);

/* A set of words that forms name: modifiers ("FRND": "rn rz rm rp") or types ("INT": "u16 u32
 * ..."). */
typedef struct hd_isa_set {
    const char *name, *words;
    bool of_types;
} hd_isa_set;
HD_INLINE bool hd_isa_get_set(size_t i, hd_isa_set *set);

/* A special register: "%tid", with components .x .y .z where there are 3. */
typedef struct hd_isa_register {
    const char *name, *type, *doc;
    unsigned components, ptx_major, ptx_minor;
    char target[12];
} hd_isa_register;
HD_INLINE bool hd_isa_get_register(size_t i, hd_isa_register *reg);
/* The opcode that is nearest to an unknown name, or NULL. */
HD_API const char *hd_isa_suggest(const char *name);

/* ---- how it grows ---- */

/* A later version adds only functions, flags, enum values, and members at the end of the structs
 * that are passed below. So a program that was built against a header runs with all later
 * libraries of the same HD_VERSION_MAJOR. The functions above call these, which tell the library
 * the size of the caller's structs. Callers without a C compiler, as from Python or Rust, call
 * these directly.
 *
 * The caller's struct may be of another version. Members that it lacks are 0, their default.
 * Members that the library does not know must be 0, else HD_ERROR_NOT_SUPPORTED. A size below the
 * first version's is HD_ERROR_INVALID_VALUE. The library writes as much as there is room for, and
 * zeros after the members that it knows. */
HD_API bool hd_report_get_sized(const hd_report *report, size_t i, hd_diagnostic *diagnostic, size_t diagnostic_bytes);
HD_API hd_result hd_report_add_diagnostic_sized(hd_report **to, const hd_diagnostic *diagnostic,
                                                size_t diagnostic_bytes);
HD_API hd_result hd_machine_create_sized(const hd_machine_options *options, size_t options_bytes, hd_machine **machine,
                                         const char **error);
HD_API void hd_machine_get_info_sized(const hd_machine *machine, hd_machine_info *info, size_t info_bytes);
HD_API void hd_machine_get_progress_sized(hd_machine *machine, hd_progress *progress, size_t progress_bytes);
HD_API bool hd_find_sized(hd_machine *machine, const void *pointer, hd_memory_info *info, size_t info_bytes);
HD_API hd_result hd_module_set_machine_code_sized(hd_module *module, const char *kernel, const hd_machine_code *code,
                                                  size_t code_bytes);
HD_API bool hd_module_get_variable_sized(const hd_module *module, size_t i, hd_variable_info *info, size_t info_bytes);
HD_API void hd_kernel_get_info_sized(const hd_kernel *kernel, hd_kernel_info *info, size_t info_bytes);
HD_API bool hd_kernel_get_param_sized(const hd_kernel *kernel, size_t i, hd_param_info *info, size_t info_bytes);
HD_API hd_result hd_checker_create_sized(hd_machine *machine, const hd_checker_options *options, size_t options_bytes,
                                         hd_checker **checker);
HD_API hd_result hd_explainer_create_sized(hd_machine *machine, const hd_explainer_options *options,
                                           size_t options_bytes, hd_explainer **explainer);
HD_API hd_result hd_launch_sized(hd_kernel *kernel, const hd_launch_config *config, size_t config_bytes,
                                 hd_launch_stats *stats, size_t stats_bytes, hd_report **report);
HD_API hd_result hd_launch_check_sized(hd_kernel *kernel, const hd_launch_config *config, size_t config_bytes,
                                       hd_report **report);
HD_API hd_result hd_context_create_sized(hd_machine *machine, const hd_context_options *options, size_t options_bytes,
                                         hd_context **context);
HD_API hd_result hd_stream_launch_sized(hd_stream *stream, hd_kernel *kernel, const hd_launch_config *config,
                                        size_t config_bytes, hd_report **report);
HD_API hd_result hd_stream_copy_sized(hd_stream *stream, const hd_copy *copy, size_t copy_bytes, enum hd_wait wait);
HD_API hd_result hd_stream_fill_sized(hd_stream *stream, const hd_fill *fill, size_t fill_bytes, enum hd_wait wait);
HD_API hd_result hd_stream_work_sized(hd_stream *stream, const hd_work *work, size_t work_bytes, enum hd_wait wait);
HD_API hd_result hd_array_create_sized(hd_machine *machine, const hd_array_desc *desc, size_t desc_bytes,
                                       hd_array **array, const char **error);
HD_API void hd_array_get_desc_sized(const hd_array *array, hd_array_desc *desc, size_t desc_bytes);
HD_API bool hd_array_get_level_sized(const hd_array *array, unsigned level, hd_array_level *at, size_t at_bytes);
HD_API hd_result hd_texture_create_sized(hd_machine *machine, const hd_texture_desc *desc, size_t desc_bytes,
                                         uint64_t *texture, const char **error);
HD_API bool hd_texture_get_desc_sized(hd_machine *machine, uint64_t texture, hd_texture_desc *desc, size_t desc_bytes);
HD_API hd_result hd_texture_bind_sized(hd_machine *machine, uint64_t reference, const hd_texture_desc *desc,
                                       size_t desc_bytes, const char **error);
HD_API hd_result hd_tensor_map_encode_sized(const hd_tensor_map *map, size_t map_bytes, void *bytes,
                                            const char **error);
HD_API bool hd_cache_get_info_sized(hd_cache_info *info, size_t info_bytes);
HD_API void hd_ptx_get_info_sized(const hd_ptx *ptx, hd_ptx_info *info, size_t info_bytes);
HD_API bool hd_ptx_get_function_sized(const hd_ptx *ptx, size_t i, hd_ptx_function *function, size_t function_bytes);
HD_API const char *hd_ptx_rewrite_sized(hd_ptx *ptx, const hd_ptx_code *code, size_t code_bytes, size_t *bytes);
HD_API bool hd_isa_get_form_sized(size_t i, hd_isa_form *form, size_t form_bytes);
HD_API bool hd_isa_get_set_sized(size_t i, hd_isa_set *set, size_t set_bytes);
HD_API bool hd_isa_get_register_sized(size_t i, hd_isa_register *reg, size_t reg_bytes);

HD_INLINE bool hd_report_get(const hd_report *report, size_t i, hd_diagnostic *diagnostic)
{
    return hd_report_get_sized(report, i, diagnostic, sizeof *diagnostic);
}
HD_INLINE hd_result hd_report_add_diagnostic(hd_report **to, const hd_diagnostic *diagnostic)
{
    return hd_report_add_diagnostic_sized(to, diagnostic, sizeof *diagnostic);
}
HD_INLINE hd_result hd_machine_create(const hd_machine_options *options, hd_machine **machine, const char **error)
{
    return hd_machine_create_sized(options, sizeof *options, machine, error);
}
HD_INLINE void hd_machine_get_info(const hd_machine *machine, hd_machine_info *info)
{
    hd_machine_get_info_sized(machine, info, sizeof *info);
}
HD_INLINE void hd_machine_get_progress(hd_machine *machine, hd_progress *progress)
{
    hd_machine_get_progress_sized(machine, progress, sizeof *progress);
}
HD_INLINE bool hd_find(hd_machine *machine, const void *pointer, hd_memory_info *info)
{
    return hd_find_sized(machine, pointer, info, sizeof *info);
}
HD_INLINE hd_result hd_module_set_machine_code(hd_module *module, const char *kernel, const hd_machine_code *code)
{
    return hd_module_set_machine_code_sized(module, kernel, code, sizeof *code);
}
HD_INLINE bool hd_module_get_variable(const hd_module *module, size_t i, hd_variable_info *info)
{
    return hd_module_get_variable_sized(module, i, info, sizeof *info);
}
HD_INLINE void hd_kernel_get_info(const hd_kernel *kernel, hd_kernel_info *info)
{
    hd_kernel_get_info_sized(kernel, info, sizeof *info);
}
HD_INLINE bool hd_kernel_get_param(const hd_kernel *kernel, size_t i, hd_param_info *info)
{
    return hd_kernel_get_param_sized(kernel, i, info, sizeof *info);
}
HD_INLINE hd_result hd_checker_create(hd_machine *machine, const hd_checker_options *options, hd_checker **checker)
{
    return hd_checker_create_sized(machine, options, sizeof *options, checker);
}
HD_INLINE hd_result hd_explainer_create(hd_machine *machine, const hd_explainer_options *options,
                                        hd_explainer **explainer)
{
    return hd_explainer_create_sized(machine, options, sizeof *options, explainer);
}
HD_INLINE hd_result hd_launch(hd_kernel *kernel, const hd_launch_config *config, hd_launch_stats *stats,
                              hd_report **report)
{
    return hd_launch_sized(kernel, config, sizeof *config, stats, sizeof *stats, report);
}
HD_INLINE hd_result hd_launch_check(hd_kernel *kernel, const hd_launch_config *config, hd_report **report)
{
    return hd_launch_check_sized(kernel, config, sizeof *config, report);
}
HD_INLINE hd_result hd_context_create(hd_machine *machine, const hd_context_options *options, hd_context **context)
{
    return hd_context_create_sized(machine, options, sizeof *options, context);
}
HD_INLINE hd_result hd_stream_launch(hd_stream *stream, hd_kernel *kernel, const hd_launch_config *config,
                                     hd_report **report)
{
    return hd_stream_launch_sized(stream, kernel, config, sizeof *config, report);
}
HD_INLINE hd_result hd_stream_copy(hd_stream *stream, const hd_copy *copy, enum hd_wait wait)
{
    return hd_stream_copy_sized(stream, copy, sizeof *copy, wait);
}
HD_INLINE hd_result hd_stream_fill(hd_stream *stream, const hd_fill *fill, enum hd_wait wait)
{
    return hd_stream_fill_sized(stream, fill, sizeof *fill, wait);
}
HD_INLINE hd_result hd_stream_work(hd_stream *stream, const hd_work *work, enum hd_wait wait)
{
    return hd_stream_work_sized(stream, work, sizeof *work, wait);
}
HD_INLINE hd_result hd_array_create(hd_machine *machine, const hd_array_desc *desc, hd_array **array,
                                    const char **error)
{
    return hd_array_create_sized(machine, desc, sizeof *desc, array, error);
}
HD_INLINE void hd_array_get_desc(const hd_array *array, hd_array_desc *desc)
{
    hd_array_get_desc_sized(array, desc, sizeof *desc);
}
HD_INLINE bool hd_array_get_level(const hd_array *array, unsigned level, hd_array_level *at)
{
    return hd_array_get_level_sized(array, level, at, sizeof *at);
}
HD_INLINE hd_result hd_texture_create(hd_machine *machine, const hd_texture_desc *desc, uint64_t *texture,
                                      const char **error)
{
    return hd_texture_create_sized(machine, desc, sizeof *desc, texture, error);
}
HD_INLINE bool hd_texture_get_desc(hd_machine *machine, uint64_t texture, hd_texture_desc *desc)
{
    return hd_texture_get_desc_sized(machine, texture, desc, sizeof *desc);
}
HD_INLINE hd_result hd_texture_bind(hd_machine *machine, uint64_t reference, const hd_texture_desc *desc,
                                    const char **error)
{
    return hd_texture_bind_sized(machine, reference, desc, sizeof *desc, error);
}
HD_INLINE hd_result hd_tensor_map_encode(const hd_tensor_map *map, void *bytes, const char **error)
{
    return hd_tensor_map_encode_sized(map, sizeof *map, bytes, error);
}
HD_INLINE bool hd_cache_get_info(hd_cache_info *info)
{
    return hd_cache_get_info_sized(info, sizeof *info);
}
HD_INLINE void hd_ptx_get_info(const hd_ptx *ptx, hd_ptx_info *info)
{
    hd_ptx_get_info_sized(ptx, info, sizeof *info);
}
HD_INLINE bool hd_ptx_get_function(const hd_ptx *ptx, size_t i, hd_ptx_function *function)
{
    return hd_ptx_get_function_sized(ptx, i, function, sizeof *function);
}
HD_INLINE const char *hd_ptx_rewrite(hd_ptx *ptx, const hd_ptx_code *code, size_t *bytes)
{
    return hd_ptx_rewrite_sized(ptx, code, sizeof *code, bytes);
}
HD_INLINE bool hd_isa_get_form(size_t i, hd_isa_form *form)
{
    return hd_isa_get_form_sized(i, form, sizeof *form);
}
HD_INLINE bool hd_isa_get_set(size_t i, hd_isa_set *set)
{
    return hd_isa_get_set_sized(i, set, sizeof *set);
}
HD_INLINE bool hd_isa_get_register(size_t i, hd_isa_register *reg)
{
    return hd_isa_get_register_sized(i, reg, sizeof *reg);
}

#ifdef __cplusplus
}
#endif

#endif
