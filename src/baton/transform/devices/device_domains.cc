#include "baton/transform/devices/device_domains.h"

#include "baton/support/error.h"

namespace baton {

namespace {

/// `known` merged with `other`; throws Conflict when they differ.
VirtualDevice join(const VirtualDevice& known, const VirtualDevice& other) {
  VirtualDevice both = known;
  bool good = true;
  const auto number = [&](int& into, int value) {
    if (into < 0) into = value;
    good &= value < 0 || into == value;
  };
  number(both.device_type, other.device_type);
  number(both.device_id, other.device_id);
  if (!both.target) both.target = other.target;
  good &= !other.target || same_target(both.target, other.target);
  if (both.memory_scope.empty()) both.memory_scope = other.memory_scope;
  good &= other.memory_scope.empty() || both.memory_scope == other.memory_scope;
  if (!good) throw DeviceDomains::Conflict{known, other};
  return both;
}

/// `known` with unconstrained fields taken from `device`, when both are compatible in device type.
VirtualDevice completed(VirtualDevice known, const VirtualDevice& device) {
  if (known.device_type < 0) known.device_type = device.device_type;
  const bool same = known.device_type == device.device_type;
  if (known.device_id < 0) known.device_id = same ? device.device_id : 0;
  if (!known.target && same) known.target = device.target;
  if (known.memory_scope.empty()) known.memory_scope = device.memory_scope;
  return known;
}

}  // namespace

DeviceDomains::Id DeviceDomains::fresh(const VirtualDevice& device) {
  const Id id = static_cast<Id>(domains_.size());
  domains_.push_back({id});
  if (!device.is_open()) {
    domains_[id].device = static_cast<uint32_t>(devices_.size());
    devices_.push_back(device);
  }
  return id;
}

DeviceDomains::Id DeviceDomains::function(std::vector<Id> params, Id result) {
  const Id id = fresh();
  domains_[id].function = static_cast<uint32_t>(functions_.size());
  functions_.push_back({std::move(params), result});
  return id;
}

DeviceDomains::Id DeviceDomains::for_type(const Type& type) {
  const auto* func = as_type<FuncTypeNode>(type);
  if (!func) return fresh();
  std::vector<Id> params;
  for (const Type& param : func->params()) params.push_back(for_type(param));
  const Id result = for_type(func->result());
  return function(std::move(params), result);
}

DeviceDomains::Id DeviceDomains::find(Id id) {
  while (domains_[id].parent != id) {
    domains_[id].parent = domains_[domains_[id].parent].parent;
    id = domains_[id].parent;
  }
  return id;
}

DeviceDomains::Id DeviceDomains::result_of(Id id) {
  id = find(id);
  while (domains_[id].function != kNone) id = find(functions_[domains_[id].function].result);
  return id;
}

// Recursion depth is bounded by the nesting of function types.
void DeviceDomains::collapse(const Parts& parts, Id onto) {
  for (const Id param : parts.params) unify(param, onto);
  unify(parts.result, onto);
}

void DeviceDomains::unify(Id a, Id b) {
  a = find(a);
  b = find(b);
  if (a == b) return;
  const bool a_calls = domains_[a].function != kNone, b_calls = domains_[b].function != kNone;
  if (a_calls != b_calls) {
    const Parts parts = functions_[domains_[a_calls ? a : b].function];
    collapse(parts, a_calls ? b : a);
    return;
  }
  if (a_calls) {
    const Parts left = functions_[domains_[a].function], right = functions_[domains_[b].function];
    BATON_CHECK(left.params.size() == right.params.size(), "functions with different numbers of parameters");
    domains_[b].parent = a;
    for (size_t i = 0; i < left.params.size(); ++i) unify(left.params[i], right.params[i]);
    unify(left.result, right.result);
    return;
  }
  const uint32_t of_a = domains_[a].device, of_b = domains_[b].device;
  if (of_a != kNone && of_b != kNone)
    devices_[of_a] = join(devices_[of_a], devices_[of_b]);
  else if (of_a == kNone)
    domains_[a].device = of_b;
  domains_[b].parent = a;
}

void DeviceDomains::set_default(Id id, const VirtualDevice& device) {
  Domain& domain = domains_[result_of(id)];
  if (domain.device == kNone) {
    domain.device = static_cast<uint32_t>(devices_.size());
    devices_.push_back(device);
  } else {
    devices_[domain.device] = completed(devices_[domain.device], device);
  }
}

void DeviceDomains::set_result_default_then_params(Id id, const VirtualDevice& device) {
  set_default(id, device);
  const VirtualDevice result = this->device(id);
  for (Id at = find(id); domains_[at].function != kNone;
       at = find(functions_[domains_[at].function].result)) {
    const std::vector<Id> params = functions_[domains_[at].function].params;
    for (const Id param : params) set_result_default_then_params(param, result);
  }
}

const VirtualDevice& DeviceDomains::device(Id id) {
  static const VirtualDevice open;
  const uint32_t at = domains_[result_of(id)].device;
  return at == kNone ? open : devices_[at];
}

const std::vector<DeviceDomains::Id>& DeviceDomains::params(Id id) {
  static const std::vector<Id> none;
  const uint32_t at = domains_[find(id)].function;
  return at == kNone ? none : functions_[at].params;
}

}  // namespace baton
