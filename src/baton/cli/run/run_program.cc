#include "baton/cli/run/run_program.h"

#include <algorithm>

#include "baton/driver/case_file.h"
#include "baton/driver/pipeline.h"
#include "baton/driver/vm/build_program.h"
#include "baton/driver/vm/runnable_program.h"
#include "baton/interpreter/interpreted_program.h"
#include "baton/runtime/artifact.h"
#include "baton/runtime/thread_pool.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"
#include "baton/support/require.h"

namespace baton::cli {

namespace {

const NDArray* find(const NamedArrays& arrays, const std::string& name) {
  const auto at = std::ranges::find_if(arrays, [&](const auto& each) { return each.first == name; });
  return at == arrays.end() ? nullptr : &at->second;
}

void check_names(const NamedArrays& arrays, const std::string& path, const std::vector<Var>& params) {
  for (const auto& [name, value] : arrays)
    if (std::ranges::none_of(params, [&](const Var& param) { return param->name() == name; }))
      throw Error(path + ": array \"" + name + "\" is no parameter of main");
}

/// By the tensor rule.
NDArray made_up(const Var& param, bool is_input) {
  const auto* type = as_type<TensorTypeNode>(param->checked_type());
  if (!type || !type->is_static())
    throw Error("parameter %" + param->name() + " is " + type_text(param->checked_type()) +
                ", for which no value can be made up: " +
                (type ? "--inputs FILE.npz gives one, or --shape " + param->name() + "=... its shape"
                      : "only tensors are read from files"));
  const NDArray value = is_input ? tensor_value(param->name(), type->extents(), type->dtype())
                                 : parameter_value(param->name(), type->extents(), type->dtype());
  if (!value)
    throw Error("no memory for parameter %" + param->name() + " of type " + type_text(param->checked_type()));
  return value;
}

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

namespace {

/// Main, called in one of the two ways.
program::Value called(const IRModule& module, const NamedArrays& weights,
                      const std::vector<program::Value>& args, bool interpreter,
                      const BuildContext& context) {
  if (interpreter) return program::InterpretedProgram(module, optimize, context).run(args, context);
  const auto built = RunnableProgram::create(build_program(module, {.params = weights, .context = context}));
  std::vector<program::Value> left;  // weights are constants of the program
  const std::vector<Var>& params = module->find("main")->params();
  for (size_t i = 0; i < args.size(); ++i)
    if (!find(weights, params[i]->name())) left.push_back(args[i]);
  return built->run("main", left, context);
}

}  // namespace

bool needs_program(const ModelFlags& flags) {
  return flags.model != "-" && !is_plan(load_model(flags.model, flags.shapes).module);
}

std::vector<NDArray> run_program_file(const std::string& path, const GivenInputs& given, int threads) {
  const std::shared_ptr<RunnableProgram> program = RunnableProgram::load(*require(Artifact::open(path)));
  const int main = program->program().find("main");
  if (main < 0) throw Error(path + ": the program has no function main");
  const vm::FunctionCode& code = program->program().functions[static_cast<size_t>(main)];
  for (const auto& [name, value] : given.arrays)
    if (std::ranges::find(code.parameter_names, name) == code.parameter_names.end())
      throw Error(given.path + ": array \"" + name + "\" is no parameter of main");
  std::vector<program::Value> args;
  for (size_t i = 0; i < code.parameter_names.size(); ++i) {
    const NDArray* value = find(given.arrays, code.parameter_names[i]);
    const vm::ParameterType& type = code.parameter_types[i];
    const bool is_made =
        type.kind == vm::ParameterType::Kind::kTensor && std::ranges::count(type.extents, -1) == 0;
    if (!value && !is_made)
      throw Error("parameter %" + code.parameter_names[i] + " has no value: --inputs FILE.npz gives one");
    args.push_back(program::tensor_value(
        value ? *value : tensor_value(code.parameter_names[i], type.extents, type.dtype)));
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
  std::vector<std::string> inputs = flags.inputs;
  for (const std::string& name : inputs)
    if (std::ranges::none_of(params, [&](const Var& param) { return param->name() == name; }))
      throw UsageError(model.name + ": main has no parameter \"" + name + "\" to be an input");
  if (inputs.empty() && !params.empty()) {
    const bool data = std::ranges::any_of(params, [](const Var& param) { return param->name() == "data"; });
    inputs = {data ? "data" : params.front()->name()};
  }

  const InterruptScope interrupt;
  BuildContext context = flags.context();
  context.interrupt = interrupt.flag();
  std::vector<program::Value> args;
  program::ExtentValues extents;
  std::string made;
  for (const Var& param : params) {
    const NDArray* value = find(given.arrays, param->name());
    const std::string& path = value ? given.path : flags.params;
    if (!value) value = find(weights, param->name());
    const bool is_input = std::ranges::count(inputs, param->name()) > 0;
    args.push_back(program::tensor_value(value ? *value : made_up(param, is_input)));
    if (!value && is_input) made += (made.empty() ? "%" : ", %") + param->name();
    try {
      program::check_argument(param->name(), param->checked_type(), args.back(), extents);
    } catch (const Error& error) {
      throw Error((value ? path + ": " : "") + error.what());
    }
  }
  if (!given.path.empty() && !made.empty())
    io.err << "note: " << given.path << " has no value for " << made
           << ": filled in by the tensor rule (docs/guide.md)\n";
  const ThreadScope scope(threads);
  std::vector<NDArray> arrays;
  flatten(called(model.module, weights, args, interpreter, context), arrays);
  return arrays;
}

}  // namespace baton::cli
