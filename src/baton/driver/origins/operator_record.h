#pragma once
// What became of one operator of the source: the record that reports, the map and files are made of.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "baton/ir/attrs.h"
#include "baton/runtime/plan.h"

namespace baton {

/// One operator of the source. It has nodes, was folded into constants that nodes read, or is retired.
struct OperatorRecord {
  uint32_t id = 0;
  std::string op, name;           ///< "nn.relu"; "%12", "14:7", or "" where there is no text
  uint32_t line = 0, column = 0;  ///< in the text the source was read from; 0: there is none
  std::string source;             ///< e.g. the ONNX node; may be empty
  std::string text;               ///< the line; empty where it was read from a file
  /// Those that are not at their default. Types and objects stand as their text, as in JSON.
  std::vector<std::pair<std::string, AttrValue>> attrs;
  std::string type;                      ///< of its value
  std::vector<std::string> input_types;  ///< of its arguments
  std::vector<uint32_t> inputs;          ///< operators whose results it reads: the edges of the source
  std::vector<uint32_t> nodes;           ///< nodes of the plan that compute it
  std::vector<uint32_t> folded_into;     ///< nodes that read a constant it was computed into
  std::vector<uint32_t> fused_with;      ///< the other operators of its nodes
  /// Why it shares a kernel with what uses its result, or why not; both after a split.
  std::string fused, not_fused;
  std::string retired_by, retired_why;  ///< the pass and its reason; empty when it is carried

  std::string label() const { return name.empty() ? op : name + " " + op; }
  bool operator==(const OperatorRecord&) const = default;
};

/// Every operator of the source, by id.
struct OriginReport {
  std::vector<OperatorRecord> operators;
  bool operator==(const OriginReport&) const = default;
};

/// Fills in `fused_with`: all operators of their `nodes`, less themselves.
void add_fused_with(OriginReport& report);

/// Throws Error unless ids are places in the report, and every node and operator that report and plan name is
/// there.
void check_origins(const OriginReport& report, const Plan& plan);

}  // namespace baton
