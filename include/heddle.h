/* Heddle: runs, checks and explains CUDA programs with no GPU. The C library.
 *
 * A machine is a virtual GPU with its own memory. Modules of PTX text are loaded on it, kernels
 * launched. Global memory of the machine is memory of this process: what hd_alloc() returns can be
 * read and written directly, and is what a kernel gets as a pointer.
 *
 * Several machines may live in one process. Every function may be called from several threads at
 * once, on the same machine too, except that nothing else may use an object while it is being
 * destroyed.
 *
 * Functions return HD_SUCCESS or an error whose number is that of CUDA's driver API for the same
 * fault. NULL where it is not allowed is HD_ERROR_INVALID_VALUE; what returns no hd_result then
 * returns NULL, false or 0, or fills in zeros. The library never exits, prints, or jumps out of its
 * caller. "PTX ISA" is NVIDIA's "Parallel Thread Execution ISA", version 9.0.
 */
#ifndef HEDDLE_H
#define HEDDLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header; hd_version() is the library's that runs. */
#define HD_VERSION_MAJOR 0
#define HD_VERSION_MINOR 1
#define HD_VERSION_PATCH 0

#define HD_API    __attribute__((visibility("default")))
#define HD_INLINE static inline __attribute__((unused)) /* has a part at the end of this header, "how it grows" */

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

/* What went wrong, and where: the errors of a module, the fault of a launch. Owned by the caller. */
typedef struct hd_report hd_report;

typedef enum hd_severity { HD_SEVERITY_ERROR, HD_SEVERITY_WARNING, HD_SEVERITY_NOTE } hd_severity;

/* A call on the host's stack; what is not known of it is NULL or 0. */
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
    const char *cuda_file;         /* the line of CUDA C (PTX ISA 11.5.3), or NULL where the PTX does not tell */
    unsigned cuda_line;            /* of the host's mistakes: the line of the host's code */
    const char *inlined_file;      /* where that line calls an inlined function: the line in the function, or NULL */
    unsigned inlined_line;
    const char *text;       /* one sentence or paragraph */
    const char *help;       /* what to do about it, or NULL */
    uint64_t count;         /* findings of a checker: how often it was seen; else 0 */
    const char *kernel;     /* findings of a checker: that was running, as the source has it, or NULL */
    const char *reason;     /* a stable word that tells findings of one code and place apart, or NULL */
    const hd_frame *frames; /* of the host's mistakes: who called, innermost first; else NULL */
    size_t frame_count;
} hd_diagnostic;

HD_API size_t hd_report_count(const hd_report *report);
/* False where i is not less than the count. The strings belong to the report. */
HD_INLINE bool hd_report_get(const hd_report *report, size_t i, hd_diagnostic *diagnostic);
/* All of it as text for people (with source lines and carets; lines of CUDA where their file can be
 * read), as a JSON array, or as a SARIF 2.1.0 log for editors and code hosts. Belongs to the
 * report. */
HD_API const char *hd_report_text(hd_report *report);
HD_API const char *hd_report_json(hd_report *report);
HD_API const char *hd_report_sarif(hd_report *report);
/* Adds copies of what `from` has (nothing where it is NULL) to *to, which is made where it is NULL.
 * Errors: HD_ERROR_OUT_OF_MEMORY. */
HD_API hd_result hd_report_add(hd_report **to, const hd_report *from);
/* The same of a diagnostic that the caller has made of what the host does: its line is that of the
 * first frame that has one. A note belongs to the error or warning that was added before it.
 * Errors: HD_ERROR_INVALID_VALUE (a place in PTX, no code or text), HD_ERROR_OUT_OF_MEMORY. */
HD_INLINE hd_result hd_report_add_diagnostic(hd_report **to, const hd_diagnostic *diagnostic);
HD_API void hd_report_free(hd_report *report); /* NULL is allowed */

/* ---- machines ---- */

typedef struct hd_machine hd_machine;

/* What runs kernels. */
typedef enum hd_engine {
    HD_ENGINE_AUTO,   /* the interpreter at once, compiled code where a kernel turns out to be worth it */
    HD_ENGINE_INTERP, /* the interpreter */
    HD_ENGINE_JIT,    /* compiled code from the first block on; a launch fails where that cannot be */
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
    /* Limit of device memory: allocations, variables, the kernels' heap, and while launches run
     * what their threads need (registers, local and shared memory); default: three quarters of the
     * host's. HD_ERROR_OUT_OF_MEMORY */
    uint64_t memory_bytes;
    uint64_t heap_bytes;  /* limit of the kernels' own malloc; default 8 MiB, as under CUDA */
    uint64_t print_bytes; /* limit of what the kernels of a launch print; default HD_DEFAULT_PRINT_BYTES */
    /* Limit of a thread's stack for recursive and indirect calls, of which each takes 16 bytes at
     * least; at most 1 GiB, default 64 KiB. HD_ERROR_STACK */
    uint64_t stack_bytes;
    /* Of warp instructions in a launch, of all its blocks together, as hd_launch_stats counts them;
     * 0 = none. A launch that executes more fails, soon, with HD_ERROR_LAUNCH_TIMEOUT. */
    uint64_t step_limit;
    /* One of hd_cpu_level(), or short, as in "v3": for tests, as results do not depend on it;
     * default: the environment variable HEDDLE_CPU, or the best of this CPU. */
    const char *cpu_level;
    hd_engine engine; /* of launches that do not say; default: the environment variable HEDDLE_ENGINE, or auto */
    /* Takes what kernels print, at once and in order; default: discarded. May be called from any
     * thread, one at a time. A call of printf whose text would go beyond print_bytes is lost:
     * `note` is told at the end, and hd_launch_stats. */
    void (*print)(void *data, const char *text, size_t bytes);
    /* Takes remarks while a launch runs, e.g. where it has been spinning for five seconds. */
    void (*note)(void *data, const char *text);
    void *print_data; /* for both, for host_ranges, used_tail and origin */
    /* Who runs next: "fair" (default), "serial", "random:SEED", "random" (a seed from the clock),
     * "replay:FILE". All but fair run one launch at a time on one thread, with clocks that count
     * instructions, and can be repeated. */
    const char *policy;
    const char
        *trace_path; /* where to write a timeline of all warps, for chrome://tracing or Perfetto ("-": to stdout) */
    const char *record_path; /* where to write the schedule of a serial or random run, for replay ("-": to stdout) */
    /* Kernels may use all memory of this process, not that of the machine alone (CUDA's pageable
     * memory access). An access to what is not mapped is an illegal address just the same. */
    bool host_memory;
    /* Where host_memory is false: what of this process's memory beside the machine's own kernels
     * may use all the same, as memory that has been registered, or another machine's; all of the
     * pages that it is in, as on a GPU. Writes up to n ranges in any order and returns how many
     * there are; where that is more it is called again with room for them. Called from any thread
     * while a launch runs, at the first need and where an address is in none. NULL: nothing. */
    size_t (*host_ranges)(void *data, hd_range *ranges, size_t n);
    /* Whether a copy or fill may read, or write, these bytes of the process's memory beside the
     * machine's own. It is asked when the copy begins; where the answer is false,
     * HD_ERROR_LAUNCH_FAILED becomes the context's fault. NULL: all. */
    bool (*host_allows)(void *data, const void *start, size_t bytes, bool writes);
    /* Freed memory is not used again soon (of small allocations, up to 64 MiB), and there are gaps
     * between allocations, so that wrong addresses are found out. */
    bool guarded;
    /* Kernels may use the tail of memory of hd_alloc: what lies between its end and the next
     * multiple of 512 bytes, which is what an H200 gives out at a time. It is zeros at first, and
     * nobody else's. `used_tail` is told behind each launch whose kernel has done so. */
    bool open_tails;
    void (*used_tail)(void *data, const char *kernel);
    /* Where memory of hd_alloc came from, for messages: "allocated at main.cu:27", given its start;
     * of memory that was `freed`: "at main.cu:40 (allocated at main.cu:27)". False where nothing is
     * known. From any thread, while a launch runs. */
    bool (*origin)(void *data, const void *start, bool freed, char *text, size_t bytes);
    const char *device; /* what it claims to be: "sm_80"; default: sm_90, an H200 */
} hd_machine_options;

/* The levels of vector instructions that Heddle knows and this CPU has, best first ("x86-64-v3",
 * ...); NULL where i is not less than their count. */
HD_API const char *hd_cpu_level(size_t i);

/* Errors: HD_ERROR_OUT_OF_MEMORY (no address space, no threads), HD_ERROR_INVALID_VALUE (unknown
 * CPU level, policy or device, a file that cannot be opened): then *error, if not NULL, gets a
 * static text. */
HD_INLINE hd_result hd_machine_create(const hd_machine_options *options, hd_machine **machine, const char **error);
/* Modules, kernels and memory of the machine are gone afterwards; no launch may be running. NULL is
 * allowed. Errors, after which all is gone just the same: HD_ERROR_FILE where a trace or a record
 * could not be written whole. */
HD_API hd_result hd_machine_destroy(hd_machine *machine);

/* For whoever runs strangers' kernels: the process gives up what they do not need, so that a
 * mistake of Heddle's which lets a kernel run code of its own in the process lets it do no more
 * than that. From then on, in all threads and for ever, no system call that names a file, starts a
 * program or a process, makes a socket, or acts on other processes succeeds, nor one that makes
 * memory executable which can be written; what is open stays open. What no library asks for of
 * itself ends in SIGSYS. Memory of the process, what is open, and processor time are not protected.
 *
 * To be called once a process, before a stranger's PTX is loaded, where nothing else of the process
 * needs what is given up; it forks a child process, which asks the compiler for the machine, keeps
 * compiled code on disk, and ends with this process. Other machines, made before or after, run in
 * the interpreter alone. Traces and records go on being written.
 *
 * Errors, with a static text in *error, if that is not NULL: HD_ERROR_NOT_SUPPORTED where the
 * system cannot do it (no seccomp filters); HD_ERROR_OUT_OF_MEMORY, also of descriptors or
 * processes; HD_ERROR_INVALID_VALUE where it has been called before, or the machine's kernels may
 * use this process's memory. */
HD_API hd_result hd_sandbox_enter(hd_machine *machine, const char **error);

/* What the machine claims to be: limits that launches are checked against (PTX ISA 2, CUDA's
 * deviceQuery). */
typedef struct hd_machine_info {
    char name[64];
    unsigned compute_major, compute_minor;
    unsigned multiprocessors, warp_lanes, workers;
    const char *cpu_level;
    const char *policy; /* with which runs can be repeated: "random:7" where the machine was made with "random" */
    unsigned max_threads_per_block, max_block[3], max_grid[3];
    unsigned max_threads_per_multiprocessor, max_blocks_per_multiprocessor;
    unsigned shared_bytes_per_block, shared_bytes_per_block_optin, shared_bytes_per_multiprocessor;
    unsigned registers_per_block;
    uint64_t memory_bytes, memory_used_bytes, constant_bytes;
    hd_range addresses; /* in which all of its memory lies */
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
    HD_LIMIT_PRINT_BYTES,      /* for launches that begin afterwards */
    HD_LIMIT_PENDING_LAUNCHES, /* by kernels, that have not ended (cudaLimitDevRuntimePendingLaunchCount); default: 2048 */
};
/* Errors: HD_ERROR_INVALID_VALUE. */
HD_API hd_result hd_machine_set_limit(hd_machine *machine, enum hd_limit limit, uint64_t value);

/* How far the launches are that run on the machine now: blocks done, of all their blocks. */
typedef struct hd_progress {
    unsigned launches;
    uint64_t blocks_done, blocks;
} hd_progress;
HD_INLINE void hd_machine_get_progress(hd_machine *machine, hd_progress *progress);

/* Makes all launches that run fail with HD_ERROR_CANCELLED, soon. May be called from a signal
 * handler's thread. */
HD_API void hd_machine_cancel(hd_machine *machine);

/* Waits until no kernel of the machine is within a turn, and no copy or fill on its way, and lets
 * none begin one until hd_machine_release(): meanwhile memory beside the machine's own can be taken
 * from under them, or its protection changed. Kernels that use it then fail as at any address.
 * Neither from a kernel's printf nor while another thread does the same. */
HD_API void hd_machine_hold(hd_machine *machine);
HD_API void hd_machine_release(hd_machine *machine);

/* ---- memory ---- */

/* Global memory of `bytes` bytes, aligned to 512; contents undefined. *pointer is valid in this
 * process and in kernels. Errors: HD_ERROR_INVALID_VALUE (0 bytes), HD_ERROR_OUT_OF_MEMORY. */
HD_API hd_result hd_alloc(hd_machine *machine, size_t bytes, void **pointer);
/* The same with a name (copied), by which reports call the allocation. */
HD_API hd_result hd_alloc_named(hd_machine *machine, size_t bytes, const char *name, void **pointer);
/* The same of zeros, for what the host itself reads and writes while kernels run (CUDA's managed
 * and pinned memory): a checker can watch what it does there (hd_checker_options.host). */
HD_API hd_result hd_alloc_host(hd_machine *machine, size_t bytes, void **pointer);
/* Where to access memory of the machine's without being taken for the program: the same place at
 * another address, or at its own. */
HD_API void *hd_own_view(hd_machine *machine, const void *pointer);
/* HD_ERROR_INVALID_VALUE where the pointer is not one of hd_alloc's. NULL is allowed. */
HD_API hd_result hd_free(hd_machine *machine, void *pointer);

/* Addresses for memory that comes and goes, at once or in the order of a stream: hd_stream_open().
 * Nothing is there at first. */
HD_API hd_result hd_reserve(hd_machine *machine, size_t bytes, void **pointer);
HD_API hd_result hd_open(hd_machine *machine, void *pointer, size_t bytes);
HD_API hd_result hd_close(hd_machine *machine, void *pointer);
/* They are free for others, and what is there ends. */
HD_API void hd_unreserve(hd_machine *machine, void *pointer);

/* Lets other processes map memory of hd_alloc: its bytes stand in *file from *offset on. The file
 * is the machine's and there as long as the memory. It waits for the machine's launches, copies and
 * fills that run, and they for it; the host itself may not write to the memory meanwhile. */
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
/* False where the address lies in none of the machine's memory. */
HD_INLINE bool hd_find(hd_machine *machine, const void *pointer, hd_memory_info *info);
/* What hd_find is to say of memory of hd_alloc, given by its start. */
HD_API hd_result hd_set_data(hd_machine *machine, void *pointer, void *data);

/* ---- modules and kernels ---- */

typedef struct hd_module hd_module;
typedef struct hd_kernel hd_kernel;

/* One PTX text. The name stands in diagnostics. Text and name are copied. */
typedef struct hd_source {
    const char *name;
    const char *text;
    size_t bytes;
} hd_source;

/* Parses, verifies and links the texts (PTX ISA 4 to 11) and gives their variables memory. Errors:
 * HD_ERROR_INVALID_PTX; the report, if not NULL, gets what was found, also warnings of a success
 * (else NULL). A kernel with an instruction that is not supported loads; its launch fails. */
HD_API hd_result hd_module_load(hd_machine *machine, const hd_source *sources, size_t n, hd_module **module,
                                hd_report **report);
/* Launches of its kernels that have been put into streams still run. NULL is allowed. */
HD_API void hd_module_unload(hd_module *module);

HD_API size_t hd_module_kernel_count(const hd_module *module);
/* In the order of the texts; NULL where i is not less than the count. */
HD_API const char *hd_module_kernel_name(const hd_module *module, size_t i);
/* The name of the kernel that a person means by `typed`: the same, or the only one whose name in
 * the source is that, whole, without scopes or without template arguments; NULL: the only kernel.
 * The name belongs to the module. Errors: HD_ERROR_NOT_FOUND with a report that says what there is. */
HD_API hd_result hd_module_find_kernel(const hd_module *module, const char *typed, const char **name,
                                       hd_report **report);
/* What a thread of a kernel takes in machine code for the device, of whoever has it: occupancy
 * counts its registers, an explainer what they do not hold. Without it they are estimated. Before
 * the kernel is first asked for. HD_ERROR_NOT_FOUND where there is no such kernel. */
typedef struct hd_machine_code {
    unsigned registers;                 /* not 0 */
    unsigned frame_bytes;               /* of local memory: arrays, and registers that were spilled */
    unsigned local_loads, local_stores; /* instructions of it that access local memory, by words of 32 bits */
} hd_machine_code;
HD_INLINE hd_result hd_module_set_machine_code(hd_module *module, const char *kernel, const hd_machine_code *code);

/* The kernel, ready to run: code is prepared here. Errors: HD_ERROR_NOT_FOUND,
 * HD_ERROR_NOT_SUPPORTED and HD_ERROR_INVALID_PTX with a report. The kernel belongs to the module;
 * asking again gives the same one. */
HD_API hd_result hd_module_get_kernel(hd_module *module, const char *name, hd_kernel **kernel, hd_report **report);
/* A .global or .const variable. Errors: HD_ERROR_NOT_FOUND. */
HD_API hd_result hd_module_get_global(hd_module *module, const char *name, void **pointer, size_t *bytes);
/* Makes `to` the place of a .global variable, for kernels that are asked for later: memory of the
 * caller's that lives as long as the module and that kernels can reach
 * (hd_machine_options.host_memory, host_ranges). Its contents stay as they are; the initial value
 * is at the old place, which is free from then on. Errors: HD_ERROR_NOT_FOUND. */
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
    unsigned registers;                      /* of a thread: an estimate, as there is no machine code */
    unsigned required_block[3];              /* of .reqntid, else 0 */
    bool explicit_cluster;                   /* .explicitcluster: launches have to say how large a cluster is */
    unsigned required_cluster[3];            /* of .reqnctapercluster, else 0 */
    unsigned max_cluster;                    /* of .maxclusterrank, else 0 */
    size_t instructions;                     /* of the kernel and all functions it reaches */
} hd_kernel_info;
HD_INLINE void hd_kernel_get_info(const hd_kernel *kernel, hd_kernel_info *info);
/* What it, or a function that it reaches, calls of CUDA's device runtime: of enum hd_nesting. */
enum hd_nesting {
    HD_NESTS_GRAPHS = 1,  /* cudaGraphLaunch() */
    HD_NESTS_KERNELS = 2, /* anything else */
};
HD_API unsigned hd_kernel_nesting(const hd_kernel *kernel);
/* Lets launches of the kernel by other kernels have more dynamic shared memory than what, with its
 * static, makes 48 KiB; hd_launch() asks for no leave (CUDA's
 * cudaFuncAttributeMaxDynamicSharedMemorySize). Errors: HD_ERROR_INVALID_VALUE (more than a block
 * can have). */
HD_API hd_result hd_kernel_allow_shared(hd_kernel *kernel, size_t dynamic_bytes);
/* Occupancy: how many blocks of `threads` threads a multiprocessor holds; 0 where none fits. */
HD_API unsigned hd_kernel_max_blocks(const hd_kernel *kernel, unsigned threads, size_t dynamic_shared_bytes);
/* The same of clusters of `cluster` (not 0) such blocks, on the whole device. */
HD_API unsigned hd_kernel_max_clusters(const hd_kernel *kernel, unsigned threads, size_t dynamic_shared_bytes,
                                       unsigned cluster);
/* False where i is not less than param_count. */
HD_INLINE bool hd_kernel_get_param(const hd_kernel *kernel, size_t i, hd_param_info *info);

/* ---- checking ---- */

/* Watches all launches of a machine, in whatever stream, for accesses out of bounds and misaligned,
 * reads of memory that nobody has written (global, shared, local), misused barriers and warp masks
 * (PTX ISA 9.7.13), and leaks of the device heap. They run on the interpreter; bad accesses are
 * left out, so that a launch goes on and several errors are found. It may be called from any
 * thread; what it finds in what a schedule leaves open does not depend on the number of workers. */
typedef struct hd_checker hd_checker;

/* What is looked for; the names are compute-sanitizer's. */
enum hd_tool {
    HD_TOOL_MEMCHECK = 1,  /* accesses out of bounds and misaligned, leaks of the device heap */
    HD_TOOL_RACECHECK = 2, /* data races */
    HD_TOOL_INITCHECK = 4, /* reads of what nobody has written */
    HD_TOOL_SYNCCHECK = 8, /* misused barriers and masks */
    HD_TOOLS_ALL = 15,
};

/* What a bad access ends. */
enum hd_on_error {
    HD_ON_ERROR_NOTHING, /* it is left out (a load gives 0) and the launch goes on, so that several errors are found */
    HD_ON_ERROR_KERNEL,  /* the launch; its context goes on */
    HD_ON_ERROR_CONTEXT, /* the launch, which fails, and with it its context, as on a GPU */
};

/* What kernels may do with memory; an atomic operation needs all three. */
enum hd_memory_use { HD_MEMORY_READ = 1, HD_MEMORY_WRITE = 2, HD_MEMORY_ATOMIC = 4, HD_MEMORY_ALL = 7 };

/* What a program says of a part of its memory. */
typedef struct hd_memory_rule {
    const void *start;
    size_t bytes;
    unsigned uses;    /* of enum hd_memory_use */
    bool given;       /* false: of a pool, which has not given it out */
    const char *name; /* or NULL */
} hd_memory_rule;

/* Rules that do not change, in the order of addresses and none over another; memory that none is of
 * can be used as it is. Copied. Errors: HD_ERROR_INVALID_VALUE, HD_ERROR_OUT_OF_MEMORY. */
typedef struct hd_memory_rules hd_memory_rules;
HD_API hd_result hd_memory_rules_create(const hd_memory_rule *rules, size_t count, hd_memory_rules **made);
HD_API hd_memory_rules *hd_memory_rules_keep(hd_memory_rules *rules); /* once more to be destroyed; NULL of NULL */
HD_API void hd_memory_rules_destroy(hd_memory_rules *rules); /* launches that have them keep them; NULL is allowed */

/* Zero is the default throughout. */
typedef struct hd_checker_options {
    unsigned tools; /* of enum hd_tool; 0: all */
    enum hd_on_error on_error;
    /* With HD_TOOL_RACECHECK: what the host itself reads and writes in memory of hd_alloc_host
     * takes part, as far as launches and copies have been put into streams that it has not waited
     * for. Such memory is closed to it then, and handlers of this process see each access, by
     * SIGSEGV and SIGTRAP (those of the program's own are called for what is not of this). Has no
     * effect on CPUs other than x86-64. */
    bool host;
    /* That of another machine of this process, or NULL: streams of the two can wait for each other.
     * It must not be destroyed before. */
    hd_checker *with;
    /* Where in the program the calling thread is, for findings about what the host does and has put
     * into streams: a pointer that is the same for the same place and good as long as the checker.
     * May be called from a signal's handler. NULL: nobody knows. */
    const void *(*place)(void *data);
    /* The calls that led there, innermost first; they live as long. */
    size_t (*frames)(void *data, const void *place, const hd_frame **frames);
    /* With HD_TOOL_INITCHECK: a copy that was put into a stream at `place` is about to read bytes
     * that nobody has written; byte `first` of a row of `bytes` bytes is the first of them. Once a
     * copy, from the thread that copies. Of hd_stream_work, `to` is NULL. */
    void (*undefined_copy)(void *data, const void *place, const void *to, const void *from, size_t bytes, size_t first);
    /* Called before each launch that is watched, and after it, from its thread: `fresh` where it
     * has shown something new. */
    void (*begun)(void *data, const char *kernel);
    void (*launched)(void *data, const char *kernel, bool fresh);
    void *data;
    /* Of this process's memory, what the checker may take for what it knows of the kernels' (`with`
     * one: of both together); what it does not watch beyond that is a finding. 0: half of this
     * computer's. */
    uint64_t shadow_bytes;
} hd_checker_options;

/* From here on the machine's launches are watched. `options` may be NULL. Errors:
 * HD_ERROR_INVALID_VALUE (a machine that has a checker), HD_ERROR_OUT_OF_MEMORY. Destroy it before
 * its machine. */
HD_INLINE hd_result hd_checker_create(hd_machine *machine, const hd_checker_options *options, hd_checker **checker);
HD_API void hd_checker_destroy(hd_checker *checker);              /* NULL is allowed */
HD_API hd_checker *hd_machine_checker(const hd_machine *machine); /* or NULL */
/* Memory of hd_alloc counts as written; this says that it is not (again). `name` (copied) may be
 * NULL. What no address space can have, as NULL or a range beyond 2^48, is no memory to any of
 * these: HD_ERROR_INVALID_VALUE here, elsewhere nothing happens. */
HD_API hd_result hd_checker_mark_undefined(hd_checker *checker, const void *p, size_t bytes, const char *name);
HD_API void hd_checker_mark_defined(hd_checker *checker, const void *p, size_t bytes);
/* After a copy that no stream has made: the bytes of `to` are as defined as those of `from` are. */
HD_API void hd_checker_mark_copied(hd_checker *checker, const void *to, const void *from, size_t bytes);
/* How many of the bytes have been written before the first that has not. */
HD_API size_t hd_checker_defined_bytes(hd_checker *checker, const void *p, size_t bytes);
/* How many of them have never been written. */
HD_API size_t hd_checker_undefined_bytes(hd_checker *checker, const void *p, size_t bytes);
/* Memory gets another meaning, as in a pool: what was known of it, and done to it, counts no more.
 * hd_free says so itself. */
HD_API void hd_checker_forget(hd_checker *checker, const void *p, size_t bytes);
/* For who wraps system calls, which cannot access memory that is closed to the host
 * (hd_checker_options.host): where they find the same memory, or the address itself where it is
 * open; and what they have done there, told at the program's address. */
HD_API void *hd_host_view(const void *p);
HD_API void hd_host_access(const void *p, size_t bytes, bool write);
/* Nothing more will run: what can be known only then (leaks) becomes findings. */
HD_API void hd_checker_end(hd_checker *checker);
/* From here on all that the checker is told of launches and of the host is written to a file, from
 * which its findings can be made again without the kernels (`heddle check --replay-events`). Before
 * anything is told to it; those that are made `with` it afterwards are written to the same file.
 * Errors: HD_ERROR_INVALID_VALUE (it is recorded already), HD_ERROR_FILE, with errno set. */
HD_API hd_result hd_checker_record(hd_checker *checker, const char *path);
/* The file is complete, with the name of the program (NULL: none) and findings that no checker has
 * made (or NULL). HD_ERROR_FILE, with errno set, where it is not whole. */
HD_API hd_result hd_checker_record_end(hd_checker *checker, const char *program, const hd_report *others);
/* What its launches have shown so far, each finding once with a count, in the order of the PTX
 * text; NULL where there is nothing. */
HD_API hd_result hd_checker_report(hd_checker *checker, hd_report **report);

/* ---- explaining ---- */

/* Counts what a machine's launches do, as a GPU would count it, and estimates what it would take
 * for them: docs/EXPLAIN.md. What is counted runs on the interpreter. It may be used from any
 * thread. */
typedef struct hd_explainer hd_explainer;

typedef struct hd_explainer_options {
    const char
        *device; /* whose figures they are, by architecture or name ("H200"); default: what the machine claims to be */
    /* Called before each launch, and after it, from its thread, with what was counted as JSON;
     * NULL: it could not be, as memory has run out. */
    void (*begun)(void *data, const char *kernel);
    void (*launched)(void *data, const char *json);
    void *data;
    /* When the launches that were counted have executed so many warp instructions, of those of a
     * kernel with the same sizes only the 1st, 2nd, 4th, 7th, 11th, 17th, ... are: each of the
     * others is taken to be as the last one that was. 0: all are counted. */
    uint64_t sample_after;
    /* That of another machine of this process, or NULL: streams of the two can wait for each other,
     * and are told of together. It must not be destroyed before. */
    hd_explainer *with;
    /* Instead of `launched`, where it is not NULL, for a launch of which every figure is as of the
     * n-th that `launched` got JSON of, from 0 on. Of an explainer's launches one is told at a
     * time. */
    void (*again)(void *data, uint64_t n);
} hd_explainer_options;

/* From here on the machine's launches are counted. `options` may be NULL. Errors:
 * HD_ERROR_INVALID_VALUE (no such device, a machine that has an explainer), HD_ERROR_OUT_OF_MEMORY.
 * Destroy it before its machine. */
HD_INLINE hd_result hd_explainer_create(hd_machine *machine, const hd_explainer_options *options,
                                        hd_explainer **explainer);
HD_API void hd_explainer_destroy(hd_explainer *explainer); /* NULL is allowed */
/* The sums of all launches so far of the i-th kernel, in the order of first launches, as JSON, by
 * line and instruction: a string to be freed with free(); NULL where there are not so many. */
HD_API hd_result hd_explainer_kernel(hd_explainer *explainer, size_t i, char **json);
/* What libraries' calls (hd_stream_work) have done so far, by function and unit, as JSON: a string
 * to be freed with free(). */
HD_API hd_result hd_explainer_calls(hd_explainer *explainer, char **json);
/* The program says what it is about to do (NVTX's ranges and marks), in the thread that calls: a
 * range within the thread's last one begins, or that ends; one of the process with an identifier of
 * its own begins or ends; a moment has a name. */
typedef enum { HD_RANGE_PUSH, HD_RANGE_POP, HD_RANGE_START, HD_RANGE_END, HD_RANGE_MARK } hd_range_event;
HD_API void hd_explainer_range(hd_explainer *explainer, hd_range_event event, uint64_t id, const char *name);
/* What has been put into streams so far, and what the host has waited for, over the time that it
 * would take, as JSON: a string to be freed with free(). Empty where a checker watches the machine,
 * too. */
HD_API hd_result hd_explainer_streams(hd_explainer *explainer, char **json);

/* ---- launches ---- */

enum hd_launch_flags {
    HD_LAUNCH_COOPERATIVE = 1, /* all blocks must be resident at once: HD_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE if not */
    HD_LAUNCH_CLOSED = 2,      /* nobody else touches the machine's memory until it returns: a kernel that spins on
                                  what no thread of its own will change then fails instead of spinning on */
    HD_LAUNCH_NON_PORTABLE_CLUSTER = 4, /* clusters of up to 16 blocks; else of up to 8 */
    HD_LAUNCH_UNCHECKED = 8, /* the machine's checker does not watch it (all memory then counts as written), and
                                           its explainer does not count it */
    HD_LAUNCH_PROGRAMMATIC =
        16, /* may begin before the launch before it in its stream has ended (programmatic dependent launch): it does
                                    not here, and a checker reports what relies on that without griddepcontrol.wait */
    HD_LAUNCH_REPLAYED = 32, /* the one that a machine's policy `replay-launch:FILE` is for */
};

typedef struct hd_launch_config {
    unsigned grid[3], block[3]; /* in blocks, in threads; all at least 1 */
    /* Blocks of a cluster; the grid has whole ones. 0: what the kernel requires, or no clusters.
     * HD_ERROR_INVALID_CLUSTER_SIZE where it is not what the kernel or the device can have. */
    unsigned cluster[3];
    size_t shared_bytes; /* dynamic shared memory of a block */
    unsigned flags;      /* enum hd_launch_flags */
    hd_engine engine;    /* auto: as the machine */
    /* Parameters: pointers to the values, in order, or packed at their offsets; exactly one of the
     * two is set where the kernel has parameters. Values are read before hd_launch returns. */
    const void *const *args;
    const void *packed_args;
    size_t packed_bytes;
    /* Wall clock from the call on, waiting in a stream and for compiled code included; a launch
     * that has not ended by then fails with HD_ERROR_LAUNCH_TIMEOUT. 0: none; at most 1e9. */
    double timeout_seconds;
    /* What a checker with HD_TOOL_MEMCHECK holds the launch's accesses to beside bounds; NULL:
     * nothing. */
    hd_memory_rules *rules;
    /* The graph that it is a kernel of: what %current_graph_exec says, and what the context's
     * launch_graph() gets; or 0 and NULL. */
    uint64_t graph;
    void *graph_run;
} hd_launch_config;

/* What a launch did: sums over all its blocks. */
typedef struct hd_launch_stats {
    double seconds;
    uint64_t blocks, warp_instructions, lane_instructions;
    uint64_t lost_print_bytes; /* text of the kernels' printf that was beyond the limit */
} hd_launch_stats;

/* Runs a grid to its end. Errors: HD_ERROR_INVALID_VALUE and HD_ERROR_LAUNCH_OUT_OF_RESOURCES
 * before it starts (the report says which limit), else the kernel's fault; memory then holds what
 * was written until the fault. `stats` and `report` may be NULL. */
HD_INLINE hd_result hd_launch(hd_kernel *kernel, const hd_launch_config *config, hd_launch_stats *stats,
                              hd_report **report);
/* Whether hd_launch would begin it: the errors that it gives before it starts. */
HD_INLINE hd_result hd_launch_check(hd_kernel *kernel, const hd_launch_config *config, hd_report **report);

/* ---- streams ---- */

/* A set of streams with one fate: the first launch that fails is the context's fault. It ends those
 * that run (HD_ERROR_CANCELLED), unless it is HD_ERROR_ASSERT, and nothing more runs in the
 * context: every function below returns that error (CUDA's "sticky" errors). Memory and modules are
 * the machine's. */
typedef struct hd_context hd_context;
/* Work in a stream runs in the order in which it was put there, beside the work of other streams. */
typedef struct hd_stream hd_stream;
/* A moment in a stream. */
typedef struct hd_event hd_event;

/* A call of a running kernel's. */
typedef struct hd_kernel_call hd_kernel_call;

typedef struct hd_context_options {
    /* Takes the report of each launch that failed, from a stream's thread; the report is the
     * library's. */
    void (*fault)(void *data, hd_result result, hd_report *report);
    void *data;
    /* A kernel of launches with this graph_run calls cudaGraphLaunch() for a graph and a stream: an
     * error of the runtime API, or 0. NULL: no kernel may. */
    int (*launch_graph)(void *data, hd_kernel_call *call, void *graph_run, uint64_t graph, uint64_t stream);
} hd_context_options;

/* Errors: HD_ERROR_INVALID_VALUE, HD_ERROR_OUT_OF_MEMORY. Destroy it before its machine. */
HD_INLINE hd_result hd_context_create(hd_machine *machine, const hd_context_options *options, hd_context **context);
/* Waits for the work of all its streams, which are destroyed with it. NULL is allowed. */
HD_API void hd_context_destroy(hd_context *context);
/* Waits for its work, and takes no more: calls of other threads, which may be putting some, get
 * HD_ERROR_CONTEXT_IS_DESTROYED from now on. hd_context_destroy() is to follow when they have
 * returned. */
HD_API void hd_context_close(hd_context *context);
/* HD_SUCCESS, or the context's fault. */
HD_API hd_result hd_context_status(hd_context *context);
/* Gives it a fault, where it has none, as a launch that fails does. */
HD_API void hd_context_fail(hd_context *context, hd_result fault);
/* Waits for all that has been put into its streams. */
HD_API hd_result hd_context_synchronize(hd_context *context);

enum hd_stream_flags {
    HD_STREAM_NON_BLOCKING = 1, /* does not wait for the default stream, nor the default stream for it */
};
HD_API hd_result hd_stream_create(hd_context *context, unsigned flags, hd_stream **stream);
/* The stream that waits for all others, and they for it, except those created with
 * HD_STREAM_NON_BLOCKING: CUDA's legacy default stream. It belongs to the context. */
HD_API hd_stream *hd_context_default_stream(hd_context *context);
/* Returns at once; what has been put into the stream still runs. NULL is allowed. */
HD_API void hd_stream_destroy(hd_stream *stream);
/* HD_SUCCESS where all is done, HD_ERROR_NOT_READY where something still runs, or the fault. */
HD_API hd_result hd_stream_query(hd_stream *stream);
/* The same, for who does not go by it: checkers do not take it for having waited. */
HD_API bool hd_stream_is_done(hd_stream *stream);
/* What is put between the two is one piece of work: where much is pending, only the end waits for
 * earlier work to be done, and counts it as `n` things that have been put. Batches may be in each
 * other. */
HD_API void hd_stream_begin_batch(hd_stream *stream);
HD_API void hd_stream_end_batch(hd_stream *stream, unsigned n);
HD_API hd_result hd_stream_synchronize(hd_stream *stream);
/* A number that no other stream of the context has. */
HD_API uint64_t hd_stream_number(const hd_stream *stream);

/* hd_launch in a stream: returns when the launch has been put there. The configuration is checked,
 * and parameters are read, before it returns. Errors as those of hd_launch before it starts. */
HD_INLINE hd_result hd_stream_launch(hd_stream *stream, hd_kernel *kernel, const hd_launch_config *config,
                                     hd_report **report);

/* Boxes of bytes: `width` bytes in a row, `height` rows, `depth` slices. From one row to the next
 * it is `pitch` bytes, from one slice to the next `slice` bytes. */
typedef struct hd_copy {
    void *to;
    const void *from;
    size_t width, height, depth;
    size_t to_pitch, to_slice, from_pitch, from_slice;
    bool host; /* a side would lie in the host's memory: what an explainer takes for how long it takes */
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
    HD_NO_WAIT,         /* when it has been put into the stream */
    HD_WAIT,            /* when it is done */
    HD_WAIT_UNPROMISED, /* when it is done, which the caller does not promise its own callers: checkers do not count on it */
};

/* Any memory of this process may be copied or filled; that it is there and large enough is the
 * caller's affair. Where the stream has nothing to wait for, the caller itself does what is small
 * or would be waited for. */
HD_INLINE hd_result hd_stream_copy(hd_stream *stream, const hd_copy *copy, enum hd_wait wait);
HD_INLINE hd_result hd_stream_fill(hd_stream *stream, const hd_fill *fill, enum hd_wait wait);

/* What work of the host's uses of the machine's memory: `height` rows of `width` bytes, `pitch`
 * bytes from one to the next. */
enum hd_use {
    HD_READS = 1,
    HD_WRITES = 2,
};
typedef struct hd_used {
    const void *at;
    size_t width, height, pitch;
    unsigned use; /* enum hd_use: one of them, or both */
} hd_used;

/* Which of a GPU's units would do the arithmetic: an explainer has it take so long. */
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

/* A function of the host's in the place of a kernel, as a library's call is. */
typedef struct hd_work {
    const char *name;             /* in reports; the caller keeps it */
    hd_result (*run)(void *data); /* an error is the context's fault; is not called after one */
    void (*drop)(void *data);     /* is called behind it, or instead, once; may be NULL */
    void *data;
    const hd_used *used; /* until it is dropped */
    size_t used_count;
    double flops, bytes; /* what a GPU would do and move, for who explains it: sums by function, hd_explainer_calls() */
    hd_unit unit;
    /* Instead of `run`, of work that waits for others: called until it returns something else than
     * HD_ERROR_NOT_READY, without waiting itself. *state is its own, NULL at first; what it keeps
     * there it frees at its last call. */
    hd_result (*step)(void *data, void **state);
} hd_work;

/* Puts it into the stream. Checkers see what it uses as they see copies; where that is not there
 * when its turn comes, the context's fault is HD_ERROR_ILLEGAL_ADDRESS, and it does not run. Where
 * the stream has nothing to wait for, the caller itself does what is small or would be waited for.
 * It must not wait for streams, nor allocate or free the machine's memory. */
HD_INLINE hd_result hd_stream_work(hd_stream *stream, const hd_work *work, enum hd_wait wait);
enum hd_call_flags {
    HD_CALL_ALWAYS = 1, /* also after a fault: status says what it was */
    HD_CALL_UPKEEP = 2, /* of the caller's own: nobody learns by it that the stream has come so far */
};
/* Calls a function of the host, which must not wait for the stream itself. Of all streams of a
 * machine only so many such functions run at a time, at least two where it has threads for it: they
 * may be made to follow each other. */
HD_API hd_result hd_stream_call(hd_stream *stream, void (*function)(void *data, hd_result status), void *data,
                                unsigned flags);
/* The stream waits for what others do: the function is called, also after a fault, until it says
 * that this is done, and must not wait itself. Checkers take what has begun by then as done by
 * then. */
HD_API hd_result hd_stream_gate(hd_stream *stream, bool (*is_open)(void *data, hd_result status), void *data);
/* What stands here is found out when the stream comes here: `next` is called then, may put work
 * into other streams of the context, and record `until` behind it; true: the stream waits for that
 * and calls it again. It is called also after a fault, which it is told, must say false then, and
 * must not wait itself. Checkers take what has begun when it says false as done by then. */
HD_API hd_result hd_stream_loop(hd_stream *stream, bool (*next)(void *data, hd_result status, hd_event *until),
                                void *data);
/* The same for a kernel, in launch_graph() of its context's options: in a stream of its own, that
 * the kernel's launch does not wait for, behind `begun`: what the calling thread has done. `ended`
 * is its end. After an error, `next` is not called. */
HD_API hd_result hd_kernel_call_loop(hd_kernel_call *call, bool (*next)(void *data, hd_result status, hd_event *until),
                                     void *data, hd_event *begun, hd_event *ended);
/* Addresses of hd_reserve: memory of so many bytes, undefined, is there from when the stream comes
 * here on, where it was not; and is not there any more, where it was. */
HD_API hd_result hd_stream_open(hd_stream *stream, void *pointer, size_t bytes);
HD_API hd_result hd_stream_close(hd_stream *stream, void *pointer, size_t bytes);
/* Memory of hd_alloc is the program's from when the stream comes here on, and of what comes after
 * that: checkers find earlier uses. */
HD_API hd_result hd_stream_allocated(hd_stream *stream, void *pointer);
/* Frees memory of hd_alloc when the stream comes to it. */
HD_API hd_result hd_stream_free(hd_stream *stream, void *pointer);

HD_API hd_result hd_event_create(hd_event **event);
HD_API void hd_event_destroy(hd_event *event); /* NULL is allowed */
/* The event is now this moment in the stream. */
HD_API hd_result hd_event_record(hd_event *event, hd_stream *stream);
/* The event is now the end of what has been put into the stream last, which may be before now:
 * cheaper, where order is all that counts. */
HD_API hd_result hd_event_follow(hd_event *event, hd_stream *stream);
/* An event that has never been recorded is done. */
HD_API hd_result hd_event_query(hd_event *event);
HD_API hd_result hd_event_synchronize(hd_event *event);
/* What is put into the stream from now on waits for the event as it is recorded now. */
HD_API hd_result hd_stream_wait_event(hd_stream *stream, hd_event *event);
/* Errors: HD_ERROR_INVALID_VALUE (never recorded), HD_ERROR_NOT_READY. */
HD_API hd_result hd_event_elapsed(hd_event *start, hd_event *end, double *seconds);

/* ---- arrays, textures and surfaces ---- */

/* Numbers are those of the driver API's types: of formats CUarray_format, of flags of arrays
 * CUDA_ARRAY3D_..., of address modes CUaddress_mode, of filters CUfilter_mode, of flags of textures
 * CU_TRSF_..., of formats of views CUresourceViewFormat. What such a number is of and Heddle does
 * not have is HD_ERROR_NOT_SUPPORTED (compressed blocks, video, sparse and depth arrays), what is
 * none HD_ERROR_INVALID_VALUE. *error (NULL is allowed) says why, in static storage. */

/* Texels in the machine's memory, for textures and surfaces: a line, a picture, a volume, layers of
 * lines or pictures, the six faces of a cube or layers of cubes; with mipmap levels, each half the
 * size of the one before. */
typedef struct hd_array hd_array;

enum hd_array_flags {
    HD_ARRAY_LAYERED = 1,
    HD_ARRAY_SURFACE = 2, /* surface objects can be made of it */
    HD_ARRAY_CUBEMAP = 4, /* depth: 6, with HD_ARRAY_LAYERED a multiple */
    HD_ARRAY_GATHER = 8,  /* four texels can be gathered (tld4) */
};

typedef struct hd_array_desc {
    unsigned format, channels; /* 1, 2 or 4 channels */
    size_t width, height,
        depth; /* in texels; height 0: lines; depth 0: one picture or line; else slices, or layers (times 6 of cubes) */
    unsigned flags;  /* enum hd_array_flags */
    unsigned levels; /* 0: no mipmaps, which is one level; more than the sizes have are as many as they have */
} hd_array_desc;

/* Contents are undefined. Errors as above; HD_ERROR_OUT_OF_MEMORY. */
HD_INLINE hd_result hd_array_create(hd_machine *machine, const hd_array_desc *desc, hd_array **array,
                                    const char **error);
/* The memory is free; what still reads it as a texture or writes it as a surface is a fault of the
 * kernel (HD_ERROR_ILLEGAL_ADDRESS). Those of hd_array_of_level live on, without memory, until they
 * are destroyed, too. NULL is allowed. */
HD_API void hd_array_destroy(hd_array *array);
/* A level as an array by itself, in the same memory, to be destroyed by itself. Errors:
 * HD_ERROR_INVALID_VALUE (no such level). */
HD_API hd_result hd_array_of_level(hd_array *array, unsigned level, hd_array **of_level);
/* What it was made with; `levels` are those that it has, at least 1. Of a level: that level's
 * sizes. */
HD_INLINE void hd_array_get_desc(const hd_array *array, hd_array_desc *desc);

/* Where the texels of a level lie: to be copied and filled as boxes of bytes (hd_stream_copy),
 * which checkers and explainers see. Sizes are 1 where the array has no such dimension. */
typedef struct hd_array_level {
    void *start;
    size_t width, height, depth; /* depth: slices, layers or faces */
    size_t texel_bytes, pitch_bytes, slice_bytes;
} hd_array_level;
/* False where it has no such level, or its memory is free. */
HD_INLINE bool hd_array_get_level(const hd_array *array, unsigned level, hd_array_level *at);

/* What a texture reads. */
typedef enum hd_resource {
    HD_RESOURCE_ARRAY,     /* level 0 of an array */
    HD_RESOURCE_MIPMAPPED, /* all its levels */
    HD_RESOURCE_LINEAR,    /* memory, read by tex1Dfetch: by integers, without address mode and filter */
    HD_RESOURCE_PITCH2D,   /* rows in memory, as a picture */
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
    void *
        address; /* the other two: memory that kernels can reach, a multiple of CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT */
    unsigned format, channels;   /* of that memory */
    size_t bytes;                /* HD_RESOURCE_LINEAR */
    size_t width, height, pitch; /* HD_RESOURCE_PITCH2D: texels, rows, bytes from one row to the next */
    unsigned
        address_mode[3];     /* 0 wrap, 1 clamp, 2 mirror, 3 border; without normalised coordinates 0 and 2 are clamp */
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

/* What kernels take as a texture object (PTX ISA 9.7.10): a place in a table of the machine's,
 * never an address; a kernel that makes one up reaches nothing. A texture of memory does not keep
 * it: what kernels read of memory that has been freed is a fault of theirs
 * (HD_ERROR_ILLEGAL_ADDRESS). Errors as above; HD_ERROR_OUT_OF_MEMORY. */
HD_INLINE hd_result hd_texture_create(hd_machine *machine, const hd_texture_desc *desc, uint64_t *texture,
                                      const char **error);
/* HD_ERROR_INVALID_VALUE where it is none. Launches that use it afterwards have a fault. */
HD_API hd_result hd_texture_destroy(hd_machine *machine, uint64_t texture);
/* What it was made with; false where it is none. */
HD_INLINE bool hd_texture_get_desc(hd_machine *machine, uint64_t texture, hd_texture_desc *desc);

/* The same of surface objects (PTX ISA 9.7.11), which are of an array's level 0: a level's array
 * makes one of that level. Errors: HD_ERROR_INVALID_VALUE (no HD_ARRAY_SURFACE),
 * HD_ERROR_OUT_OF_MEMORY. */
HD_API hd_result hd_surface_create(hd_machine *machine, hd_array *array, uint64_t *surface, const char **error);
HD_API hd_result hd_surface_destroy(hd_machine *machine, uint64_t surface);
/* The array that it was made of (that of a level for one of a level, to be destroyed by who made
 * it); false where it is none. */
HD_API bool hd_surface_get_array(hd_machine *machine, uint64_t surface, hd_array **array);

/* Names of a module's that stand for textures, surfaces and samplers (.texref, .surfref,
 * .samplerref; PTX ISA 5.3). What is bound to them when a launch is put is what its kernel reads,
 * whatever is bound afterwards. Nothing is bound at first, but for samplers, which the module's
 * text can initialise. */
typedef enum hd_reference {
    HD_REFERENCE_TEXTURE,
    HD_REFERENCE_SURFACE,
    HD_REFERENCE_SAMPLER,
} hd_reference;
/* The reference belongs to the module, and is what kernels get who take the name's address. Errors:
 * HD_ERROR_NOT_FOUND. */
HD_API hd_result hd_module_get_reference(hd_module *module, const char *name, hd_reference kind, uint64_t *reference);
/* Binds what `desc` describes (NULL: nothing) to a texture or, of which samplers take the modes,
 * filters, flags and numbers alone, to a sampler. Errors as of hd_texture_create;
 * HD_ERROR_INVALID_VALUE, too, where it is no such reference. */
HD_INLINE hd_result hd_texture_bind(hd_machine *machine, uint64_t reference, const hd_texture_desc *desc,
                                    const char **error);
/* Binds an array (NULL: nothing) to a surface. Errors as of hd_surface_create. */
HD_API hd_result hd_surface_bind(hd_machine *machine, uint64_t reference, hd_array *array, const char **error);

/* ---- tensor maps ---- */

/* A tensor in global memory, and what of it copies by its map take (PTX ISA 5.5; CUDA Driver API,
 * "Tensor Map Object Management"). */
typedef struct hd_tensor_map {
    unsigned type, rank;       /* a CUtensorMapDataType; 1 to 5 dimensions */
    void *address;             /* a multiple of 16, with slices of 32 bytes of 32 */
    uint64_t dims[5];          /* elements, the innermost dimension first */
    uint64_t strides_bytes[4]; /* of dimensions 1 and on: the same below 2^40 */
    uint32_t steps[5];         /* 1 to 8: every which element is taken */
    unsigned interleave;       /* 0 to 2: a CUtensorMapInterleave; 1, 2: channels lie in slices of 16, 32 bytes */
    unsigned swizzle;          /* 0 to 3: a CUtensorMapSwizzle */
    bool fill_nan;             /* of what is outside of the tensor; else zeros */
    bool im2col;               /* or tiled */
    uint32_t box[5];           /* tiled: elements of a copy, 1 to 256 */
    int lower[3], upper[3];    /* im2col: corners of the box of pixels */
    uint32_t channels, pixels; /* im2col: of a pixel, and pixels of a copy */
} hd_tensor_map;
/* Writes the 128 bytes that kernels take. Errors: HD_ERROR_INVALID_VALUE, and *error (NULL is
 * allowed) says why, in static storage. */
HD_INLINE hd_result hd_tensor_map_encode(const hd_tensor_map *map, void *bytes, const char **error);
/* Changes the address in 128 such bytes. Errors as above. */
HD_API hd_result hd_tensor_map_set_address(void *bytes, void *address, const char **error);

/* ---- compiled code on disk ---- */

/* What is kept from one process to the next: in the folder HEDDLE_CACHE, or heddle in
 * XDG_CACHE_HOME or ~/.cache. */
typedef struct hd_cache_info {
    char folder[4096];
    size_t kernels;
    uint64_t bytes, limit_bytes;
    char refused[512]; /* why the folder is not used: it is not the user's own; else empty */
} hd_cache_info;
/* False where nothing is kept (HEDDLE_CACHE=off). */
HD_INLINE bool hd_cache_get_info(hd_cache_info *info);
/* Removes all of it. Errors: HD_ERROR_FILE, where that is not possible. */
HD_API hd_result hd_cache_clear(void);

/* ---- PTX as text: no machine needed ---- */

/* A PTX text by itself, read and verified. */
typedef struct hd_ptx hd_ptx;

/* Errors: HD_ERROR_INVALID_PTX with a report. A success may have a report, too: warnings, one of
 * them for each form of instruction that Heddle does not run (code "not-supported"). */
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
    const char *missing; /* what Heddle lacks to run it and what it calls by name ("textures"), or NULL */
} hd_ptx_function;
/* Kernels and functions with a body, in the order of the text; false where i is not less than their
 * count. */
HD_INLINE bool hd_ptx_get_function(const hd_ptx *ptx, size_t i, hd_ptx_function *function);

/* The module as PTX text again, ended by a zero: reading it gives an equal module. Comments are
 * gone, constant expressions are values, each statement has a line. The text belongs to `ptx`;
 * `bytes`, if not NULL, gets its length. NULL where memory has run out. */
HD_API const char *hd_ptx_print(hd_ptx *ptx, size_t *bytes);

/* What ptxas is told of how to make machine code, as far as PTX can say it, too. */
typedef struct {
    bool
        keep_products; /* --fmad=false: .rn where a sum or product of floats names no rounding, so that no two become one fma */
    unsigned max_registers; /* --maxrregcount: .maxnreg at kernels with no bounds of their own; 0: none */
} hd_ptx_code;
/* The text as it is, but with that. Ended by a zero, it belongs to `ptx`; `bytes` as above, NULL
 * where memory has run out. */
HD_INLINE const char *hd_ptx_rewrite(hd_ptx *ptx, const hd_ptx_code *code, size_t *bytes);

/* ---- the instruction set ---- */

/* A form of an instruction: one entry of the table that everything in Heddle reads. In `syntax`,
 * ".word" must stand, "{.word}" may stand, ".<a,b>" is one of these types, a name in capitals is
 * one word of a set, and "=word" tells what its absence means. "*" is anything. */
typedef struct hd_isa_form {
    const char *opcode, *section, *doc; /* section of the PTX ISA; what the opcode does */
    const char *syntax;                 /* what follows the opcode: "{.FRND=rn}{.ftz}{.sat}.f32" */
    char operands[48];                  /* "d, a, b" */
    unsigned ptx_major, ptx_minor;      /* the version that introduced the form */
    char target[12];                    /* the least target: "sm_75", "sm_90a" */
    const char *missing;                /* what Heddle lacks to run it ("textures"), or NULL: it runs */
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
/* The opcode nearest to a name that is none, or NULL. */
HD_API const char *hd_isa_suggest(const char *name);

/* ---- how it grows ---- */

/* What a later version adds is a function, a flag or another word of an enum, or a member at the
 * end of one of the structs that are passed below; all else stays as it is, so that what has been
 * built against a header runs with all later libraries of the same HD_VERSION_MAJOR. The functions
 * above tell the library how large the caller's structs are, by calling these; so does who calls
 * the library without a C compiler, as from Python or Rust.
 *
 * What the library reads may be of another version. Members that the caller's struct has not are 0,
 * which is their default. Where it has members that the library does not know, these must be 0:
 * HD_ERROR_NOT_SUPPORTED. Less than the first version's size is HD_ERROR_INVALID_VALUE. What the
 * library writes is as much as there is room for, and zeros behind what it knows. */
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
