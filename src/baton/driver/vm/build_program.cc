#include "baton/driver/vm/build_program.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "baton/codegen/compile.h"
#include "baton/driver/compile_plan.h"
#include "baton/driver/graph_form.h"
#include "baton/driver/initialize.h"
#include "baton/driver/origins/origin_report.h"
#include "baton/driver/pipeline.h"
#include "baton/driver/regions.h"
#include "baton/driver/vm/lowering.h"
#include "baton/ir/analysis/call_graph.h"
#include "baton/ir/analysis/normal_form.h"
#include "baton/ir/extent.h"
#include "baton/ir/functions.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/support/base/memory.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

using Clock = std::chrono::steady_clock;

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

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Why the processor has no kernel for a function with symbolic extents: some operators need numbers.
/// `compiled`: also those that need them in a case of their extents, which compiling finds.
std::function<std::string(const Function&)> refusals(const BuildContext& context, bool compiled) {
  return [&context, compiled](const Function& function) -> std::string {
    KernelRequest request;
    request.function = function;
    try {
      (void)chosen_schedule(request, context.host());
      if (compiled) (void)compile_kernel(request, context.host());
      return {};
    } catch (const NotSupported& why) {
      return why.what();
    }
  };
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

}  // namespace

bool is_plan(const IRModule& module) {
  const Function main = module->find("main");
  if (!main) return false;
  bool straight = true;
  const auto look = [&](const Type& type) {
    visit_types(type, [&](const Type& part) {
      const auto* tensor = as_type<TensorTypeNode>(part);
      straight &= as_type<TupleTypeNode>(part) || (tensor && tensor->is_static());
    });
  };
  for (const Var& param : main->params()) look(param->checked_type());
  post_order(
      main->body(),
      [&](const Expr& node) {
        switch (node->kind()) {
          case ExprKind::kIf:
          case ExprKind::kMatch:
          case ExprKind::kRefCreate:
          case ExprKind::kRefRead:
          case ExprKind::kRefWrite:
          case ExprKind::kConstructor:
          case ExprKind::kFunction:
            straight = false;
            return;
          case ExprKind::kGlobalVar:
          case ExprKind::kOp:
            return;
          default:
            if (node->checked_type()) look(node->checked_type());
        }
      },
      [](const Expr& node) { return node->kind() != ExprKind::kFunction; });
  return straight;
}

BuildResult build_plan_or_program(const IRModule& module, const BuildOptions& options) {
  return is_plan(module) ? build(module, options) : build_program(module, options);
}

BuildResult build_program(const IRModule& module, const BuildOptions& options) {
  initialize();
  const Clock::time_point start = Clock::now();
  BuildOptions logged = options;
  logged.context = with_target_options(options.context);
  FusionLog fusion;
  logged.context.fusion_log = &fusion;
  const BuildContext& context = logged.context;
  BuildResult result;
  result.source = module;
  result.mod_name = options.mod_name;
  result.given = options.params;
  result.precision = precision_name(context);
  result.targets = build_targets(context);
  if (context.progress) context.progress("optimize", 0, 1);
  const IRModule typed = infer_types(module->copy());
  const auto source = source_graph(*typed);
  const std::vector<std::string> entries = entries_of(*typed);
  IRModule optimized = inline_composites(bind_params(typed, options.params), context);
  optimized = build_regions(optimize_program(in_graph_form(optimized, context), entries, context), context);
  optimized = infer_types(to_normal_form(without_compilers(std::move(optimized)), NormalForm::kAll));
  result.optimized = optimized;
  result.times.optimize_s = seconds_since(start);
  release_free_memory();
  if (context.progress) context.progress("optimize", 1, 1);
  context.stop_if_asked();

  const auto lower = [&](bool compiled) {
    const Clock::time_point planning = Clock::now();
    vm::LoweredProgram lowered = vm::lower_program(
        optimized, {options.mod_name, place_kernels(result.targets, context), refusals(context, compiled)});
    result.plan = std::move(lowered.plan);
    result.program = std::move(lowered.program);
    result.operators = std::move(lowered.operators);
    result.origins = origin_report(optimized->origins(), result.plan, source, fusion);
    for (const PlannedKernel& kernel : result.plan.kernels)
      result.function_metadata.emplace_back(kernel.func_name, kernel.function);
    result.times.plan_s += seconds_since(planning);
  };
  lower(false);
  try {
    compile_plan(result, context);
  } catch (const NeedsNumbers&) {  // in a case of its extents only
    result.function_metadata.clear();
    result.kernels.clear();
    result.code.clear();
    lower(true);
    compile_plan(result, context);
  }
  result.times.total_s = seconds_since(start);
  return result;
}

}  // namespace baton
