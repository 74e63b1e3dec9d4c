// PassContext: error handling when an instrument throws on enter or exit.
#include <algorithm>

#include "baton/ir/op.h"
#include "baton/pass/build_context.h"
#include "baton/pass/pass_context.h"
#include "baton/support/log.h"

namespace baton {

namespace {

std::shared_ptr<Evaluator>& the_default_evaluator() {
  static std::shared_ptr<Evaluator> evaluator;
  return evaluator;
}

/// Whether the operator of `call`, and those of calls among its arguments, have a compute.
bool has_compute(const CallNode& call) {
  const auto computed = [](const auto& self, const Expr& arg) -> bool {
    if (const auto* nested = as<CallNode>(arg)) return has_compute(*nested);
    const auto* tuple = as<TupleNode>(arg);
    return !tuple || std::all_of(tuple->fields().begin(), tuple->fields().end(),
                                 [&](const Expr& field) { return self(self, field); });
  };
  return call.op() && call.op()->compute &&
         std::all_of(call.args().begin(), call.args().end(),
                     [&](const Expr& arg) { return computed(computed, arg); });
}

}  // namespace

void PassContext::enter_instruments() {
  const auto all = instruments;  // a copy: instruments that throw are removed during iteration
  size_t entered = 0;
  try {
    for (; entered < all.size(); ++entered) all[entered]->enter_pass_ctx();
  } catch (...) {
    log_line("Pass instrumentation entering pass context failed.");
    log_line("Disable pass instrumentation.");
    instruments.clear();
    for (size_t i = 0; i < entered; ++i) {
      log_line(all[i]->name() + " exiting PassContext ...");
      all[i]->exit_pass_ctx();
      log_line(all[i]->name() + " exited PassContext.");
    }
    throw;
  }
}

void PassContext::exit_instruments() {
  try {
    const auto all = instruments;
    for (const auto& instrument : all) instrument->exit_pass_ctx();
  } catch (...) {
    log_line("Pass instrumentation exiting pass context failed.");
    log_line("Disable pass instrumentation.");
    instruments.clear();
    throw;
  }
}

void PassContext::override_instruments(std::vector<std::shared_ptr<PassInstrument>> replacement) {
  exit_instruments();
  instruments = std::move(replacement);
  enter_instruments();
}

bool PassContext::pass_enabled(const PassInfo& info) const {
  const auto names = [&](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), info.name) != list.end();
  };
  if (names(disabled_pass)) return false;
  return names(required_pass) || opt_level >= info.opt_level;
}

InstrumentScope::~InstrumentScope() noexcept(false) {
  if (std::uncaught_exceptions() == exceptions_) {
    context_->exit_instruments();
    return;
  }
  try {
    context_->exit_instruments();
  } catch (...) {  // the exception in flight takes precedence
  }
}

void set_default_evaluator(std::shared_ptr<Evaluator> evaluator) {
  the_default_evaluator() = std::move(evaluator);
}

Evaluator* find_evaluator(const PassContext& context) {
  return context.evaluator ? context.evaluator.get() : the_default_evaluator().get();
}

std::optional<std::vector<NDArray>> value_if_known(const CallNode& call, const BuildContext& context) {
  Evaluator* evaluator = find_evaluator(*context.passes);
  if (!evaluator || !has_compute(call)) return std::nullopt;
  try {
    return evaluator->evaluate(call, context);
  } catch (const NotSupported&) {
    // Whether a shape rule or a kernel takes these types and values is known only once it has tried.
    return std::nullopt;
  }
}

}  // namespace baton
