#pragma once
// Device inference by unification. A domain is a device, or for a function one domain per parameter and one
// for the result. Domains that must be equal are unified; devices may be partially known.
#include <cstdint>
#include <vector>

#include "baton/ir/attr_objects.h"

namespace baton {

class DeviceDomains {
 public:
  using Id = uint32_t;
  /// Thrown when two devices cannot be unified.
  struct Conflict {
    VirtualDevice left, right;
  };

  Id fresh(const VirtualDevice& device = {});
  Id function(std::vector<Id> params, Id result);
  /// A fresh, unconstrained domain for a value of `type`.
  Id for_type(const Type& type);

  /// Unifying a function with a device places all its parameters and its result on that device. Throws
  /// Conflict.
  void unify(Id a, Id b);
  /// Fills unconstrained fields.
  void set_default(Id id, const VirtualDevice& device);
  /// For a function: defaults its result first, then its parameters to the result's device.
  void set_result_default_then_params(Id id, const VirtualDevice& device);
  /// The device; for a function that of its result.
  const VirtualDevice& device(Id id);
  /// The parameter domains of a function; empty for other values.
  const std::vector<Id>& params(Id id);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Domain {
    Id parent;
    uint32_t device = kNone;    // index into devices_; kNone while unconstrained
    uint32_t function = kNone;  // index into functions_
  };
  struct Parts {
    std::vector<Id> params;
    Id result;
  };
  Id find(Id id);
  Id result_of(Id id);
  void collapse(const Parts& parts, Id onto);

  std::vector<Domain> domains_;
  std::vector<VirtualDevice> devices_;
  std::vector<Parts> functions_;
};

}  // namespace baton
