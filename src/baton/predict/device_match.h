#pragma once
// Whether two device sheets are of one device. Names do not say it: processors of two generations call
// themselves "AMD EPYC". What they are (family, model, stepping), what code they run and what was measured of
// them does.
#include <string>

#include "baton/target/device_sheet.h"

namespace baton {

/// "AMD EPYC (AuthenticAMD family 25 model 17 stepping 1, under KVMKVMKVM)"; where the processor is not
/// known, what its code is tuned for: "AMD EPYC (znver5)".
std::string device_title(const DeviceSheet& sheet);

/// How one device is to another.
enum class Likeness {
  kSame,
  /// The same code and family of processors, rates within a factor of two: times can be rescaled by the
  /// rates, and are less sure.
  kLike,
  kOther
};
struct DeviceMatch {
  Likeness likeness = Likeness::kSame;
  std::string why;  ///< it is not the same; empty: it is
};
DeviceMatch match_of(const DeviceSheet& trained, const DeviceSheet& other,
                     const std::string& here = "this machine");

/// Why times of the one are not those of the other, "it computes 264 GFLOP/s, this machine 118"; empty: they
/// are of one device. Where one does not say which processor it is, the measured rates of both must agree;
/// sheets of processors without either are of two devices. `here`: how the second one is called.
std::string why_other_device(const DeviceSheet& trained, const DeviceSheet& other,
                             const std::string& here = "this machine");

}  // namespace baton
