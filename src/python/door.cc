#include "python/door.h"

#include "baton/ops/qnn/requantize.h"
#include "baton/pass/timing.h"
#include "baton/support/base/environment.h"
#include "baton/support/error.h"

#include "python/casters.h"

namespace baton::python {

namespace {

/// The current contexts of a thread, innermost last.
struct Door {
  PassContextRef fallback = std::make_shared<PassContext>();
  std::vector<PassContextRef> passes;
  std::vector<std::vector<TargetRef>> targets;
  std::vector<RequantizeConfig> requantize;
  std::vector<std::shared_ptr<SkippedLayers>> skipped;
  std::vector<const BuildContext*> callers;  // of running Python callbacks
};

Door& door() {
  thread_local Door door;
  return door;
}

template <class Value>
void pop(std::vector<Value>& stack) {
  if (!stack.empty()) stack.pop_back();
}

}  // namespace

void read_environment() {
  const nb::gil_scoped_acquire gil;
  set_environment(Environment::read());
}

BuildContext door_context() {
  read_environment();
  const Door& here = door();
  BuildContext context = here.callers.empty() ? host_context() : *here.callers.back();
  context.passes = current_passes();
  context.targets = here.targets.empty() ? std::vector<TargetRef>() : here.targets.back();
  context.requantize = current_requantize_config();
  context.skipped_layers = current_skipped_layers();
  context.progress = nullptr;
  return context;
}

PassContextRef current_passes() { return door().passes.empty() ? door().fallback : door().passes.back(); }

void enter_passes(const PassContextRef& context) {
  BATON_CHECK(context, "no pass context");
  context->enter_instruments();
  door().passes.push_back(context);
}

void exit_passes(const PassContextRef& context) {
  BATON_CHECK(!door().passes.empty() && door().passes.back() == context,
              "a pass context is left that is not the innermost");
  door().passes.pop_back();
  context->exit_instruments();
}

void enter_target(TargetRef target) {
  door().targets.emplace_back();
  if (target) door().targets.back().push_back(std::move(target));
}
void exit_target() { pop(door().targets); }

void enter_requantize_config(RequantizeConfig config) {
  qnn::check_requantize_config(config);
  door().requantize.push_back(std::move(config));
}
void exit_requantize_config() { pop(door().requantize); }
RequantizeConfig current_requantize_config() {
  return door().requantize.empty() ? RequantizeConfig() : door().requantize.back();
}

void enter_skipped_layers(std::vector<int64_t> numbers) {
  door().skipped.push_back(std::make_shared<SkippedLayers>(SkippedLayers{std::move(numbers)}));
}
void exit_skipped_layers() { pop(door().skipped); }
std::shared_ptr<SkippedLayers> current_skipped_layers() {
  return door().skipped.empty() ? nullptr : door().skipped.back();
}

std::string render_pass_timing() {
  std::vector<PassContextRef> contexts = door().passes;
  contexts.insert(contexts.begin(), door().fallback);
  for (auto context = contexts.rbegin(); context != contexts.rend(); ++context)
    for (const auto& instrument : (*context)->instruments)
      if (const auto* timing = dynamic_cast<const PassTimingInstrument*>(instrument.get()))
        return timing->render();
  return PassTimingInstrument().render();  // warns that nothing was timed
}

CallbackScope::CallbackScope(const BuildContext& context)
    : passes_(door().passes.size()),
      targets_(door().targets.size()),
      requantize_(door().requantize.size()),
      skipped_(door().skipped.size()) {
  door().passes.push_back(context.passes);
  door().targets.push_back(context.targets);
  door().requantize.push_back(context.requantize);
  door().skipped.push_back(context.skipped_layers);
  door().callers.push_back(&context);
}

CallbackScope::~CallbackScope() {
  // Also drops contexts that the code entered and did not leave.
  Door& here = door();
  here.passes.resize(passes_);
  here.targets.resize(targets_);
  here.requantize.resize(requantize_);
  here.skipped.resize(skipped_);
  here.callers.pop_back();
}

}  // namespace baton::python
