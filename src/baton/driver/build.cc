#include "baton/driver/build.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "baton/codegen/debug/debug_lines.h"
#include "baton/codegen/kernel/link.h"
#include "baton/driver/graph_form.h"
#include "baton/driver/initialize.h"
#include "baton/driver/origins/origin_report.h"
#include "baton/driver/origins/origins_json.h"
#include "baton/driver/pipeline.h"
#include "baton/driver/plan/graph_json.h"
#include "baton/driver/plan/region_attrs.h"
#include "baton/driver/regions.h"
#include "baton/ir/functions.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/runtime/kernel_files.h"
#include "baton/runtime/plan.h"
#include "baton/support/version.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// While it lives, the current context has the level that was asked for.
class LevelScope {
 public:
  explicit LevelScope(const BuildOptions& options) {
    const PassContextRef current = PassContext::current();
    if (!options.opt_level || *options.opt_level == current->opt_level) return;
    auto context = std::make_shared<PassContext>(*current);
    context->opt_level = *options.opt_level;
    scope_.emplace(std::move(context));
  }

 private:
  std::optional<PassContextScope> scope_;
};

void check_interrupt(const BuildOptions& options) {
  if (options.interrupt && *options.interrupt) throw Interrupted("interrupted");
}

/// The folder that PassContext's config asks lines of Relay in; empty: none are asked for.
std::string debug_folder() {
  const PassConfig& config = PassContext::current()->config;
  const std::string chosen = config.text("baton.debug_dir", "");
  if (!config.flag("baton.debug_lines", !chosen.empty())) return "";
  return chosen.empty() ? default_debug_folder()
                        : std::filesystem::absolute(chosen).lexically_normal().string();
}

/// By kernel: the first node that calls it.
std::vector<uint32_t> first_nodes_of(const GraphPlan& plan) {
  std::vector<uint32_t> first(plan.kernels.size());
  for (auto node = static_cast<uint32_t>(plan.nodes.size()); node-- > 0;)
    if (plan.graph->nodes[node].kind == PlanNode::Kind::kKernel)
      first[static_cast<size_t>(plan.nodes[node].kernel)] = node;
  return first;
}

void compile(BuildResult& result, const BuildOptions& options) {
  CompileOptions compile_options;
  compile_options.sheet = options.sheet;
  compile_options.cache = options.cache;
  compile_options.threads = options.threads;
  compile_options.interrupt = options.interrupt;
  if (options.progress)
    compile_options.progress = [&](int done, int total) { options.progress("kernels", done, total); };
  std::vector<KernelRequest> requests;
  const std::string lines = debug_folder();
  if (!lines.empty() && find_linker().empty())
    throw Error("kernels with lines of Relay need an assembler and a linker: install binutils");
  const std::vector<uint32_t> first_nodes = first_nodes_of(result.plan);
  for (size_t i = 0; i < result.plan.kernels.size(); ++i) {
    const PlannedKernel& planned = result.plan.kernels[i];
    if (!planned.called) continue;
    const Function function = without_region(planned.function);
    requests.push_back({function, {}, "", {}});
    requests.back().variant.debug_lines = lines;
    result.kernels.push_back({planned.func_name, function, requests.back(), nullptr, first_nodes[i]});
  }
  Clock::time_point start = Clock::now();
  const std::vector<KernelRef> kernels = compile_kernels(requests, compile_options);
  NamedKernels named;
  for (size_t i = 0; i < kernels.size(); ++i) {
    result.kernels[i].kernel = kernels[i];
    named.emplace_back(result.kernels[i].func_name, kernels[i]);
  }
  result.times.kernels_s = seconds_since(start);
  start = Clock::now();
  check_interrupt(options);
  if (options.progress) options.progress("link", 0, 1);
  if (find_linker().empty()) {
    result.library = jit_library(named, requests, compile_options);
  } else {
    try {
      result.kernels_so = link_library(named);
    } catch (const Error&) {
      check_interrupt(options);  // Ctrl-C reaches the linker too
      throw;
    }
    const KernelFilesScope files(lines);
    auto library = KernelLibrary::from_memory(
        {reinterpret_cast<const uint8_t*>(result.kernels_so.data()), result.kernels_so.size()});
    if (!library.ok()) throw Error(library.status().message);
    result.library = *library;
  }
  if (options.progress) options.progress("link", 1, 1);
  result.times.link_s = seconds_since(start);
}

/// Kernels count along an axis in 32 bits, and memory in 64.
void refuse_huge(const IRModuleNode& module) {
  for (const auto& [name, function] : module.functions())
    post_order(Expr(function), [](const Expr& node) {
      const auto* call = as<CallNode>(node);
      if (!call || !call->op() || !call->checked_type()) return;
      visit_types(call->checked_type(), [&](const Type& type) {
        const auto* tensor = as_type<TensorTypeNode>(type);
        if (!tensor || !tensor->is_static()) return;
        const std::vector<int64_t> extents = tensor->extents();
        const bool fits =
            std::all_of(extents.begin(), extents.end(), [](int64_t extent) { return extent <= INT32_MAX; });
        if (!fits || !byte_count(extents, tensor->dtype()))
          throw Error("`" + call->op()->name + "` would give " + type_text(type) +
                      ": axes of up to 2147483647 elements can be built");
      });
    });
}

const OriginReport& origins_of(const BuildResult& result) {
  if (!result.origins) throw Error("what is built from a prepared module has no report of its origins");
  return *result.origins;
}

std::string meta_json(const BuildResult& result) {
  nlohmann::ordered_json meta;
  meta["schema"] = 1;
  meta["version"] = version();
  meta["mod_name"] = result.mod_name;
  meta["target"] = "llvm";
  meta["kernels"] = nlohmann::ordered_json::array();
  for (const BuiltKernel& built : result.kernels)
    meta["kernels"].push_back({{"func_name", built.func_name},
                               {"template", built.kernel->template_name},
                               {"params", built.kernel->params},
                               {"flops", built.kernel->facts.flops},
                               {"bytes", built.kernel->facts.bytes}});
  return meta.dump();
}

}  // namespace

IRModule bind_params(const IRModule& module, const NamedArrays& params) {
  const Function main = module->find("main");
  if (params.empty() || !main) return module;
  std::unordered_map<std::string, const NDArray*> by_name;
  for (const auto& [name, value] : params) by_name[name] = &value;
  std::unordered_map<const ExprNode*, Expr> values;
  std::vector<Var> left;
  for (const Var& param : main->params()) {
    const auto at = by_name.find(param->name());
    if (at == by_name.end()) {
      left.push_back(param);
      continue;
    }
    const Constant value = make_constant(*at->second, NodeInfo(OriginSet::none()));
    const Type& declared = declared_type(*param);
    if (declared && is_complete(declared) && !same_type(declared, value->checked_type()))
      throw Error("parameter `" + param->name() + "` is given as " + type_text(value->checked_type()) +
                  ", but `main` declares " + type_text(declared));
    values[param.get()] = value;
  }
  if (values.empty()) return module;
  IRModule bound = module->copy();
  const Function function =
      make_function(std::move(left), substitute(main->body(), values), main->ret_type(), main->attrs(),
                    NodeInfo(main->origins(), main->span()), main->type_params());
  bound->set("main", function);
  return bound;
}

IRModule optimized_for_build(const IRModule& typed, const BuildOptions& options) {
  const LevelScope level(options);
  return build_regions(optimize(in_graph_form(inline_composites(bind_params(typed, options.params))),
                                options.sheet ? *options.sheet : DeviceSheet::host()));
}

BuildResult build(const IRModule& module, const BuildOptions& options) {
  initialize();
  const Clock::time_point start = Clock::now();
  BuildResult result;
  result.source = module;
  result.mod_name = options.mod_name;
  result.given = options.params;
  if (options.progress) options.progress("optimize", 0, 1);
  const InterruptibleScope interruptible(options.interrupt);
  IRModule typed = infer_types(module->copy());
  const auto source = source_graph(*typed);
  const FusionLog fusion;
  const LevelScope level(options);
  result.optimized = optimized_for_build(typed, options);
  result.times.optimize_s = seconds_since(start);
  if (options.progress) options.progress("optimize", 1, 1);
  check_interrupt(options);

  // A pass like TVM's LowerTE, so that who watches passes sees what kernels take. It leaves the module as it
  // is.
  const Pass lower = module_pass({0, "LowerTE", {"InferType"}}, [&](IRModule optimized, const PassContext&) {
    const Clock::time_point planning = Clock::now();
    refuse_huge(*optimized);
    result.plan = make_plan(optimized, options.mod_name);
    result.origins = origin_report(optimized->origins(), result.plan, source, fusion);
    for (const PlannedKernel& kernel : result.plan.kernels)
      result.function_metadata.emplace_back(kernel.func_name, kernel.function);
    result.function_metadata.emplace_back("__tvm_main__", optimized->find("main"));
    result.times.plan_s = seconds_since(planning);
    compile(result, options);
    return optimized;
  });
  (*sequential({lower, make_pass("InferType")}))(result.optimized);
  result.times.total_s = seconds_since(start);
  return result;
}

BuildResult build_prepared(const IRModule& optimized, const BuildOptions& options) {
  initialize();
  const Clock::time_point start = Clock::now();
  BuildResult result;
  result.source = result.optimized = optimized;
  result.mod_name = options.mod_name;
  refuse_huge(*optimized);
  result.plan = make_plan(optimized, options.mod_name);
  compile(result, options);
  result.times.total_s = seconds_since(start);
  return result;
}

std::unique_ptr<Executor> make_executor(const BuildResult& result) {
  auto executor = Executor::create(result.plan.graph, result.library, result.params());
  if (!executor.ok()) throw Error(executor.status().message);
  return std::move(*executor);
}

OperatorMap operator_map(const BuildResult& result) {
  return {result.plan.graph, with_lines(origins_of(result), result.optimized->origins())};
}

void write_artifact(const BuildResult& result, const std::string& path, bool origins) {
  if (result.kernels_so.empty())
    throw Error("an artifact needs a linker, and none was found (ld, cc, gcc or clang): install binutils");
  ArtifactWriter writer;
  writer.add(section::kPlan, graph_json(*result.plan.graph));
  writer.add(section::kKernels, result.kernels_so);
  if (origins) writer.add(section::kOrigins, packed_origins(origins_of(result)));
  writer.add(section::kMeta, meta_json(result));
  writer.set_params(result.params());
  if (const Status status = writer.write(path); !status.ok()) throw Error(status.message);
}

}  // namespace baton
