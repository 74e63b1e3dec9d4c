// PassContext: the stack of contexts of a thread, and what happens when an instrument throws on the way in or
// out.
#include <algorithm>

#include "baton/pass/pass.h"
#include "baton/support/log.h"

namespace baton {

namespace {

struct ContextStack {
  PassContextRef fallback = std::make_shared<PassContext>();
  std::vector<PassContextRef> entered;
};

ContextStack& stack() {
  thread_local ContextStack stack;
  return stack;
}

std::shared_ptr<Evaluator>& the_default_evaluator() {
  static std::shared_ptr<Evaluator> evaluator;
  return evaluator;
}

// enter_pass_ctx in order. When one throws, those before it are exited again and all are taken off the
// context.
void enter_instruments(PassContext& context) {
  const auto instruments = context.instruments;
  size_t entered = 0;
  try {
    for (; entered < instruments.size(); ++entered) instruments[entered]->enter_pass_ctx();
  } catch (...) {
    log_line("Pass instrumentation entering pass context failed.");
    log_line("Disable pass instrumentation.");
    context.instruments.clear();
    for (size_t i = 0; i < entered; ++i) {
      log_line(instruments[i]->name() + " exiting PassContext ...");
      instruments[i]->exit_pass_ctx();
      log_line(instruments[i]->name() + " exited PassContext.");
    }
    throw;
  }
}

void exit_instruments(PassContext& context) {
  try {
    const auto instruments = context.instruments;
    for (const auto& instrument : instruments) instrument->exit_pass_ctx();
  } catch (...) {
    log_line("Pass instrumentation exiting pass context failed.");
    log_line("Disable pass instrumentation.");
    context.instruments.clear();
    throw;
  }
}

}  // namespace

PassContextRef PassContext::current() {
  return stack().entered.empty() ? stack().fallback : stack().entered.back();
}

void PassContext::enter(const PassContextRef& context) {
  BATON_CHECK(context, "no pass context");
  enter_instruments(*context);
  stack().entered.push_back(context);
}

void PassContext::exit(const PassContextRef& context) {
  BATON_CHECK(!stack().entered.empty() && stack().entered.back() == context,
              "a pass context is left that is not the innermost");
  stack().entered.pop_back();
  exit_instruments(*context);
}

void PassContext::override_instruments(std::vector<std::shared_ptr<PassInstrument>> replacement) {
  exit_instruments(*this);
  instruments = std::move(replacement);
  enter_instruments(*this);
}

bool PassContext::pass_enabled(const PassInfo& info) const {
  const auto names = [&](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), info.name) != list.end();
  };
  if (names(disabled_pass)) return false;
  return names(required_pass) || opt_level >= info.opt_level;
}

PassContextScope::~PassContextScope() noexcept(false) {
  if (std::uncaught_exceptions() == exceptions_) {
    PassContext::exit(context_);
    return;
  }
  try {
    PassContext::exit(context_);
  } catch (...) {  // the exception on its way says more
  }
}

void set_default_evaluator(std::shared_ptr<Evaluator> evaluator) {
  the_default_evaluator() = std::move(evaluator);
}

Evaluator& evaluator_of(const PassContext& context) {
  if (context.evaluator) return *context.evaluator;
  if (the_default_evaluator()) return *the_default_evaluator();
  throw NotSupported("constants cannot be evaluated: this program was built without an evaluator");
}

}  // namespace baton
