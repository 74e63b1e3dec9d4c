#include "baton/driver/build.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <unordered_map>

#include "baton/driver/compile_plan.h"
#include "baton/driver/graph_form.h"
#include "baton/driver/initialize.h"
#include "baton/driver/origins/origin_report.h"
#include "baton/driver/origins/origins_json.h"
#include "baton/driver/pipeline.h"
#include "baton/driver/plan/graph_json.h"
#include "baton/driver/plan/region_attrs.h"
#include "baton/driver/regions.h"
#include "baton/ir/extent.h"
#include "baton/ir/functions.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/brief.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/runtime/plan.h"
#include "baton/runtime/plugin.h"
#include "baton/runtime/processor.h"
#include "baton/runtime/vm/program_blob.h"
#include "baton/support/base/memory.h"
#include "baton/support/base/processor_features.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/json.h"
#include "baton/support/require.h"
#include "baton/support/version.h"
#include "baton/text/json/json.h"
#include "baton/transform/freeze_shapes.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Kernels use 32-bit indices along an axis and 64-bit memory offsets.
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
  Json meta;
  meta["schema"] = 1;
  meta["version"] = version();
  meta["mod_name"] = result.mod_name;
  meta["target"] = targets_text(result.targets);
  meta["precision"] = result.precision;
  meta["kernels"] = Json::array();
  for (const BuiltKernel& built : result.kernels) {
    Json& kernel = meta["kernels"].emplace_back();
    kernel = {{"func_name", built.func_name},
              {"brief", brief_of_function(*built.function)},
              {"template", built.kernel->template_name},
              {"params", built.kernel->params},
              {"not_taken", built.kernel->skipped},
              {"flops", built.kernel->facts.flops},
              {"bytes", built.kernel->facts.bytes}};
    for (const ExtentCase& each : built.kernel->cases)
      kernel["cases"].push_back({{"where", with_extent_names(each.condition, *built.function)},
                                 {"template", each.template_name},
                                 {"params", each.params}});
  }
  return meta.dump();
}

}  // namespace

std::string targets_text(const std::vector<TargetRef>& targets) {
  std::string text;
  for (const TargetRef& target : targets) text += (text.empty() ? "" : ", ") + target->asked();
  return text;
}

namespace {

/// `value` with elements of type `dtype`, if both types are int32 and int64 in either order and every number
/// fits: numpy's integers are int64 unless told otherwise.
NDArray integers_as(const NDArray& value, DType dtype) {
  const DType narrow = DType::int_(32), wide = DType::int_(64);
  if (value.dtype() == dtype || !(dtype == narrow || dtype == wide)) return value;
  NDArray converted = NDArray::empty(value.shape(), dtype);
  if (value.dtype() == narrow) {
    std::ranges::copy(value.as<int32_t>(), converted.as<int64_t>().begin());
  } else if (value.dtype() == wide) {
    for (int64_t i = 0; i < value.size(); ++i) {
      const int64_t number = value.as<int64_t>()[i];
      if (number != static_cast<int32_t>(number)) return value;
      converted.as<int32_t>()[i] = static_cast<int32_t>(number);
    }
  } else {
    return value;
  }
  return converted;
}

}  // namespace

IRModule bind_params(const IRModule& module, const NamedArrays& params, bool dtypes_too) {
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
    const Type& declared = declared_type(*param);
    const auto* tensor = as_type<TensorTypeNode>(declared);
    const Constant value = make_constant(tensor ? integers_as(*at->second, tensor->dtype()) : *at->second,
                                         NodeInfo(OriginSet::none()));
    const Type wanted =
        dtypes_too || !tensor ? declared : tensor_type(tensor->shape(), value->value().dtype());
    if (declared && is_complete(declared) && !same_type(wanted, value->checked_type()))
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
  const BuildContext& context = options.context;
  const IRModule bound = bind_params(typed, options.params);
  require_known_shapes(*bound);
  IRModule module = inline_composites(bound, context);
  module = in_graph_form(module, context);
  return build_regions(optimize(module, context), context);
}

std::string precision_name(const BuildContext& context) {
  (void)precision_of(context.passes->config);
  return context.passes->config.text("baton.precision", "f32");
}

BuildResult run_build(const IRModule& module, const BuildOptions& options, const BuildSteps& steps) {
  initialize();
  const Clock::time_point start = Clock::now();
  BuildOptions logged = options;
  logged.context = with_target_options(options.context);
  FusionLog own;
  if (!logged.context.fusion_log) logged.context.fusion_log = &own;
  const FusionLog& fusion = *logged.context.fusion_log;
  const BuildContext& context = logged.context;
  BuildResult result;
  result.source = module;
  result.mod_name = options.mod_name;
  result.given = options.params;
  result.precision = precision_name(context);
  result.targets = build_targets(context);
  if (context.progress) context.progress("optimize", 0, 1);
  release_free_memory();  // weights were read, by way of copies: 56 MB of 328 for BERT of 12 layers in Python
  IRModule typed = infer_types(module->copy());
  const auto source = source_graph(*typed);
  result.optimized = steps.optimize(typed, logged);
  result.times.optimize_s = seconds_since(start);
  release_free_memory();  // constants that were folded into others; compiling kernels takes more
  if (context.progress) context.progress("optimize", 1, 1);
  context.stop_if_asked();

  // A pass like TVM's LowerTE, so that pass instruments also report kernel generation. It leaves the
  // module as it is.
  const Pass lower = module_pass({0, "LowerTE", {"InferType"}}, [&](IRModule optimized, const BuildContext&) {
    const auto plan = [&](bool compiled) {
      const Clock::time_point planning = Clock::now();
      result.function_metadata.clear();
      result.kernels.clear();
      result.code.clear();
      steps.plan(result, context, compiled);
      result.origins = origin_report(optimized->origins(), result.plan, source, fusion);
      for (const PlannedKernel& kernel : result.plan.kernels)
        result.function_metadata.emplace_back(kernel.func_name, kernel.function);
      result.function_metadata.emplace_back("__tvm_main__", optimized->find("main"));
      result.times.plan_s += seconds_since(planning);
    };
    refuse_huge(*optimized);
    plan(false);
    if (!steps.code) return optimized;
    try {
      compile_plan(result, context);
    } catch (const NeedsNumbers&) {
      if (!steps.replan) throw;
      plan(true);
      compile_plan(result, context);
    }
    return optimized;
  });
  (*sequential({lower, make_pass("InferType")}))(result.optimized, context);
  if (std::ranges::any_of(result.kernels, [](const BuiltKernel& each) { return each.kernel->compile_s > 0; }))
    release_free_memory();
  result.times.total_s = seconds_since(start);
  return result;
}

namespace {

BuildSteps steps_of_plan(bool code) {
  return {.optimize = optimized_for_build,
          .plan =
              [](BuildResult& result, const BuildContext& context, bool) {
                result.plan =
                    make_plan(result.optimized, result.mod_name, place_kernels(result.targets, context));
              },
          .code = code};
}

}  // namespace

BuildResult build(const IRModule& module, const BuildOptions& options) {
  return run_build(module, options, steps_of_plan(true));
}

BuildResult plan_build(const IRModule& module, const BuildOptions& options) {
  return run_build(module, options, steps_of_plan(false));
}

std::vector<PlannedSchedule> schedules_of(const BuildResult& result, const BuildContext& given) {
  const BuildContext context = with_target_options(given);
  std::vector<PlannedSchedule> all(result.plan.kernels.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const PlannedKernel& planned = result.plan.kernels[i];
    const BackendRef& backend = planned.place.compiler;
    all[i].backend = backend ? backend->name : context.host().kind;  // copies are no code of a backend
    if (!planned.called || !backend->schedules) continue;
    const DeviceSheet* sheet = sheet_for(*backend, context);
    if (!sheet) throw NotSupported("backend " + backend->name + " has no device here");
    const BackendFunction function{planned.func_name, without_region(planned.function),
                                   planned.function->origins()};
    all[i].schedule = backend->schedules({&function, 1}, *sheet, context).front();
  }
  return all;
}

BuildResult build_prepared(const IRModule& optimized, const BuildOptions& options) {
  initialize();
  const Clock::time_point start = Clock::now();
  BuildResult result;
  result.source = result.optimized = optimized;
  result.mod_name = options.mod_name;
  const BuildContext context = with_target_options(options.context);
  result.precision = precision_name(context);
  result.targets = build_targets(context);
  refuse_huge(*optimized);
  result.plan = make_plan(optimized, options.mod_name, place_kernels(result.targets, context));
  compile_plan(result, context);
  result.times.total_s = seconds_since(start);
  return result;
}

Executor::Modules load_modules(const BuildResult& result) {
  if (!result.host_code().library)
    throw Error(why_not_here(result.host_code().target) +
                "; write the build to a file (`baton build`, export_library) and run it there");
  Executor::Modules modules = {processor_module(result.host_code().library)};
  for (const BackendCode& code : result.device_code()) {
    const auto plugin = Plugin::find(code.plugin);
    if (!plugin.ok()) throw Error(plugin.status().message);
    auto module = PluginModule::load(
        **plugin, {reinterpret_cast<const uint8_t*>(code.blob.data()), code.blob.size()}, code.backend);
    if (!module.ok()) throw Error(module.status().message);
    modules.push_back(std::move(*module));
  }
  return modules;
}

std::unique_ptr<Executor> make_executor(const BuildResult& result) {
  auto executor = Executor::create(result.plan.graph, load_modules(result), result.params());
  if (!executor.ok()) throw Error(executor.status().message);
  return std::move(*executor);
}

void set_model_inputs(Executor& executor, const NamedArrays& given) {
  std::map<std::string_view, const NDArray*> values;
  for (const auto& [name, value] : given) values[name] = &value;
  for (size_t i = 0; i < executor.num_inputs(); ++i) {
    const std::string& name = executor.input_node(i).name;
    const PlanEntry& entry = executor.input_entry(i);
    const auto known = values.extract(name);
    const NDArray value = known ? *known.mapped() : tensor_value(name, entry.shape, entry.dtype);
    if (!value) throw Error("no memory for input \"" + name + "\"");
    require(executor.set_input(i, value));
  }
  if (!values.empty()) throw Error("\"" + std::string(values.begin()->first) + "\" is no input of the model");
}

std::unique_ptr<QueueExecutor> make_queue_executor(const BuildResult& result, size_t instances) {
  auto executor = QueueExecutor::create(result.plan.graph, load_modules(result), result.params(), instances);
  if (!executor.ok()) throw Error(executor.status().message);
  return std::move(*executor);
}

OperatorMap operator_map(const BuildResult& result) {
  return {result.plan.graph, with_lines(origins_of(result), result.optimized->origins())};
}

namespace {

/// What the compiler evaluates while a program runs, as functions "0", "1", ... of a module.
std::string operators_json(const std::vector<Function>& operators) {
  const IRModule module = make_module();
  for (size_t i = 0; i < operators.size(); ++i) module->set(std::to_string(i), operators[i]);
  return to_json(*module, {.source_text = false});
}

/// `main` of a program with its parameters that are tensors, or tuples of these, and without a body: extents
/// keep their names.
std::string signature_json(const FunctionNode& main) {
  std::vector<Var> params;
  for (const Var& param : main.params())
    if (is_tensors(param->checked_type()))
      params.push_back(make_var(param->name(), param->checked_type(), NodeInfo(OriginSet::none())));
  const IRModule module = make_module();
  module->set("main", make_function(std::move(params), Expr(make_tuple({}, NodeInfo(OriginSet::none()))), {},
                                    {}, NodeInfo(OriginSet::none())));
  return to_json(*infer_types(module), {.source_text = false});
}

/// The kernels of a program, from which reports count operations at the extents that they meet.
std::string functions_json(const std::vector<BuiltKernel>& kernels) {
  const IRModule module = make_module();
  for (const BuiltKernel& kernel : kernels) module->set(kernel.func_name, kernel.function);
  return to_json(*module, {.source_text = false});
}

}  // namespace

void write_artifact(const BuildResult& result, const std::string& path, bool origins) {
  if (result.host_code().blob.empty())
    throw Error("an artifact needs a linker, and none was found (ld, cc, gcc or clang): install binutils");
  ArtifactWriter writer;
  if (result.program) {
    writer.add(section::kProgram, vm::program_blob(*result.program));
    if (!result.operators.empty()) writer.add(section::kOperators, operators_json(result.operators));
    if (origins) writer.add(section::kFunctions, functions_json(result.kernels));
    writer.add(section::kSignature, signature_json(*result.optimized->find("main")));
  }
  writer.add(section::kPlan, graph_json(*result.plan.graph));
  writer.add(section::kKernels, result.host_code().blob);
  writer.add(section::kProcessor, result.host_code().target);
  for (const BackendCode& code : result.device_code())
    writer.add_plugin(code.backend, BATON_BACKEND_ABI, code.blob, code.plugin);
  if (origins) writer.add(section::kOrigins, packed_origins(origins_of(result)));
  writer.add(section::kMeta, meta_json(result));
  writer.set_params(result.program ? result.program->constants : result.params());
  if (const Status status = writer.write(path); !status.ok()) throw Error(status.message);
}

}  // namespace baton
