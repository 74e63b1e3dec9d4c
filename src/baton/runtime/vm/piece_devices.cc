// Calls of pieces with tensors on devices. Those without any do not come here.
#include "baton/runtime/system/timers.h"
#include "baton/runtime/vm/piece_run.h"

namespace baton::vm {

using program::as_value;
using program::DeviceTensorValue;
using program::Value;

void PieceRun::point_on_device(uint32_t tensor, uint64_t memory) {
  tensors_[tensor].memory = memory;
  tensors_[tensor].host = nullptr;
  for (const uint32_t view : views_[tensor]) point_on_device(view, memory);
}

/// Memory for results, and the inputs where they are expected: those that come from outside of the program,
/// such as results of functions in Python, are in the memory of the host.
Status PieceRun::place_on_devices(MeasuredRun* run) {
  for (size_t i = 0; i < piece_.inputs.size(); ++i) {
    const uint32_t tensor = piece_.inputs[i], device = piece_.tensors[tensor].device;
    if (!device) continue;
    if (!inputs_[i].memory) {
      Result<Value> there =
          devices_->brought(make_ref<const program::TensorValue>(*inputs_[i].array, /*lent=*/true), device,
                            {run, reader_of(piece_, tensor)});
      if (!there.ok()) return there.status();
      there_[tensor] = std::move(*there);
    } else {
      there_[tensor] = {};
      point_on_device(tensor, inputs_[i].memory);
    }
  }
  std::vector<Value> slots(piece_.slots);
  for (uint32_t t = 0; t < piece_.tensors.size(); ++t) {
    const PieceTensor& tensor = piece_.tensors[t];
    const bool is_slot = tensor.home == PieceTensor::Home::kArena;
    if (!tensor.device || (!is_slot && tensor.home != PieceTensor::Home::kOutputOnDevice)) continue;
    if (is_slot && slots[tensor.place]) {
      there_[t] = slots[tensor.place];
      continue;
    }
    Result<Value> made =
        is_slot ? devices_->make(tensor.device, {static_cast<int64_t>(slot_bytes_[tensor.place])},
                                 DType::uint_(8))
                : devices_->make(tensor.device, shape_of(t), tensor.dtype);
    if (!made.ok()) return made.status();
    if (is_slot) slots[tensor.place] = *made;
    there_[t] = std::move(*made);
  }
  for (uint32_t t = 0; t < piece_.tensors.size(); ++t)
    if (there_[t]) point_on_device(t, as_value<DeviceTensorValue>(there_[t])->memory());
  return Status::success();
}

Status PieceRun::call_on_devices(MeasuredRun* run) {
  if (Status status = place_on_devices(run); !status.ok()) return status;
  for (size_t i = 0; i < device_calls_.size(); ++i) {
    const Call& call = device_calls_[i];
    const int code = run ? call_measured(call, rows_[i], *run) : call.function(call.context, call.args);
    if (!code) continue;
    Status status = failure_of(piece_.calls[call.number], code);
    (void)devices_->wait();  // what is queued uses memory of the program
    return status;
  }
  // Later commands may use the memory of intermediate results: they come behind these in the queue.
  for (uint32_t t = 0; t < piece_.tensors.size(); ++t)
    if (piece_.tensors[t].home == PieceTensor::Home::kArena) there_[t] = {};
  return Status::success();
}

/// Kernels of devices take the time of the device's clock, and so does all that simulated devices do; copies
/// that of ours.
int PieceRun::call_measured(const Call& call, size_t row, MeasuredRun& run) const {
  const PieceCall& of = piece_.calls[call.number];
  const uint32_t to = piece_.tensors[of.outputs[0]].device;
  const uint32_t clock =
      of.kernel == PieceCall::kCopy ? devices_->clock_of_copy(piece_.tensors[of.inputs[0]].device, to) : to;
  uint64_t took = 0;
  const auto work = [&] { return call.function(call.context, call.args); };
  const int code = devices_->measure(clock, run, work, took);
  if (!code) run.add_call(row, took);
  return code;
}

/// An output in the memory of tensor `root`.
Value PieceRun::view_on_device(uint32_t tensor, uint32_t root) const {
  const PieceTensor& home = piece_.tensors[root];
  if (root == tensor && there_[root]) return there_[root];
  const auto* there = as_value<DeviceTensorValue>(there_[root]);
  const NDArray& whole = there ? there->array() : *inputs_[home.place].array;
  return make_ref<const DeviceTensorValue>(whole.reshaped(shape_of(tensor)), home.device,
                                           tensors_[root].memory);
}

}  // namespace baton::vm
