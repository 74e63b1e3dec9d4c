#pragma once
// Device sheets of simulated devices: what a device can compute, how fast, and how it is connected. One JSON
// object each; docs/design/0030-simulated-devices.md has the schema.
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "baton/ir/expr.h"
#include "baton/ir/rules/cost.h"

namespace baton {

/// How fast one class of operators is computed.
struct SimRate {
  bool free = false;  ///< takes no time but that of moving its bytes
  /// Billions of operations per second by the element type of the first operand; "any" is for all others. No
  /// entry: not supported.
  std::map<std::string, double> gops;
};

struct SimSheet {
  std::string name;  ///< "npu": lower case letters, digits and _, at most 20
  std::string doc;   ///< one line
  int64_t memory_bytes = 0;
  double memory_gbytes_per_s = 0;
  double launch_us = 0;                               ///< of each kernel
  double link_latency_us = 0, link_gbytes_per_s = 0;  ///< to and from the host
  std::vector<std::string> element_types;             ///< of the tensors that it can hold
  /// By operator ("nn.softmax") or class of operators (cost_class()); the operator's own entry counts first.
  std::map<std::string, SimRate> rates;
  std::string origin;  ///< where it was read: "npu (shipped)" or a path

  /// The target's kind and the backend's name: "sim_npu".
  std::string backend() const { return "sim_" + name; }
};

/// Parses a sheet. UsageError that names `origin` and says what is wrong: malformed JSON with its line, an
/// unknown, missing or repeated key, an unknown operator or element type, a number that is not positive.
SimSheet parse_sim_sheet(std::string_view json, const std::string& origin);

/// The text of a file with a sheet. UsageError when it cannot be read.
std::string sim_sheet_text(const std::string& path);

/// The text of the sheets that ship, by name, in alphabetical order.
struct ShippedSheet {
  std::string_view name, json;
};
std::span<const ShippedSheet> shipped_sheets();

/// Why the device does not compute a typed call; empty when it does.
std::string sim_refusal(const SimSheet& sheet, const CallNode& call);
/// The same for all calls of a function.
std::string sim_refusal(const SimSheet& sheet, const FunctionNode& function);

/// Nanoseconds of a kernel on the device: the cost of a launch, and the longer of computing its operations
/// and moving its bytes. Of a function that sim_refusal() accepts.
double sim_kernel_ns(const SimSheet& sheet, const FunctionNode& function);

}  // namespace baton
