#include "baton/runtime/model.h"

#include <utility>

namespace baton {

Result<std::unique_ptr<Model>> Model::load(const std::string& path, bool check_params) {
  Result<std::shared_ptr<const Artifact>> artifact = Artifact::open(path, check_params);
  if (!artifact.ok()) return artifact.status();
  return from_artifact(std::move(*artifact));
}

Result<std::unique_ptr<Model>> Model::load_memory(std::span<const uint8_t> bytes, bool check_params) {
  Result<std::shared_ptr<const Artifact>> artifact = Artifact::from_memory(bytes, check_params);
  if (!artifact.ok()) return artifact.status();
  return from_artifact(std::move(*artifact));
}

Result<std::unique_ptr<Model>> Model::from_artifact(std::shared_ptr<const Artifact> artifact) {
  std::unique_ptr<Model> model(new Model);
  model->artifact_ = std::move(artifact);
  for (const char* name : {section::kPlan, section::kKernels}) {
    if (!model->artifact_->has(name)) {
      return Status::bad_data("the artifact has no section " + std::string(name) +
                              ", so there is nothing to run in it");
    }
  }
  Result<std::shared_ptr<const Plan>> plan = Plan::parse(model->artifact_->text(section::kPlan));
  if (!plan.ok()) return plan.status();
  model->plan_ = std::move(*plan);
  Result<std::shared_ptr<const KernelLibrary>> kernels =
      KernelLibrary::from_memory(model->artifact_->bytes(section::kKernels));
  if (!kernels.ok()) return kernels.status();
  model->kernels_ = std::move(*kernels);
  Result<std::unique_ptr<Executor>> executor = model->another_executor();
  if (!executor.ok()) return executor.status();
  model->executor_ = std::move(*executor);
  return model;
}

Result<std::unique_ptr<Executor>> Model::another_executor() const {
  return Executor::create(plan_, kernels_, artifact_->params());
}

}  // namespace baton
