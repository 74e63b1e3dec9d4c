#include "baton/runtime/vm/piece_run.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "baton/runtime/plan.h"
#include "baton/runtime/system/allocator.h"
#include "baton/runtime/system/timers.h"
#include "baton/runtime/tensors.h"
#include "baton/support/base/memory.h"

namespace baton::vm {
namespace {

// A result of at most so many bytes is kept, with its value, to be written again once nobody else has it: a
// loop that carries two small tensors then allocates nothing.
constexpr size_t kKept = size_t{64} << 10;
// Of so many extents a piece counts its runs.
constexpr size_t kCountedExtents = 1024;
constexpr size_t kKeptPerOutput = 2;  // the result of the last run is often an input of the next one

bool is_aligned(const void* data) { return reinterpret_cast<uintptr_t>(data) % NDArray::kAlignment == 0; }

void release_scratch(void* block) { scratch_free(block); }

int64_t read_integer(const void* data, DType dtype) {
  IntegerKind kind{};
  is_integer_kind(dtype, &kind);
  int64_t value = 0;
  std::memcpy(&value, data, dtype.bytes());
  return wrapped(value, kind);
}

}  // namespace

uint32_t reader_of(const Piece& piece, uint32_t tensor) {
  for (const PieceCall& call : piece.calls)
    if (std::ranges::find(call.inputs, tensor) != call.inputs.end()) return call.node;
  return MeasuredRun::kOutside;
}

MachineMemory::~MachineMemory() { std::free(block_); }

void* MachineMemory::need(size_t bytes) {
  if (bytes <= bytes_) return block_;
  std::free(block_);
  ++generation_;
  block_ = allocate_aligned(bytes);
  bytes_ = block_ ? bytes : 0;
  if (block_) std::memset(block_, 0, bytes);  // takes the page faults now; and see clear_past_end()
  return block_;
}

PieceRun::PieceRun(const Piece& piece, const Program& program, MachineMemory& memory,
                   std::span<const std::pair<const PluginModule*, baton_bound>> kernels,
                   MachineDevices* devices, ExactKernels* exact)
    : piece_(piece), program_(program), memory_(memory), exact_(exact) {
  if (std::ranges::any_of(piece.tensors, [](const PieceTensor& tensor) { return tensor.device != 0; }))
    devices_ = devices;
  size_t axes = 0, dimensions = 0, args = 0, extents = 0;
  for (const uint32_t input : piece.inputs) {
    first_axis_.push_back(axes);
    axes += piece.tensors[input].extents.size();
  }
  first_axis_.push_back(axes);
  axes_.assign(axes, -1);
  steps_.resize(piece.steps.size());
  for (const PieceTensor& tensor : piece.tensors) dimensions += tensor.extents.size();
  dimensions_.resize(dimensions);
  tensors_.resize(piece.tensors.size());
  bytes_.resize(piece.tensors.size());
  views_.resize(piece.tensors.size());
  baton_dimension* next = dimensions_.data();
  for (size_t t = 0; t < piece.tensors.size(); ++t) {
    const PieceTensor& tensor = piece.tensors[t];
    tensors_[t] = tensor_header(tensor.dtype, static_cast<int32_t>(tensor.extents.size()), next);
    next += tensor.extents.size();
    if (tensor.home == PieceTensor::Home::kView) views_[tensor.place].push_back(static_cast<uint32_t>(t));
  }
  for (const PieceCall& call : piece.calls) {
    args += call.inputs.size() + call.extents.size() + call.outputs.size();
    extents += call.extents.size();
  }
  if (extents == 0) exact_ = nullptr;
  args_.reserve(args);
  exact_args_.reserve(args - extents);
  kernel_extents_.reserve(extents);
  for (uint32_t c = 0; c < piece.calls.size(); ++c) {
    const PieceCall& call = piece.calls[c];
    const auto device_of = [&](uint32_t tensor) { return piece.tensors[tensor].device; };
    const baton_bound bound = call.kernel == PieceCall::kCopy
                                  ? devices->copier(device_of(call.inputs[0]), device_of(call.outputs[0]))
                                  : kernels[call.kernel].second;
    all_calls_.push_back({bound.function, bound.context, args_.data() + args_.size(),
                          exact_args_.data() + exact_args_.size(), c,
                          static_cast<uint32_t>(kernel_extents_.size())});
    for (const std::vector<uint32_t>* tensors : {&call.inputs, &call.outputs})
      for (const uint32_t tensor : *tensors) exact_args_.push_back(&tensors_[tensor]);
    for (const uint32_t input : call.inputs) args_.push_back(&tensors_[input]);
    for (size_t i = 0; i < call.extents.size(); ++i) {
      args_.push_back(kernel_extents_.data() + kernel_extents_.size());
      kernel_extents_.push_back(0);
    }
    for (const uint32_t output : call.outputs) args_.push_back(&tensors_[output]);
  }
  offsets_.resize(piece.slots);
  copies_.resize(piece.inputs.size());
  inputs_.resize(piece.inputs.size());
  outputs_.resize(piece.outputs.size());
  for (const uint32_t output : piece.outputs)
    made_.push_back(is_integer(output)                                         ? Made::kInteger
                    : piece.tensors[output].home == PieceTensor::Home::kOutput ? Made::kTensor
                                                                               : Made::kView);
  integers_.resize(piece.inputs.size() + piece.outputs.size());
  results_.resize(piece.outputs.size());
  given_.resize(piece.outputs.size());
  spare_.resize(piece.outputs.size() * kKeptPerOutput);
  there_.resize(devices_ ? piece.tensors.size() : 0);
  slot_bytes_.resize(piece.slots);
  for (uint32_t t = 0; t < piece.tensors.size(); ++t) {
    const PieceTensor& tensor = piece.tensors[t];
    if (tensor.home != PieceTensor::Home::kConstant) continue;
    if (tensor.device)
      there_[t] = devices_->constant(tensor.device, tensor.place);
    else
      point(t, const_cast<void*>(program.constants[tensor.place].second.data()));
  }
  for (size_t i = 0; i < piece.inputs.size(); ++i)
    if (is_integer(piece.inputs[i])) point(piece.inputs[i], &integers_[i]);
  for (size_t o = 0; o < piece.outputs.size(); ++o)
    if (is_integer(piece.outputs[o]) && piece.tensors[piece.outputs[o]].home == PieceTensor::Home::kOutput)
      point(piece.outputs[o], &integers_[piece.inputs.size() + o]);
}

PieceRun::~PieceRun() {
  for (const auto& [call, bound] : exact_bound_) bound.first.module->plugin().table().unbind(bound.second);
}

ExactCall PieceRun::exact_call(const Call& call) const {
  const PieceCall& of = piece_.calls[call.number];
  const auto begin = kernel_extents_.begin() + call.first_extent;
  return {of.kernel, {begin, begin + static_cast<ptrdiff_t>(of.extents.size())}};
}

std::vector<ExactCall> PieceRun::exact_calls() const {
  std::vector<ExactCall> calls;
  for (const Call& call : own_calls())
    if (!piece_.calls[call.number].extents.empty()) calls.push_back(exact_call(call));
  return calls;
}

/// The call with the kernel of its extents, where there is one.
PieceRun::Call PieceRun::chosen(const Call& call) {
  if (!exact_ || piece_.calls[call.number].extents.empty()) return call;
  const ExactCall key = exact_call(call);
  auto known = exact_bound_.find(key);
  if (known == exact_bound_.end()) {
    const ExactKernels::Made made = exact_->find(key);
    if (!made.module) return call;
    const PieceCall& of = piece_.calls[call.number];
    baton_bound bound{};
    const auto tensors = static_cast<int32_t>(of.inputs.size() + of.outputs.size());
    // The kernel for any extents stays where this one cannot be had.
    if (!made.module->bind(made.symbol, tensors, nullptr, bound).ok()) return call;
    known = exact_bound_.emplace(key, std::pair(made, bound)).first;
  }
  Call exact = call;
  exact.function = known->second.second.function;
  exact.context = known->second.second.context;
  exact.args = call.exact_args;
  return exact;
}

bool PieceRun::is_integer(uint32_t tensor) const {
  const PieceTensor& of = piece_.tensors[tensor];
  return of.extents.empty() && is_integer_kind(of.dtype);
}

std::string PieceRun::name_of(size_t input) const { return piece_.input_names[input]; }

void PieceRun::point(uint32_t tensor, void* data) {
  tensors_[tensor].host = static_cast<uint8_t*>(data);
  for (const uint32_t view : views_[tensor]) point(view, data);
}

Shape PieceRun::shape_of(uint32_t tensor) const {
  Shape shape;
  for (const uint32_t step : piece_.tensors[tensor].extents) shape.push_back(steps_[step]);
  return shape;
}

Status PieceRun::read_axes(bool* changed) {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const PieceTensor& expected = piece_.tensors[piece_.inputs[i]];
    const NDArray* given = inputs_[i].array;
    const size_t rank = first_axis_[i + 1] - first_axis_[i];
    if (!given) {
      if (rank == 0 && is_integer_kind(expected.dtype)) continue;
      return Status::invalid("`" + name_of(i) + "` is an integer, where a tensor of " + std::to_string(rank) +
                             " axes is expected");
    }
    if (given->dtype() != expected.dtype || given->shape().size() != rank)
      return Status::invalid("`" + name_of(i) + "` is " + describe(given->shape(), given->dtype()) +
                             ", where a tensor of " + std::to_string(rank) + " axes of " +
                             expected.dtype.str() + " is expected");
    int64_t* axes = axes_.data() + first_axis_[i];
    for (size_t axis = 0; axis < rank; ++axis) {
      *changed |= axes[axis] != given->shape()[axis];
      axes[axis] = given->shape()[axis];
    }
  }
  return Status::success();
}

Status PieceRun::compute_extents() {
  for (size_t s = 0; s < piece_.steps.size(); ++s) {
    const ExtentStep& step = piece_.steps[s];
    int64_t value = 0;
    bool fits = true;
    switch (step.op) {
      case ExtentStep::Op::kNumber:
        value = step.number;
        break;
      case ExtentStep::Op::kAxis:
        value = axes_[first_axis_[step.a] + step.b];
        break;
      case ExtentStep::Op::kAdd:
        fits = !__builtin_add_overflow(steps_[step.a], steps_[step.b], &value);
        break;
      case ExtentStep::Op::kSubtract:
        fits = !__builtin_sub_overflow(steps_[step.a], steps_[step.b], &value);
        break;
      case ExtentStep::Op::kMultiply:
        fits = !__builtin_mul_overflow(steps_[step.a], steps_[step.b], &value);
        break;
      case ExtentStep::Op::kFloorDivide:
        value = steps_[step.a] / step.number - (steps_[step.a] % step.number < 0);
        break;
    }
    if (!fits) return Status::invalid("an extent of the program does not fit into 64 bits");
    steps_[s] = value;
  }
  for (const ExtentCheck& check : piece_.checks) {
    contradicted_ = steps_[check.a] != steps_[check.b];
    if (contradicted_)
      return Status::invalid(check.what + " must be equal, and are " + std::to_string(steps_[check.a]) +
                             " and " + std::to_string(steps_[check.b]));
  }
  return Status::success();
}

/// Whether an extent that is computed from others is 0: kernels take these to be at least 1.
bool PieceRun::lacks_elements(uint32_t tensor) const {
  return std::ranges::any_of(piece_.tensors[tensor].extents, [&](uint32_t step) {
    const ExtentStep::Op op = piece_.steps[step].op;
    return steps_[step] == 0 && op != ExtentStep::Op::kNumber && op != ExtentStep::Op::kAxis;
  });
}

Status PieceRun::prepare() {
  prepared_ = false;
  if (Status status = compute_extents(); !status.ok()) return status;
  for (size_t t = 0; t < tensors_.size(); ++t) {
    const Shape shape = shape_of(static_cast<uint32_t>(t));
    const DType dtype = piece_.tensors[t].dtype;
    if (std::ranges::any_of(shape, [](int64_t extent) { return extent < 0; }))
      return Status::invalid("a tensor of the program would be " + describe(shape, dtype) +
                             " for these extents: one is negative");
    if (!fits_executor(shape, dtype) || *element_count(shape) > std::numeric_limits<int32_t>::max())
      return Status::unavailable("a tensor of the program would be " + describe(shape, dtype) +
                                 " for these extents; kernels count up to 2^31 - 1 elements");
    set_extents(tensors_[t], shape);
    bytes_[t] = static_cast<size_t>(*byte_count(shape, dtype));
  }
  size_t next = 0;
  for (const PieceCall& call : piece_.calls) {
    for (const uint32_t step : call.extents) {
      if (steps_[step] < 0 || steps_[step] > std::numeric_limits<int32_t>::max())
        return Status::unavailable("an extent of the program would be " + std::to_string(steps_[step]) +
                                   "; kernels take up to 2^31 - 1");
      kernel_extents_[next++] = static_cast<int32_t>(steps_[step]);
    }
  }
  if (exact_) {
    exact_generation_ = exact_->generation();
    if (runs_at_.size() >= kCountedExtents) runs_at_.clear();
    runs_ = &runs_at_[kernel_extents_];
  }
  calls_.clear();
  rows_of_ = 0;
  for (const Call& call : all_calls_) {
    const std::vector<uint32_t>& outputs = piece_.calls[call.number].outputs;
    if (std::ranges::none_of(outputs, [&](uint32_t output) { return bytes_[output] > 0; })) continue;
    for (const uint32_t input : piece_.calls[call.number].inputs)
      if (lacks_elements(input))
        return Status::unavailable("an intermediate result of the program, " +
                                   describe(shape_of(input), piece_.tensors[input].dtype) +
                                   ", has no elements for these extents, and its kernels need some");
    for (const std::vector<uint32_t>& zero : piece_.calls[call.number].undefined)
      if (std::ranges::all_of(zero, [&](uint32_t step) { return steps_[step] == 0; }))
        return Status::invalid(
            "the kernel `" + name_of(piece_.calls[call.number]) +
            "` has no result for these extents: it would read from a tensor without elements");
    calls_.push_back(chosen(call));
  }
  if (devices_) {
    device_calls_ = std::exchange(calls_, {});
    const auto call = [](void* self, void**) {
      auto* run = static_cast<PieceRun*>(self);
      run->device_failure_ = run->call_on_devices(nullptr);
      return run->device_failure_.ok() ? 0 : -1;
    };
    calls_.push_back({call, this, nullptr, nullptr, 0, 0});
  }
  slot_bytes_.assign(piece_.slots, 0);
  std::vector<bool> elsewhere(piece_.slots);
  for (size_t t = 0; t < tensors_.size(); ++t) {
    const PieceTensor& tensor = piece_.tensors[t];
    if (tensor.home != PieceTensor::Home::kArena) continue;
    slot_bytes_[tensor.place] = std::max(slot_bytes_[tensor.place], bytes_[t]);
    elsewhere[tensor.place] = tensor.device != 0;
  }
  ArenaLayout layout;
  for (size_t slot = 0; slot < slot_bytes_.size(); ++slot)
    if (!elsewhere[slot]) offsets_[slot] = layout.place(slot_bytes_[slot]);
  arena_bytes_ = layout.end();
  generation_ = 0;
  prepared_ = true;
  return place_in_arena();
}

Status PieceRun::place_in_arena() {
  if (arena_bytes_ == 0) return Status::success();
  const auto* arena = static_cast<uint8_t*>(memory_.need(arena_bytes_));
  if (!arena)
    return Status::out_of_memory(
        "no memory for the intermediate results of the program: " + std::to_string(arena_bytes_) + " bytes");
  if (memory_.generation() == generation_) return Status::success();
  generation_ = memory_.generation();
  for (size_t t = 0; t < tensors_.size(); ++t)
    if (piece_.tensors[t].home == PieceTensor::Home::kArena && !piece_.tensors[t].device)
      point(static_cast<uint32_t>(t), const_cast<uint8_t*>(arena) + offsets_[piece_.tensors[t].place]);
  return Status::success();
}

/// Whether there is a kept value for an output, which nobody else has and is of its extents; it is then
/// given.
bool PieceRun::take_kept(size_t output) {
  given_[output] = {};
  const uint32_t tensor = piece_.outputs[output];
  const std::vector<uint32_t>& extents = piece_.tensors[tensor].extents;
  for (size_t k = 0; k < kKeptPerOutput; ++k) {
    program::Value& spare = spare_[output * kKeptPerOutput + k];
    const auto* value = program::as_value<program::TensorValue>(spare);
    if (!value || value->use_count() != 1 || !value->array().is_only_handle()) continue;
    const Shape& shape = value->array().shape();
    bool same = true;
    for (size_t axis = 0; axis < shape.size(); ++axis) same &= shape[axis] == steps_[extents[axis]];
    if (!same) continue;
    given_[output] = spare;
    if (void* data = const_cast<void*>(value->array().data()); tensors_[tensor].host != data)
      point(tensor, data);
    return true;
  }
  return false;
}

Status PieceRun::make_outputs() {
  for (size_t o = 0; o < piece_.outputs.size(); ++o) {
    if (made_[o] != Made::kTensor || take_kept(o)) continue;
    const uint32_t tensor = piece_.outputs[o];
    const size_t bytes = bytes_[tensor];
    void* block = scratch_allocate(bytes);
    if (!block)
      return Status::out_of_memory("no memory for a result of the program: " +
                                   describe(shape_of(tensor), piece_.tensors[tensor].dtype));
    clear_past_end(block, bytes);
    results_[o] =
        NDArray::view(block, shape_of(tensor), piece_.tensors[tensor].dtype, release_scratch, block);
    point(tensor, block);
  }
  return Status::success();
}

Status PieceRun::resolve_extents() {
  contradicted_ = false;
  bool changed = !prepared_ || is_behind();
  if (Status status = read_axes(&changed); !status.ok()) {
    prepared_ = false;
    return status;
  }
  if (changed) {
    if (Status status = prepare(); !status.ok()) {
      prepared_ = false;
      return status;
    }
  } else if (memory_.generation() != generation_) {
    return place_in_arena();
  }
  return Status::success();
}

Status PieceRun::set_inputs() {
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].array) {
      integers_[i].value = inputs_[i].integer;
      continue;
    }
    const NDArray& array = *inputs_[i].array;
    void* data = const_cast<void*>(array.data());
    if (!is_aligned(data)) {
      NDArray& copy = copies_[i];
      if (!copy.defined() || copy.shape() != array.shape())
        copy = NDArray::empty(array.shape(), array.dtype());
      if (!copy.defined()) return Status::out_of_memory("no memory for `" + name_of(i) + "`");
      if (copy.bytes()) std::memcpy(copy.data(), data, copy.bytes());
      data = copy.data();
    }
    if (tensors_[piece_.inputs[i]].host != data) point(piece_.inputs[i], data);
  }
  return Status::success();
}

bool PieceRun::begin_again() {
  if (!prepared_ || is_behind() || (arena_bytes_ > 0 && memory_.generation() != generation_)) return false;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const uint32_t tensor = piece_.inputs[i];
    if (!inputs_[i].array) {
      if (!is_integer(tensor)) return false;
      integers_[i].value = inputs_[i].integer;
      continue;
    }
    const NDArray& array = *inputs_[i].array;
    const std::span known(axes_.data() + first_axis_[i], first_axis_[i + 1] - first_axis_[i]);
    void* data = const_cast<void*>(array.data());
    if (array.dtype() != piece_.tensors[tensor].dtype || !std::ranges::equal(array.shape(), known) ||
        !is_aligned(data))
      return false;
    if (tensors_[tensor].host != data) point(tensor, data);
  }
  for (size_t o = 0; o < made_.size(); ++o)
    if (made_[o] == Made::kTensor && !take_kept(o)) return false;
  count_run();
  return true;
}

Status PieceRun::begin() {
  if (Status status = resolve_extents(); !status.ok()) return status;
  if (Status status = set_inputs(); !status.ok()) return status;
  if (Status status = make_outputs(); !status.ok()) return status;
  count_run();
  return Status::success();
}

Status PieceRun::failure() const {
  return devices_ ? device_failure_ : failure_of(piece_.calls[failed_], code_);
}

Status PieceRun::failure_of(const PieceCall& call, int code) const {
  const auto device_of = [&](const std::vector<uint32_t>& tensors) {
    return tensors.empty() ? 0 : piece_.tensors[tensors[0]].device;
  };
  const uint32_t device = std::max(device_of(call.inputs), device_of(call.outputs));
  return Status::kernel_failed("the kernel `" + name_of(call) + "` failed with code " + std::to_string(code) +
                               (device ? devices_->device(device)->plugin().reason() : ""));
}

const std::string& PieceRun::name_of(const PieceCall& call) const {
  static const std::string copy = "__copy";
  return call.kernel == PieceCall::kCopy ? copy : program_.kernels[call.kernel].name;
}

void PieceRun::find_rows(MeasuredRun& run) {
  rows_.clear();
  for (const Call& each : own_calls()) {
    const PieceCall& call = piece_.calls[each.number];
    std::vector<int64_t> extents;
    for (const uint32_t step : call.extents) extents.push_back(steps_[step]);
    rows_.push_back(run.row(call.node, name_of(call), shapes_of(call), std::move(extents)));
  }
  rows_of_ = run.id();
}

Status PieceRun::call_kernels(MeasuredRun& run) {
  if (devices_) return call_on_devices(&run);
  for (size_t i = 0; i < calls_.size(); ++i) {
    const Call& call = calls_[i];
    const uint64_t began = ticks();
    if (const int code = call.function(call.context, call.args)) {
      note_failure(call, code);
      return failure();
    }
    run.add_call(rows_[i], ticks() - began);
  }
  return Status::success();
}

/// The tensors that a call reads and writes, as reports show them.
std::string PieceRun::shapes_of(const PieceCall& call) const {
  std::string text;
  for (const std::vector<uint32_t>* tensors : {&call.inputs, &call.outputs})
    for (const uint32_t tensor : *tensors)
      text += (text.empty() ? "" : ", ") + describe(shape_of(tensor), piece_.tensors[tensor].dtype);
  return text;
}

std::span<PieceOutput> PieceRun::finish() {
  bool has_views = false;
  for (size_t o = 0; o < made_.size(); ++o) {
    const uint32_t tensor = piece_.outputs[o];
    if (made_[o] == Made::kInteger) {
      outputs_[o].integer = read_integer(tensors_[tensor].host, piece_.tensors[tensor].dtype);
    } else if (made_[o] == Made::kView) {
      has_views = true;
    } else if (given_[o]) {
      outputs_[o].value = std::move(given_[o]);
    } else {
      outputs_[o].value = program::tensor_value(std::move(results_[o]));
      results_[o] = {};
      if (bytes_[tensor] > kKept) continue;
      // In the place of one that others still have, or of the older one.
      program::Value* kept = &spare_[o * kKeptPerOutput];
      if (kept[0] && kept[0]->use_count() == 1) std::swap(kept[0], kept[1]);
      kept[0] = std::exchange(kept[1], outputs_[o].value);
    }
  }
  if (has_views)
    for (size_t o = 0; o < made_.size(); ++o)
      if (made_[o] == Made::kView) outputs_[o].value = view_of(piece_.outputs[o]);
  return outputs_;
}

/// The value of an output in the memory of an input, a constant or another output.
program::Value PieceRun::view_of(uint32_t tensor) const {
  uint32_t root = tensor;
  while (piece_.tensors[root].home == PieceTensor::Home::kView) root = piece_.tensors[root].place;
  const PieceTensor& home = piece_.tensors[root];
  if (home.device) return view_on_device(tensor, root);
  const bool is_own = home.home == PieceTensor::Home::kOutput;
  const NDArray* whole = nullptr;
  if (home.home == PieceTensor::Home::kInput) whole = inputs_[home.place].array;
  if (home.home == PieceTensor::Home::kConstant) whole = &program_.constants[home.place].second;
  if (is_own)
    if (const auto* made = program::as_value<program::TensorValue>(outputs_[home.place].value))
      whole = &made->array();
  if (whole) return make_ref<const program::TensorValue>(whole->reshaped(shape_of(tensor)), !is_own);
  // An integer that became a tensor with axes.
  return program::tensor_value(
      NDArray::from_bytes(shape_of(tensor), piece_.tensors[tensor].dtype, tensors_[tensor].host));
}

}  // namespace baton::vm
