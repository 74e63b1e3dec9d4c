#include "baton/runtime/vm/machine.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "baton/runtime/processor.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/thread_pool.h"
#include "baton/runtime/vm/append.h"
#include "baton/runtime/vm/check.h"
#include "baton/runtime/vm/instructions.h"
#include "baton/runtime/vm/machine_devices.h"
#include "baton/runtime/vm/piece_run.h"

namespace baton::vm {

using program::as_value;
using program::CellValue;
using program::DataValue;
using program::DeviceTensorValue;
using program::FunctionValue;
using program::TensorValue;
using program::TupleValue;
using program::Value;
using program::ValueNode;

/// A register. Integers of rank 0 are always held as such. Moved by memcpy; `value` is counted by hand.
struct Machine::Slot {
  enum class Kind : int32_t { kEmpty, kInteger, kValue };
  Kind kind;
  IntegerKind type;
  union {
    int64_t integer;
    const ValueNode* value;
  };

  void release() {
    if (kind == Kind::kValue) value->release();
    kind = Kind::kEmpty;
  }
  void set(const Slot& other) {
    if (other.kind == Kind::kValue) other.value->retain();
    release();
    *this = other;
  }
  void set_integer(int64_t number, IntegerKind of) {
    release();
    kind = Kind::kInteger;
    type = of;
    integer = number;
  }
  /// Takes a value; a tensor of rank 0 of an integer type becomes an integer.
  void set_value(Value of) {
    release();
    if (!of) return;
    if (const auto* tensor = as_value<TensorValue>(of);
        tensor && tensor->array().ndim() == 0 && is_integer_kind(tensor->array().dtype(), &type)) {
      int64_t number = 0;
      std::memcpy(&number, tensor->array().data(), tensor->array().bytes());
      kind = Kind::kInteger;
      integer = wrapped(number, type);
      return;
    }
    kind = Kind::kValue;
    value = of.detach();
  }
  /// As a value; null when empty.
  Value boxed() const {
    if (kind == Kind::kValue) return Value(value);
    if (kind == Kind::kEmpty) return {};
    const DType dtype = dtype_of(type);
    return program::tensor_value(NDArray::from_bytes({}, dtype, &integer));
  }
  template <class T>
  const T* as() const {
    return kind == Kind::kValue && value->kind() == T::kKind ? static_cast<const T*>(value) : nullptr;
  }
};

struct Machine::Frame {
  const FunctionCode* function;
  const int32_t* back;  ///< the instruction of the caller after the call
  size_t base;          ///< of its registers
  int32_t target;       ///< the caller's register for the result
};

namespace {

Status no_value(const FunctionCode& function, int32_t number) {
  return Status::bad_data("register " + std::to_string(number) + " of " + function.name +
                          " is read before it has a value");
}

Status bad_operand(const Value& value, const std::string& wanted) {
  return Status::invalid(program::describe(value) + " is used like " + wanted);
}

bool fits(const ParameterType& type, const Value& value) {
  switch (type.kind) {
    case ParameterType::Kind::kOther:
      return true;
    case ParameterType::Kind::kTuple: {
      const auto* tuple = as_value<TupleValue>(value);
      if (!tuple || tuple->fields().size() != type.fields.size()) return false;
      for (size_t i = 0; i < type.fields.size(); ++i)
        if (!fits(type.fields[i], tuple->fields()[i])) return false;
      return true;
    }
    case ParameterType::Kind::kTensor: {
      const auto* tensor = as_value<TensorValue>(value);
      if (!tensor || tensor->array().dtype() != type.dtype ||
          tensor->array().shape().size() != type.extents.size())
        return false;
      for (size_t i = 0; i < type.extents.size(); ++i)
        if (type.extents[i] >= 0 && type.extents[i] != tensor->array().shape()[i]) return false;
      return true;
    }
  }
  return false;
}

/// What is above its bound in a value that fits the type; empty: nothing.
std::string above_bound_in(const ParameterType& type, const Value& value) {
  if (const auto* tensor = type.kind == ParameterType::Kind::kTensor ? as_value<TensorValue>(value) : nullptr)
    return above_bound(type, tensor->array().shape());
  const auto* tuple = type.kind == ParameterType::Kind::kTuple ? as_value<TupleValue>(value) : nullptr;
  for (size_t i = 0; tuple && i < type.fields.size(); ++i)
    if (const std::string above = above_bound_in(type.fields[i], tuple->fields()[i]); !above.empty())
      return "field " + std::to_string(i) + ": " + above;
  return "";
}

/// Whether kernels of a plug-in read the memory of the host.
bool computes_on_host(const Plugin& plugin) {
  const auto count = plugin.table().device_count;
  return !count || count() == 0 || plugin.device_of_kind(kProcessorKind) >= 0;
}

/// The node of the plan that the instruction with these words computes.
uint32_t node_of(const FunctionCode& function, const int32_t* words) {
  const auto at = static_cast<uint32_t>(words - function.code.data());
  const auto found = std::ranges::lower_bound(function.nodes, at, {}, &std::pair<uint32_t, uint32_t>::first);
  return found != function.nodes.end() && found->first == at ? found->second : 0;
}

/// Appends the shapes of the tensors in a value, as reports show them.
void add_shape(std::string& text, const Value& value) {
  if (const auto* tuple = as_value<TupleValue>(value)) {
    for (const Value& field : tuple->fields()) add_shape(text, field);
  } else if (const auto* tensor = as_value<TensorValue>(value)) {
    text += (text.empty() ? "" : ", ") + describe(tensor->array().shape(), tensor->array().dtype());
  }
}

std::string text_of(const ParameterType& type) {
  if (type.kind == ParameterType::Kind::kOther) return "a value";
  std::string text;
  if (type.kind == ParameterType::Kind::kTuple) {
    for (const ParameterType& field : type.fields) text += (text.empty() ? "" : ", ") + text_of(field);
    return "(" + text + ")";
  }
  if (type.extents.empty()) return type.dtype.str();
  for (size_t i = 0; i < type.extents.size(); ++i) {
    const std::string& name = type.names[i];
    text += (text.empty() ? "" : ", ") + (type.extents[i] >= 0 ? std::to_string(type.extents[i])
                                          : name.empty()       ? "?"
                                                               : name);
  }
  return "Tensor[(" + text + "), " + type.dtype.str() + "]";
}

}  // namespace

Result<std::unique_ptr<Machine>> Machine::create(std::shared_ptr<const Program> program,
                                                 Executor::Modules modules, Services* services,
                                                 std::weak_ptr<void> home) {
  std::unique_ptr<Machine> machine(new Machine);
  machine->program_ = std::move(program);
  machine->modules_ = std::move(modules);
  machine->services_ = services;
  machine->home_ = std::move(home);
  if (Status status = machine->prepare(); !status.ok()) return status;
  return machine;
}

Machine::~Machine() {
  unwind();
  std::free(slots_);
  pieces_.clear();
  if (devices_) (void)devices_->wait();
  for (const auto& [module, bound] : kernels_) module->plugin().table().unbind(bound);
}

Status Machine::prepare() {
  if (Status status = check(*program_); !status.ok()) return status;
  if (Status status = check_constants(*program_); !status.ok()) return status;
  memory_ = std::make_unique<MachineMemory>();
  if (!program_->devices.empty()) {
    Result<std::unique_ptr<MachineDevices>> devices = MachineDevices::open(*program_, modules_);
    if (!devices.ok()) return devices.status();
    devices_ = std::move(*devices);
  }
  std::vector<int32_t> tensors(program_->kernels.size());
  for (const Piece& piece : program_->pieces)
    for (const PieceCall& call : piece.calls)
      if (call.kernel != PieceCall::kCopy)
        tensors[call.kernel] = static_cast<int32_t>(call.inputs.size() + call.outputs.size());
  for (size_t k = 0; k < program_->kernels.size(); ++k) {
    const KernelName& kernel = program_->kernels[k];
    const PluginModule* module = find_module(modules_, kernel.backend);
    baton_bound bound{};
    const Device* on = devices_ ? devices_->device(kernel.device) : nullptr;
    if (module && (on ? &module->plugin() != &on->plugin() : !computes_on_host(module->plugin())))
      return Status::bad_data("the kernel `" + kernel.name + "` of the program is for another device than " +
                              (on ? "those of `" + on->plugin().name() + "`" : "the processor"));
    Status status = module ? module->bind(kernel.name, tensors[k], on ? on->queue() : nullptr, bound)
                           : Status::bad_data("");
    if (!status.ok())
      return Status::bad_data("the kernel `" + kernel.name + "` is not among the program's kernels" +
                              (status.message.empty() ? "" : " (" + status.message + ")"));
    kernels_.emplace_back(module, bound);
  }
  for (const auto& [name, array] : program_->constants)
    constants_.push_back(make_ref<const TensorValue>(array, /*lent=*/true));
  pieces_.resize(program_->pieces.size());
  uint64_t most = 0;
  for (const Piece& piece : program_->pieces) most = std::max(most, piece.most_bytes);
  if (most && !memory_->need(most))
    return Status::out_of_memory(
        "no memory for the intermediate results of the program at the bounds of its extents: " +
        std::to_string(most) + " bytes");
  return grow(256);
}

void Machine::set_exact(std::shared_ptr<ExactKernels> exact) {
  if (exact == exact_) return;
  pieces_.clear();
  pieces_.resize(program_->pieces.size());
  exact_ = std::move(exact);
}

size_t Machine::arena_bytes() const { return memory_->bytes(); }

Status Machine::grow(size_t slots) {
  if (slots <= capacity_) return Status::success();
  const size_t wanted = std::max(slots, 2 * capacity_);
  auto* moved = static_cast<Slot*>(std::realloc(static_cast<void*>(slots_), wanted * sizeof(Slot)));
  if (!moved)
    return Status::out_of_memory("no memory for the registers of " + std::to_string(frames_.size()) +
                                 " nested calls");
  slots_ = moved;
  capacity_ = wanted;
  return Status::success();
}

/// Releases the registers of all frames.
void Machine::unwind() {
  if (frames_.empty()) return;
  const size_t end = frames_.back().base + frames_.back().function->registers;
  for (size_t i = 0; i < end; ++i) slots_[i].release();
  frames_.clear();
}

Status Machine::stopped() {
  interrupted_ = true;
  return Status::unavailable("the run was interrupted");
}

Status Machine::check_arguments(const FunctionCode& function, std::span<const Value> args) const {
  if (args.size() != function.parameters)
    return Status::invalid(function.name + " takes " + std::to_string(function.parameters) + " arguments, " +
                           std::to_string(args.size()) + " were given");
  for (size_t i = 0; i < args.size() && i < function.parameter_types.size(); ++i) {
    const ParameterType& type = function.parameter_types[i];
    const std::string is = "argument " + function.parameter_names[i] + " is " + program::describe(args[i]);
    if (!args[i] || !fits(type, args[i])) return Status::invalid(is + ", expected " + text_of(type));
    if (const std::string above = above_bound_in(type, args[i]); !above.empty())
      return Status::invalid(is + ": " + above);
  }
  return Status::success();
}

Result<Value> Machine::run(uint32_t function, std::span<const Value> args) {
  if (function >= program_->functions.size()) return Status::invalid("the program has no such function");
  if (Status status = check_arguments(program_->functions[function], args); !status.ok()) return status;
  return start(function, args, nullptr);
}

Result<Value> Machine::run_measured(uint32_t function, std::span<const Value> args, MeasuredRun& measured) {
  measured.begin(*program_);
  measured_ = &measured;
  const uint64_t began = ticks();
  Result<Value> result = run(function, args);
  measured.add_total(ticks() - began);
  measured_ = nullptr;
  return result;
}

Result<Value> Machine::call(const FunctionValue& function, std::span<const Value> args) {
  if (function.program() != program_.get())
    return Status::invalid(function.name() + " is a function of another program");
  const auto& own = static_cast<const MachineFunction&>(function);
  if (own.constructs()) return constructed(own.function(), {args.begin(), args.end()});
  const FunctionCode& code = program_->functions[own.function()];
  if (args.size() != code.parameters)
    return Status::invalid(code.name + " takes " + std::to_string(code.parameters) + " arguments, " +
                           std::to_string(args.size()) + " were given");
  return start(own.function(), args, &function);
}

Result<Value> Machine::start(uint32_t function, std::span<const Value> args, const FunctionValue* closure) {
  if (running_) return Status::invalid("the machine is running: take another one");
  const FunctionCode& code = program_->functions[function];
  if (Status status = grow(code.registers); !status.ok()) return status;
  service_failed_ = interrupted_ = false;
  contradiction_.clear();
  cells_ = std::make_unique<program::CellScope>();
  for (uint32_t i = 0; i < code.registers; ++i) slots_[i].kind = Slot::Kind::kEmpty;
  for (size_t i = 0; i < args.size(); ++i) {
    cells_->keep(args[i]);
    slots_[i].set_value(args[i]);
  }
  if (closure) {
    const std::vector<Value>& captured = closure->captured();
    for (size_t i = 0; i < captured.size(); ++i) {
      cells_->keep(captured[i]);
      slots_[code.parameters + i].set_value(captured[i] ? captured[i] : Value(closure));
    }
  }
  frames_.push_back({&code, nullptr, 0, 0});
  running_ = true;
  const ThreadScope threads(threads_ > 0 ? threads_ : current_threads());
  if (measured_) measured_->enter(code, nullptr, frames_.size());
  Status status = measured_ ? execute<true>() : execute<false>();
  running_ = false;
  if (!status.ok()) {
    unwind();
    if (devices_) (void)devices_->wait();
    cells_.reset();
    return status;
  }
  Value result = slots_[0].boxed();
  slots_[0].release();
  if (devices_) status = end_on_devices(args, result);
  cells_->keep(result);
  cells_.reset();
  if (!status.ok()) return status;
  return result;
}

/// Of arguments the references: the program may have written to them.
Status Machine::end_on_devices(std::span<const Value> args, Value& result) const {
  std::vector<Value> given(args.begin(), args.end());
  Status status = bring_to_host(given);
  if (status.ok()) status = bring_to_host({&result, 1});
  const Status waited = devices_->wait();
  return status.ok() ? waited : status;
}

template <bool kMeasured>
bool Machine::run_piece(uint32_t number, const int32_t* operands, Slot* registers, MeasuredInstruction* at,
                        Status& failure) {
  [[maybe_unused]] uint64_t began = 0, excluded = 0;
  [[maybe_unused]] MeasuredRun::PieceTicks took;
  if constexpr (kMeasured) {
    excluded = measured_->excluded();
    took.calls = measured_->of_calls();
    took.copies = measured_->of_copies();
    began = ticks();
  }
  std::unique_ptr<PieceRun>& piece = pieces_[number];
  if (!piece)
    piece = std::make_unique<PieceRun>(program_->pieces[number], *program_, *memory_, kernels_,
                                       devices_.get(), exact_.get());
  const std::span<PieceInput> inputs = piece->inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    Slot& slot = registers[register_of(operands[i])];
    inputs[i] = {};
    if (slot.kind == Slot::Kind::kInteger) {
      inputs[i].integer = slot.integer;
    } else if (const auto* tensor = slot.as<TensorValue>()) {
      inputs[i].array = &tensor->array();
    } else if (failure = place_input(piece->piece(), i, slot, inputs[i]); !failure.ok()) {
      return false;
    }
  }
  if constexpr (kMeasured) {
    if (failure = piece->resolve_extents(); !failure.ok()) return false;
    took.extents = ticks() - began - (measured_->excluded() - excluded);
    took.placed = measured_->of_copies();
    if (failure = piece->set_inputs(); !failure.ok()) return false;
    const uint64_t has_inputs = ticks();
    if (failure = piece->make_outputs(); !failure.ok()) return false;
    const uint64_t has_memory = ticks();
    took.memory = has_memory - has_inputs;
    if (!piece->has_rows(*measured_)) {
      piece->find_rows(*measured_);
      measured_->exclude(ticks() - has_memory);
    }
    if (failure = piece->call_kernels(*measured_); !failure.ok()) return false;
  } else {
    if (!piece->begin_again())
      if (failure = piece->begin(); !failure.ok()) return false;
    if (!piece->call_kernels()) [[unlikely]] {
      failure = piece->failure();
      return false;
    }
  }
  const std::span<PieceOutput> outputs = piece->finish();
  for (size_t i = 0; i < inputs.size(); ++i)
    if (operands[i] & kLastUse) registers[register_of(operands[i])].release();
  const Piece& of = piece->piece();
  for (size_t o = 0; o < outputs.size(); ++o) {
    Slot& slot = registers[operands[inputs.size() + o]];
    if (outputs[o].value) {
      slot.release();
      slot.kind = Slot::Kind::kValue;
      slot.value = outputs[o].value.detach();
    } else {
      IntegerKind kind{};
      is_integer_kind(of.tensors[of.outputs[o]].dtype, &kind);
      slot.set_integer(outputs[o].integer, kind);
    }
  }
  if constexpr (kMeasured) {
    took.all = ticks() - began - (measured_->excluded() - excluded);
    measured_->add_piece(took, *at);
  }
  return true;
}

/// An input of a piece that is no tensor in the memory of the host: on the device where the piece expects it,
/// or brought there.
Status Machine::place_input(const Piece& piece, size_t number, Slot& slot, PieceInput& input) const {
  Value value = slot.boxed();
  if (!as_value<DeviceTensorValue>(value) || !devices_) return bad_operand(value, "a tensor");
  const uint32_t tensor = piece.inputs[number];
  Result<Value> placed =
      devices_->brought(value, piece.tensors[tensor].device, {measured_, reader_of(piece, tensor)});
  if (!placed.ok()) return placed.status();
  slot.set_value(std::move(*placed));
  if (slot.kind == Slot::Kind::kInteger) {
    input.integer = slot.integer;
  } else if (const auto* there = slot.as<DeviceTensorValue>()) {
    input = {.array = &there->array(), .memory = there->memory()};
  } else {
    input.array = &slot.as<TensorValue>()->array();
  }
  return Status::success();
}

/// What others get of a program is in the memory of the host.
Status Machine::bring_to_host(std::span<Value> values, uint32_t reader) const {
  for (Value& value : values) {
    if (!devices_) return Status::success();
    Result<Value> here = devices_->for_host(value, {measured_, reader});
    if (!here.ok()) return here.status();
    value = std::move(*here);
  }
  return Status::success();
}

Status Machine::evaluate(const int32_t* words, Slot* registers, MeasuredInstruction* at) {
  const auto number = static_cast<uint32_t>(words[1]);
  if (!services_)
    return Status::unavailable((contradiction_.empty() ? "" : contradiction_ + "; where they are not, ") +
                               "the operator " + program_->operators[number] +
                               " needs the compiler, which is not here");
  std::vector<Value> args = take_values(words + 3, registers);
  if (Status status = bring_to_host(args, node_of(*frames_.back().function, words)); !status.ok())
    return status;
  Value result = at ? evaluate_measured(words, args, *at) : services_->evaluate(number, args);
  if (!result) {
    service_failed_ = true;
    return Status::kernel_failed("the operator " + program_->operators[number] + " failed");
  }
  registers[words[2]].set_value(std::move(result));
  return Status::success();
}

/// Services::evaluate() with its time taken.
Value Machine::evaluate_measured(const int32_t* words, const std::vector<Value>& args,
                                 MeasuredInstruction& at) {
  const auto number = static_cast<uint32_t>(words[1]);
  const uint64_t began = ticks();
  Value result = services_->evaluate(number, args);
  const uint64_t took = ticks() - began;
  std::string shapes;
  for (const Value& arg : args) add_shape(shapes, arg);
  add_shape(shapes, result);
  const size_t row = measured_->row(node_of(*frames_.back().function, words), program_->operators[number],
                                    std::move(shapes));
  measured_->exclude(ticks() - began - took);
  measured_->add_operator(row, took, at);
  return result;
}

Status Machine::call_other(const FunctionValue& callee, std::vector<Value> args, Slot& result) {
  if (!services_) return Status::unavailable("the function " + callee.name() + " cannot be called here");
  if (Status status = bring_to_host(args); !status.ok()) return status;
  Value made = services_->call(callee, args);
  if (!made) {
    service_failed_ = true;
    return Status::kernel_failed("the function " + callee.name() + " failed");
  }
  result.set_value(std::move(made));
  return Status::success();
}

/// The values of registers, given as a count and their numbers.
std::vector<Value> Machine::take_values(const int32_t* words, Slot* registers) {
  std::vector<Value> values(static_cast<size_t>(*words));
  for (size_t i = 0; i < values.size(); ++i)
    if (words[1 + i] != kItself) values[i] = registers[register_of(words[1 + i])].boxed();
  for (size_t i = 0; i < values.size(); ++i)
    if (words[1 + i] != kItself && (words[1 + i] & kLastUse)) registers[register_of(words[1 + i])].release();
  return values;
}

Value Machine::constructed(uint32_t constructor, std::vector<Value> fields) const {
  const ConstructorEntry& made = program_->constructors[constructor];
  return make_ref<const DataValue>(made.tag, std::move(fields), made.info);
}

/// kField; false when there is no such field.
bool Machine::take_field(const int32_t* words, Slot* registers) {
  Slot& from = registers[register_of(words[2])];
  const std::vector<Value>* fields = nullptr;
  if (const auto* tuple = from.as<TupleValue>()) fields = &tuple->fields();
  if (const auto* data = from.as<DataValue>()) fields = &data->fields();
  if (!fields || words[3] < 0 || static_cast<size_t>(words[3]) >= fields->size()) return false;
  Value value = (*fields)[static_cast<size_t>(words[3])];
  if (words[2] & kLastUse) from.release();
  registers[words[1]].set_value(std::move(value));
  return true;
}

Status Machine::use_cell(const int32_t* words, Slot* registers) {
  const auto take = [registers](int32_t word) {
    Slot& slot = registers[register_of(word)];
    Value value = slot.boxed();
    if (word & kLastUse) slot.release();
    return value;
  };
  const auto op = static_cast<Opcode>(*words);
  if (op == Opcode::kMakeCell) {
    const auto cell = make_ref<const CellValue>(take(words[2]));
    cells_->add(cell);
    registers[words[1]].set_value(cell);
    return Status::success();
  }
  const Value holder = take(words[op == Opcode::kReadCell ? 2 : 1]);
  const auto* cell = as_value<CellValue>(holder);
  if (!cell) return bad_operand(holder, "a reference");
  if (op == Opcode::kReadCell)
    registers[words[1]].set_value(cell->value());
  else
    cell->write(take(words[2]));
  return Status::success();
}

Status Machine::append(const int32_t* words, Slot* registers, MeasuredInstruction* at) {
  const uint64_t began = at ? ticks() : 0;
  const auto take = [registers](int32_t word) {
    Slot& slot = registers[register_of(word)];
    Value value = slot.boxed();
    if (word & kLastUse) slot.release();
    return value;
  };
  Value both[] = {take(words[2]), take(words[3])};
  if (Status status = bring_to_host(both, node_of(*frames_.back().function, words)); !status.ok())
    return status;
  const Value part = both[1];
  Result<Value> made = appended(std::move(both[0]), part);
  if (!made.ok()) return made.status();
  const uint64_t took = at ? ticks() - began : 0;
  std::string shapes;
  if (at) {
    add_shape(shapes, part);
    add_shape(shapes, *made);
  }
  registers[words[1]].set_value(std::move(*made));
  if (at) {
    const size_t row = measured_->row(node_of(*frames_.back().function, words), "append", std::move(shapes));
    measured_->exclude(ticks() - began - took);
    measured_->add_operator(row, took, *at);
  }
  return Status::success();
}

/// Begins a call of a function value: its arguments are behind the registers of the frame, and `callee` is
/// its code. For what is no function of this program, `returned` is the result, and `callee` null.
Status Machine::enter_value(const int32_t* pc, const int32_t* words, Slot* r, const FunctionCode** callee,
                            Slot* returned) {
  const int32_t count = *words;
  const Value kept = r[register_of(pc[1])].boxed();
  const auto* function = as_value<FunctionValue>(kept);
  *returned = {};
  if (!function) {  // a constructor without fields is its value
    if (!as_value<DataValue>(kept) || count != 0) return bad_operand(kept, "a function");
    returned->set_value(kept);
    return Status::success();
  }
  const bool is_own = function->program() == program_.get();
  const auto* own = is_own ? static_cast<const MachineFunction*>(function) : nullptr;
  if (!own) return call_other(*function, take_values(words, r), *returned);
  if (own->constructs()) {
    returned->set_value(constructed(own->function(), take_values(words, r)));
    return Status::success();
  }
  const FunctionCode& code = program_->functions[own->function()];
  if (static_cast<uint32_t>(count) != code.parameters)
    return Status::invalid(code.name + " takes " + std::to_string(code.parameters) + " arguments, " +
                           std::to_string(count) + " were given");
  const bool is_tail = *pc == static_cast<int32_t>(Opcode::kTailCallValue);
  if (!is_tail && frames_.size() >= depth_) return too_deep();
  const size_t base = frames_.back().base, registers = frames_.back().function->registers;
  if (Status status = grow(base + registers + code.registers); !status.ok()) return status;
  r = slots_ + base;
  Slot* to = r + registers;
  for (int32_t i = 0; i < count; ++i) move_argument(words[1 + i], r, to[i]);
  const std::vector<Value>& captured = own->captured();
  for (uint32_t i = static_cast<uint32_t>(count); i < code.registers; ++i) {
    to[i].kind = Slot::Kind::kEmpty;
    if (i < code.parameters + captured.size()) {
      const Value& value = captured[i - code.parameters];
      to[i].set_value(value ? value : kept);
    }
  }
  if (pc[1] & kLastUse) r[register_of(pc[1])].release();
  *callee = &code;
  return Status::success();
}

Status Machine::too_deep() const {
  return Status::unavailable("calls are nested more than " + std::to_string(depth_) +
                             " deep: does the recursion end?");
}

inline void Machine::move_argument(int32_t word, Slot* registers, Slot& to) {
  Slot& from = registers[register_of(word)];
  to = from;
  if (word & kLastUse)
    from.kind = Slot::Kind::kEmpty;
  else if (from.kind == Slot::Kind::kValue)
    from.value->retain();
}

// Threaded code: each instruction jumps to the next one's label.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"

template <bool kMeasured>
Status Machine::execute() {
  static const void* const kLabels[] = {
      &&move,        &&give_back,   &&fatal,    &&call,      &&tail_call, &&call_value, &&tail_call_value,
      &&piece,       &&evaluated,   &&tuple,    &&data,      &&closure,   &&field,      &&unless_tag,
      &&unless,      &&jump,        &&constant, &&integer,   &&make_cell, &&read_cell,  &&write_cell,
      &&release,     &&constructor, &&add,      &&subtract,  &&multiply,  &&minimum,    &&maximum,
      &&logical_and, &&logical_or,  &&equal,    &&not_equal, &&less,      &&less_equal, &&logical_not,
      &&cast,        &&try_piece,   &&append};
  static_assert(std::size(kLabels) == static_cast<size_t>(Opcode::kCount));
  const Program& program = *program_;
  const FunctionCode* function = frames_.back().function;
  const int32_t* pc = function->code.data();
  Slot* r = slots_ + frames_.back().base;
  Slot returned{};  // a result on the way to its caller
  uint32_t calls = 0;
  Status failure;                                         // of a piece
  [[maybe_unused]] MeasuredInstruction* tally = nullptr;  // of the function's words
  [[maybe_unused]] MeasuredInstruction* site = nullptr;   // that of the last call
  const auto tally_function = [&] {
    if constexpr (kMeasured) tally = measured_->instructions_of(*function);
  };
  const auto tally_here = [&]() -> MeasuredInstruction* {
    if constexpr (!kMeasured) return nullptr;
    return tally + (pc - function->code.data());
  };
  // A frame begins, or goes on as that of another function.
  const auto tally_call = [&] {
    if constexpr (kMeasured) measured_->enter(*function, site, frames_.size());
    tally_function();
  };
  tally_function();

#define BATON_NEXT()                                \
  do {                                              \
    if constexpr (kMeasured) ++tally_here()->count; \
    goto* kLabels[*pc];                             \
  } while (false)
#define BATON_FAIL(status) return status
  BATON_NEXT();

move: {
  const int32_t from = register_of(pc[2]);
  if (pc[2] & kLastUse) {
    r[pc[1]].release();
    r[pc[1]] = r[from];
    r[from].kind = Slot::Kind::kEmpty;
  } else {
    r[pc[1]].set(r[from]);
  }
  pc += 3;
  BATON_NEXT();
}

give_back: {
  const int32_t from = register_of(pc[1]);
  if (r[from].kind == Slot::Kind::kEmpty) BATON_FAIL(no_value(*function, from));
  returned = r[from];
  r[from].kind = Slot::Kind::kEmpty;  // its reference goes with it
  goto leave;
}

leave: {
  if constexpr (kMeasured) measured_->leave(frames_.size());
  const Frame& frame = frames_.back();
  for (uint32_t i = 0; i < function->registers; ++i) r[i].release();
  const int32_t target = frame.target;
  pc = frame.back;
  frames_.pop_back();
  if (frames_.empty()) {
    slots_[0] = returned;
    return Status::success();
  }
  function = frames_.back().function;
  tally_function();
  r = slots_ + frames_.back().base;
  r[target].release();
  r[target] = returned;
  BATON_NEXT();
}

fatal:
  BATON_FAIL(Status::invalid(program.texts[static_cast<size_t>(pc[1])]));

call: {
  const FunctionCode& callee = program.functions[static_cast<size_t>(pc[1])];
  if (frames_.size() >= depth_) BATON_FAIL(too_deep());
  if ((++calls & 63) == 0 && stop_ && stop_->load(std::memory_order_relaxed)) BATON_FAIL(stopped());
  const size_t own = frames_.back().base, base = own + function->registers;
  if (base + callee.registers > capacity_) [[unlikely]] {
    if (Status status = grow(base + callee.registers); !status.ok()) BATON_FAIL(status);
    r = slots_ + own;
  }
  Slot* to = slots_ + base;
  const int32_t count = pc[3];
  for (int32_t i = 0; i < count; ++i) move_argument(pc[4 + i], r, to[i]);
  for (uint32_t i = static_cast<uint32_t>(count); i < callee.registers; ++i) to[i].kind = Slot::Kind::kEmpty;
  site = tally_here();
  frames_.push_back({&callee, pc + 4 + count, base, pc[2]});
  function = &callee;
  pc = callee.code.data();
  r = to;
  tally_call();
  BATON_NEXT();
}

tail_call: {
  const FunctionCode& callee = program.functions[static_cast<size_t>(pc[1])];
  if ((++calls & 63) == 0 && stop_ && stop_->load(std::memory_order_relaxed)) BATON_FAIL(stopped());
  const int32_t count = pc[2];
  const size_t base = frames_.back().base;
  // The arguments are gathered behind the registers, then moved down.
  const size_t needed =
      base + function->registers + std::max<size_t>(callee.registers, static_cast<size_t>(count));
  if (needed > capacity_) [[unlikely]] {
    if (Status status = grow(needed); !status.ok()) BATON_FAIL(status);
    r = slots_ + base;
  }
  Slot* to = r + function->registers;
  for (int32_t i = 0; i < count; ++i) move_argument(pc[3 + i], r, to[i]);
  for (uint32_t i = 0; i < function->registers; ++i) r[i].release();
  std::memmove(static_cast<void*>(r), to, static_cast<size_t>(count) * sizeof(Slot));
  for (uint32_t i = static_cast<uint32_t>(count); i < callee.registers; ++i) r[i].kind = Slot::Kind::kEmpty;
  site = tally_here();
  frames_.back().function = &callee;
  function = &callee;
  pc = callee.code.data();
  tally_call();
  BATON_NEXT();
}

call_value:
tail_call_value: {
  const bool is_tail = *pc == static_cast<int32_t>(Opcode::kTailCallValue);
  const int32_t* words = pc + (is_tail ? 2 : 3);  // the count, then the arguments
  const FunctionCode* callee = nullptr;
  if (Status status = enter_value(pc, words, r, &callee, &returned); !status.ok()) BATON_FAIL(status);
  r = slots_ + frames_.back().base;
  if (!callee) {  // done: the result is in `returned`
    if (is_tail) goto leave;
    r[pc[2]].release();
    r[pc[2]] = returned;
    pc = words + 1 + *words;
    BATON_NEXT();
  }
  if ((++calls & 63) == 0 && stop_ && stop_->load(std::memory_order_relaxed)) BATON_FAIL(stopped());
  const size_t own = function->registers;
  if (is_tail) {
    for (size_t i = 0; i < own; ++i) r[i].release();
    std::memmove(static_cast<void*>(r), r + own, callee->registers * sizeof(Slot));
    for (size_t i = callee->registers; i < own; ++i) r[i].kind = Slot::Kind::kEmpty;
    frames_.back().function = callee;
  } else {
    frames_.push_back({callee, words + 1 + *words, frames_.back().base + own, pc[2]});
    r += own;
  }
  site = tally_here();
  function = callee;
  pc = callee->code.data();
  tally_call();
  BATON_NEXT();
}

piece: {
  const Piece& of = program.pieces[static_cast<size_t>(pc[1])];
  const auto number = static_cast<uint32_t>(pc[1]);
  if (!run_piece<kMeasured>(number, pc + 2, r, tally_here(), failure)) [[unlikely]]
    BATON_FAIL(failure);
  pc += 2 + of.inputs.size() + of.outputs.size();
  BATON_NEXT();
}

try_piece: {
  const auto number = static_cast<uint32_t>(pc[1]);
  const Piece& of = program.pieces[number];
  const int32_t* target = pc + 2 + of.inputs.size() + of.outputs.size();
  if (run_piece<kMeasured>(number, pc + 2, r, tally_here(), failure)) {
    pc = target + 1;
  } else if (pieces_[number]->contradicted()) {
    if (!services_) contradiction_ = std::move(failure.message);
    pc = function->code.data() + *target;
  } else {
    BATON_FAIL(failure);
  }
  BATON_NEXT();
}

evaluated: {
  if (stop_ && stop_->load(std::memory_order_relaxed)) BATON_FAIL(stopped());
  if (Status status = evaluate(pc, r, tally_here()); !status.ok()) BATON_FAIL(status);
  pc += 4 + pc[3];
  BATON_NEXT();
}

tuple:
  r[pc[1]].set_value(program::tuple_value(take_values(pc + 2, r)));
  pc += 3 + pc[2];
  BATON_NEXT();

data:
  r[pc[1]].set_value(constructed(static_cast<uint32_t>(pc[2]), take_values(pc + 3, r)));
  pc += 4 + pc[3];
  BATON_NEXT();

closure:
  r[pc[1]].set_value(make_ref<const MachineFunction>(program_, home_.lock(), static_cast<uint32_t>(pc[2]),
                                                     false, take_values(pc + 3, r)));
  pc += 4 + pc[3];
  BATON_NEXT();

constructor:
  r[pc[1]].set_value(
      make_ref<const MachineFunction>(program_, home_.lock(), static_cast<uint32_t>(pc[2]), true));
  pc += 3;
  BATON_NEXT();

field:
  if (!take_field(pc, r)) [[unlikely]]
    BATON_FAIL(Status::invalid("field " + std::to_string(pc[3]) + " is taken of " +
                               program::describe(r[register_of(pc[2])].boxed())));
  pc += 4;
  BATON_NEXT();

unless_tag: {
  const auto* value = r[register_of(pc[1])].as<DataValue>();
  if (!value)
    BATON_FAIL(Status::invalid("match: " + program::describe(r[register_of(pc[1])].boxed()) +
                               " is no value of a data type"));
  const bool other = value->tag() != pc[2];
  if (pc[1] & kLastUse) r[register_of(pc[1])].release();
  pc = other ? function->code.data() + pc[3] : pc + 4;
  BATON_NEXT();
}

unless: {
  Slot& condition = r[register_of(pc[1])];
  bool holds = condition.integer != 0;
  if (condition.kind != Slot::Kind::kInteger) [[unlikely]] {
    const auto* tensor = condition.as<TensorValue>();
    if (!tensor || tensor->array().size() != 1)
      BATON_FAIL(Status::invalid("the condition of an if is " + program::describe(condition.boxed())));
    const auto* bytes = static_cast<const uint8_t*>(tensor->array().data());
    holds = std::any_of(bytes, bytes + tensor->array().bytes(), [](uint8_t byte) { return byte != 0; });
    if (pc[1] & kLastUse) condition.release();
  }
  pc = holds ? pc + 3 : function->code.data() + pc[2];
  BATON_NEXT();
}

jump:
  pc = function->code.data() + pc[1];
  BATON_NEXT();

constant:
  r[pc[1]].set_value(constants_[static_cast<size_t>(pc[2])]);
  pc += 3;
  BATON_NEXT();

integer: {
  const uint64_t low = static_cast<uint32_t>(pc[3]), high = static_cast<uint32_t>(pc[4]);
  r[pc[1]].set_integer(static_cast<int64_t>(high << 32 | low), static_cast<IntegerKind>(pc[2]));
  pc += 5;
  BATON_NEXT();
}

make_cell:
read_cell:
write_cell:
  if (Status status = use_cell(pc, r); !status.ok()) BATON_FAIL(status);
  pc += 3;
  BATON_NEXT();

release:
  for (int32_t i = 0; i < pc[1]; ++i) r[register_of(pc[2 + i])].release();
  pc += 2 + pc[1];
  BATON_NEXT();

// Values of data types and cells come from outside, too.
#define BATON_NEED_INTEGER(word)                                      \
  if (r[register_of(word)].kind != Slot::Kind::kInteger) [[unlikely]] \
  BATON_FAIL(bad_operand(r[register_of(word)].boxed(), "an integer"))
#define BATON_INTEGERS(name, result_kind, expression)                                   \
  name: {                                                                               \
    const IntegerKind kind = static_cast<IntegerKind>(pc[2]);                           \
    BATON_NEED_INTEGER(pc[3]);                                                          \
    BATON_NEED_INTEGER(pc[4]);                                                          \
    const int64_t a = r[register_of(pc[3])].integer, b = r[register_of(pc[4])].integer; \
    r[pc[1]].set_integer(expression, result_kind);                                      \
    pc += 5;                                                                            \
    BATON_NEXT();                                                                       \
  }
#define BATON_UNSIGNED(op) \
  wrapped(static_cast<int64_t>(static_cast<uint64_t>(a) op static_cast<uint64_t>(b)), kind)

  BATON_INTEGERS(add, kind, BATON_UNSIGNED(+))
  BATON_INTEGERS(subtract, kind, BATON_UNSIGNED(-))
  BATON_INTEGERS(multiply, kind, BATON_UNSIGNED(*))
  BATON_INTEGERS(minimum, kind, std::min(a, b))
  BATON_INTEGERS(maximum, kind, std::max(a, b))
  BATON_INTEGERS(logical_and, kind, (a != 0) & (b != 0))
  BATON_INTEGERS(logical_or, kind, (a != 0) | (b != 0))
  BATON_INTEGERS(equal, IntegerKind::kBool, ((void)kind, a == b))
  BATON_INTEGERS(not_equal, IntegerKind::kBool, ((void)kind, a != b))
  BATON_INTEGERS(less, IntegerKind::kBool, ((void)kind, a < b))
  BATON_INTEGERS(less_equal, IntegerKind::kBool, ((void)kind, a <= b))

logical_not:
  BATON_NEED_INTEGER(pc[3]);
  r[pc[1]].set_integer(r[register_of(pc[3])].integer == 0, static_cast<IntegerKind>(pc[2]));
  pc += 4;
  BATON_NEXT();

cast: {
  BATON_NEED_INTEGER(pc[3]);
  const IntegerKind kind = static_cast<IntegerKind>(pc[2]);
  r[pc[1]].set_integer(wrapped(r[register_of(pc[3])].integer, kind), kind);
  pc += 4;
  BATON_NEXT();
}

append:
  if (Status status = append(pc, r, tally_here()); !status.ok()) [[unlikely]]
    BATON_FAIL(status);
  pc += 4;
  BATON_NEXT();

#undef BATON_UNSIGNED
#undef BATON_INTEGERS
#undef BATON_NEED_INTEGER
#undef BATON_FAIL
#undef BATON_NEXT
}

#pragma GCC diagnostic pop

}  // namespace baton::vm
