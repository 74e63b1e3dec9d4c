#include "baton/codegen/compile.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "baton/codegen/debug/debug_lines.h"
#include "baton/codegen/kernel/contraction.h"
#include "baton/codegen/kernel/device_code.h"
#include "baton/codegen/kernel/device_scope.h"
#include "baton/codegen/kernel/extent_cases.h"
#include "baton/codegen/kernel/join_axes.h"
#include "baton/codegen/kernel/join_rows.h"
#include "baton/codegen/kernel/kernel_key.h"
#include "baton/codegen/kernel/lower.h"
#include "baton/codegen/kernel/marks.h"
#include "baton/codegen/kernel/shape_of.h"
#include "baton/codegen/kernel/split_object.h"
#include "baton/codegen/kernel/stable_names.h"
#include "baton/codegen/kernel/zero_divisors.h"
#include "baton/codegen/listing.h"
#include "baton/ir/extent.h"
#include "baton/ir/extents/kernel_extents.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/schedule/lowered/rare_values.h"
#include "baton/support/base/environment.h"
#include "baton/support/diagnostic.h"

namespace baton {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The operators and types of a kernel, for internal error messages.
std::string relay_summary(const FunctionNode& function) {
  std::string text = "fn (";
  for (const Var& param : function.params()) {
    const Type& type = type_of(*param);
    text += (text.back() == '(' ? "%" : ", %") + param->name() + ": " + (type ? type_text(type) : "?");
  }
  text += ") {";
  for (const KernelBlock& block : kernel_blocks(function)) {
    text += " " + block.call->op()->name + "(";
    for (const Expr& arg : block.call->args()) {
      const Type& type = type_of(arg);
      text += (text.back() == '(' ? "" : ", ") + (type ? type_text(type) : "?");
    }
    text += ")";
    if (const Attrs& attrs = block.call->attrs()) {
      text += " {";
      for (const AttrField& field : attrs->schema().fields)
        text += (text.back() == '{' ? "" : ", ") + field.name + "=" + attr_text(attrs->get(field.name));
      text += "}";
    }
    text += " -> " + type_text(block.call->checked_type()) + ";";
  }
  return text + " }";
}

/// Halide counts the bytes of a tensor inside of a kernel in 31 bits. Asked only once it has refused: what it
/// computes in place may be as large as it likes.
void refuse_large(const FunctionNode& function) {
  for (const KernelBlock& block : kernel_blocks(function))
    for (const TensorTypeNode* type : flat_types(block.call->checked_type())) {
      const auto bytes = type->is_static() ? byte_count(type->extents(), type->dtype()) : 0;
      if (!bytes || *bytes > INT32_MAX)
        throw Error("`" + block.call->op()->name + "` would give " + type_text(Type(type)) +
                    ", which is too large for a kernel: at most 2147483647 bytes can be kept inside of one");
    }
}

/// Converts Halide's errors to InternalError: they mean a wrong compute or schedule.
template <class Body>
auto guarded(const FunctionNode& function, const std::string& template_name, Body&& body) {
  try {
    return body();
  } catch (const Halide::Error& error) {
    refuse_large(function);
    throw InternalError(__FILE__, __LINE__,
                        "Halide refuses a kernel (template " + template_name + "): " + error.what() +
                            "\nkernel: " + relay_summary(function));
  }
}

/// Floats are IEEE in every kernel; whether a multiply and an add may be one rounding is the
/// ContractionScope's to say.
Halide::Target target_of(const DeviceSheet& sheet) {
  return Halide::Target(sheet.code_target)
      .with_feature(Halide::Target::NoAsserts)
      .with_feature(Halide::Target::NoBoundsQuery)
      .with_feature(Halide::Target::StrictFloat);
}

/// Among GPUs, only CUDA's compiler promises that both are one instruction.
bool has_fused_multiply_add(const Halide::Target& target) {
  if (target.has_feature(Halide::Target::CUDA)) return true;
  if (target.has_gpu_feature()) return false;
  return target.arch == Halide::Target::X86 ? target.has_feature(Halide::Target::FMA)
                                            : target.arch == Halide::Target::ARM && target.bits == 64;
}

struct Scheduled {
  LoweredKernel kernel;
  const ScheduleTemplate* chosen = nullptr;
  ScheduleParams params;
  std::vector<std::string> skipped;
  double choose_s = 0;
};

const ScheduleTemplate& template_named(const std::string& name, const DeviceSheet& sheet) {
  for (const ScheduleTemplate* candidate : templates_of(sheet))
    if (name == candidate->name) return *candidate;
  std::vector<std::string> names;
  for (const ScheduleTemplate* candidate : templates_of(sheet)) names.push_back(candidate->name);
  const std::string near = did_you_mean(name, names);
  throw UsageError("there is no schedule template `" + name + "`" +
                   (near.empty() ? "" : "; did you mean `" + near + "`?"));
}

/// Unrolls what is vectorised.
void unroll_vectors(Halide::Internal::Definition definition) {
  for (Halide::Internal::Dim& dim : definition.schedule().dims())
    if (dim.for_type == Halide::Internal::ForType::Vectorized)
      dim.for_type = Halide::Internal::ForType::Unrolled;
  for (const Halide::Internal::Specialization& special : definition.specializations())
    unroll_vectors(special.definition);
}

/// Halide 21 makes code that LLVM refuses for selects between RISC-V's vectors by a scalar (padding), and
/// conversions to float16 that need one more extension: code for that machine is scalar.
void unroll_vectors(const LoweredKernel& kernel) {
  for (const Tensor& output : kernel.outputs)
    for (auto& [name, function] : Halide::Internal::find_transitive_calls(output.func().function())) {
      if (!function.has_pure_definition()) continue;
      unroll_vectors(function.definition());
      for (const Halide::Internal::Definition& update : function.updates()) unroll_vectors(update);
    }
}

/// Why a template does not take a kernel; empty when it does.
std::string refusal(const ScheduleTemplate& of, const LoweredKernel& kernel, const DeviceSheet& sheet) {
  try {
    return of.refuses(kernel, sheet);
  } catch (const NeedsNumbers& error) {
    return std::string("it needs ") + error.what();
  }
}

/// Without a schedule yet. `function`: that of the request; symbolic extents are numbered_extent()s, and
/// `usual` has a number for each; 0: the template's first.
Scheduled chosen(const KernelRequest& request, const Function& function, const std::vector<int64_t>& usual,
                 const std::string& symbol, const DeviceSheet& sheet) {
  Scheduled out;
  const bool fused = !request.strict && has_fused_multiply_add(Halide::Target(sheet.code_target));
  out.kernel = lower(*join_axes(join_rows(function)), {symbol, request.variant.ablated, fused,
                                                       std::vector<int64_t>(usual.size(), kUsualExtent)});
  const auto start = std::chrono::steady_clock::now();
  if (!request.template_name.empty()) {
    out.chosen = &template_named(request.template_name, sheet);
    const std::string why = refusal(*out.chosen, out.kernel, sheet);
    if (!why.empty())
      throw NotSupported("template " + request.template_name + " does not take this kernel: " + why);
  } else {
    for (const ScheduleTemplate* candidate : templates_of(sheet)) {
      const std::string why = refusal(*candidate, out.kernel, sheet);
      if (why.empty()) {
        out.chosen = candidate;
        break;
      }
      out.skipped.push_back(std::string(candidate->name) + ": " + why);
    }
    BATON_CHECK(out.chosen, "no schedule template takes " + relay_summary(*request.function));
  }
  for (size_t i = 0; i < out.kernel.usual.size(); ++i)
    out.kernel.usual[i] = usual[i]                                   ? usual[i]
                          : out.kernel.is_batch(static_cast<int>(i)) ? kUsualBatch
                                                                     : out.chosen->usual.front();
  out.params = request.params.empty() ? out.chosen->default_params(out.kernel, sheet) : request.params;
  out.choose_s = seconds_since(start);
  return out;
}

Scheduled schedule(const KernelRequest& request, const Function& function, const std::vector<int64_t>& usual,
                   const std::string& symbol, const DeviceSheet& sheet) {
  Scheduled out = chosen(request, function, usual, symbol, sheet);
  out.chosen->apply(out.kernel, out.params, sheet);
  if (sheet.code_target.starts_with("riscv")) unroll_vectors(out.kernel);
  return out;
}

Halide::Module make_module(Scheduled& scheduled, MarkPass* marks, const std::string& symbol,
                           const Halide::Target& target, Halide::LinkageType linkage) {
  std::vector<Halide::Func> outputs;
  for (const Tensor& output : scheduled.kernel.outputs) outputs.push_back(output.func());
  std::vector<Halide::Argument> inputs;
  for (const Halide::ImageParam& input : scheduled.kernel.inputs) inputs.push_back(input);
  for (int i = 0; i < scheduled.kernel.extents; ++i) inputs.push_back(extent_param(i));
  Halide::Pipeline pipeline(outputs);
  StableLoopNames stable;
  ZeroDivisors zeros;
  RareValuesPass rare(!target.has_gpu_feature());
  ShapesByExtents shapes(scheduled.kernel);
  GrantedExtents granted(scheduled.kernel);
  StreamAheadPass streams(scheduled.kernel.streams);
  OpenTilesPass open(scheduled.kernel.open_tiles);
  DataOnDevicePass data;
  DeviceFunctionsPass functions(target.has_feature(Halide::Target::CUDA));
  ThreadTilesPass tiles;
  if (target.has_gpu_feature()) {
    pipeline.add_custom_lowering_pass(&data, [] {});
    pipeline.add_custom_lowering_pass(&functions, [] {});
    pipeline.add_custom_lowering_pass(&tiles, [] {});
  }
  if (!scheduled.kernel.is_static()) {
    pipeline.add_custom_lowering_pass(&shapes, [] {});
    pipeline.add_custom_lowering_pass(&granted, [] {});
  }
  pipeline.add_custom_lowering_pass(&zeros, [] {});
  pipeline.add_custom_lowering_pass(&rare, [] {});
  pipeline.add_custom_lowering_pass(&streams, [] {});
  if (marks) pipeline.add_custom_lowering_pass(marks, [] {});
  pipeline.add_custom_lowering_pass(&open, [] {});
  pipeline.add_custom_lowering_pass(&stable, [] {});
  return with_stable_names(pipeline.compile_to_module(inputs, symbol, target, linkage));
}

/// A kernel as the functions of one module: one, or one for each case of its symbolic extents, and one that
/// calls them.
struct KernelModule {
  Scheduled scheduled;            ///< the one for long extents
  std::vector<ExtentCase> cases;  ///< where there are several
  std::vector<MarkSite> marks;
  Halide::Module module;
  std::vector<LoweredPipeline> pipelines;  ///< those of all cases
};

class KernelMaker {
 public:
  KernelMaker(const KernelRequest& request, const std::string& symbol, const DeviceSheet& sheet,
              const Halide::Target& target)
      : request_(request), symbol_(symbol), sheet_(sheet), target_(target) {}

  KernelModule run() {
    try {
      return make();
    } catch (const NeedsNumbers& error) {
      throw NeedsNumbers(with_extent_names(error.what(), *request_.function));
    }
  }

 private:
  KernelModule make() {
    const Function function = with_numbered_extents(request_.function);
    extents_ = kernel_extents(*function).size();
    if (is_gpu(sheet_) && extents_ > 0) throw NeedsNumbers("kernels of GPUs need numbers for all extents");
    add_cases(function, {});
    const auto own =
        std::ranges::find_if(cases_, [](const Case& each) { return each.condition.zero.empty(); });
    const auto main = static_cast<size_t>(own - cases_.begin());
    std::vector<MarkSite> marks;
    if (cases_.size() == 1) {
      Halide::Module module = module_of(cases_[0], symbol_, marks, Halide::LinkageType::ExternalPlusArgv);
      std::vector<LoweredPipeline> only{pipeline_of(cases_[0])};
      return {std::move(cases_[0].scheduled), {}, std::move(marks), std::move(module), std::move(only)};
    }
    Halide::Module joined(symbol_, target_);
    std::vector<CaseFunction> functions;
    std::vector<ExtentCase> cases;
    std::vector<LoweredPipeline> pipelines;
    for (Case& each : cases_) {
      functions.push_back({symbol_ + "_case" + std::to_string(functions.size()), each.condition});
      if (!each.scheduled.chosen) {
        functions.back().name.clear();
        cases.push_back({each.condition.text(), "none", {}});
        for (const Dim& dim : each.condition.zero) cases.back().undefined.push_back(extent_number(dim));
        continue;
      }
      const Halide::Module module =
          module_of(each, functions.back().name, marks, Halide::LinkageType::Internal);
      pipelines.push_back(pipeline_of(each));
      for (const Halide::Buffer<>& buffer : module.buffers()) joined.append(buffer);
      for (const Halide::Internal::LoweredFunc& part : module.functions()) joined.append(part);
      joined.set_any_strict_float(joined.any_strict_float() || module.any_strict_float());
      cases.push_back({each.condition.text(), each.scheduled.chosen->name, each.scheduled.params});
    }
    joined.append(dispatch(symbol_, cases_[main].scheduled.kernel, functions));
    return {std::move(cases_[main].scheduled), std::move(cases), std::move(marks), std::move(joined),
            std::move(pipelines)};
  }

  struct Case {
    Scheduled scheduled;
    CaseCondition condition;
    std::string prefix;  ///< of its Funcs
  };

  static LoweredPipeline pipeline_of(const Case& each) {
    LoweredPipeline pipeline{each.prefix, {}};
    for (const Tensor& output : each.scheduled.kernel.outputs) pipeline.outputs.push_back(output.func());
    return pipeline;
  }

  Halide::Module module_of(Case& each, const std::string& name, std::vector<MarkSite>& marks,
                           Halide::LinkageType linkage) const {
    MarkPass pass(each.prefix, request_.variant, marks);
    Halide::Module module =
        make_module(each.scheduled, request_.variant.marked ? &pass : nullptr, name, target_, linkage);
    marks = pass.sites();
    return module;
  }

  /// The cases where the extents `zero` are 0, which `function` has as numbers: first those where others are,
  /// too, and then from schedules for long extents to one for all.
  void add_cases(const Function& function, const std::vector<Dim>& zero) {
    std::vector<int64_t> usual(extents_, 0);
    std::vector<Case> own;
    do {
      std::string prefix = made_ == 0 ? symbol_ : symbol_ + "_case" + std::to_string(made_);
      ++made_;
      Scheduled scheduled = schedule(request_, function, usual, prefix, sheet_);
      const std::vector<LeastExtent> least = scheduled.kernel.least;
      usual = shorter_extents(scheduled.kernel, scheduled.chosen->usual);
      own.push_back({std::move(scheduled), {zero, least}, std::move(prefix)});
      BATON_CHECK(own.size() <= kMostSchedules, "no schedule for short extents: " + relay_summary(*function));
    } while (!own.back().condition.least.empty());
    for (size_t k = 0; k + 1 < own.size(); ++k)
      for (LeastExtent& each : own[k].condition.least)
        for (const LeastExtent& next : own[k + 1].condition.least)
          if (next.dim == each.dim && next.least > 1 && next.least % each.lanes == 0) each.rival = next.least;
    std::vector<Dim> may_be_zero;
    for (const Dim& dim : own.front().scheduled.kernel.never_empty)
      if (extent_number(dim) >= 0 && std::ranges::find(may_be_zero, dim) == may_be_zero.end())
        may_be_zero.push_back(dim);
    // Of several extents that may be 0, those after `dim` are left to its own cases.
    for (const Dim& dim : may_be_zero) add_empty(function, zero, dim);
    std::ranges::move(own, std::back_inserter(cases_));
  }

  void add_empty(const Function& function, std::vector<Dim> zero, Dim dim) {
    if (zero.size() == kMostEmpty)
      throw NeedsNumbers("a kernel of so many operands that may be empty needs a number for " +
                         extent_text(dim));
    const Function empty = replace_extent_vars(function, [&](Dim var) { return var == dim ? Dim(0) : var; });
    // Kernels without results are not called.
    for (const TensorTypeNode* type : flat_types(type_of(empty->body())))
      if (std::ranges::find(type->shape(), Dim(0)) != type->shape().end()) return;
    zero.push_back(dim);
    const size_t before = cases_.size();
    try {
      add_cases(empty, zero);
    } catch (const NeedsNumbers&) {
      throw;
    } catch (const NotSupported&) {  // the results have no value, as those of indices into nothing
      cases_.resize(before);
      cases_.push_back({{}, {zero, {}}, {}});
    }
  }

  static constexpr size_t kMostEmpty = 3, kMostSchedules = 16;
  const KernelRequest& request_;
  const std::string& symbol_;
  const DeviceSheet& sheet_;
  const Halide::Target& target_;
  size_t extents_ = 0, made_ = 0;
  std::vector<Case> cases_;
};

void* jit_allocate(Halide::JITUserContext*, size_t bytes) { return kernel_services().allocate(bytes); }
void jit_free(Halide::JITUserContext*, void* block) { kernel_services().release(block); }
int jit_parallel_for(Halide::JITUserContext* user, int (*task)(Halide::JITUserContext*, int, uint8_t*),
                     int min, int extent, uint8_t* closure) {
  return kernel_services().parallel_for(reinterpret_cast<int (*)(void*, int, uint8_t*)>(task), user, min,
                                        extent, closure);
}

/// JIT kernels use the runtime's allocator and threads, as linked ones do.
void set_jit_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    Halide::JITHandlers handlers;
    handlers.custom_malloc = jit_allocate;
    handlers.custom_free = jit_free;
    handlers.custom_do_par_for = jit_parallel_for;
    Halide::Internal::JITSharedRuntime::set_default_handlers(handlers);
  });
}

/// Overrides Halide's default of printing warnings to standard error and aborting when built without
/// exceptions.
class Reporter final : public Halide::CompileTimeErrorReporter {
 public:
  void warning(const char*) override {}
  [[noreturn]] void error(const char* text) override { throw Halide::CompileError(text); }
};

/// LLVM gives up on large functions: after 500 questions about aliases EarlyCSE stops asking, and LICM leaves
/// loops with more than 250 loads and stores alone. Sums then stay in memory in the later of several unrolled
/// loops: a 7x7 convolution of 19 channels reached 150 instead of 240 GFLOP/s. Halide passes options to LLVM
/// from this variable, once, before the first module; those of the user come last, and win.
void raise_llvm_limits() {
  const char* const name = "HL_LLVM_ARGS";
  std::string options = "-earlycse-mssa-optimization-cap=1000000 -licm-mssa-max-acc-promotion=5000";
  const std::string given = environment()->llvm_args;
  if (given.starts_with(options)) return;  // by the parent process
  if (!given.empty()) options.append(" ").append(given);
  setenv(name, options.c_str(), 1);
}

void prepare_halide() {
  static std::once_flag once;
  std::call_once(once, [] {
    static Reporter reporter;
    Halide::set_custom_compile_time_error_reporter(&reporter);
    raise_llvm_limits();
  });
}

}  // namespace

void add_facts(Kernel& kernel, const FunctionNode& function) {
  for (const KernelBlock& block : kernel_blocks(function))
    kernel.block_facts.push_back(cost_of_call(*block.call));
  kernel.facts = cost_of_function(function, kernel.block_facts);
}

namespace {

/// A kernel that Halide has lowered, before LLVM.
struct Lowered {
  const KernelRequest* request;
  Kernel kernel;       ///< without its object
  std::string symbol;  ///< its name in the module: unseen_symbol()
  std::vector<LoweredPipeline> pipelines;
  Halide::Module module;
};

Lowered lower_request(const KernelRequest& request, const DeviceSheet& sheet) {
  prepare_halide();
  const auto start = std::chrono::steady_clock::now();
  Kernel kernel;
  kernel.key = kernel_key(request, sheet);
  kernel.symbol = kernel_symbol(kernel.key);
  const std::string symbol = unseen_symbol(kernel.key);
  const ContractionScope contraction(!request.strict);  // GPUs' code is made while lowering
  return guarded(*request.function, request.template_name, [&] {
    KernelModule made =
        KernelMaker(request, symbol, sheet, target_of(sheet).with_feature(Halide::Target::NoRuntime)).run();
    const Scheduled& scheduled = made.scheduled;
    kernel.template_name = scheduled.chosen->name;
    kernel.params = scheduled.params;
    kernel.skipped = scheduled.skipped;
    kernel.cases = std::move(made.cases);
    kernel.marks = std::move(made.marks);
    for (const OpBlock& block : scheduled.kernel.blocks) {
      kernel.stages.emplace_back();
      for (const Stage& stage : block.stages) kernel.stages.back().push_back(stage.name);
    }
    kernel.compile_s = seconds_since(start);
    kernel.choose_s = scheduled.choose_s;
    kernel.lower_s = kernel.compile_s - kernel.choose_s;
    return Lowered{&request, std::move(kernel), symbol, std::move(made.pipelines), std::move(made.module)};
  });
}

std::string_view text_of(const Halide::Buffer<uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size_in_bytes()};
}

/// The kernel's part of an object file; nothing where that cannot be told.
std::optional<std::string> part_of(const Halide::Buffer<uint8_t>& object, const Lowered& lowered) {
  std::optional<std::string> part = split_object(text_of(object), lowered.symbol);
  if (!part) return std::nullopt;
  return renamed(std::move(*part), lowered.symbol, lowered.kernel.symbol);
}

/// In OpenCL C, where Halide always writes the first.
void forbid_contraction(std::string& source) {
  constexpr std::string_view kOn = "#pragma OPENCL FP_CONTRACT ON", kOff = "#pragma OPENCL FP_CONTRACT OFF";
  for (size_t at = 0; (at = source.find(kOn, at)) != std::string::npos; at += kOff.size())
    source.replace(at, kOn.size(), kOff);
}

/// The code of a GPU kernel, instead of an object.
void extract_device_code(Lowered& lowered) {
  guarded(*lowered.request->function, lowered.request->template_name, [&] {
    DeviceCode code = device_code(lowered.module);
    if (lowered.request->strict) forbid_contraction(code.source);
    lowered.kernel.object = renamed(packed(code), lowered.symbol, lowered.kernel.symbol);
  });
}

/// Compiles one module. Objects of single kernels are cut like those of several: the bytes are the same.
void compile_alone(Lowered& lowered) {
  const ContractionScope contraction(!lowered.request->strict);
  guarded(*lowered.request->function, lowered.request->template_name, [&] {
    const Halide::Buffer<uint8_t> object = lowered.module.compile_to_buffer();
    std::optional<std::string> part = part_of(object, lowered);
    lowered.kernel.object =
        part ? std::move(*part)
             : renamed(std::string(text_of(object)), lowered.symbol, lowered.kernel.symbol);
  });
}

/// Compiles the modules as one. Kernels that fail, or cannot be told apart, are left without an object.
void compile_joined(const std::vector<Lowered*>& all) {
  const ContractionScope contraction(!all.front()->request->strict);
  Halide::Module joined("kernels", all.front()->module.target());
  joined.set_any_strict_float(true);
  for (const Lowered* each : all)
    for (const Halide::Internal::LoweredFunc& function : each->module.functions()) joined.append(function);
  try {
    const Halide::Buffer<uint8_t> object = joined.compile_to_buffer();
    for (Lowered* each : all)
      if (std::optional<std::string> part = part_of(object, *each)) each->kernel.object = std::move(*part);
  } catch (const Halide::Error&) {  // one of them: which, is found by compiling each by itself
  }
}

/// Whether objects for that device can be cut: split_object() reads those of x86-64.
bool is_split(const DeviceSheet& sheet) { return sheet.code_target.starts_with("x86-64"); }

/// Which modules may be joined: tables of constants are in one section, whichever kernel they belong to, and
/// contraction is decided for a module.
std::vector<std::vector<Lowered*>> groups_of(std::vector<Lowered>& all) {
  std::vector<std::vector<Lowered*>> groups;
  for (Lowered& each : all) {
    if (!each.module.buffers().empty() || !each.kernel.object.empty()) continue;
    const auto fits = [&](const std::vector<Lowered*>& group) {
      const Halide::Module& other = group.front()->module;
      return group.front()->request->strict == each.request->strict && other.target() == each.module.target();
    };
    auto group = std::ranges::find_if(groups, fits);
    if (group == groups.end()) group = groups.insert(group, std::vector<Lowered*>());
    group->push_back(&each);
  }
  return groups;
}

/// The assembly text comes with an object of its own, whose code is that of the kernel.
KernelListing list(const KernelRequest& request, const DeviceSheet& sheet, Kernel* kernel) {
  Lowered lowered = lower_request(request, sheet);
  const ContractionScope contraction(!request.strict);
  const std::string &from = lowered.symbol, &to = lowered.kernel.symbol;
  KernelListing listing;
  guarded(*request.function, request.template_name, [&] {
    const MemoryFile object, assembly;
    lowered.module.compile({{Halide::OutputFileType::object, object.path()},
                            {Halide::OutputFileType::assembly, assembly.path()}});
    listing = {to, renamed(object.text(), from, to), renamed(assembly.text(), from, to),
               shape_of(lowered.module, lowered.pipelines)};
  });
  rename(listing.shape, from, to);
  if (kernel) *kernel = std::move(lowered.kernel);
  return listing;
}

}  // namespace

std::vector<Kernel> compile_together(std::span<const KernelRequest> requests, const DeviceSheet& sheet) {
  std::vector<Lowered> lowered;
  for (const KernelRequest& request : requests) lowered.push_back(lower_request(request, sheet));
  if (is_gpu(sheet))
    for (Lowered& each : lowered) extract_device_code(each);
  for (const std::vector<Lowered*>& group : groups_of(lowered)) {
    if (group.size() < 2 || !is_split(sheet)) continue;
    const auto start = std::chrono::steady_clock::now();
    compile_joined(group);
    // Their shares of the time, by size: what LLVM takes grows with the code.
    size_t bytes = 0;
    for (const Lowered* each : group) bytes += each->kernel.object.size();
    for (Lowered* each : group)
      if (bytes)
        each->kernel.compile_s += seconds_since(start) * static_cast<double>(each->kernel.object.size()) /
                                  static_cast<double>(bytes);
  }
  std::vector<Kernel> kernels;
  for (Lowered& each : lowered) {
    if (each.kernel.object.empty()) {
      const auto start = std::chrono::steady_clock::now();
      compile_alone(each);
      each.kernel.compile_s += seconds_since(start);
    }
    add_facts(each.kernel, *each.request->function);
    kernels.push_back(std::move(each.kernel));
  }
  return kernels;
}

Kernel compile_kernel(const KernelRequest& request, const DeviceSheet& sheet) {
  const std::string& folder = request.variant.debug_lines;
  if (folder.empty()) return std::move(compile_together({&request, 1}, sheet).front());
  const auto start = std::chrono::steady_clock::now();
  Kernel kernel;
  const KernelListing listing = list(request, sheet, &kernel);
  kernel.object = object_with_lines(listing, *request.function, folder);
  add_facts(kernel, *request.function);
  kernel.compile_s = seconds_since(start);
  return kernel;
}

KernelSchedule chosen_schedule(const KernelRequest& request, const DeviceSheet& sheet) {
  if (!request.template_name.empty() && !request.params.empty())
    return {request.template_name, request.params};
  prepare_halide();
  const std::string symbol = "choose" + kernel_key(request, sheet).hex();
  return guarded(*request.function, request.template_name, [&] {
    const Function function = with_numbered_extents(request.function);
    const Scheduled scheduled =
        chosen(request, function, std::vector<int64_t>(kernel_extents(*function).size(), 0), symbol, sheet);
    return KernelSchedule{scheduled.chosen->name, scheduled.params};
  });
}

KernelListing kernel_listing(const KernelRequest& request, const DeviceSheet& sheet) {
  return list(request, sheet, nullptr);
}

JitKernel jit_kernel(const KernelRequest& request, const DeviceSheet& sheet) {
  prepare_halide();
  set_jit_handlers();
  const std::string symbol = unseen_symbol(kernel_key(request, sheet));
  const ContractionScope contraction(!request.strict);
  return guarded(*request.function, request.template_name, [&] {
    const KernelModule made =
        KernelMaker(request, symbol, sheet, target_of(sheet).with_feature(Halide::Target::JIT)).run();
    const Halide::Module& module = made.module;
    Halide::Internal::JITModule services;
    services.add_symbol_for_export(
        "baton_mark_fenced",
        Halide::Internal::JITModule::Symbol(reinterpret_cast<void*>(kernel_services().mark_fenced)));
    auto code = std::make_shared<Halide::Internal::JITModule>(
        module, module.functions().back(), std::vector<Halide::Internal::JITModule>{services});
    return JitKernel{reinterpret_cast<KernelFunction>(code->argv_function()), code};
  });
}

}  // namespace baton
