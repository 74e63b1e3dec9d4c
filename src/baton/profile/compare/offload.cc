#include "baton/profile/compare/offload.h"

#include <algorithm>
#include <unordered_map>

#include "baton/driver/partition_for.h"
#include "baton/driver/plan/region_attrs.h"
#include "baton/ir/build.h"
#include "baton/ir/functions.h"
#include "baton/ir/op.h"
#include "baton/ir/op_names.h"
#include "baton/ir/placement.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/runtime/baton_backend.h"
#include "baton/runtime/plugin.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

constexpr const char* kRegion = "region";

TargetRef target_of_kind(const std::string& kind, const BuildContext& context) {
  for (const TargetRef& target : context.targets)
    if (target->kind == kind) return target;
  return Target::parse(kind);
}

/// Fails early, with one message, where every single function would fail.
void require_device(const ComparedBackend& backend, const BuildContext& context) {
  const std::string& kind = backend.record->kind;
  if (!kind.empty() && kind == context.host().kind) return;
  if (!kind.empty() && !context.sheet_of(kind))
    throw Error("backend " + backend.name() + " has no device here");
  if (!backend.record->compile) return;  // its regions are compiled by others
  const auto plugin = Plugin::find(backend.record->plugin_name());
  if (!plugin.ok())
    throw Error("nothing can be measured on " + backend.name() + ": " + plugin.status().message);
  // Simulated devices are there once a program is loaded.
  const bool simulated = backend.device_type >= BATON_FIRST_SIMULATED_KIND;
  if (!kind.empty() && !simulated && (*plugin)->device_of_kind(backend.device_type) < 0)
    throw Error("nothing can be measured on " + backend.name() + ": there is no device" +
                (*plugin)->reason());
}

IRModule run(IRModule module, const BuildContext& context,
             const std::vector<std::pair<const char*, PassArgs>>& passes) {
  for (const auto& [name, args] : passes) module = (*make_pass(name, args))(module, context);
  return module;
}

BuildOptions with_targets(BuildOptions options, std::vector<TargetRef> targets) {
  options.context.targets.clear();
  for (TargetRef& target : targets)
    if (std::ranges::none_of(options.context.targets,
                             [&](const TargetRef& known) { return known->kind == target->kind; }))
      options.context.targets.push_back(std::move(target));
  return options;
}

OriginSet made_for(const Cut& cut, const std::string& reason) {
  std::vector<OriginSet> sets;
  for (const CutOperator& each : cut.operators) sets.push_back(OriginSet::of(Ref<const Origin>(each.origin)));
  return OriginSet::made_for(OriginSet::merge_all(sets), reason);
}

/// Wraps values of the cut in copies between two devices.
class Mover {
 public:
  Mover(const Cut& cut, const ComparedBackend& from, const ComparedBackend& to) : from_(from), to_(to) {
    in_ = made_for(cut, "copied to " + to.name() + ", which computes it");
    out_ = made_for(cut, "copied from " + to.name() + ", which computed it");
  }
  Expr in(const Expr& value) const { return copy(value, from_.device_type, to_.device_type, in_); }
  /// Copies each tensor of a tuple by itself.
  Expr out(const Expr& value) const {
    const auto* tuple = as_type<TupleTypeNode>(value->checked_type());
    if (!tuple) return copy(value, to_.device_type, from_.device_type, out_);
    std::vector<Expr> fields;
    for (size_t i = 0; i < tuple->fields().size(); ++i)
      fields.push_back(out(item_at(value, {static_cast<int>(i)})));
    return make_tuple(std::move(fields), no_operator(value->checked_type()));
  }

 private:
  static Expr copy(const Expr& value, int from, int to, const OriginSet& origins) {
    static const OpDef& op = *find_op(op_names::kDeviceCopy);
    const Attrs attrs = make_attrs(*op.attrs, {{"src_virtual_device", virtual_device_attr({from, 0, {}, {}})},
                                               {"dst_virtual_device", virtual_device_attr({to, 0, {}, {}})}});
    return make_call(op_expr(op), {value}, attrs, NodeInfo(origins, {}, value->checked_type()));
  }

  const ComparedBackend &from_, &to_;
  OriginSet in_ = OriginSet::none(), out_ = OriginSet::none();
};

/// `main` of `module` as one region for `backend`, called by a new main.
IRModule as_region(const IRModule& module, const std::string& backend, const BuildContext& context) {
  const Function main = module->find("main");
  IRModule outlined = module->copy();
  std::vector<Var> params;
  for (const Var& param : main->params())
    params.push_back(make_var(param->name(), declared_type(*param), no_operator(declared_type(*param))));
  const Type type = main->body()->checked_type();
  outlined->set(
      kRegion,
      make_function(
          main->params(), main->body(), type,
          {{"Primitive", 1}, {"Inline", 1}, {"Compiler", backend}, {"global_symbol", std::string(kRegion)}},
          NodeInfo(main->origins(), {}, main->checked_type())));
  const Call call =
      make_call(Expr(outlined->global_var(kRegion)), std::vector<Expr>(params.begin(), params.end()), {},
                NodeInfo(main->origins(), {}, type));
  outlined->replace("main", make_function(params, Expr(call), type, {}, NodeInfo(OriginSet::none())));
  return run(outlined, context, {{"InferType", {}}});
}

/// `main` with its parameters and results on that device.
IRModule placed(const IRModule& module, int device_type) {
  const Function main = module->find("main");
  const VirtualDevice there{device_type, 0, {}, {}};
  IRModule result = module->copy();
  result->replace("main", with_devices(main, std::vector(main->params().size(), there), there));
  return infer_types(result);
}

/// `main` with its parameters copied to the device of `to` and its results back.
IRModule with_copies(const IRModule& module, const Cut& cut, const ComparedBackend& from,
                     const ComparedBackend& to) {
  const Mover mover(cut, from, to);
  const Function main = module->find("main");
  std::vector<Var> params;
  std::unordered_map<const ExprNode*, Expr> values;
  for (const Var& param : main->params()) {
    const Type& type = declared_type(*param);
    params.push_back(make_var(param->name(), type, no_operator(type)));
    values.emplace(param.get(), mover.in(Expr(params.back())));
  }
  IRModule moved = module->copy();
  const Expr body = substitute(main->body(), values);
  moved->replace("main", make_function(params, mover.out(body), {}, {}, NodeInfo(OriginSet::none())));
  return infer_types(moved);
}

/// The reason in an error about a whole region or kernel: "oneDNN does not compile region `region`: `erf` is
/// not mapped" -> "`erf` is not mapped".
std::string reason_in(const std::string& message) {
  std::string text = message;
  for (const char* before : {"region `region`: ", "`: "})
    if (const size_t at = text.find(before); at != std::string::npos) {
      text = text.substr(at + std::string_view(before).size());
      break;
    }
  return text.substr(0, text.find(" (baton.strict_regions"));
}

/// Whether each kernel of the plan that computes an operator is one of `to`'s.
void require_all_taken(const BuildResult& built, const ComparedBackend& to, const BuildContext& context) {
  const std::string wanted = to.record->kind == context.host().kind ? "" : to.name();
  for (size_t i = 0; i < built.plan.nodes.size(); ++i) {
    const PlanNode& node = built.plan.graph->nodes[i];
    if (node.kind != PlanNode::Kind::kKernel || node.origins.empty() || node.backend == wanted) continue;
    // What registers no kernels of its own lowers its regions to those of others.
    const bool lowers = !to.record->compile || to.record->lowers_regions;
    if (lowers && compiler_of(*built.plan.nodes[i].function) == to.name()) continue;
    const DeviceSheet* sheet = to.regions_only() ? &context.host() : context.sheet_of(to.record->kind);
    std::string why;
    if (to.record->takes && sheet) why = to.record->takes(*built.plan.nodes[i].function, *sheet);
    throw NotSupported(why.empty() ? "its own kernels do not compute all of it" : why);
  }
}

/// "NCHW16c" for (1, 4, 56, 56, 16) where the source has (1, 64, 56, 56); empty when it is not such a layout.
struct Blocked {
  std::string plain, blocked;
};
std::optional<Blocked> blocked_layout(std::span<const int64_t> plain, std::span<const int64_t> blocked) {
  const std::string names[] = {"", "", "NC", "NCW", "NCHW", "NCDHW"};
  if (plain.size() < 2 || plain.size() > 5 || blocked.size() != plain.size() + 1) return std::nullopt;
  for (size_t i = 0; i < plain.size(); ++i)
    if (plain[i] != (i == 1 ? blocked[1] * blocked.back() : blocked[i])) return std::nullopt;
  const std::string name = names[plain.size()];
  return Blocked{name, name + std::to_string(blocked.back()) + "c"};
}

/// A tensor at the border of a node, and the same in the source program.
struct Border {
  std::string name;
  Type source;
  Shape built;
  bool enters;
};

/// Pairs the tensors of a node with those of the cut: by the operators that make them, then by size.
std::vector<Border> borders_of(const BuildResult& base, uint32_t number, const Cut& cut) {
  const Plan& plan = *base.plan.graph;
  const PlanNode& node = plan.nodes[number];
  std::vector<EntryId> entries;
  for (const EntryId entry : node.inputs)
    if (std::ranges::find(entries, entry) == entries.end()) entries.push_back(entry);
  std::vector<Border> borders;
  const auto same_size = [&](EntryId entry, const Type& type) {
    const auto* tensor = as_type<TensorTypeNode>(type);
    return tensor && tensor->is_static() &&
           element_count(tensor->extents()) == element_count(plan.entries[entry].shape);
  };
  for (const CutParam& param : cut.params) {
    const Type& type = param.var->checked_type() ? param.var->checked_type() : param.var->annotation();
    const auto made_by = [&](EntryId entry) {
      const uint32_t maker = plan.maker_of(entry);
      if (param.kind == CutParam::Kind::kParam) return plan.nodes[maker].name == param.var->name();
      const auto made = base.plan.nodes[maker].origins.origins();
      return std::ranges::any_of(param.source->origins().origins(), [&](const Origin* origin) {
        return std::ranges::find(made, origin) != made.end();
      });
    };
    auto at = std::ranges::find_if(entries,
                                   [&](EntryId entry) { return same_size(entry, type) && made_by(entry); });
    if (at == entries.end() && param.kind == CutParam::Kind::kValue)
      at = std::ranges::find_if(entries, [&](EntryId entry) {
        return plan.nodes[plan.maker_of(entry)].kind != PlanNode::Kind::kInput && same_size(entry, type);
      });
    if (at == entries.end()) continue;
    borders.push_back({param.var->name(), type, plan.entries[*at].shape, true});
    entries.erase(at);
  }
  for (uint32_t i = 0; i < node.num_outputs && i < cut.outputs.size(); ++i) {
    const Type& type = cut.outputs[i].source->checked_type();
    if (same_size(node.first_entry + i, type))
      borders.push_back(
          {"result" + std::to_string(i), type, plan.entries[node.first_entry + i].shape, false});
  }
  return borders;
}

}  // namespace

ComparedBackend compared_backend(const std::string& name, const BuildContext& context) {
  const BackendRef record = find_backend(name);
  if (!record) {
    std::vector<std::string> known;
    std::string all;
    for (const BackendRef& each : backends()) {
      known.push_back(each->name);
      all += (all.empty() ? "" : ", ") + each->name;
    }
    const std::string near = did_you_mean(name, known);
    throw UsageError("there is no backend `" + name + "`" +
                     (near.empty() ? "" : "; did you mean `" + near + "`?") + "\n  there are " + all);
  }
  if (record->kind.empty() && !record->region)
    throw UsageError("backend " + name + " has no code generator, neither for programs nor for regions");
  const std::string kind = record->kind.empty() ? context.host().kind : record->kind;
  const int device_type = record->kind.empty() ? context.host().device_type : record->device_type;
  ComparedBackend found{record, target_of_kind(kind, context), device_type};
  require_device(found, context);
  return found;
}

std::vector<ComparedBackend> compared_backends(const std::vector<std::string>& names,
                                               const BuildContext& context) {
  if (names.size() < 2) throw UsageError("a comparison needs two backends at least: llvm,dnnl");
  std::vector<ComparedBackend> found;
  for (const std::string& name : names) {
    if (std::ranges::any_of(found, [&](const ComparedBackend& each) { return each.name() == name; }))
      throw UsageError("backend " + name + " is compared with itself: name it once");
    found.push_back(compared_backend(name, context));
  }
  return found;
}

BuildResult build_for(const ComparedBackend& backend, const IRModule& module, const BuildOptions& options) {
  const BuildOptions own = with_targets(options, {backend.target});
  if (!backend.regions_only()) return build(module, own);
  IRModule split = bind_params(infer_types(module->copy()), options.params);
  split = partition_for(split, backend.name(), own.context);
  return build(split, own);
}

BuildResult build_alone(const BuildResult& base, uint32_t number, const BuildOptions& options) {
  const Plan& plan = *base.plan.graph;
  const PlanNode& node = plan.nodes[number];
  const Function& function = base.plan.nodes[number].function;
  std::unordered_map<std::string, const NDArray*> constants;
  for (const auto& [name, value] : base.params()) constants.emplace(name, &value);
  std::vector<Var> params;
  std::vector<VirtualDevice> devices;
  std::unordered_map<EntryId, Expr> made;  // an entry that is read twice is one input
  size_t next = 0;
  const std::function<Expr(const Type&)> argument = [&](const Type& type) -> Expr {
    if (const auto* tuple = as_type<TupleTypeNode>(type)) {
      std::vector<Expr> fields;
      for (const Type& field : tuple->fields()) fields.push_back(argument(field));
      return make_tuple(std::move(fields), no_operator(type));
    }
    BATON_CHECK(next < node.inputs.size(), "a fused function with more inputs than its node");
    const EntryId entry = node.inputs[next++];
    Expr& value = made[entry];
    if (value) return value;
    const auto constant = constants.find(plan.nodes[plan.maker_of(entry)].name);
    if (constant != constants.end())
      return value = Expr(make_constant(*constant->second, NodeInfo(OriginSet::none())));
    params.push_back(make_var("input" + std::to_string(params.size()), type, no_operator(type)));
    devices.push_back({plan.entries[entry].device_type, 0, {}, {}});
    return value = Expr(params.back());
  };
  std::vector<Expr> args;
  for (const Var& param : function->params()) args.push_back(argument(declared_type(*param)));
  const Call call =
      make_call(Expr(function), std::move(args), {},
                NodeInfo(base.plan.nodes[number].origins, {}, function->body()->checked_type()));
  const Function main = make_function(params, Expr(call), {}, {}, NodeInfo(OriginSet::none()));
  const IRModule module = make_module();
  module->set("main", with_devices(main, devices, {plan.entries[node.first_entry].device_type, 0, {}, {}}));
  return build_prepared(infer_types(module), with_targets(options, base.targets));
}

NamedArrays cut_constants(const Cut& cut, const NamedArrays& params) {
  NamedArrays constants;
  for (const CutParam& param : cut.params) {
    if (param.kind == CutParam::Kind::kConstant)
      constants.emplace_back(param.var->name(), static_cast<const ConstantNode&>(*param.source).value());
    if (param.kind != CutParam::Kind::kParam) continue;
    for (const auto& [name, value] : params)
      if (name == param.var->name()) constants.emplace_back(name, value);
  }
  return constants;
}

BuildResult build_offloaded(const Cut& cut, const ComparedBackend& from, const ComparedBackend& to,
                            const BuildOptions& options) {
  const TargetRef host = target_of_kind(options.context.host().kind, options.context);
  BuildOptions own = with_targets(options, {to.target, from.target, host});
  own.context.passes = std::make_shared<PassContext>(*options.context.passes);
  own.context.passes->config.set("baton.strict_regions", AttrValue(true));
  own.params.clear();
  IRModule module = infer_types(bind_params(cut.module, cut_constants(cut, options.params))->copy());
  if (to.regions_only())
    module = as_region(prepared_for_regions(module, to.name(), own.context), to.name(), own.context);
  if (from.device_type != to.device_type) module = with_copies(module, cut, from, to);
  module = placed(module, from.device_type);
  try {
    BuildResult built = build(module, own);
    require_all_taken(built, to, own.context);
    return built;
  } catch (const NotSupported& error) {
    throw NotSupported(reason_in(error.what()));
  }
}

std::optional<BuildResult> build_layout_changes(const BuildResult& base, uint32_t node, const Cut& cut,
                                                const ComparedBackend& from, const BuildOptions& options,
                                                std::vector<std::string>& unknown) {
  static const OpDef& op = *find_op(op_names::kLayoutTransform);
  const OriginSet origins = made_for(cut, "between the layout of the base and that of the source program");
  std::vector<Var> params;
  std::vector<Expr> changes;
  for (const Border& border : borders_of(base, node, cut)) {
    const auto& source = static_cast<const TensorTypeNode&>(*border.source);
    if (Shape(source.extents()) == border.built) continue;
    const auto layout = blocked_layout(source.extents(), border.built);
    if (!layout) {
      unknown.push_back(border.name);
      continue;
    }
    const Type type = border.enters ? Type(tensor_type(border.built, source.dtype())) : border.source;
    params.push_back(make_var(border.name, type, no_operator(type)));
    const auto& [here, there] =
        border.enters ? std::pair(layout->blocked, layout->plain) : std::pair(layout->plain, layout->blocked);
    const Attrs attrs = make_attrs(*op.attrs, {{"src_layout", here}, {"dst_layout", there}});
    changes.push_back(make_call(op_expr(op), {Expr(params.back())}, attrs, NodeInfo(origins)));
  }
  if (changes.empty()) return std::nullopt;
  const Expr body = changes.size() == 1 ? changes[0] : make_tuple(changes, no_operator());
  const IRModule module = make_module();
  module->set("main", make_function(params, body, {}, {}, NodeInfo(OriginSet::none())));
  BuildOptions own = with_targets(options, {from.target});
  own.params.clear();
  return build(infer_types(module), own);
}

}  // namespace baton
