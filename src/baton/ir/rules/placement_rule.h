#pragma once
// Where the arguments and the result of an operator live, where that is not one place for all. Attached
// through OpDef::rules, read by PlanDevices.
#include <string_view>
#include <vector>

namespace baton {

struct PlacementRule {
  struct Place {
    enum class At {
      kOpen,        ///< the operator does not say
      kWithResult,  ///< of arguments
      kHost,
      kNamed,  ///< on the device that attribute `device` names
    } at = At::kOpen;
    std::string_view device = {};
    std::string_view when = {};  ///< kNamed: a flag among the attributes, open where it is not set
  };
  std::vector<Place> args;  ///< the last one is that of all further arguments, too
  Place result = {};
  /// The call is there for the places only: it becomes a device_copy, or goes where they are the same.
  bool is_border = false;
};

}  // namespace baton
