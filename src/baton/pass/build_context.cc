#include "baton/pass/build_context.h"

#include "baton/support/error.h"
#include "baton/support/interrupt.h"

namespace baton {

const DeviceSheet& BuildContext::host() const {
  BATON_CHECK(!sheets.empty(), "a build context without a device sheet: the door fills it (host_context)");
  return sheets.front();
}

const DeviceSheet& BuildContext::device() const {
  if (targets.empty()) return host();
  const DeviceSheet* sheet = sheet_of(targets.front()->kind);
  return sheet ? *sheet : host();
}

const DeviceSheet* BuildContext::sheet_of(std::string_view kind) const {
  for (const DeviceSheet& sheet : sheets)
    if (sheet.kind == kind) return &sheet;
  return nullptr;
}

void BuildContext::stop_if_asked() const { baton::stop_if_asked(interrupt); }

BuildContext BuildContext::with_passes(PassContextRef other) const {
  BuildContext context = *this;
  context.passes = std::move(other);
  return context;
}

BuildContext BuildContext::at_level(int opt_level) const {
  if (opt_level == passes->opt_level) return *this;
  auto other = std::make_shared<PassContext>(*passes);
  other->opt_level = opt_level;
  return with_passes(std::move(other));
}

}  // namespace baton
