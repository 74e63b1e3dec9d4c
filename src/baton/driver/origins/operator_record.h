#pragma once
// The record of one source operator and what it was compiled to; used by reports, the map and files.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "baton/ir/attrs.h"
#include "baton/ir/origin.h"
#include "baton/runtime/plan.h"

namespace baton {

/// One source operator. It is computed by nodes, was folded into constants that nodes read, or is retired.
struct OperatorRecord {
  uint32_t id = 0;
  std::string op, name;           ///< "nn.relu"; "%12", "14:7", or "" where there is no text
  uint32_t line = 0, column = 0;  ///< in the source text; 0: unknown
  std::string
      file;  ///< of `line`, when that is no line of Relay text: the Python file that called the builder
  /// E.g. the ONNX node; of a model built in Python the lines that called the function of `line`, the
  /// outermost first: "net.py:50 > net.py:31". May be empty.
  std::string source;
  std::string module;      ///< "layer1/0/conv1": its module in the user's program; empty: not known
  SourceLine source_line;  ///< of the user's Python, as the exporter of a file recorded it; empty: not known
  std::string brief;       ///< "conv2d 3x3 64->64 @56": with the sizes that tell calls of one operator apart
  std::string text;        ///< the source line; empty for programs read from a file
  /// Non-default attributes. Types and objects are represented by their text, as in JSON.
  std::vector<std::pair<std::string, AttrValue>> attrs;
  std::string type;                      ///< of its result
  std::vector<std::string> input_types;  ///< of its arguments
  std::string weight;                    ///< the type of the argument that its block calls `weight`; or empty
  std::string weight_name;               ///< of that argument, when it is a variable
  double flops = 0, bytes = 0;           ///< of one evaluation by its definition (ir/rules/cost.h)
  std::vector<uint32_t> inputs;          ///< operators whose results it reads: the edges of the source graph
  std::vector<uint32_t> nodes;           ///< plan nodes that compute it
  std::vector<uint32_t> folded_into;     ///< nodes that read a constant it was folded into
  std::vector<uint32_t> fused_with;      ///< other operators of its nodes
  /// Why it is or is not fused with its users; both after a split.
  std::string fused, not_fused;
  std::string retired_by, retired_why;  ///< the pass and its reason; empty while some node carries it

  /// "line 13", "net.py:13", "net.py:13 from net.py:31", the source's name, or "operator 5".
  std::string place() const;
  /// The line of the user's program that called it: `source_line`, else `line` of `file`, which is empty for
  /// a line of Relay text.
  SourceLine written() const;
  std::string label() const { return name.empty() ? op : name + " " + op; }
  bool operator==(const OperatorRecord&) const = default;
};

/// All source operators, indexed by id.
struct OriginReport {
  std::vector<OperatorRecord> operators;
  bool operator==(const OriginReport&) const = default;
};

/// Fills in `fused_with`: the other operators of each operator's nodes.
void add_fused_with(OriginReport& report);

/// Throws Error unless ids equal indices, and all referenced nodes and operators exist.
void check_origins(const OriginReport& report, const Plan& plan);

}  // namespace baton
