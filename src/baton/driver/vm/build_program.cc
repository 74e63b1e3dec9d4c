#include "baton/driver/vm/build_program.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>

#include "baton/codegen/compile.h"
#include "baton/codegen/compiler.h"
#include "baton/driver/compile_plan.h"
#include "baton/driver/graph_form.h"
#include "baton/driver/pipeline.h"
#include "baton/driver/plan/kernel_names.h"
#include "baton/driver/plan/region_attrs.h"
#include "baton/driver/regions.h"
#include "baton/driver/vm/lowering.h"
#include "baton/ir/analysis/call_graph.h"
#include "baton/ir/analysis/normal_form.h"
#include "baton/ir/functions.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/runtime/processor.h"
#include "baton/support/error.h"
#include "baton/transform/devices/plan_devices.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

/// `main`, and functions that nobody calls, have no type parameters and are no kernels or regions.
std::vector<std::string> entries_of(const IRModuleNode& module) {
  std::vector<std::string> entries{"main"};
  const CallGraph calls(module);
  for (const auto& [name, function] : module.functions()) {
    const bool stands_alone = function->type_params().empty() && !function->is_primitive() &&
                              !function->attr("Compiler") && !function->attr("Extern");
    if (name != "main" && stands_alone && calls.references(name) == 0) entries.push_back(name);
  }
  return entries;
}

/// Why the processor has no kernel for a function with symbolic extents: some operators need numbers.
/// `compiled`: also those that need them in a case of their extents, which compiling finds.
std::function<std::string(const Function&)> refusals(const BuildContext& context, bool compiled) {
  return [&context, compiled](const Function& function) -> std::string {
    KernelRequest request;
    request.function = without_region(function);
    try {
      (void)chosen_schedule(request, context.host());
      request.strict = is_strict(context.passes->config);
      if (compiled) (void)compile_kernels({&request, 1}, context);  // kept, for the build
      return {};
    } catch (const NotSupported& why) {
      return why.what();
    }
  };
}

std::vector<vm::NamedExtent> specializations_of(const BuildContext& context) {
  return vm::parse_specializations(context.passes->config.text("baton.specialize", ""));
}

std::vector<vm::NamedExtent> bounds_of(const BuildContext& context) {
  return vm::parse_bounds(context.passes->config.text("baton.most", ""));
}

/// UsageError where what the context says of extents is of none of `main`, or contradicts itself.
void check_extents(const FunctionNode& main, const BuildContext& context) {
  vm::require_extents(specializations_of(context), main);
  vm::require_extents(bounds_of(context), main);
  vm::require_within(specializations_of(context), bounds_of(context));
}

/// Functions for external compilers that no backend took become ordinary ones.
class WithoutCompilers final : public Rewriter {
  bool enter(const Expr&) override { return true; }
  Expr rewrite(const Expr&, const Expr& rebuilt) override {
    const auto* function = as<FunctionNode>(rebuilt);
    if (!function || function->is_primitive() || !is_closed(*function)) return rebuilt;
    return make_function(function->params(), function->body(), function->ret_type(), {},
                         function->with_type({}), function->type_params());
  }
};

IRModule without_compilers(IRModule module) {
  WithoutCompilers rewriter;
  for (const auto& [name, function] : std::map(module->functions()))
    if (const Expr open = rewriter.run(Expr(function)); open != Expr(function))
      module->replace(name, as_ref<FunctionNode>(open));
  return module;
}

/// Weights that functions of the module are given become constants of theirs, computed ones, too.
IRModule bind_arguments(const IRModule& module, const std::vector<std::string>& entries,
                        const BuildContext& context) {
  const auto is_called = [](const auto& each) { return each.first != "main" && !is_closed(*each.second); };
  if (std::ranges::none_of(module->functions(), is_called)) return module;
  const PassArgs args{{"entry_functions", AttrList(entries.begin(), entries.end())}};
  return (*sequential({make_pass("FoldConstant"), make_pass("BindConstantArguments", args),
                       make_pass("InferType")}))(module, context);
}

/// What only a run knows, in words. Empty: it is a plan.
std::string why_no_plan(const IRModule& module) {
  const Function main = module->find("main");
  if (!main) return "there is no main";
  std::string why;
  const auto look_at = [&](const Type& type, const auto& whose) {
    if (!why.empty()) return;
    visit_types(type, [&](const Type& part) {
      if (as_type<TypeCallNode>(part) || as_type<RefTypeNode>(part) || !is_static(part))
        why = whose() + " is " + type_text(type);
    });
  };
  for (const Var& param : main->params())
    look_at(param->checked_type(), [&] { return "the parameter %" + param->name(); });
  if (!why.empty()) return why + " (--shape gives extents: n=16, x=16,64)";
  if (form_of_main(*module).control)
    return "it has branches, calls of functions, data types or references, and only a run tells which way it "
           "goes, and how often";
  post_order(main->body(), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    const auto name = [&] {
      return (call && call->op() ? "the result of " + call->op()->name : "a value") +
             (node->span() ? ", line " + std::to_string(node->span().line) + "," : "");
    };
    if (node->checked_type()) look_at(node->checked_type(), name);
  });
  return why;
}

}  // namespace

bool is_plan(const IRModule& module) { return why_no_plan(module).empty(); }

void require_plan(const IRModule& module, const std::string& are) {
  const std::string why = why_no_plan(infer_types(module->copy()));
  if (why.empty()) return;
  throw NotSupported(are + " for models of constant shapes that run straight on: " + why +
                     "; `baton profile` measures any program");
}

BuildResult build_plan_or_program(const IRModule& module, const BuildOptions& options) {
  if (!is_plan(module)) return build_program(module, options);
  check_extents(*module->find("main"), options.context);
  return build(module, options);
}

namespace {

/// Tells the calls of kernels where these have no result.
void add_undefined(vm::Program& program, const std::vector<BuiltKernel>& kernels) {
  std::map<std::string_view, const Kernel*> by_name;
  for (const BuiltKernel& each : kernels) by_name[each.func_name] = each.kernel.get();
  for (vm::Piece& piece : program.pieces)
    for (vm::PieceCall& call : piece.calls) {
      if (call.kernel == vm::PieceCall::kCopy) continue;
      const auto kernel = by_name.find(program.kernels[call.kernel].name);
      if (kernel == by_name.end()) continue;
      for (const ExtentCase& each : kernel->second->cases) {
        if (each.undefined.empty()) continue;
        std::vector<uint32_t>& zero = call.undefined.emplace_back();
        for (const int extent : each.undefined) zero.push_back(call.extents.at(static_cast<size_t>(extent)));
      }
    }
}

/// The devices of values: for a build of one kind of targets, the processor's, none are told.
PointerMap<int> devices_of(const BuildResult& result, const BuildContext& context) {
  const auto is_host = [&](const TargetRef& target) { return target->device_type() == kProcessorKind; };
  if (std::ranges::all_of(result.targets, is_host)) return {};
  std::vector<std::string> options;
  for (const TargetRef& target : result.targets) options.push_back(target->options());
  const TargetRef& host = result.targets.front()->host;
  return devices_of_values(*result.optimized,
                           CompilationConfig::make(*context.passes, options, host ? host->options() : ""));
}

/// Says once of each kernel why no device has it.
void fell_back(const std::string& kernel, const std::string& why, const BuildContext& context,
               std::set<std::string>& told) {
  const std::string what = "the kernel `" + kernel + "` is not for a device: " + why;
  if (context.passes->config.flag("baton.strict_regions", false))
    throw NotSupported(what + " (baton.strict_regions is set, so the processor does not compute it)");
  if (told.insert(what).second)
    std::fprintf(stderr, "baton: warning: %s; the processor computes it\n", what.c_str());
}

/// `program`: what is lowered, the last time.
BuildSteps steps_of_program(std::shared_ptr<vm::Program>& program) {
  return {.optimize =
              [](const IRModule& typed, const BuildOptions& given) {
                const BuildContext& context = given.context;
                check_extents(*typed->find("main"), context);
                const std::vector<std::string> entries = entries_of(*typed);
                IRModule optimized = inline_composites(bind_params(typed, given.params), context);
                optimized = bind_arguments(in_graph_form(optimized, context), entries, context);
                optimized = optimize_program(optimized, entries, context);
                optimized = without_compilers(build_regions(std::move(optimized), context));
                return infer_types(to_normal_form(std::move(optimized), NormalForm::kAll));
              },
          .plan =
              [&program, told = std::set<std::string>()](BuildResult& result, const BuildContext& context,
                                                         bool compiled) mutable {
                vm::LoweringOptions lowering{result.mod_name, place_kernels(result.targets, context),
                                             refusals(context, compiled), devices_of(result, context)};
                lowering.fell_back = [&](const Function& kernel, const std::string& why) {
                  fell_back(kernel_name(result.mod_name, *kernel), why, context, told);
                };
                lowering.specializations = specializations_of(context);
                lowering.bounds = bounds_of(context);
                vm::LoweredProgram lowered = vm::lower_program(result.optimized, lowering);
                result.plan = std::move(lowered.plan);
                result.program = program = std::move(lowered.program);
                result.operators = std::move(lowered.operators);
              },
          .replan = true};
}

}  // namespace

BuildResult build_program(const IRModule& module, const BuildOptions& options) {
  std::shared_ptr<vm::Program> program;
  BuildResult built = run_build(module, options, steps_of_program(program));
  add_undefined(*program, built.kernels);
  return built;
}

BuildResult plan_program(const IRModule& module, const BuildOptions& options) {
  std::shared_ptr<vm::Program> program;
  BuildSteps steps = steps_of_program(program);
  steps.code = false;
  return run_build(module, options, steps);
}

}  // namespace baton
