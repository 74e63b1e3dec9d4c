#pragma once
// Measures one device of a backend: launches, memory, products, and copies to others.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baton/codegen/backend.h"
#include "baton/runtime/device.h"

namespace baton {

/// The median of several measurements. Simulated times do not vary: one is enough.
struct Measured {
  double value = 0;
  double spread = 0;  ///< from the 10th to the 90th percentile, as a part of the median
  int samples = 0;
};
using MaybeMeasured = std::optional<Measured>;  ///< none: not measured

/// One backend as found on this machine, opened.
struct FoundTarget {
  BackendRef backend;
  std::string why_not;                         ///< why it cannot be used; empty: it can
  const Plugin* plugin = nullptr;              ///< null: why_not, or the processor itself
  Function empty;                              ///< computes as little as possible
  std::shared_ptr<const PluginModule> module;  ///< its kernel
  std::unique_ptr<Device> device;              ///< null: it computes in the memory of the host
  std::string device_name;
  bool simulated = false;
};

/// Opens a backend: builds code for it, loads its plug-in, and finds its device.
FoundTarget find_target(const BackendRef& backend, const BuildContext& context);

/// Microseconds from the call of an empty kernel until it is complete.
MaybeMeasured launch_us(const FoundTarget& target);
/// GB/s, reads and writes counted, of a copy within the device's memory.
MaybeMeasured memory_gbytes_per_s(const FoundTarget& target);
/// Billions of operations per second in a product of two matrices, by element type; no entry for those that
/// the backend does not take.
std::vector<std::pair<std::string, Measured>> product_gops(const FoundTarget& target,
                                                           const BuildContext& context);

/// Copies of `bytes` from one to the other: microseconds each. None when a device has no room for them, or
/// when one is simulated and the other neither that nor the host.
MaybeMeasured copy_us(const FoundTarget& from, const FoundTarget& to, size_t bytes);

}  // namespace baton
