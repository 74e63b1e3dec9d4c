#include <map>
#include <mutex>

#include "baton/byoc/target_rules.h"
#include "baton/codegen/backend.h"
#include "baton/ir/build.h"
#include "baton/pass/inline_call.h"
#include "baton/pass/pass.h"
#include "baton/support/error.h"
#include "baton/target/processor_sheet.h"

namespace baton {

#define BATON_BACKEND(function) Backend function();
#include "baton/codegen/backends.def"
#undef BATON_BACKEND

namespace {

std::vector<BackendRef> built_in_backends() {
  std::vector<BackendRef> all;
#define BATON_BACKEND(function) all.push_back(std::make_shared<const Backend>(function()));
#include "baton/codegen/backends.def"
#undef BATON_BACKEND
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
      if (record->name == backend.name)
        throw UsageError("backend `" + backend.name + "` is Baton's own and cannot be replaced");
    auto record = std::make_shared<const Backend>(std::move(backend));
    const std::lock_guard lock(mutex_);
    registered_[record->name] = record;
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

}  // namespace

std::vector<BackendRef> backends() { return Backends::instance().all(); }

BackendRef find_backend(std::string_view name) {
  return first([&](const Backend& record) { return record.name == name; });
}

BackendRef backend_of_kind(std::string_view kind) {
  return first([&](const Backend& record) { return !kind.empty() && record.kind == kind; });
}

void register_backend(Backend backend) { Backends::instance().add(std::move(backend)); }
void remove_backend(const std::string& name) { Backends::instance().remove(name); }

BuiltRegion fused_region(const Function& region, const BuildContext& context) {
  IRModule program = make_module();
  const Function open = without_attrs(region, {"Primitive"});  // otherwise passes would not enter it
  program->set("main", as_ref<FunctionNode>(OpenCompositeInliner().run(Expr(open))));
  for (const char* pass : {"InferType", "SimplifyInference", "FoldConstant", "FuseOps", "InferType"})
    program = (*make_pass(pass))(program, context);
  return {program};
}

void register_built_in_backends() {
  for (const BackendRef& record : backends()) {
    if (!record->kind.empty()) add_target_kind(record->kind, record->device_type);
    if (record->patterns) register_pattern_table(record->name, record->patterns());
    for (const OperatorRule& rule : record->operators)
      register_target_rule(
          rule.op, record->name,
          [refuses = rule.refuses](const Expr& call) {
            return refuses(static_cast<const CallNode&>(*call)).empty();
          },
          kBackendRuleLevel);
  }
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
  if (!processor || !names_processor(*processor)) return;
  const DeviceSheet& host = DeviceSheet::host();
  context.sheets = sheets_beside(processor_sheet(*processor, host));
  if (context.threads == 0) context.threads = host.cores;  // compiling is done here, whatever -num-cores is
}

}  // namespace baton
