#include "baton/runtime/model.h"

#include <utility>

#include "baton/runtime/processor.h"
#include "baton/support/base/processor_features.h"

namespace baton {
namespace {

Status nothing_to_run(const char* section) {
  return Status::bad_data("the artifact has no section " + std::string(section) +
                          ", so there is nothing to run in it");
}

/// Kernels of another processor would end the program by an illegal instruction.
Status runs_here(const Artifact& artifact) {
  if (!artifact.has(section::kProcessor)) return Status::success();
  const std::string why = why_not_here(artifact.text(section::kProcessor));
  if (why.empty()) return Status::success();
  return Status::bad_data(why + "; build the model for this machine");
}

}  // namespace

Result<std::unique_ptr<Model>> Model::load(const std::string& path, bool verify) {
  Result<std::shared_ptr<const Artifact>> artifact = Artifact::open(path, verify);
  if (!artifact.ok()) return artifact.status();
  return from_artifact(std::move(*artifact));
}

Result<std::unique_ptr<Model>> Model::load_memory(std::span<const uint8_t> bytes, bool verify) {
  Result<std::shared_ptr<const Artifact>> artifact = Artifact::from_memory(bytes, verify);
  if (!artifact.ok()) return artifact.status();
  return from_artifact(std::move(*artifact));
}

Result<std::unique_ptr<Model>> Model::from_artifact(std::shared_ptr<const Artifact> artifact) {
  std::unique_ptr<Model> model(new Model);
  model->artifact_ = std::move(artifact);
  const Artifact& file = *model->artifact_;
  if (file.has(section::kProgram))
    return Status::unavailable(
        "the artifact holds a program of the virtual machine, which the C interface, `baton run` and, in "
        "Python, runtime.load_module take, and no plan that an executor runs");
  if (!file.has(section::kPlan)) return nothing_to_run(section::kPlan);
  Result<std::shared_ptr<const Plan>> plan = Plan::parse(file.text(section::kPlan));
  if (!plan.ok()) return plan.status();
  model->plan_ = std::move(*plan);
  Result<Executor::Modules> modules = load_modules(file);
  if (!modules.ok()) return modules.status();
  model->modules_ = std::move(*modules);
  Result<std::unique_ptr<Executor>> executor = model->another_executor();
  if (!executor.ok()) return executor.status();
  model->executor_ = std::move(*executor);
  return model;
}

Result<Executor::Modules> Model::load_modules(const Artifact& artifact) {
  Executor::Modules modules;
  const Result<std::vector<PluginCode>> codes = artifact.plugins();
  if (!codes.ok()) return codes.status();
  // A model without CPU kernels has no kernel library.
  if (codes->empty() && !artifact.has(section::kKernels)) return nothing_to_run(section::kKernels);
  if (artifact.has(section::kKernels)) {
    if (const Status status = runs_here(artifact); !status.ok()) return status;
    Result<std::shared_ptr<const KernelLibrary>> kernels =
        KernelLibrary::from_memory(artifact.bytes(section::kKernels));
    if (!kernels.ok()) return kernels.status();
    modules.push_back(processor_module(std::move(*kernels)));
  }
  for (const PluginCode& code : *codes) {
    const Result<const Plugin*> plugin = Plugin::find(code.plugin);
    if (!plugin.ok()) {
      return Status{plugin.status().code,
                    "the model has code for the backend `" + code.backend + "`: " + plugin.status().message};
    }
    if (code.abi != BATON_BACKEND_ABI) {
      return Status::bad_data("the model's code for `" + code.backend + "` was built for version " +
                              std::to_string(code.abi) + " of the interface of backends, this runtime has " +
                              std::to_string(BATON_BACKEND_ABI) + ": build the model again");
    }
    Result<std::shared_ptr<const PluginModule>> module =
        PluginModule::load(**plugin, code.blob, code.backend);
    if (!module.ok()) return module.status();
    modules.push_back(std::move(*module));
  }
  return modules;
}

Result<std::unique_ptr<Executor>> Model::another_executor() const {
  return Executor::create(plan_, modules_, artifact_->params());
}

Result<std::unique_ptr<QueueExecutor>> Model::queue_executor(size_t instances) const {
  return QueueExecutor::create(plan_, modules_, artifact_->params(), instances);
}

}  // namespace baton
