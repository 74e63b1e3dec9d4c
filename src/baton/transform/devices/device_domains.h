#pragma once
// Where values live, as far as it follows from how they are used: a domain is a device, or for a function one
// domain per parameter and one for the result. Domains that must be equal are unified; devices may be known
// in part.
#include <cstdint>
#include <vector>

#include "baton/ir/attr_objects.h"

namespace baton {

class DeviceDomains {
 public:
  using Id = uint32_t;
  /// Two devices that cannot be one.
  struct Conflict {
    VirtualDevice left, right;
  };

  Id fresh(const VirtualDevice& device = {});
  Id function(std::vector<Id> params, Id result);
  /// What a value of `type` has: nothing is known of it.
  Id for_type(const Type& type);

  /// A function and a device are unified by everything in the function being on that device. Throws Conflict.
  void unify(Id a, Id b);
  /// Fills what is open.
  void set_default(Id id, const VirtualDevice& device);
  /// A function's result first, then its parameters where the result is.
  void set_result_default_then_params(Id id, const VirtualDevice& device);
  /// Of a function: where its result is.
  const VirtualDevice& device(Id id);
  /// Of a function, else empty.
  const std::vector<Id>& params(Id id);

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Domain {
    Id parent;
    uint32_t device = kNone;    // in devices_; open when kNone
    uint32_t function = kNone;  // in functions_
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
