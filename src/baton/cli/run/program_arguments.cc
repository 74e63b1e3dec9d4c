#include "baton/cli/run/program_arguments.h"

#include <algorithm>

#include "baton/driver/vm/runnable_program.h"
#include "baton/interpreter/interpreted_program.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"
#include "baton/transform/freeze_shapes.h"

namespace baton::cli {

const NDArray* find_array(const NamedArrays& arrays, const std::string& name) {
  const auto at = std::ranges::find_if(arrays, [&](const auto& each) { return each.first == name; });
  return at == arrays.end() ? nullptr : &at->second;
}

void check_names(const NamedArrays& arrays, const std::string& path, const std::vector<Var>& params) {
  for (const auto& [name, value] : arrays)
    if (std::ranges::none_of(params, [&](const Var& param) { return param->name() == name; }))
      throw Error(path + ": array \"" + name + "\" is no parameter of main");
}

namespace {

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

}  // namespace

std::vector<std::string> program_inputs(const ModelFlags& flags, const std::vector<Var>& params) {
  for (const std::string& name : flags.inputs)
    if (std::ranges::none_of(params, [&](const Var& param) { return param->name() == name; }))
      throw UsageError(flags.model + ": main has no parameter \"" + name + "\" to be an input");
  if (!flags.inputs.empty() || params.empty()) return flags.inputs;
  const bool data = std::ranges::any_of(params, [](const Var& param) { return param->name() == "data"; });
  return {data ? "data" : params.front()->name()};
}

std::vector<program::Value> program_arguments(const std::vector<Var>& params, const GivenInputs& given,
                                              const NamedArrays& weights, const std::string& weights_path,
                                              const std::vector<std::string>& inputs, Io& io) {
  std::vector<program::Value> args;
  program::ExtentValues extents;
  std::string made;
  for (const Var& param : params) {
    const NDArray* value = find_array(given.arrays, param->name());
    const std::string& path = value ? given.path : weights_path;
    if (!value) value = find_array(weights, param->name());
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
  return args;
}

std::vector<program::Value> arguments_of(const BuiltModel& built, const ModelFlags& flags,
                                         const GivenInputs& given, const std::vector<std::string>& shapes,
                                         Io& io) {
  std::vector<GivenShape> numbers;
  for (const std::string& shape : shapes) numbers.push_back(parse_given_shape(shape));
  IRModule module = built.model.module;
  if (!numbers.empty()) module = freeze_shapes(module->copy(), numbers);
  const std::vector<Var>& params = module->find("main")->params();
  std::vector<Var> left;
  for (const Var& param : params)
    if (!find_array(built.params, param->name())) left.push_back(param);
  return program_arguments(left, given, {}, "", program_inputs(flags, params), io);
}

std::vector<program::Value> file_arguments(const vm::Program& program, const Artifact& file,
                                           const std::string& path, const GivenInputs& given,
                                           const std::vector<std::string>& shapes) {
  const std::map<std::string, Shape> known = shapes_at(file, shapes);
  try {
    return values_for(program, "main", given.arrays, known);
  } catch (const UsageError&) {
    throw;
  } catch (const Error& error) {
    throw Error(
        (given.path.empty() ? path : given.path) + ": " + error.what() +
        (given.path.empty() ? "; --inputs FILE.npz gives values, --shape x=3,16 the shape of one" : ""));
  }
}

}  // namespace baton::cli
