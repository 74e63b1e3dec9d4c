#include "baton/cli/run/run_program.h"

#include <algorithm>

#include "baton/cli/run/program_arguments.h"
#include "baton/driver/case_file.h"
#include "baton/driver/pipeline.h"
#include "baton/driver/vm/build_program.h"
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

/// Main, called in one of the two ways.
program::Value called(const IRModule& module, const NamedArrays& weights,
                      const std::vector<program::Value>& args, bool interpreter,
                      const BuildContext& context) {
  if (interpreter) return program::InterpretedProgram(module, optimize, context).run(args, context);
  const auto built = RunnableProgram::create(build_program(module, {.params = weights, .context = context}));
  std::vector<program::Value> left;  // weights are constants of the program
  const std::vector<Var>& params = module->find("main")->params();
  for (size_t i = 0; i < args.size(); ++i)
    if (!find_array(weights, params[i]->name())) left.push_back(args[i]);
  return built->run("main", left, context);
}

}  // namespace

bool needs_program(const ModelFlags& flags) {
  return flags.model != "-" && !is_plan(load_model(flags.model, flags.shapes).module);
}

std::vector<NDArray> run_program_file(const std::string& path, const GivenInputs& given, int threads) {
  const std::shared_ptr<RunnableProgram> program = RunnableProgram::load(*require(Artifact::open(path)));
  std::vector<program::Value> args;
  try {
    args = values_for(program->program(), "main", given.arrays);
  } catch (const Error& error) {
    throw Error((given.path.empty() ? path : given.path) + ": " + error.what() +
                (given.path.empty() ? "; --inputs FILE.npz gives values" : ""));
  }
  const InterruptScope interrupt;
  BuildContext context = host_context();
  context.interrupt = interrupt.flag();
  const ThreadScope scope(threads);
  std::vector<NDArray> arrays;
  flatten(program->run("main", args, context), arrays);
  return arrays;
}

std::vector<NDArray> run_program(const ModelFlags& flags, const GivenInputs& given, int threads,
                                 bool interpreter, Io& io) {
  const LoadedModel model = load_model(flags.model, flags.shapes);
  const std::vector<Var>& params = model.module->find("main")->params();
  const NamedArrays weights = flags.params.empty() ? NamedArrays() : read_case(flags.params).params;
  check_names(weights, flags.params, params);
  check_names(given.arrays, given.path, params);
  const InterruptScope interrupt;
  BuildContext context = flags.context();
  context.interrupt = interrupt.flag();
  const std::vector<program::Value> args =
      program_arguments(params, given, weights, flags.params, program_inputs(flags, params), io);
  const ThreadScope scope(threads);
  std::vector<NDArray> arrays;
  flatten(called(model.module, weights, args, interpreter, context), arrays);
  return arrays;
}

}  // namespace baton::cli
