/* The texts of commands' help, which scripts/embed-help makes of help/NAME.txt. */
#ifndef HEDDLE_CLI_HELP_H
#define HEDDLE_CLI_HELP_H

extern const char help_run_usage[], help_run_details[];
extern const char help_cc_usage[], help_cc_details[];
extern const char help_launch_usage[], help_launch_details[];
extern const char help_check_usage[], help_check_details[];
extern const char help_explain_usage[], help_explain_details[];
extern const char help_explore_usage[], help_explore_details[];
extern const char help_debug_usage[], help_debug_details[];
extern const char help_litmus_usage[], help_litmus_details[];
extern const char help_ptx_usage[], help_ptx_details[];
extern const char help_info_usage[], help_info_details[];
extern const char help_cache_usage[], help_cache_details[];
extern const char help_pack_usage[], help_pack_details[];
extern const char help_completion_usage[], help_completion_details[];
extern const char help_manual_usage[], help_manual_details[];
extern const char help_check_program_usage[], help_check_program_details[];
extern const char help_explain_program_usage[], help_explain_program_details[];
extern const char help_explore_program_usage[], help_explore_program_details[];
extern const char help_debug_program_usage[], help_debug_program_details[];

#endif
