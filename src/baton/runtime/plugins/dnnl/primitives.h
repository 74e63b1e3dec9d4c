#pragma once
// oneDNN primitives for a region of a blob, and their execution.
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

#include "baton/runtime/plugins/dnnl/region_blob.h"

namespace baton::dnnl_plugin {

/// The constants of a blob, in the layouts that primitives have asked for. Shared by all its regions and
/// their kernels, so that weights of a loop that was unrolled are packed, and lie in caches, once; thread
/// safe.
class Constants {
 public:
  /// `data`: the constants of the blob; null when it has none (check_only). Read until forget_data().
  explicit Constants(const char* data) : data_(data) {}
  /// The constant seen through `view`, in layout `wanted`; an empty memory when there are no data.
  dnnl::memory get(const dnnl_blob::TensorInfo& tensor, const dnnl_blob::View& view,
                   const dnnl::memory::desc& wanted);
  /// Later layouts are converted from those that were asked for so far.
  void forget_data();

 private:
  /// TensorInfo::data and type; the view's extents and strides.
  using Key =
      std::pair<std::pair<int64_t, dnnl_blob::ElementType>, std::pair<dnnl_blob::Dims, dnnl_blob::Dims>>;
  std::mutex mutex_;
  std::map<Key, std::vector<dnnl::memory>> packed_;
  const char* data_;
};

/// Where elements lie while a region runs.
struct Storage {
  enum Place : uint8_t { kInput, kOutput, kConstant, kArena } place = kArena;
  int64_t index = 0;  // of an input or output
  dnnl::memory constant = {};
  size_t bytes = 0, offset = 0;  // in the arena
  size_t first = 0, last = 0;    // the commands between which it is in use
};

/// A storage as one primitive sees it.
struct Slot {
  dnnl::memory::desc layout;
  size_t storage;
};

struct Command {
  dnnl::primitive primitive;
  std::vector<std::pair<int, size_t>> args;  // DNNL_ARG_* and slot
  dnnl::memory::desc scratch;
  /// For reports: the step that it is for, what it is, and of a change of layout what needs it.
  size_t step = 0;
  const char* name = "";
  const char* reason = "";
  std::string implementation = {}, layouts = {};
};

/// The primitives of a region for a number of threads. Immutable.
struct Program {
  int threads = 0;
  std::vector<Slot> slots;
  std::vector<Storage> storages;
  std::vector<Command> commands;
  size_t arena_bytes = 0, scratch_bytes = 0;
};

/// Throws std::runtime_error with the step that oneDNN refuses. Uses the threads of OpenMP as they are set.
std::shared_ptr<const Program> make_program(const dnnl_blob::Region& region, Constants& constants,
                                            int threads);

/// Why a region cannot be what codegen wrote; empty when it is in order: every tensor is written before it is
/// read, and no view leaves its tensor. `data_bytes`: the size of the constants.
std::string fault_of(const dnnl_blob::Region& region, size_t data_bytes, bool check_only);

}  // namespace baton::dnnl_plugin
