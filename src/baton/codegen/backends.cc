#include <map>
#include <mutex>

#include "baton/byoc/target_rules.h"
#include "baton/codegen/backend.h"
#include "baton/ir/build.h"
#include "baton/pass/pass.h"
#include "baton/support/error.h"

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
      if (record->name == backend.name && (!backend.region || backend.compile || !backend.kind.empty()))
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
  IRModule program = make_module();
  program->set("main", without_attrs(region, {"Primitive"}));  // otherwise passes would not enter it
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

BuildContext host_context() {
  BuildContext context;
  for (const BackendRef& record : backends())
    if (record->device) context.sheets.push_back(record->device(DeviceSheet::host()));
  return context;
}

}  // namespace baton
