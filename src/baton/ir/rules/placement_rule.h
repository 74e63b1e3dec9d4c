#pragma once
// Device constraints of an operator whose arguments and result are not all on the same device. Attached
// through OpDef::rules, read by PlanDevices.
#include <string_view>
#include <vector>

namespace baton {

struct PlacementRule {
  struct Place {
    enum class At {
      kOpen,        ///< unconstrained
      kWithResult,  ///< for arguments: the device of the result
      kHost,
      kNamed,  ///< the device given by the attribute named `device`
    } at = At::kOpen;
    std::string_view device = {};
    std::string_view when = {};  ///< kNamed: a boolean attribute; unconstrained when it is false
  };
  std::vector<Place> args;  ///< the last entry also applies to all further arguments
  Place result = {};
  /// The call only states devices: it becomes a device_copy, or is removed when they are equal.
  bool is_border = false;
};

}  // namespace baton
