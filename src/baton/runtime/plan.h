// graph.json: which kernel runs when, on which data, in which storage. The format is TVM's; Baton adds the
// attributes `origins`, `made_for`, `reason` and `backend` to nodes, which TVM's reader ignores.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baton/support/base/dtype.h"
#include "baton/support/base/ndarray.h"
#include "baton/support/base/status.h"

namespace baton {

/// Index of a tensor in the plan: output `i` of node `n` is `plan.nodes[n].first_entry + i`.
using EntryId = uint32_t;

struct PlanEntry {
  Shape shape;
  DType dtype;
  int storage = 0;      ///< index into Plan::storages
  int device_type = 1;  ///< DLPack's numbers: 1 is the processor
  std::string scope;    ///< empty for ordinary memory

  size_t bytes() const { return static_cast<size_t>(*byte_count(shape, dtype)); }
};

struct PlanNode {
  enum class Kind {
    kInput,   ///< a parameter of the model or a constant; found by name
    kKernel,  ///< calls func_name
    kNop,     ///< another shape for the same storage
    kCopy,    ///< copies its only input
  };

  Kind kind = Kind::kInput;
  std::string name;       ///< unique in the plan
  std::string func_name;  ///< empty for an input
  std::string backend;    ///< whose plug-in has the function; empty: the processor
  std::vector<EntryId> inputs;
  EntryId first_entry = 0;
  uint32_t num_outputs = 1;

  std::vector<uint32_t> origins;   ///< operators of the source that this node computes, ascending
  std::vector<uint32_t> made_for;  ///< for what the compiler added: the operators it serves
  std::string reason;              ///< and why
  /// Attributes that no field above says: "hash", layouts. As they were written.
  std::vector<std::pair<std::string, std::string>> attrs;

  /// The one of `attrs` of that name; empty when there is none.
  std::string_view attr(std::string_view name) const;
};

/// One piece of memory that several tensors use one after another.
struct PlanStorage {
  size_t bytes = 0;
  int device_type = 0;   ///< that of its tensors; 0: there are none
  bool written = false;  ///< by a kernel; otherwise it belongs to an input
};

/// Whether an executor can hold such a tensor: 64 axes of 2^31 - 1 elements and 2^46 bytes are the most.
bool fits_executor(std::span<const int64_t> shape, DType dtype);

struct Plan {
  std::vector<PlanNode> nodes;  ///< in the order of execution
  std::vector<PlanEntry> entries;
  std::vector<uint32_t> arg_nodes;  ///< nodes that are inputs or constants, in order
  std::vector<EntryId> heads;       ///< the outputs of the model
  std::vector<PlanStorage> storages;

  /// Reads and checks a plan: after it, every index is in range, every shape countable, every nop fits its
  /// storage, all tensors of a storage and of a kernel are on one device. Plans are written by
  /// driver/plan/graph_json.h.
  static Result<std::shared_ptr<const Plan>> parse(std::string_view graph_json);

  /// The last step of making a plan: fills in `storages` from the rest. Refuses nodes that do not fit their
  /// storage or their device. Indices must be in range, and every shape one that fits_executor().
  Status set_storages();

  /// The node that makes a tensor.
  uint32_t maker_of(EntryId entry) const;

  /// Bytes of all storage that kernels write: the workspace of one executor.
  size_t workspace_bytes() const;
};

}  // namespace baton
