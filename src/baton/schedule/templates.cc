#include "baton/schedule/template.h"

namespace baton {

#define BATON_TEMPLATE(function) const ScheduleTemplate& function();
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

const ScheduleTemplate& find_template(const LoweredKernel& kernel, const DeviceSheet& sheet) {
  for (const ScheduleTemplate* candidate : schedule_templates())
    if (candidate->refuses(kernel, sheet).empty()) return *candidate;
  internal_error(__FILE__, __LINE__, "the last template takes everything", kernel.name);
}

}  // namespace baton
