#pragma once
// A backend generates code for one kind of device, or compiles regions of a program for an external library.
// This is the compile-time half of design D11; the runtime half is runtime/plugins/NAME. Halide on the CPU is
// the first (codegen/halide_cpu/).
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "baton/byoc/pattern_table.h"
#include "baton/codegen/kernel/kernel.h"
#include "baton/pass/build_context.h"
#include "baton/runtime/kernel_library.h"
#include "baton/schedule/kernel_choice.h"
#include "baton/support/base/params_blob.h"

namespace baton {

/// A primitive function and the name that the plan calls it by.
struct BackendFunction {
  std::string func_name;
  Function function;                      ///< typed
  OriginSet origins = OriginSet::none();  ///< the operators it computes
};

/// The compiled form of one function: maps a symbol to the operators it computes.
struct BuiltKernel {
  std::string func_name;     ///< the name used by the plan, and the symbol in the blob
  Function function;         ///< typed; call-site origins are on the plan's nodes, which share it
  KernelRequest request;     ///< the request its kernel was compiled from; used by Halide backends
  KernelRef kernel;          ///< not null; a backend without Halide kernels fills in what it knows
  uint32_t first_node = 0;   ///< the first plan node that calls it; filled in by the driver
  std::string backend = {};  ///< the backend's name; filled in by the driver
};

/// The result of compiling functions.
struct Built {
  std::string blob;  ///< loaded by the runtime half; empty: usable in this process only
  std::shared_ptr<const KernelLibrary>
      library;                       ///< the same, loaded in this process where possible; else null
  std::vector<BuiltKernel> kernels;  ///< one per function, in the order given
  NamedArrays constants;             ///< to be packed with the model's constants
  double choose_s = 0, kernels_s = 0, link_s = 0;
};

/// The lowering of an external compiler's region: a program of primitive functions over the same parameters,
/// compiled by the backends of their devices.
struct BuiltRegion {
  IRModule program;
  std::string refused = {};  ///< why the backend does not compile it; empty: it does
};

/// An operator that a backend computes outside of its composites, too.
struct OperatorRule {
  std::string op;
  /// Why it does not take this typed call; empty when it does.
  std::function<std::string(const CallNode& call)> refuses;
};

struct Backend {
  std::string name = {};  ///< "llvm": also what kernels and reports say
  std::string kind = {};  ///< the kind of target it generates code for; empty: regions only
  std::string doc = {};   ///< one line
  int device_type = 1;    ///< DLPack device type

  /// Derives the device's sheet from the host's.
  std::function<DeviceSheet(const DeviceSheet& host)> device = {};
  /// The sheet with what a target's options say of the device, such as `-arch`; null: nothing. UsageError or
  /// NotSupported for an option that it cannot follow.
  std::function<DeviceSheet(const DeviceSheet& sheet, const Target& target)> with_options = {};
  /// Why it rejects a function; empty when it accepts. A rejected kernel of one of its regions is compiled by
  /// the backend of the surrounding device.
  std::function<std::string(const FunctionNode& function, const DeviceSheet& sheet)> takes = {};
  /// The algorithms, layouts and schedules that its kernels prefer, used when the context has no choice of
  /// its own; null: no preference.
  std::function<std::shared_ptr<const KernelChoice>()> layouts = {};
  /// Its kernels may be whole recurrent cells (FuseCells): several products, and what takes their results
  /// apart.
  bool cells = false;
  /// Composite patterns for MergeComposite; null: none.
  std::function<PatternTable()> patterns = {};
  /// Throws NotSupported for functions that takes() rejects, Interrupted when the context is cancelled.
  std::function<Built(std::span<const BackendFunction> functions, const DeviceSheet& sheet,
                      const BuildContext& context)>
      compile = {};
  /// The schedules that compile() would choose, without making code; null: not known before (a library
  /// chooses by itself).
  std::function<std::vector<KernelSchedule>(std::span<const BackendFunction> functions,
                                            const DeviceSheet& sheet, const BuildContext& context)>
      schedules = {};
  /// For a simulated device: the microseconds that a kernel takes, known without running it; null: not known.
  std::function<double(const FunctionNode& function)> known_us = {};
  /// Lowers a region that PartitionGraph outlined for `name`: the function has a global_symbol, and its
  /// Compiler attribute is removed. Null: regions are not supported.
  std::function<BuiltRegion(const Function& region, const BuildContext& context)> region = {};
  /// Its regions may become programs of other backends' kernels: relay.ext.NAME of users. Backends without
  /// `compile` have no others.
  bool lowers_regions = false;
  /// The text that the driver of the device gets, of a blob of compile(); null: there is none.
  std::function<std::string(const std::string& blob)> source = {};
  /// The operators that AnnotateTarget gives to it by default; rules that users register take precedence.
  std::vector<OperatorRule> operators = {};
  /// The plug-in that runs its code; empty: that of its name.
  std::string plugin = {};
  /// For a simulated device: billions of operations per second in products, by element type.
  std::vector<std::pair<std::string, double>> known_gops = {};

  const std::string& plugin_name() const { return plugin.empty() ? name : plugin; }
};

using BackendRef = std::shared_ptr<const Backend>;

/// The backends of backends.def in order, then registered ones by name. All functions here are thread safe.
std::vector<BackendRef> backends();
/// The backend of that name, or null.
BackendRef find_backend(std::string_view name);
/// The backend for a kind of target, or null.
BackendRef backend_of_kind(std::string_view kind);
/// What builds the regions of `compiler`: a registered backend before that of backends.def of this name, or
/// of the kind that stands for it. Null when there is none.
BackendRef find_region_backend(const std::string& compiler);
/// Adds or replaces a backend. UsageError for a name in backends.def, unless it is to build regions only.
void register_backend(Backend backend);
/// The same, and its target kind, patterns and operators: those of an earlier one of the name are forgotten.
void install_backend(Backend backend);
/// Removes a registered backend; current users keep their reference.
void remove_backend(const std::string& name);

/// Registers the target kinds of backends.def with Target::parse, and their patterns with MergeComposite.
void register_built_in_backends();

/// Why a backend does not take a typed call for its regions; empty when it does.
std::string refusal_of_call(const Backend& backend, const CallNode& call);

/// Lowers a region like a whole program, fused within itself: `Backend::region` of backends that compile
/// kernels.
BuiltRegion fused_region(const Function& region, const BuildContext& context);
/// That of a region which `compiler` does not compile, with a warning that says `why`; NotSupported where
/// the context wants all regions to be compiled (baton.strict_regions). `symbol`: the region's.
BuiltRegion refused_region(const std::string& compiler, const std::string& symbol, const std::string& why,
                           const Function& region, const BuildContext& context);
/// fused_region() with each operator as a kernel of its own, for libraries of single operators.
BuiltRegion unfused_region(const Function& region, const BuildContext& context);

/// What reports show of a kernel that a library computes: its operators and cost, and how the backend says
/// that it is computed.
KernelRef library_kernel(const BackendFunction& function, std::string template_name,
                         KernelParams params = {});

/// fn (p..) { body }  ->  fn (p..) { fn (p.., Primitive=1, attrs) { body }(p..) }: a region that is computed
/// by a library is one kernel, with the origins of all its calls. `region`: typed, without composites.
Function as_one_kernel(const Function& region, FunctionAttrs attrs = {});

/// A context with the devices of this process, the host's CPU first.
BuildContext host_context();

/// Makes `targets` those of the context, with the sheets of devices that came to be known after it was made.
/// Where the first of kind "llvm" (or the first one's host) names a processor, the sheets become those of
/// that processor and what goes with it: kernels are made for it. UsageError as of processor_sheet().
void set_targets(BuildContext& context, std::vector<TargetRef> targets);

}  // namespace baton
