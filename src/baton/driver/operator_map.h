#pragma once
// The map: which operators of the source a node of graph.json computes, and which nodes an operator went
// into. Made from graph.json and origins.json alone, so that a build and an artifact say the same.
// Attribution is n:m.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "baton/ir/module.h"
#include "baton/runtime/plan.h"

namespace baton {

struct BuildResult;

/// One operator of the source. It has nodes, was folded into constants that nodes read, or is retired.
struct OperatorEntry {
  uint32_t id = 0;
  std::string op, name;                  ///< "nn.relu"; "%12", "14:7", or "" where there is no text
  int line = 0, column = 0;              ///< in the text the source was read from; 0: there is none
  std::string source;                    ///< e.g. the ONNX node
  std::string text;                      ///< the line; empty in an artifact
  nlohmann::ordered_json attrs;          ///< those that are not at their default
  std::string type;                      ///< of its value
  std::vector<std::string> input_types;  ///< of its arguments
  std::vector<uint32_t> inputs;          ///< operators whose results it reads
  std::vector<uint32_t> nodes, folded_into;
  std::vector<uint32_t> fused_with;  ///< the other operators of its nodes
  std::string fused,
      not_fused;  ///< why it shares a kernel with what uses its result, or why not; both after a split
  std::string retired_by, retired_why;

  std::string label() const { return name.empty() ? op : name + " " + op; }
  /// Whether `wanted` means it: its name, "14" for all of a line, "14:7", its source name, or the operator's
  /// name.
  bool is_meant_by(std::string_view wanted) const;
};

class OperatorMap {
 public:
  /// Throws Error when the texts are of another version, do not belong together, or `origins_json` is empty:
  /// what was built was stripped of it. `table`: where operators have their lines from; may be null.
  static OperatorMap read(std::string_view graph_json, std::string_view origins_json,
                          const OriginTable* table = nullptr);

  const std::vector<OperatorEntry>& operators() const { return operators_; }  ///< by id
  const Plan& plan() const { return *plan_; }

  /// Nodes that call the kernel of that `func_name`; when there is none, the node of that name.
  /// "tvmgen_default_" may be left out. Throws UsageError for an unknown name, with the nearest one, or those
  /// that hold it.
  std::vector<uint32_t> nodes_of_kernel(const std::string& name) const;
  /// A node of that name that calls a kernel of another name, while there is a kernel of that name too.
  std::optional<uint32_t> namesake(const std::string& kernel) const;
  /// The node of that number or name; the first one of several `reshape_nop`. Throws UsageError.
  uint32_t node(const std::string& id_or_name) const;
  /// Throws UsageError when there is no such node, or it is an input or a constant, which no kernel computes.
  const PlanNode& kernel_node(uint32_t node) const;
  /// Operators that `wanted` means (see OperatorEntry). Throws UsageError when there is none, with the
  /// nearest name.
  std::vector<uint32_t> operators_called(const std::string& wanted) const;

  /// The operators that these nodes compute, ascending.
  std::vector<uint32_t> operators_of(const std::vector<uint32_t>& nodes) const;
  /// Names of the nodes that compute the operator, in the order of execution.
  std::vector<std::string> kernels_of(uint32_t id) const;
  /// Nodes whose results `node` reads, each once; and those that read its.
  const std::vector<uint32_t>& inputs_of(uint32_t node) const { return inputs_.at(node); }
  const std::vector<uint32_t>& readers_of(uint32_t node) const { return readers_.at(node); }
  /// Of an entry of the plan: the node it belongs to.
  uint32_t maker_of(EntryId entry) const { return makers_[entry]; }
  /// Throws UsageError when there is no such operator.
  const OperatorEntry& at(uint32_t id) const;

 private:
  std::shared_ptr<const Plan> plan_;
  std::vector<uint32_t> makers_;                         // by entry
  std::vector<std::vector<uint32_t>> inputs_, readers_;  // by node
  std::vector<OperatorEntry> operators_;
};

/// The map of a build, with the lines of its source.
OperatorMap operator_map(const BuildResult& built);

/// One row of `baton explain --json`, and of `lib.origins` in Python: docs/design/0009-explain-json.md.
nlohmann::ordered_json to_json(const OperatorEntry& entry);

}  // namespace baton
