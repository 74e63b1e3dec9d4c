// graph.json: the execution order of kernels, their operands and storage. The format is TVM's; Baton adds the
// node attributes `origins`, `made_for`, `reason`, `fallback` and `backend`, which TVM's reader ignores.
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

/// The index of a tensor in the plan: output `i` of node `n` is `plan.nodes[n].first_entry + i`.
using EntryId = uint32_t;

struct PlanEntry {
  Shape shape;
  DType dtype;
  int storage = 0;      ///< index into Plan::storages
  int device_type = 1;  ///< DLPack device type: 1 is the CPU
  std::string scope;    ///< memory scope; empty for ordinary memory

  size_t bytes() const { return static_cast<size_t>(*byte_count(shape, dtype)); }
};

struct PlanNode {
  enum class Kind {
    kInput,   ///< a parameter of the model or a constant; matched by name
    kKernel,  ///< calls func_name
    kNop,     ///< a reshape that shares its input's storage
    kCopy,    ///< copies its only input
  };

  Kind kind = Kind::kInput;
  std::string name;       ///< unique in the plan
  std::string func_name;  ///< empty for an input
  std::string backend;    ///< the plug-in that has the function; empty: the CPU
  std::vector<EntryId> inputs;
  EntryId first_entry = 0;
  uint32_t num_outputs = 1;

  std::vector<uint32_t> origins;   ///< operators of the source that this node computes, ascending
  std::vector<uint32_t> made_for;  ///< the causes of a compiler-added node
  std::string reason;              ///< and its reason
  /// Why it is not computed as asked, or by a kernel: a refused region, extents that are open; empty: it is.
  std::string fallback;
  /// Other attributes, verbatim: "hash", layouts.
  std::vector<std::pair<std::string, std::string>> attrs;

  /// The named attribute; empty when there is none.
  std::string_view attr(std::string_view name) const;
};

/// A block of memory reused by several tensors in turn.
struct PlanStorage {
  size_t bytes = 0;
  int device_type = 0;   ///< that of its tensors; 0: it has none
  bool written = false;  ///< by a kernel; otherwise it belongs to an input
};

/// Whether an executor supports such a tensor: at most 64 axes of 2^31 - 1 elements and 2^46 bytes.
bool fits_executor(std::span<const int64_t> shape, DType dtype);

struct Plan {
  std::vector<PlanNode> nodes;  ///< in execution order
  std::vector<PlanEntry> entries;
  std::vector<uint32_t> arg_nodes;  ///< nodes that are inputs or constants, in order
  std::vector<EntryId> heads;       ///< the outputs of the model
  std::vector<PlanStorage> storages;

  /// Parses and verifies a plan: all indices are in range, shapes do not overflow, every nop fits its
  /// storage, all tensors of a storage and of a kernel are on one device. Plans are written by
  /// driver/plan/graph_json.h.
  static Result<std::shared_ptr<const Plan>> parse(std::string_view graph_json);

  /// The last step of building a plan: computes `storages` from the rest. Fails for nodes that do not fit
  /// their storage or their device. Indices must be in range, and shapes must satisfy fits_executor().
  Status set_storages();

  /// Whether the node runs on a simulated device, or copies from or to one: its time is not a measured one.
  bool is_simulated(uint32_t node) const;

  /// The node that computes a tensor.
  uint32_t maker_of(EntryId entry) const;

  /// The total bytes of storage written by kernels: the workspace of one executor.
  size_t workspace_bytes() const;
};

}  // namespace baton
