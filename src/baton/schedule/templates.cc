#include "baton/schedule/template.h"

namespace baton {

#define BATON_TEMPLATE(function) const ScheduleTemplate& function();
#include "baton/schedule/gpu_templates.def"
#include "baton/schedule/templates.def"
#undef BATON_TEMPLATE

const std::vector<const ScheduleTemplate*>& schedule_templates() {
  static const std::vector<const ScheduleTemplate*> all = {
#define BATON_TEMPLATE(function) &function(),
#include "baton/schedule/templates.def"
#undef BATON_TEMPLATE
  };
  return all;
}

const std::vector<const ScheduleTemplate*>& gpu_templates() {
  static const std::vector<const ScheduleTemplate*> all = {
#define BATON_TEMPLATE(function) &function(),
#include "baton/schedule/gpu_templates.def"
#undef BATON_TEMPLATE
  };
  return all;
}

bool is_gpu(const DeviceSheet& sheet) { return Halide::Target(sheet.code_target).has_gpu_feature(); }

namespace {

/// OpenCL devices may be processors, whose threads are loops: there a copy in shared memory is only a copy.
const std::vector<const ScheduleTemplate*>& opencl_templates() {
  static const std::vector<const ScheduleTemplate*> all = {&template_gpu_tiled(), &template_gpu_shared(),
                                                           &template_gpu_naive()};
  return all;
}

}  // namespace

const std::vector<const ScheduleTemplate*>& templates_of(const DeviceSheet& sheet) {
  if (!is_gpu(sheet)) return schedule_templates();
  const bool opencl = Halide::Target(sheet.code_target).has_feature(Halide::Target::OpenCL);
  return opencl ? opencl_templates() : gpu_templates();
}

const ScheduleTemplate& find_template(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  for (const ScheduleTemplate* candidate : templates_of(sheet))
    if (candidate->refuses(kernel, sheet).empty()) return *candidate;
  internal_error(__FILE__, __LINE__, "the last template takes everything", kernel.name);
}

namespace {

const ScheduleTemplate* template_named(std::string_view name) {
  for (const auto* all : {&schedule_templates(), &gpu_templates()})
    for (const ScheduleTemplate* each : *all)
      if (each->name == name) return each;
  return nullptr;
}

}  // namespace

LoopCounts loops_of_template(std::string_view template_name, const LoopsOf& of,
                             const ScheduleParams& params) {
  const ScheduleTemplate* known = template_named(template_name);
  return known ? known->loops(of, params) : vector_loops(of);
}

bool transforms_tiles(std::string_view template_name) {
  const ScheduleTemplate* known = template_named(template_name);
  return known && known->transforms_tiles;
}

}  // namespace baton
