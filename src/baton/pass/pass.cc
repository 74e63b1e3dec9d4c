#include "baton/pass/pass.h"

#include <algorithm>
#include <utility>

#include "baton/ir/visit.h"
#include "baton/pass/origin_ledger.h"
#include "baton/support/diagnostic.h"
#include "baton/support/interrupt.h"
#include "baton/support/registry.h"

namespace baton {

namespace {

bool listed(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Every instrument is called, even after one returned false. For a pass required by the context none is
// called.
bool should_run(const PassContext& context, const IRModule& module, const PassInfo& info) {
  if (listed(context.required_pass, info.name)) return true;
  bool run = true;
  const auto instruments = context.instruments;
  for (const auto& instrument : instruments) run &= instrument->should_run(module, info);
  return run;
}

bool is_extern(const FunctionNode& function) {
  const AttrValue* value = function.attr("Extern");
  return value && !value->is_none();
}

bool skips_optimization(const FunctionNode& function) {
  const AttrValue* value = function.attr("SkipOptimization");
  const int64_t* number = value ? value->as<int64_t>() : nullptr;
  const bool* flag = value ? value->as<bool>() : nullptr;
  return (number && *number != 0) || (flag && *flag);
}

class ModulePassNode final : public PassNode {
 public:
  ModulePassNode(PassInfo info, std::function<IRModule(IRModule, const BuildContext&)> body, bool may_retire)
      : PassNode(std::move(info), may_retire), body_(std::move(body)) {}
  Kind kind() const override { return Kind::kModule; }

 private:
  IRModule run(const IRModule& module, const BuildContext& context) const override {
    return body_(module, context);
  }
  std::function<IRModule(IRModule, const BuildContext&)> body_;
};

class FunctionPassNode final : public PassNode {
 public:
  using Body = std::function<Function(const Function&, const IRModule&, const BuildContext&)>;
  FunctionPassNode(PassInfo info, Body body, bool may_retire)
      : PassNode(std::move(info), may_retire), body_(std::move(body)) {}
  Kind kind() const override { return Kind::kFunction; }

 private:
  IRModule run(const IRModule& module, const BuildContext& context) const override {
    // Results are entered after the loop: every function is transformed against the original module.
    std::vector<std::pair<std::string, Function>> updates;
    for (const auto& [name, function] : module->functions()) {
      if (function->attr("Compiler") || is_extern(*function) || skips_optimization(*function)) continue;
      Function updated = body_(function, module, context);
      BATON_CHECK(updated, info().name + " returned no function for @" + name);
      if (updated != function) updates.emplace_back(name, std::move(updated));
    }
    // Not set(): passes create no origins, so there are none to enter.
    for (auto& [name, function] : updates) module->replace(name, std::move(function));
    return module;
  }
  IRModule finish(const IRModule& module, const BuildContext& context) const override {
    return (*make_pass("InferType"))(module, context);
  }
  Body body_;
};

class SequentialNode final : public PassNode {
 public:
  SequentialNode(PassInfo info, std::vector<Pass> passes)
      : PassNode(std::move(info), false), passes_(std::move(passes)) {}
  Kind kind() const override { return Kind::kSequential; }
  const std::vector<Pass>& passes() const { return passes_; }

 private:
  IRModule run(const IRModule& module, const BuildContext& context) const override {
    IRModule result = module;
    for (const Pass& pass : passes_) {
      if (!context.passes->pass_enabled(pass->info())) continue;
      for (const std::string& name : pass->info().required) result = (*make_pass(name))(result, context);
      result = (*pass)(result, context);
    }
    return result;
  }
  std::vector<Pass> passes_;
};

Registry<PassFactory>& factories() {
  static auto& all = *new Registry<PassFactory>;  // never destroyed: passes may be made until process exit
  return all;
}

}  // namespace

IRModule PassNode::operator()(const IRModule& module, const BuildContext& context) const {
  BATON_CHECK(module, info_.name + " was given no module");
  try {
    return run_observed(module, context);
  } catch (Error& error) {
    error.came_through(info_.name);
    throw;
  } catch (InternalError& error) {
    error.came_through(info_.name);
    throw;
  }
}

IRModule PassNode::run_observed(const IRModule& module, const BuildContext& context) const {
  context.stop_if_asked();
  if (!should_run(*context.passes, module, info_)) return module;
  auto instruments = context.passes->instruments;
  for (const auto& instrument : instruments) instrument->run_before_pass(module, info_);
  IRModule result;
  {
    const RetireLog log;
    result = run(module->copy(), context);
    BATON_CHECK(result, info_.name + " returned no module");
    BATON_CHECK(may_retire_ || log.entries().empty(),
                info_.name + " retires an origin (" + (log.entries().empty() ? "" : log.entries()[0].reason) +
                    ") but does not declare may_retire");
    enter_in_ledger(*module, *result, log, info_.name);
  }
  result = finish(result, context);
  instruments = context.passes->instruments;
  for (const auto& instrument : instruments) instrument->run_after_pass(result, info_);
  return result;
}

Pass module_pass(PassInfo info, std::function<IRModule(IRModule, const BuildContext&)> body,
                 bool may_retire) {
  return std::make_shared<ModulePassNode>(std::move(info), std::move(body), may_retire);
}

Pass function_pass(PassInfo info,
                   std::function<Function(const Function&, const IRModule&, const BuildContext&)> body,
                   bool may_retire) {
  return std::make_shared<FunctionPassNode>(std::move(info), std::move(body), may_retire);
}

Pass sequential(std::vector<Pass> passes, std::string name, int opt_level,
                std::vector<std::string> required) {
  return std::make_shared<SequentialNode>(PassInfo{opt_level, std::move(name), std::move(required)},
                                          std::move(passes));
}

const std::vector<Pass>& passes_of(const PassNode& sequential) {
  BATON_CHECK(sequential.kind() == PassNode::Kind::kSequential, sequential.info().name + " is no Sequential");
  return static_cast<const SequentialNode&>(sequential).passes();
}

void register_pass(const std::string& name, PassFactory factory) {
  const bool fresh = factories().add(name, std::move(factory));
  BATON_CHECK(fresh, "pass " + name + " is registered twice");
}

Pass make_pass(const std::string& name, const PassArgs& args) {
  if (const auto factory = factories().find(name)) return (*factory)(args);
  std::string hint;
  if (const std::string near = did_you_mean(name, pass_names()); !near.empty()) {
    hint = "; did you mean `" + near + "`?";
  } else {
    hint = "\n  known passes:";
    for (const std::string& known : pass_names()) hint += " " + known;
  }
  throw UsageError("no pass is called `" + name + "`" + hint);
}

std::vector<std::string> pass_names() { return factories().keys(); }

}  // namespace baton
