#include "baton/driver/vm/runnable_program.h"

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <unordered_map>

#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/driver/pipeline.h"
#include "baton/interpreter/evaluate_call.h"
#include "baton/interpreter/interpreted_program.h"
#include "baton/ir/visit.h"
#include "baton/runtime/model.h"
#include "baton/runtime/vm/program_blob.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/support/interrupt.h"
#include "baton/support/require.h"
#include "baton/text/json/json.h"
#include "baton/transform/freeze_shapes.h"

namespace baton {

using program::Value;

namespace {

/// What machines have the compiler do: operators that are no kernels, and functions of others.
class ProgramServices final : public vm::Services {
 public:
  explicit ProgramServices(const std::vector<Function>& operators) : operators_(operators) {}

  Value evaluate(uint32_t number, const std::vector<Value>& args) override {
    if (number >= operators_.size()) return {};
    return kept([&] { return evaluated(*operators_[number], args); });
  }
  Value call(const program::FunctionValue& function, const std::vector<Value>& args) override {
    return kept([&] { return call_value(function, args, *context_); });
  }

  void begin(const RunContext& context) {
    context_ = &context;
    compiler_.reset();
    failure_ = nullptr;
  }
  /// What a service threw; null: nothing.
  std::exception_ptr failure() const { return failure_; }

 private:
  template <class Work>
  Value kept(Work work) {
    try {
      return work();
    } catch (...) {
      failure_ = std::current_exception();
      return {};
    }
  }

  const BuildContext& compiler() {
    if (!compiler_) {
      compiler_ = context_->compiler();
      compiler_->interrupt = context_->interrupt;
    }
    return *compiler_;
  }

  Value evaluated(const FunctionNode& function, const std::vector<Value>& args) {
    std::unordered_map<const ExprNode*, Value> values;
    for (size_t i = 0; i < args.size(); ++i) values[function.params()[i].get()] = args[i];
    post_order(function.body(), [&](const Expr& node) {
      if (const auto* constant = as<ConstantNode>(node)) {
        values[node.get()] = make_ref<const program::TensorValue>(constant->value(), /*lent=*/true);
      } else if (const auto* tuple = as<TupleNode>(node)) {
        std::vector<Value> fields;
        for (const Expr& field : tuple->fields()) fields.push_back(values.at(field.get()));
        values[node.get()] = program::tuple_value(std::move(fields));
      } else if (const auto* item = as<TupleGetItemNode>(node)) {
        const auto* from = program::as_value<program::TupleValue>(values.at(item->tuple().get()));
        values[node.get()] = from->fields().at(static_cast<size_t>(item->index()));
      } else if (const auto* call = as<CallNode>(node)) {
        std::vector<Value> operands;
        for (const Expr& arg : call->args()) operands.push_back(values.at(arg.get()));
        values[node.get()] = program::evaluate_call(*call, operands, optimize, compiler());
      }
    });
    return values.at(function.body().get());
  }

  const std::vector<Function>& operators_;
  const RunContext* context_ = nullptr;
  std::optional<BuildContext> compiler_;
  std::exception_ptr failure_;
};

}  // namespace

struct RunnableProgram::Worker {
  explicit Worker(const std::vector<Function>& operators) : services(operators) {}
  ProgramServices services;
  std::unique_ptr<vm::Machine> machine;
};

/// A worker during one run.
class RunnableProgram::Borrowed {
 public:
  explicit Borrowed(RunnableProgram& of) : of_(of) {
    const std::lock_guard lock(of.mutex_);
    exact_ = of.exact_;
    if (of.idle_.empty()) return;
    worker_ = std::move(of.idle_.back());
    of.idle_.pop_back();
  }
  ~Borrowed() {
    if (!worker_) return;
    const std::lock_guard lock(of_.mutex_);
    of_.idle_.push_back(std::move(worker_));
  }
  Worker& get() {
    if (!worker_) {
      auto made = std::make_unique<Worker>(of_.operators_);
      made->machine =
          require(vm::Machine::create(of_.program_, of_.modules_, &made->services, of_.weak_from_this()));
      worker_ = std::move(made);
    }
    worker_->machine->set_exact(exact_);
    return *worker_;
  }

 private:
  RunnableProgram& of_;
  std::shared_ptr<BackgroundKernels> exact_;
  std::unique_ptr<Worker> worker_;
};

RunnableProgram::~RunnableProgram() = default;

std::shared_ptr<RunnableProgram> RunnableProgram::create(const BuildResult& built) {
  BATON_CHECK(built.program, "a build without a program");
  const std::shared_ptr<RunnableProgram> made(new RunnableProgram);
  made->program_ = built.program;
  made->operators_ = built.operators;
  made->modules_ = load_modules(built);
  return made;
}

std::shared_ptr<RunnableProgram> RunnableProgram::load(const Artifact& artifact) {
  initialize();
  if (!artifact.has(section::kProgram)) throw Error("the file has no program for the virtual machine");
  const std::shared_ptr<RunnableProgram> made(new RunnableProgram);
  made->modules_ = require(Model::load_modules(artifact));
  made->program_ = require(vm::read_program(artifact.bytes(section::kProgram), artifact.params()));
  if (artifact.has(section::kOperators)) {
    const Saved saved = from_json(artifact.text(section::kOperators));
    for (size_t i = 0; i < made->program_->operators.size(); ++i) {
      const Function function = saved.module ? saved.module->find(std::to_string(i)) : Function();
      if (!function) throw Error("the file is damaged: an operator is missing");
      made->operators_.push_back(function);
    }
  }
  return made;
}

std::shared_ptr<RunnableProgram> RunnableProgram::another() const {
  const std::shared_ptr<RunnableProgram> made(new RunnableProgram);
  made->program_ = program_;
  made->operators_ = operators_;
  made->modules_ = modules_;
  made->depth_ = depth_;
  made->exact_ = specialized();  // kernels read constants from memory
  return made;
}

std::shared_ptr<RunnableProgram> RunnableProgram::with_constants(const NamedArrays& values) const {
  const auto changed = std::make_shared<vm::Program>(*program_);
  for (const auto& [name, value] : values) {
    const auto found = std::ranges::find(changed->constants, name, &NamedArrays::value_type::first);
    if (found == changed->constants.end()) throw Error("the program has no constant " + name);
    found->second = value;
  }
  const std::shared_ptr<RunnableProgram> made = another();
  made->program_ = changed;
  return made;
}

template <class Run>
Value RunnableProgram::run_on_worker(const RunContext& context, Run run) {
  Borrowed borrowed(*this);
  Worker& worker = borrowed.get();
  worker.services.begin(context);
  worker.machine->set_interrupt(context.interrupt);
  worker.machine->set_depth(depth_);
  Result<Value> result = run(*worker.machine);
  if (result.ok()) return std::move(*result);
  if (const std::exception_ptr failure = worker.services.failure();
      failure && worker.machine->service_failed())
    std::rethrow_exception(failure);
  if (worker.machine->interrupted()) throw Interrupted(result.status().message);
  throw Error(result.status().message);
}

void RunnableProgram::specialize(std::shared_ptr<BackgroundKernels> kernels) {
  const std::lock_guard lock(mutex_);
  exact_ = std::move(kernels);
}

std::shared_ptr<BackgroundKernels> RunnableProgram::specialized() const {
  const std::lock_guard lock(mutex_);
  return exact_;
}

uint32_t RunnableProgram::number_of(const std::string& function) const {
  const int number = program_->find(function);
  if (number < 0) throw Error("the program has no function " + function);
  return static_cast<uint32_t>(number);
}

Value RunnableProgram::run(uint32_t function, std::span<const Value> args, const RunContext& context) {
  return run_on_worker(context, [&](vm::Machine& machine) { return machine.run(function, args); });
}

Value RunnableProgram::run_measured(uint32_t function, std::span<const Value> args, const RunContext& context,
                                    vm::MeasuredRun& measured) {
  return run_on_worker(context,
                       [&](vm::Machine& machine) { return machine.run_measured(function, args, measured); });
}

Value RunnableProgram::call(const vm::MachineFunction& function, std::span<const Value> args,
                            const RunContext& context) {
  return run_on_worker(context, [&](vm::Machine& machine) { return machine.call(function, args); });
}

size_t RunnableProgram::arena_bytes() {
  const std::lock_guard lock(mutex_);
  size_t most = 0;
  for (const std::unique_ptr<Worker>& each : idle_) most = std::max(most, each->machine->arena_bytes());
  return most;
}

std::vector<Value> values_for(const vm::Program& program, const std::string& function,
                              const NamedArrays& given, const std::map<std::string, Shape>& known) {
  const int number = program.find(function);
  if (number < 0) throw Error("the program has no function " + function);
  const vm::FunctionCode& code = program.functions[static_cast<size_t>(number)];
  for (const auto& [name, value] : given)
    if (std::ranges::find(code.parameter_names, name) == code.parameter_names.end())
      throw Error("`" + name + "` is no parameter of " + function);
  std::vector<Value> values;
  for (size_t i = 0; i < code.parameter_names.size(); ++i) {
    const std::string& name = code.parameter_names[i];
    const auto value = std::ranges::find(given, name, &NamedArrays::value_type::first);
    if (value != given.end()) {
      values.push_back(program::tensor_value(value->second));
      continue;
    }
    const vm::ParameterType& type = code.parameter_types[i];
    const auto shape = known.find(name);
    const Shape extents = shape == known.end() ? type.extents : shape->second;
    if (type.kind != vm::ParameterType::Kind::kTensor || std::ranges::count(extents, -1))
      throw Error("parameter %" + name +
                  " has no value, and none can be made up: only for tensors of known shape");
    const NDArray made = tensor_value(name, extents, type.dtype);
    if (!made) throw Error("no memory for parameter %" + name + ", " + describe(extents, type.dtype));
    values.push_back(program::tensor_value(made));
  }
  return values;
}

std::map<std::string, Shape> shapes_at(const Artifact& artifact, const std::vector<std::string>& shapes) {
  std::vector<GivenShape> given;
  for (const std::string& shape : shapes) given.push_back(parse_given_shape(shape));
  std::map<std::string, Shape> known;
  if (given.empty()) return known;
  const Saved saved = from_json(artifact.text(section::kSignature));
  if (!saved.module || !saved.module->find("main"))
    throw Error("the file is damaged: the types of its parameters are missing");
  for (const Var& param : freeze_shapes(saved.module, given)->find("main")->params()) {
    const auto* type = as_type<TensorTypeNode>(param->checked_type());
    if (type && type->is_static()) known[param->name()] = type->extents();
  }
  return known;
}

bool is_program_file(const std::string& path) {
  return require(Artifact::open(path, /*verify=*/false))->has(section::kProgram);
}

Value call_value(const program::FunctionValue& function, std::span<const Value> args,
                 const RunContext& context) {
  if (const program::ForeignFunction* foreign = function.foreign())
    return foreign->call({args.begin(), args.end()});
  if (!function.is_of_machine())
    return program::call_function(function, {args.begin(), args.end()}, context.compiler());
  const auto& own = static_cast<const vm::MachineFunction&>(function);
  const std::shared_ptr<void> home = own.home();
  if (!home) throw Error("the function " + own.name() + " is of a program that is not here any more");
  return static_cast<RunnableProgram*>(home.get())->call(own, args, context);
}

}  // namespace baton
