#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <unordered_map>

#include "baton/byoc/target_rules.h"
#include "baton/codegen/backend.h"
#include "baton/ir/build.h"
#include "baton/ir/functions.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/ops/register.h"
#include "baton/pass/inline_call.h"
#include "baton/pass/pass.h"
#include "baton/pass/rewriter.h"
#include "baton/support/error.h"
#include "baton/target/processor_sheet.h"

namespace baton {

#define BATON_BACKEND(function) Backend function();
#define BATON_FAMILY(name, option, function) std::string function(const std::string& value);
#include "baton/codegen/backends.def"
#undef BATON_BACKEND
#undef BATON_FAMILY

namespace {

std::vector<BackendRef> built_in_backends() {
  register_all_ops();  // records say which operators they take
  std::vector<BackendRef> all;
#define BATON_BACKEND(function) all.push_back(std::make_shared<const Backend>(function()));
#define BATON_FAMILY(name, option, function)
#include "baton/codegen/backends.def"
#undef BATON_BACKEND
#undef BATON_FAMILY
  return all;
}

/// The backends of backends.def, and those registered later, possibly during a build.
class Backends {
 public:
  static Backends& instance() {
    static auto* const all = new Backends;  // never destroyed: records hold Python objects
    return *all;
  }
  std::vector<BackendRef> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<BackendRef> records = built_in_;
    for (const auto& [name, record] : registered_) records.push_back(record);
    return records;
  }
  void add(Backend backend) {
    for (const BackendRef& record : built_in_)
      if (record->name == backend.name && (!backend.region || !backend.kind.empty()))
        throw UsageError("backend `" + backend.name + "` is Baton's own and cannot be replaced");
    auto record = std::make_shared<const Backend>(std::move(backend));
    const std::lock_guard lock(mutex_);
    registered_[record->name] = record;
  }
  BackendRef registered(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    const auto at = registered_.find(name);
    return at == registered_.end() ? nullptr : at->second;
  }
  void remove(const std::string& name) {
    BackendRef last;  // destroyed after the lock is released: it may be a Python object
    const std::lock_guard lock(mutex_);
    const auto at = registered_.find(name);
    if (at == registered_.end()) return;
    last = std::move(at->second);
    registered_.erase(at);
  }

 private:
  const std::vector<BackendRef> built_in_ = built_in_backends();
  mutable std::mutex mutex_;
  std::map<std::string, BackendRef> registered_;
};

template <class Fits>
BackendRef first(Fits&& fits) {
  for (const BackendRef& record : Backends::instance().all())
    if (fits(*record)) return record;
  return nullptr;
}

/// `fuse_opt_level`: as FuseOps takes it.
BuiltRegion lowered_region(const Function& region, const BuildContext& context, int fuse_opt_level) {
  IRModule program = make_module();
  const Function open = without_attrs(region, {"Primitive"});  // otherwise passes would not enter it
  program->set("main", as_ref<FunctionNode>(OpenCompositeInliner().run(Expr(open))));
  for (const char* pass : {"InferType", "SimplifyInference", "FoldConstant"})
    program = (*make_pass(pass))(program, context);
  program = (*make_pass("FuseOps", {{"fuse_opt_level", fuse_opt_level}}))(program, context);
  return {(*make_pass("InferType"))(program, context)};
}

}  // namespace

std::vector<BackendRef> backends() { return Backends::instance().all(); }

BackendRef find_backend(std::string_view name) {
  return first([&](const Backend& record) { return record.name == name; });
}

BackendRef backend_of_kind(std::string_view kind) {
  return first([&](const Backend& record) { return !kind.empty() && record.kind == kind; });
}

BackendRef find_region_backend(const std::string& compiler) {
  if (BackendRef own = Backends::instance().registered(compiler)) return own;
  const std::string other = aliased_kind(compiler);
  return other == compiler ? find_backend(compiler) : backend_of_kind(other);
}

void register_backend(Backend backend) { Backends::instance().add(std::move(backend)); }
void remove_backend(const std::string& name) { Backends::instance().remove(name); }

BuiltRegion fused_region(const Function& region, const BuildContext& context) {
  return lowered_region(region, context, -1);
}
BuiltRegion refused_region(const std::string& compiler, const std::string& symbol, const std::string& why,
                           const Function& region, const BuildContext& context) {
  const std::string what = compiler + " does not compile region `" + symbol + "`: " + why;
  if (context.passes->config.flag("baton.strict_regions", false))
    throw NotSupported(what + " (baton.strict_regions is set, so nothing else does)");
  std::fprintf(stderr, "baton: warning: %s; its operators are compiled as outside of regions\n",
               what.c_str());
  BuiltRegion built = fused_region(region, context);
  built.refused = what;
  return built;
}
BuiltRegion unfused_region(const Function& region, const BuildContext& context) {
  return lowered_region(region, context, 0);
}

KernelRef library_kernel(const BackendFunction& function, std::string template_name, KernelParams params) {
  auto kernel = std::make_shared<Kernel>();
  kernel->symbol = function.func_name;
  kernel->template_name = std::move(template_name);
  kernel->params = std::move(params);
  for (const KernelBlock& block : kernel_blocks(*function.function)) {
    kernel->stages.push_back({block.call->op()->name});
    kernel->block_facts.push_back(cost_of_call(*block.call));
  }
  kernel->facts = cost_of_function(*function.function, kernel->block_facts);
  return kernel;
}

namespace {

/// The function of one call: what would be a kernel of its own.
Function function_of(const CallNode& call) {
  std::vector<Var> params;
  std::vector<Expr> args;
  for (const Expr& arg : call.args()) {
    const Type& type = type_of(arg);
    params.push_back(
        make_var("p" + std::to_string(params.size()), type, NodeInfo(OriginSet::none(), {}, type)));
    args.emplace_back(params.back());
  }
  const Type& type = call.checked_type();
  const Expr body =
      make_call(call.callee(), std::move(args), call.attrs(), NodeInfo(OriginSet::none(), {}, type));
  return make_function(params, body, type, {{"Primitive", 1}}, NodeInfo(OriginSet::none()));
}

/// Makes a record's target kind, patterns and operators known to the passes.
void announce(const BackendRef& record) {
  if (!record->kind.empty()) set_target_kind(record->kind, record->device_type);
  if (record->patterns) register_pattern_table(record->name, record->patterns());
  TargetRules rules;
  for (const OperatorRule& rule : record->operators)
    rules.emplace_back(rule.op, [refuses = rule.refuses](const Expr& call) {
      return refuses(static_cast<const CallNode&>(*call)).empty();
    });
  // A code generator without a list can take what becomes a kernel of its own device.
  const int level = rules.empty() ? kOfferedRuleLevel : kBackendRuleLevel;
  if (rules.empty() && record->region && record->takes)
    for (const OpDef* op : all_ops())
      if (op->compute && !op->non_computational)
        rules.emplace_back(op->name, [record](const Expr& call) {
          return refusal_of_call(*record, static_cast<const CallNode&>(*call)).empty();
        });
  set_backend_rules(record->name, std::move(rules), level);
}

}  // namespace

std::string refusal_of_call(const Backend& backend, const CallNode& call) {
  const std::string op = call.op() ? call.op()->name : "";
  for (const OperatorRule& rule : backend.operators)
    if (rule.op == op) return rule.refuses(call);
  if (op.empty() || !backend.operators.empty() || !backend.region || !backend.takes)
    return (op.empty() ? "a function" : "`" + op + "`") + " is not mapped to " + backend.name;
  if (!call.op()->compute || call.op()->non_computational) return "`" + op + "` has no kernel";
  for (const Expr& arg : call.args())
    for (const TensorTypeNode* type : flat_types(type_of(arg)))
      if (!type->is_static()) return "a shape is not known: " + type_text(Type(type));
  return backend.takes(*function_of(call), DeviceSheet());
}

void install_backend(Backend backend) {
  const std::string name = backend.name;
  register_backend(std::move(backend));
  announce(find_backend(name));
}

Function as_one_kernel(const Function& region, FunctionAttrs attrs) {
  std::vector<Var> inner, outer;
  std::unordered_map<const ExprNode*, Expr> values;
  for (const Var& param : region->params()) {
    const Type& type = declared_type(*param);
    inner.push_back(make_var(param->name(), type, NodeInfo(OriginSet::none(), {}, type)));
    outer.push_back(make_var(param->name(), type, NodeInfo(OriginSet::none(), {}, type)));
    values.emplace(param.get(), inner.back());
  }
  OriginSet origins = OriginSet::none();
  post_order(region->body(), [&](const Expr& node) {
    if (as<CallNode>(node)) origins = origins.merge(node->origins());
  });
  const Type type = region->body()->checked_type();
  attrs.insert(attrs.begin(), {"Primitive", 1});
  const Function kernel = make_function(inner, substitute(region->body(), values), type, std::move(attrs),
                                        NodeInfo(origins, {}, region->checked_type()));
  const Call call =
      make_call(Expr(kernel), std::vector<Expr>(outer.begin(), outer.end()), {}, NodeInfo(origins, {}, type));
  return make_function(outer, Expr(call), type, {}, NodeInfo(region->origins(), {}, region->checked_type()));
}

void register_built_in_backends() {
  for (const BackendRef& record : backends()) announce(record);
#define BATON_BACKEND(function)
#define BATON_FAMILY(name, option, function) set_target_family(#name, #option, function);
#include "baton/codegen/backends.def"
#undef BATON_BACKEND
#undef BATON_FAMILY
}

namespace {

std::vector<DeviceSheet> sheets_beside(const DeviceSheet& processor) {
  std::vector<DeviceSheet> sheets;
  for (const BackendRef& record : backends())
    if (record->device) sheets.push_back(record->device(processor));
  return sheets;
}

}  // namespace

BuildContext host_context() {
  BuildContext context;
  context.sheets = sheets_beside(DeviceSheet::host());
  return context;
}

void set_targets(BuildContext& context, std::vector<TargetRef> targets) {
  context.targets = std::move(targets);
  const Target* processor = nullptr;
  for (const TargetRef& target : context.targets) {
    if (!processor && target->kind == DeviceSheet::host().kind) processor = target.get();
    if (!processor && target->host && target->host->kind == DeviceSheet::host().kind)
      processor = target->host.get();
  }
  if (processor && names_processor(*processor)) {
    const DeviceSheet& host = DeviceSheet::host();
    context.sheets = sheets_beside(processor_sheet(*processor, host));
    if (context.threads == 0) context.threads = host.cores;  // compiling is done here, whatever -num-cores is
  }
  for (const TargetRef& target : context.targets) {
    const BackendRef record = backend_of_kind(target->kind);
    if (!record || !record->device || target->kind == context.host().kind) continue;
    DeviceSheet sheet = record->device(context.host());
    const auto known = std::ranges::find(context.sheets, sheet.kind, &DeviceSheet::kind);
    // A sheet that was read from a file may have changed since.
    if (known == context.sheets.end()) {
      context.sheets.push_back(std::move(sheet));
    } else if (known->device_type != sheet.device_type) {
      *known = std::move(sheet);
    }
  }
}

}  // namespace baton
