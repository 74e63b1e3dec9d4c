// A loaded model: an artifact with one executor. Used by the command line, Python and the C API.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "baton/runtime/artifact.h"
#include "baton/runtime/executor.h"
#include "baton/runtime/queue_executor.h"

namespace baton {

class Model {
 public:
  /// Opens an artifact file. `verify`: see Artifact::open.
  static Result<std::unique_ptr<Model>> load(const std::string& path, bool verify = true);

  /// From memory, which must outlive the model.
  static Result<std::unique_ptr<Model>> load_memory(std::span<const uint8_t> bytes, bool verify = true);

  static Result<std::unique_ptr<Model>> from_artifact(std::shared_ptr<const Artifact> artifact);

  const Artifact& artifact() const { return *artifact_; }
  Executor& executor() { return *executor_; }

  /// Loads the backends' code in an artifact through their plug-ins.
  static Result<Executor::Modules> load_modules(const Artifact& artifact);

  /// Another executor of the same plan, kernels and constants, for another thread.
  Result<std::unique_ptr<Executor>> another_executor() const;

  /// One with devices and links side by side; see QueueExecutor::create().
  Result<std::unique_ptr<QueueExecutor>> queue_executor(size_t instances = 0) const;

 private:
  std::shared_ptr<const Artifact> artifact_;
  std::shared_ptr<const Plan> plan_;
  Executor::Modules modules_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace baton
