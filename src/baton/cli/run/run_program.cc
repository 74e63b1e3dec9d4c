#include "baton/cli/run/run_program.h"

#include "baton/cli/run/program_arguments.h"
#include "baton/driver/case_file.h"
#include "baton/driver/pipeline.h"
#include "baton/driver/vm/runnable_program.h"
#include "baton/interpreter/interpreted_program.h"
#include "baton/runtime/artifact.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/error.h"
#include "baton/support/require.h"

namespace baton::cli {

namespace {

void flatten(const program::Value& value, std::vector<NDArray>& arrays) {
  if (const auto* tensor = program::as_value<program::TensorValue>(value)) {
    arrays.push_back(tensor->array());
  } else if (const auto* tuple = program::as_value<program::TupleValue>(value)) {
    for (const program::Value& field : tuple->fields()) flatten(field, arrays);
  } else {
    throw Error("the result has values that are no tensors: in Python, relay.create_executor() gives them");
  }
}

}  // namespace

std::vector<NDArray> run_program_file(const std::string& path, const GivenInputs& given,
                                      const std::vector<std::string>& shapes, int threads) {
  const std::shared_ptr<const Artifact> file = require(Artifact::open(path));
  const std::shared_ptr<RunnableProgram> program = RunnableProgram::load(*file);
  const std::vector<program::Value> args = file_arguments(program->program(), *file, path, given, shapes);
  const InterruptScope interrupt;
  BuildContext context = host_context();
  context.interrupt = interrupt.flag();
  const ThreadScope scope(threads);
  std::vector<NDArray> arrays;
  flatten(program->run("main", args, context), arrays);
  return arrays;
}

std::vector<NDArray> run_built_program(const BuiltModel& built, const ModelFlags& flags,
                                       const GivenInputs& given, int threads, Io& io) {
  check_names(given.arrays, given.path, built.model.module->find("main")->params());
  const std::vector<program::Value> args = arguments_of(built, flags, given, {}, io);
  const InterruptScope interrupt;
  BuildContext context = flags.context();
  context.interrupt = interrupt.flag();
  const ThreadScope scope(threads);
  std::vector<NDArray> arrays;
  flatten(RunnableProgram::create(built.build)->run("main", args, context), arrays);
  return arrays;
}

std::vector<NDArray> run_interpreted(const ModelFlags& flags, const GivenInputs& given, int threads, Io& io) {
  const LoadedModel model = load_model(flags.model, flags.shapes);
  const std::vector<Var>& params = model.module->find("main")->params();
  const NamedArrays weights = flags.params.empty() ? NamedArrays() : read_case(flags.params).params;
  check_names(weights, flags.params, params);
  check_names(given.arrays, given.path, params);
  const std::vector<program::Value> args =
      program_arguments(params, given, weights, flags.params, program_inputs(flags, params), io);
  const InterruptScope interrupt;
  BuildContext context = flags.context();
  context.interrupt = interrupt.flag();
  const ThreadScope scope(threads);
  std::vector<NDArray> arrays;
  flatten(program::InterpretedProgram(model.module, optimize, context).run(args, context), arrays);
  return arrays;
}

}  // namespace baton::cli
