#pragma once
// A backend: what makes code for one kind of device, or takes regions of a program for a library of its own.
// The compile half of design D11; the run half is runtime/plugins/NAME. Halide on the processor is the first
// (codegen/halide_cpu/).
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "baton/byoc/pattern_table.h"
#include "baton/codegen/kernel/kernel.h"
#include "baton/pass/build_context.h"
#include "baton/runtime/kernel_library.h"
#include "baton/support/base/params_blob.h"

namespace baton {

/// A primitive function that a plan calls by that name.
struct BackendFunction {
  std::string func_name;
  Function function;                      ///< typed
  OriginSet origins = OriginSet::none();  ///< the operators it computes
};

/// What became of one function: the row that joins a symbol with the operators it computes.
struct BuiltKernel {
  std::string func_name;     ///< by which the plan calls it, and the symbol in the blob
  Function function;         ///< typed; where its calls came from is on the nodes of the plan, which share it
  KernelRequest request;     ///< how its kernel was asked for; of use to backends that compile by Halide
  KernelRef kernel;          ///< never null; a backend without kernels of Halide's fills in what it knows
  uint32_t first_node = 0;   ///< the first node of the plan that calls it; the driver fills it in
  std::string backend = {};  ///< whose it is; the driver fills it in
};

/// What a backend made of functions.
struct Built {
  std::string blob;  ///< what its run half loads; empty: lives in this process only
  std::shared_ptr<const KernelLibrary> library;  ///< the same, loaded here, where that is possible; else null
  std::vector<BuiltKernel> kernels;              ///< one per function, in the order given
  NamedArrays constants;                         ///< what it wants packed with the model's constants
  double kernels_s = 0, link_s = 0;
};

/// What a code generator made of a region of another compiler: a program of primitive functions over the
/// same parameters, which the backends of their devices then compile.
struct BuiltRegion {
  IRModule program;
};

struct Backend {
  std::string name = {};  ///< "llvm": also what kernels and reports say
  std::string kind = {};  ///< the kind of target whose code it makes; empty: it takes regions only
  std::string doc = {};   ///< one line
  int device_type = 1;    ///< DLPack's number of the device that runs it

  /// The sheet of its device, told from the host's.
  std::function<DeviceSheet(const DeviceSheet& host)> device = {};
  /// Why it does not take a function; empty when it does.
  std::function<std::string(const FunctionNode& function, const DeviceSheet& sheet)> takes = {};
  /// Algorithms, layouts and schedules that its kernels are fastest in, where a context has no choice of its
  /// own; null: they take what comes.
  std::function<std::shared_ptr<const KernelChoice>()> layouts = {};
  /// What it computes as one, for MergeComposite; null: nothing.
  std::function<PatternTable()> patterns = {};
  /// Throws NotSupported for what takes() refuses, Interrupted when the context says so.
  std::function<Built(std::span<const BackendFunction> functions, const DeviceSheet& sheet,
                      const BuildContext& context)>
      compile = {};
  /// For regions that PartitionGraph cut out for `name`: the function has its global_symbol and no Compiler
  /// attribute any more. Null: it takes no regions.
  std::function<BuiltRegion(const Function& region, const BuildContext& context)> region = {};
};

using BackendRef = std::shared_ptr<const Backend>;

/// Those of backends.def in that order, then those registered since, by name. Thread safe, as all of these.
std::vector<BackendRef> backends();
/// Null when there is none of that name.
BackendRef find_backend(std::string_view name);
/// The backend that makes code for this kind of target; null when none does.
BackendRef backend_of_kind(std::string_view kind);
/// Adds a record, or replaces the one of its name. One of backends.def cannot be replaced: UsageError.
void register_backend(Backend backend);
/// Forgets a registered record; whoever is using it keeps it.
void remove_backend(const std::string& name);

/// Makes what backends.def lists known: kinds of target to Target::parse, patterns to MergeComposite.
void register_built_in_backends();

/// For doors: a context of the devices that this process has, the host's processor first.
BuildContext host_context();

}  // namespace baton
