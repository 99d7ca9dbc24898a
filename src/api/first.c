/* The exported functions for programs built with the header of version 0.1.0, which passes no
 * sizes. Their structs are those of that version. Nothing is added here: later headers call the
 * functions with sizes (include/heddle.h, "how it grows").
 */
#include "api/sized.h"

#define FIRST(type, name, parameters, call)                                                                            \
    HD_API type first_##name parameters __asm__(#name);                                                                \
    type first_##name parameters                                                                                       \
    {                                                                                                                  \
        return call;                                                                                                   \
    }

FIRST(bool, hd_report_get, (const hd_report *report, size_t i, hd_diagnostic *diagnostic),
      hd_report_get_sized(report, i, diagnostic, FIRST_hd_diagnostic))
FIRST(hd_result, hd_report_add_diagnostic, (hd_report * *to, const hd_diagnostic *diagnostic),
      hd_report_add_diagnostic_sized(to, diagnostic, FIRST_hd_diagnostic))
FIRST(hd_result, hd_machine_create, (const hd_machine_options *options, hd_machine **machine, const char **error),
      hd_machine_create_sized(options, FIRST_hd_machine_options, machine, error))
FIRST(void, hd_machine_get_info, (const hd_machine *machine, hd_machine_info *info),
      hd_machine_get_info_sized(machine, info, FIRST_hd_machine_info))
FIRST(void, hd_machine_get_progress, (hd_machine * machine, hd_progress *progress),
      hd_machine_get_progress_sized(machine, progress, FIRST_hd_progress))
FIRST(bool, hd_find, (hd_machine * machine, const void *pointer, hd_memory_info *info),
      hd_find_sized(machine, pointer, info, FIRST_hd_memory_info))
FIRST(hd_result, hd_module_set_machine_code, (hd_module * module, const char *kernel, const hd_machine_code *code),
      hd_module_set_machine_code_sized(module, kernel, code, FIRST_hd_machine_code))
FIRST(bool, hd_module_get_variable, (const hd_module *module, size_t i, hd_variable_info *info),
      hd_module_get_variable_sized(module, i, info, FIRST_hd_variable_info))
FIRST(void, hd_kernel_get_info, (const hd_kernel *kernel, hd_kernel_info *info),
      hd_kernel_get_info_sized(kernel, info, FIRST_hd_kernel_info))
FIRST(bool, hd_kernel_get_param, (const hd_kernel *kernel, size_t i, hd_param_info *info),
      hd_kernel_get_param_sized(kernel, i, info, FIRST_hd_param_info))
FIRST(hd_result, hd_checker_create, (hd_machine * machine, const hd_checker_options *options, hd_checker **checker),
      hd_checker_create_sized(machine, options, FIRST_hd_checker_options, checker))
FIRST(hd_result, hd_explainer_create,
      (hd_machine * machine, const hd_explainer_options *options, hd_explainer **explainer),
      hd_explainer_create_sized(machine, options, FIRST_hd_explainer_options, explainer))
FIRST(hd_result, hd_launch,
      (hd_kernel * kernel, const hd_launch_config *config, hd_launch_stats *stats, hd_report **report),
      hd_launch_sized(kernel, config, FIRST_hd_launch_config, stats, FIRST_hd_launch_stats, report))
FIRST(hd_result, hd_launch_check, (hd_kernel * kernel, const hd_launch_config *config, hd_report **report),
      hd_launch_check_sized(kernel, config, FIRST_hd_launch_config, report))
FIRST(hd_result, hd_context_create, (hd_machine * machine, const hd_context_options *options, hd_context **context),
      hd_context_create_sized(machine, options, FIRST_hd_context_options, context))
FIRST(hd_result, hd_stream_launch,
      (hd_stream * stream, hd_kernel *kernel, const hd_launch_config *config, hd_report **report),
      hd_stream_launch_sized(stream, kernel, config, FIRST_hd_launch_config, report))
FIRST(hd_result, hd_stream_copy, (hd_stream * stream, const hd_copy *copy, enum hd_wait wait),
      hd_stream_copy_sized(stream, copy, FIRST_hd_copy, wait))
FIRST(hd_result, hd_stream_fill, (hd_stream * stream, const hd_fill *fill, enum hd_wait wait),
      hd_stream_fill_sized(stream, fill, FIRST_hd_fill, wait))
FIRST(hd_result, hd_tensor_map_encode, (const hd_tensor_map *map, void *bytes, const char **error),
      hd_tensor_map_encode_sized(map, FIRST_hd_tensor_map, bytes, error))
FIRST(bool, hd_cache_get_info, (hd_cache_info * info), hd_cache_get_info_sized(info, FIRST_hd_cache_info))
FIRST(void, hd_ptx_get_info, (const hd_ptx *ptx, hd_ptx_info *info),
      hd_ptx_get_info_sized(ptx, info, FIRST_hd_ptx_info))
FIRST(bool, hd_ptx_get_function, (const hd_ptx *ptx, size_t i, hd_ptx_function *function),
      hd_ptx_get_function_sized(ptx, i, function, FIRST_hd_ptx_function))
FIRST(const char *, hd_ptx_rewrite, (hd_ptx * ptx, const hd_ptx_code *code, size_t *bytes),
      hd_ptx_rewrite_sized(ptx, code, FIRST_hd_ptx_code, bytes))
FIRST(bool, hd_isa_get_form, (size_t i, hd_isa_form *form), hd_isa_get_form_sized(i, form, FIRST_hd_isa_form))
FIRST(bool, hd_isa_get_set, (size_t i, hd_isa_set *set), hd_isa_get_set_sized(i, set, FIRST_hd_isa_set))
FIRST(bool, hd_isa_get_register, (size_t i, hd_isa_register *reg),
      hd_isa_get_register_sized(i, reg, FIRST_hd_isa_register))
