#include "baton/runtime/c_api/loaded_program.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "baton/runtime/model.h"
#include "baton/runtime/vm/program_blob.h"

namespace baton {

using program::Value;
using vm::ParameterType;

namespace {

/// Appends the tensors of a type; whether it has nothing else.
bool add_tensors(const ParameterType& type, const std::string& name,
                 std::vector<LoadedProgram::Tensor>& all) {
  switch (type.kind) {
    case ParameterType::Kind::kOther:
      return false;
    case ParameterType::Kind::kTensor:
      all.push_back({name, type.dtype, type.extents, type});
      return true;
    case ParameterType::Kind::kTuple:
      for (size_t i = 0; i < type.fields.size(); ++i)
        if (!add_tensors(type.fields[i], name.empty() ? name : name + "." + std::to_string(i), all))
          return false;
      return true;
  }
  return false;
}

/// Appends the tensors of a value; whether it is of the type.
bool add_results(const ParameterType& type, const Value& value, std::vector<NDArray>& all) {
  if (const auto* tensor = program::as_value<program::TensorValue>(value)) {
    all.push_back(tensor->array());
    return type.kind == ParameterType::Kind::kTensor;
  }
  const auto* tuple = program::as_value<program::TupleValue>(value);
  if (!tuple || type.kind != ParameterType::Kind::kTuple || tuple->fields().size() != type.fields.size())
    return false;
  for (size_t i = 0; i < type.fields.size(); ++i)
    if (!add_results(type.fields[i], tuple->fields()[i], all)) return false;
  return true;
}

Status no_memory(const std::string& input, const Shape& shape, DType dtype) {
  return Status::out_of_memory("there is no memory for input `" + input + "`, " + describe(shape, dtype));
}

constexpr const char* kOnlyTensors =
    "; the C interface has tensors and tuples of them, and no values of data types, references or functions "
    "(in Python, runtime.load_module runs such a file)";

}  // namespace

Result<std::unique_ptr<LoadedProgram>> LoadedProgram::load(std::shared_ptr<const Artifact> artifact) {
  std::unique_ptr<LoadedProgram> made(new LoadedProgram);
  Result<Executor::Modules> modules = Model::load_modules(*artifact);
  if (!modules.ok()) return modules.status();
  Result<std::shared_ptr<const vm::Program>> program =
      vm::read_program(artifact->bytes(section::kProgram), artifact->params());
  if (!program.ok()) return program.status();
  const int main = (*program)->find("main");
  if (main < 0) return Status::bad_data("the program has no function main");
  made->main_ = static_cast<uint32_t>(main);
  Result<std::unique_ptr<vm::Machine>> machine =
      vm::Machine::create(std::move(*program), std::move(*modules), nullptr);
  if (!machine.ok()) return machine.status();
  made->machine_ = std::move(*machine);
  const vm::FunctionCode& code = made->main();
  for (size_t i = 0; i < code.parameter_types.size(); ++i)
    if (!add_tensors(code.parameter_types[i], code.parameter_names[i], made->inputs_))
      return Status::unavailable("the parameter %" + code.parameter_names[i] + " of main is no tensor" +
                                 kOnlyTensors);
  if (!add_tensors(code.result_type, "", made->outputs_))
    return Status::unavailable("what main returns is no tensor" + std::string(kOnlyTensors));
  for (const Tensor& input : made->inputs_) made->shapes_.push_back(input.shape);
  made->values_.resize(made->inputs_.size());
  made->artifact_ = std::move(artifact);
  return made;
}

Status check_shape(const LoadedProgram::Tensor& input, const Shape& shape) {
  bool fits = shape.size() == input.shape.size() && byte_count(shape, input.dtype).has_value();
  for (size_t i = 0; fits && i < shape.size(); ++i) fits = input.shape[i] < 0 || input.shape[i] == shape[i];
  const std::string cannot_be = "input `" + input.name + "` is " + describe(input.shape, input.dtype) +
                                ", not " + describe(shape, input.dtype);
  if (!fits) return Status::invalid(cannot_be);
  // Of a model with constant shapes there are no bounds.
  const std::string above = input.declared.most.empty() ? "" : vm::above_bound(input.declared, shape);
  return above.empty() ? Status::success() : Status::invalid(cannot_be + ": " + above);
}

Status LoadedProgram::set_input_shape(size_t index, Shape shape) {
  if (Status status = check_shape(inputs_[index], shape); !status.ok()) return status;
  if (shape == shapes_[index]) return Status::success();
  shapes_[index] = std::move(shape);
  values_[index] = {};
  return Status::success();
}

Status LoadedProgram::set_input(size_t index, const NDArray& value, bool bind) {
  NDArray& mine = values_[index];
  if (bind) {
    mine = value;
    return Status::success();
  }
  // Outputs may have the memory of an input.
  if (!mine.is_only_handle()) mine = NDArray::empty(value.shape(), value.dtype());
  if (!mine) return no_memory(inputs_[index].name, value.shape(), value.dtype());
  if (value.bytes()) std::memcpy(mine.data(), value.data(), value.bytes());
  return Status::success();
}

Status LoadedProgram::argument(const ParameterType& type, size_t& next, std::vector<Value>& made) {
  if (type.kind == ParameterType::Kind::kTuple) {
    std::vector<Value> fields;
    for (const ParameterType& field : type.fields)
      if (Status status = argument(field, next, fields); !status.ok()) return status;
    made.push_back(program::tuple_value(std::move(fields)));
    return Status::success();
  }
  const size_t index = next++;
  NDArray& value = values_[index];
  if (!value) {
    const Tensor& input = inputs_[index];
    if (std::ranges::count(shapes_[index], -1))
      return Status::invalid("input `" + input.name + "` is " + describe(input.shape, input.dtype) +
                             ", and has no shape yet: baton_set_input_shape() says which");
    value = NDArray::zeros(shapes_[index], input.dtype);
    if (!value) return no_memory(input.name, shapes_[index], input.dtype);
  }
  made.push_back(make_ref<const program::TensorValue>(value, /*lent=*/true));
  return Status::success();
}

Status LoadedProgram::arguments(std::vector<Value>& args) {
  results_.clear();
  result_ = {};
  size_t next = 0;
  for (const ParameterType& type : main().parameter_types)
    if (Status status = argument(type, next, args); !status.ok()) return status;
  return Status::success();
}

Status LoadedProgram::take_result(Value result) {
  result_ = std::move(result);
  if (add_results(main().result_type, result_, results_)) return Status::success();
  results_.clear();
  return Status::bad_data("main returned " + program::describe(result_) + ", which is not of its type");
}

Status LoadedProgram::run() {
  std::vector<Value> args;
  if (Status status = arguments(args); !status.ok()) return status;
  Result<Value> result = machine_->run(main_, args);
  return result.ok() ? take_result(std::move(*result)) : result.status();
}

Result<LoadedProgram::Profile> LoadedProgram::run_profiled(int runs) {
  if (runs < 1) return Status::invalid("a profile needs at least one run, not " + std::to_string(runs));
  std::vector<std::string> names;  // of the nodes, where the file has them
  if (artifact_->has(section::kPlan)) {
    const Result<std::shared_ptr<const Plan>> plan = Plan::parse(artifact_->text(section::kPlan));
    if (!plan.ok()) return plan.status();
    for (const PlanNode& node : (*plan)->nodes) names.push_back(node.name);
  }
  Profile profile;
  std::map<uint32_t, size_t> numbers;  // by node
  for (int run = 0; run < runs; ++run) {
    std::vector<Value> args;
    if (Status status = arguments(args); !status.ok()) return status;
    vm::MeasuredRun measured;
    Result<Value> result = machine_->run_measured(main_, args, measured);
    if (!result.ok()) return result.status();
    if (Status status = take_result(std::move(*result)); !status.ok()) return status;
    profile.total_ns.push_back(measured.total_ns());
    for (const vm::MeasuredCalls& each : measured.calls()) {
      const auto [at, fresh] = numbers.try_emplace(each.node, profile.calls.size());
      if (fresh) {
        profile.calls.emplace_back(each.node < names.size() ? names[each.node] : each.name, each.name);
        profile.call_ns.emplace_back(static_cast<size_t>(runs));
      }
      profile.call_ns[at->second][static_cast<size_t>(run)] += each.ns;
    }
  }
  return profile;
}

}  // namespace baton
