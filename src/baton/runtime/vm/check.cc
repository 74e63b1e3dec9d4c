#include "baton/runtime/vm/check.h"

#include <algorithm>

#include "baton/runtime/processor.h"
#include "baton/runtime/vm/instructions.h"

namespace baton::vm {
namespace {

/// Whether the word may be what its role says.
bool is_valid(const Program& program, const FunctionCode& function, const Operand& operand) {
  const int32_t word = function.code[operand.word];
  const auto below = [word](size_t count) { return word >= 0 && static_cast<size_t>(word) < count; };
  switch (operand.role) {
    case Role::kWritten:
      return below(function.registers);
    case Role::kItselfOrRead:
      if (word == kItself) return true;
      [[fallthrough]];
    case Role::kRead:
      return word >= 0 && static_cast<uint32_t>(register_of(word)) < function.registers;
    case Role::kNumber:
      return true;
    case Role::kCount:
      return word >= 0;
    case Role::kTarget:
      return below(function.code.size());
    case Role::kFunction:
      return below(program.functions.size());
    case Role::kConstant:
      return below(program.constants.size());
    case Role::kConstructor:
      return below(program.constructors.size());
    case Role::kText:
      return below(program.texts.size());
    case Role::kPiece:
      return below(program.pieces.size());
    case Role::kOperator:
      return below(program.operators.size());
    case Role::kIntegerKind:
      return below(static_cast<size_t>(IntegerKind::kUInt32) + 1);
  }
  return false;
}

/// How many registers an instruction gives to the function it names; -1: it calls none.
int64_t given_to(const FunctionCode& function, const Instruction& each, uint32_t* callee) {
  if (each.op != Opcode::kCall && each.op != Opcode::kTailCall && each.op != Opcode::kClosure) return -1;
  for (const Operand& operand : each.operands) {
    if (operand.role == Role::kFunction) *callee = static_cast<uint32_t>(function.code[operand.word]);
    if (operand.role == Role::kCount) return function.code[operand.word];
  }
  return -1;
}

bool is_valid(const ParameterType& type) {
  return type.kind <= ParameterType::Kind::kOther && type.names.size() == type.extents.size() &&
         type.most.size() == type.extents.size() &&
         std::ranges::all_of(type.fields, [](const ParameterType& field) { return is_valid(field); });
}

Status check_function(const Program& program, const FunctionCode& function) {
  const auto wrong = [&](uint32_t at, const std::string& what) {
    return Status::bad_data("the program's function " + function.name + " is damaged at word " +
                            std::to_string(at) + ": " + what);
  };
  if (function.registers < uint64_t{function.parameters} + function.captured ||
      function.registers >= static_cast<uint32_t>(kLastUse))
    return wrong(0, "its registers do not hold its parameters");
  if (!is_valid(function.result_type) ||
      !std::ranges::all_of(function.parameter_types,
                           [](const ParameterType& type) { return is_valid(type); }))
    return wrong(0, "the type of a parameter");
  std::vector<bool> starts(function.code.size());
  std::vector<uint32_t> targets;
  bool ends = false;
  Instruction each;
  for (uint32_t at = 0; at < function.code.size(); at = each.end) {
    if (!decode(program, function.code, at, each)) return wrong(at, "no instruction");
    starts[at] = true;
    for (const Operand& operand : each.operands) {
      if (!is_valid(program, function, operand)) return wrong(operand.word, "an operand out of range");
      if (operand.role != Role::kTarget) continue;
      targets.push_back(static_cast<uint32_t>(function.code[operand.word]));
      if (targets.back() <= at) return wrong(at, "a jump backwards");  // loops are calls
    }
    uint32_t callee = 0;
    if (const int64_t given = given_to(function, each, &callee); given >= 0) {
      const FunctionCode& to = program.functions[callee];
      const bool closure = each.op == Opcode::kClosure;
      if (given != int64_t{to.captured} + (closure ? 0 : to.parameters))
        return wrong(at, "a call with another number of arguments");
    }
    ends = ends_block(each.op) && each.op != Opcode::kJump;
  }
  if (!ends) return wrong(static_cast<uint32_t>(function.code.size()), "it does not end");
  for (const uint32_t target : targets)
    if (!starts[target]) return wrong(target, "a jump into an instruction");
  return Status::success();
}

bool is_output(const PieceTensor& tensor) {
  return tensor.home == PieceTensor::Home::kOutput || tensor.home == PieceTensor::Home::kOutputOnDevice;
}

/// Whether a tensor can be where it is said to be. `slots`: of each slot of the arena the device, or -1.
bool fits_device(const Program& program, const Piece& piece, const PieceTensor& tensor,
                 std::vector<int64_t>& slots) {
  using Home = PieceTensor::Home;
  if (tensor.device > program.devices.size()) return false;
  if ((tensor.home == Home::kOutput && tensor.device) ||
      (tensor.home == Home::kOutputOnDevice && !tensor.device))
    return false;
  // Registers hold numbers themselves.
  const bool has_register = tensor.home == Home::kInput || tensor.home == Home::kOutputOnDevice;
  if (has_register && tensor.device && tensor.extents.empty() && is_integer_kind(tensor.dtype)) return false;
  if (tensor.home == Home::kView) return piece.tensors[tensor.place].device == tensor.device;
  if (tensor.home != Home::kArena) return true;
  int64_t& slot = slots[tensor.place];
  if (slot < 0) slot = tensor.device;
  return slot == tensor.device;
}

/// Whether the tensors of a call are where it reads and writes them.
bool fits_devices(const Program& program, const Piece& piece, const PieceCall& call) {
  const auto of = [&](uint32_t tensor) -> const PieceTensor& { return piece.tensors[tensor]; };
  if (call.kernel == PieceCall::kCopy)
    return call.inputs.size() == 1 && call.outputs.size() == 1 && call.extents.empty() &&
           of(call.inputs[0]).device != of(call.outputs[0]).device &&
           of(call.inputs[0]).dtype == of(call.outputs[0]).dtype &&
           of(call.inputs[0]).extents == of(call.outputs[0]).extents;
  const uint32_t device = program.kernels[call.kernel].device;
  const auto is_there = [&](uint32_t tensor) { return of(tensor).device == device; };
  return std::ranges::all_of(call.inputs, is_there) && std::ranges::all_of(call.outputs, is_there);
}

Status check_piece(const Program& program, const Piece& piece, size_t number) {
  const auto wrong = [&](const std::string& what) {
    return Status::bad_data("the program's piece " + std::to_string(number) + " is damaged: " + what);
  };
  using Op = ExtentStep::Op;
  for (size_t s = 0; s < piece.steps.size(); ++s) {
    const ExtentStep& step = piece.steps[s];
    const bool one = step.op == Op::kFloorDivide,
               two = step.op == Op::kAdd || step.op == Op::kSubtract || step.op == Op::kMultiply;
    if (step.op > Op::kFloorDivide || (one && step.number <= 0) || ((one || two) && step.a >= s) ||
        (two && step.b >= s))
      return wrong("a step of its extents");
    if (step.op == Op::kAxis &&
        (step.a >= piece.inputs.size() || piece.inputs[step.a] >= piece.tensors.size() ||
         step.b >= piece.tensors[piece.inputs[step.a]].extents.size()))
      return wrong("an axis that its inputs do not have");
  }
  for (const ExtentCheck& check : piece.checks)
    if (check.a >= piece.steps.size() || check.b >= piece.steps.size()) return wrong("a check");
  if (piece.slots > piece.tensors.size()) return wrong("the slots of its arena");
  std::vector<int64_t> slots(piece.slots, -1);
  std::vector<uint32_t> views(piece.tensors.size());
  for (size_t t = 0; t < piece.tensors.size(); ++t) {
    const PieceTensor& tensor = piece.tensors[t];
    for (const uint32_t step : tensor.extents)
      if (step >= piece.steps.size()) return wrong("an extent");
    const size_t homes[] = {piece.inputs.size(),  program.constants.size(), piece.slots,
                            piece.outputs.size(), piece.tensors.size(),     piece.outputs.size()};
    if (tensor.home > PieceTensor::Home::kOutputOnDevice ||
        tensor.place >= homes[static_cast<size_t>(tensor.home)])
      return wrong("a tensor's place");
    if (tensor.home == PieceTensor::Home::kConstant)
      for (const uint32_t step : tensor.extents)
        if (piece.steps[step].op != Op::kNumber) return wrong("the extent of a constant");
    if (tensor.dtype.is_void() || tensor.dtype.code > DType::Code::kBFloat) return wrong("an element type");
    if (!fits_device(program, piece, tensor, slots)) return wrong("the device of a tensor");
    const bool of_input = tensor.home == PieceTensor::Home::kInput && piece.inputs[tensor.place] != t;
    const bool of_output = is_output(tensor) && piece.outputs[tensor.place] != t;
    if (of_input || of_output) return wrong("a tensor's place");
    // Views end at another tensor after fewer steps than there are tensors.
    size_t root = t, steps = 0;
    while (piece.tensors[root].home == PieceTensor::Home::kView && steps++ < piece.tensors.size())
      if ((root = piece.tensors[root].place) >= piece.tensors.size()) return wrong("a view");
    if (steps > piece.tensors.size()) return wrong("views of each other");
  }
  if (piece.input_names.size() != piece.inputs.size()) return wrong("names of its inputs");
  const auto is_tensor = [&](uint32_t tensor) { return tensor < piece.tensors.size(); };
  for (const uint32_t tensor : piece.inputs)
    if (!is_tensor(tensor) || piece.tensors[tensor].home != PieceTensor::Home::kInput)
      return wrong("an input");
  for (size_t o = 0; o < piece.outputs.size(); ++o) {
    const uint32_t tensor = piece.outputs[o];
    if (!is_tensor(tensor) || piece.tensors[tensor].home == PieceTensor::Home::kArena ||
        (is_output(piece.tensors[tensor]) && piece.tensors[tensor].place != o))
      return wrong("an output");
  }
  for (const PieceCall& call : piece.calls) {
    if (call.kernel >= program.kernels.size() && call.kernel != PieceCall::kCopy) return wrong("a kernel");
    for (const uint32_t tensor : call.inputs)
      if (!is_tensor(tensor)) return wrong("an operand");
    for (const uint32_t tensor : call.outputs)
      if (!is_tensor(tensor)) return wrong("a result");
    for (const uint32_t step : call.extents)
      if (step >= piece.steps.size()) return wrong("an extent of a kernel");
    for (const std::vector<uint32_t>& zero : call.undefined)
      for (const uint32_t step : zero)
        if (step >= piece.steps.size()) return wrong("an extent of a kernel");
    if (!fits_devices(program, piece, call)) return wrong("the devices of a call");
  }
  return Status::success();
}

}  // namespace

Status check_constants(const Program& program) {
  for (const Piece& piece : program.pieces)
    for (const PieceTensor& tensor : piece.tensors) {
      if (tensor.home != PieceTensor::Home::kConstant) continue;
      const auto& [name, value] = program.constants[tensor.place];
      Shape shape;
      for (const uint32_t step : tensor.extents) shape.push_back(piece.steps[step].number);
      if (value.dtype() != tensor.dtype || value.shape() != shape)
        return Status::bad_data("the constant " + name + " is " + describe(value.shape(), value.dtype()) +
                                ", and the program needs " + describe(shape, tensor.dtype) +
                                ": is it bound late, and not loaded yet?");
    }
  return Status::success();
}

/// Arenas are planned for bounds of extents, which parameters have.
Status check_bounds(const Program& program) {
  const auto is_bounded = [](const ParameterType& type, const auto& self) -> bool {
    return std::ranges::any_of(type.most, [](int64_t most) { return most >= 0; }) ||
           std::ranges::any_of(type.fields, [&](const ParameterType& field) { return self(field, self); });
  };
  for (const FunctionCode& function : program.functions)
    for (const ParameterType& type : function.parameter_types)
      if (is_bounded(type, is_bounded)) return Status::success();
  for (const Piece& piece : program.pieces)
    if (piece.most_bytes) return Status::bad_data("the program has memory for extents that have no bounds");
  return Status::success();
}

Status check(const Program& program) {
  if (Status status = check_bounds(program); !status.ok()) return status;
  for (size_t i = 0; i < program.pieces.size(); ++i)
    if (Status status = check_piece(program, program.pieces[i], i); !status.ok()) return status;
  for (const FunctionCode& function : program.functions)
    if (Status status = check_function(program, function); !status.ok()) return status;
  for (const int32_t type : program.devices)
    if (type <= kProcessorKind || type > BATON_LAST_KIND)
      return Status::bad_data("the program is for device type " + std::to_string(type) +
                              ", and there is none of that number");
  for (const KernelName& kernel : program.kernels)
    if (kernel.device > program.devices.size())
      return Status::bad_data("the program's kernel " + kernel.name +
                              " is for a device that it does not name");
  for (const ConstructorEntry& each : program.constructors)
    if (!each.info) return Status::bad_data("the program has a constructor without a name");
  return Status::success();
}

}  // namespace baton::vm
