#include "baton/cli/run/runs.h"

#include <filesystem>

#include "baton/cli/run/program_arguments.h"
#include "baton/driver/vm/runnable_program.h"
#include "baton/frontend/npz.h"
#include "baton/profile/report/program_times.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/error.h"

namespace baton::cli {

namespace {

namespace fs = std::filesystem;

GivenInputs read_inputs(const std::string& folder, const std::vector<std::string>& names) {
  GivenInputs given{folder};
  if (folder.empty()) return given;
  for (const std::string& name : names)
    if (const fs::path path = fs::path(folder) / (name + ".npy"); fs::exists(path))
      given.arrays.emplace_back(name, read_npy(path.string()));
  if (given.arrays.empty()) throw Error(folder + ": holds no <input name>.npy for an input of the model");
  return given;
}

Runs of_plan(const BuiltModel& built, const std::string& folder, int threads, Io& io) {
  const int64_t start = monotonic_ns();
  const std::shared_ptr<Executor> executor = make_executor(built.build);
  Runs runs;
  runs.load_s = seconds_since(start);
  executor->set_threads(threads);
  runs.threads = executor->threads();
  std::vector<std::string> names;
  for (size_t i = 0; i < executor->num_inputs(); ++i) names.push_back(executor->input_node(i).name);
  set_inputs(*executor, read_inputs(folder, names), io, built.params);
  for (size_t i = 0; i < names.size(); ++i) runs.inputs.emplace_back(names[i], executor->input(i));
  runs.run = [executor] { require(executor->run()); };
  runs.outputs = [executor] {
    std::vector<NDArray> outputs;
    for (size_t i = 0; i < executor->num_outputs(); ++i) outputs.push_back(executor->output(i));
    return outputs;
  };
  return runs;
}

Runs of_program(const BuiltModel& built, const ModelFlags& flags, const std::string& folder, int threads,
                const std::atomic<bool>* interrupt, Io& io) {
  const int64_t start = monotonic_ns();
  const std::shared_ptr<RunnableProgram> program = RunnableProgram::create(built.build);
  Runs runs;
  runs.load_s = seconds_since(start);
  runs.threads = threads > 0 ? threads : default_threads();
  std::vector<std::string> names;
  for (const Var& param : built.model.module->find("main")->params())
    if (!find_array(built.params, param->name())) names.push_back(param->name());
  const std::vector<program::Value> args = arguments_of(built, flags, read_inputs(folder, names), {}, io);
  for (size_t i = 0; i < names.size(); ++i)
    for (const NDArray& value : tensors_of({&args[i], 1})) runs.inputs.emplace_back(names[i], value);
  const auto context = std::make_shared<BuildContext>(flags.context());
  context->interrupt = interrupt;
  const auto result = std::make_shared<program::Value>();
  runs.run = [=, count = runs.threads] {
    const ThreadScope scope(count);
    *result = {};  // its memory may be written again
    *result = program->run("main", args, *context);
  };
  runs.outputs = [result] { return tensors_of({result.get(), 1}); };
  return runs;
}

}  // namespace

Runs make_runs(const BuiltModel& built, const ModelFlags& flags, const std::string& folder, int threads,
               const std::atomic<bool>* interrupt, Io& io) {
  return built.build.program ? of_program(built, flags, folder, threads, interrupt, io)
                             : of_plan(built, folder, threads, io);
}

}  // namespace baton::cli
