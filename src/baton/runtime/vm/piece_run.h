// The state of a piece in one machine: its tensors for the extents of the last run, ready to be called again.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "baton/runtime/plugin.h"
#include "baton/runtime/vm/exact_kernels.h"
#include "baton/runtime/vm/machine_devices.h"
#include "baton/runtime/vm/measured_run.h"
#include "baton/runtime/vm/program.h"

namespace baton::vm {

/// The memory that all pieces of a machine use in turn: none runs within another.
class MachineMemory {
 public:
  MachineMemory() = default;
  ~MachineMemory();
  MachineMemory(const MachineMemory&) = delete;
  MachineMemory& operator=(const MachineMemory&) = delete;
  /// At least so many bytes, page aligned; null when there are none. What it returned before is invalid if
  /// generation() has changed.
  void* need(size_t bytes);
  uint64_t generation() const { return generation_; }
  size_t bytes() const { return bytes_; }

 private:
  void* block_ = nullptr;
  size_t bytes_ = 0;
  uint64_t generation_ = 0;
};

/// An input of a piece: a tensor, or an integer of rank 0.
struct PieceInput {
  const NDArray* array = nullptr;  ///< null: `integer`
  int64_t integer = 0;
  uint64_t memory = 0;  ///< of a tensor on a device, the handle of its memory; 0: it is the host's
};

/// An output: a tensor, or for types of is_integer_kind() of rank 0 an integer.
struct PieceOutput {
  program::Value value;
  int64_t integer = 0;
};

/// The node that reads a tensor of a piece, the first one.
uint32_t reader_of(const Piece& piece, uint32_t tensor);

class PieceRun {
 public:
  /// `kernels`: the program's, bound. `devices`: null where the program names none. `exact`: where to ask for
  /// other kernels; may be null.
  PieceRun(const Piece& piece, const Program& program, MachineMemory& memory,
           std::span<const std::pair<const PluginModule*, baton_bound>> kernels, MachineDevices* devices,
           ExactKernels* exact = nullptr);
  ~PieceRun();
  PieceRun(const PieceRun&) = delete;
  PieceRun& operator=(const PieceRun&) = delete;

  const Piece& piece() const { return piece_; }
  /// The inputs of the next run, to be set by the caller.
  std::span<PieceInput> inputs() { return inputs_; }
  /// Makes everything ready for the kernels to be called again with the extents of the last run. False where
  /// that takes more than setting pointers: then begin() does it.
  bool begin_again();
  /// What the next three do.
  Status begin();
  /// For the extents of the inputs; sets these; gets memory for the results.
  Status resolve_extents();
  Status set_inputs();
  Status make_outputs();
  /// Whether resolve_extents() failed because extents are not equal that must be.
  bool contradicted() const { return contradicted_; }
  /// Calls all kernels. False when one failed: failure() says which.
  bool call_kernels() {
    for (const Call& call : calls_)
      if (const int code = call.function(call.context, call.args)) [[unlikely]]
        return note_failure(call, code);
    return true;
  }
  Status failure() const;
  /// The same with each call timed, after find_rows().
  Status call_kernels(MeasuredRun& run);
  /// Whether find_rows() has nothing to do.
  bool has_rows(const MeasuredRun& run) const { return rows_of_ == run.id(); }
  /// The rows of the calls, which have their extents by now.
  void find_rows(MeasuredRun& run);
  /// The results, which the caller takes. The inputs are not used after this.
  std::span<PieceOutput> finish();

 private:
  struct Call {
    baton_function function;
    void* context;
    void** args;
    void** exact_args;
    uint32_t number;        // in the piece
    uint32_t first_extent;  // of kernel_extents_
  };

  bool is_integer(uint32_t tensor) const;
  bool is_behind() const { return exact_ && exact_->generation() != exact_generation_; }
  void count_run() {
    if (exact_ && std::has_single_bit(++*runs_)) exact_->met(exact_calls());
  }
  std::vector<ExactCall> exact_calls() const;
  ExactCall exact_call(const Call& call) const;
  Call chosen(const Call& call);
  bool note_failure(const Call& call, int code) {
    failed_ = call.number;
    code_ = code;
    return false;
  }
  std::string shapes_of(const PieceCall& call) const;
  std::string name_of(size_t input) const;
  const std::string& name_of(const PieceCall& call) const;
  Status read_axes(bool* changed);
  Status compute_extents();
  Status prepare();
  Status place_in_arena();
  void point(uint32_t tensor, void* data);
  const std::vector<Call>& own_calls() const { return devices_ ? device_calls_ : calls_; }
  Status failure_of(const PieceCall& call, int code) const;
  Status call_on_devices(MeasuredRun* run);
  Status place_on_devices(MeasuredRun* run);
  int call_measured(const Call& call, size_t row, MeasuredRun& run) const;
  void point_on_device(uint32_t tensor, uint64_t memory);
  program::Value view_on_device(uint32_t tensor, uint32_t root) const;
  Shape shape_of(uint32_t tensor) const;
  bool lacks_elements(uint32_t tensor) const;
  program::Value view_of(uint32_t tensor) const;
  bool take_kept(size_t output);

  const Piece& piece_;
  const Program& program_;
  MachineMemory& memory_;
  std::vector<int64_t> axes_;            // extents of all inputs, one after the other
  std::vector<size_t> first_axis_;       // of each input
  std::vector<int64_t> steps_;           // values of Piece::steps
  std::vector<int32_t> kernel_extents_;  // as kernels read them, one after the other
  std::vector<baton_tensor> tensors_;
  std::vector<baton_dimension> dimensions_;
  std::vector<size_t> bytes_;  // of each tensor
  /// A cell of memory, aligned as kernels expect it.
  struct alignas(64) Integer {
    int64_t value = 0;
  };
  std::vector<Integer> integers_;              // of inputs and outputs that are integers
  std::vector<std::vector<uint32_t>> views_;   // of each tensor: those in its memory
  std::vector<size_t> offsets_;                // of the arena's slots
  std::vector<NDArray> copies_;                // of inputs whose memory is not aligned
  std::vector<NDArray> results_;               // of the outputs, until finish()
  std::vector<program::Value> given_, spare_;  // values of outputs, kept to be used again
  std::vector<void*> args_;
  std::vector<Call> all_calls_, calls_;  // calls_: those that compute something
  std::vector<size_t> rows_;             // of calls_, in the measured run of that id
  uint64_t rows_of_ = 0;
  std::vector<PieceInput> inputs_;
  std::vector<PieceOutput> outputs_;
  /// What an output is.
  enum class Made : uint8_t {
    kInteger,  ///< a number
    kTensor,   ///< of its own memory
    kView      ///< in the memory of an input, a constant or another output
  };
  std::vector<Made> made_;
  uint32_t failed_ = 0;
  int code_ = 0;
  // Kernels of certain extents; exact_ is null where they are not wanted, or no extent is symbolic.
  ExactKernels* exact_;
  uint64_t exact_generation_ = 0;
  std::map<std::vector<int32_t>, uint64_t> runs_at_;  // how often the piece ran, by kernel_extents_
  uint64_t* runs_ = nullptr;                          // of them that of the extents now
  std::map<ExactCall, std::pair<ExactKernels::Made, baton_bound>> exact_bound_;
  std::vector<void*> exact_args_;  // as args_, without extents
  // Of a piece with tensors on devices: its only call is one of piece_devices.cc, which makes these.
  MachineDevices* devices_ = nullptr;  // null: all tensors are in the memory of the host
  std::vector<Call> device_calls_;
  Status device_failure_ = {};
  std::vector<program::Value> there_;  // by tensor: those on devices, as long as they are used
  std::vector<size_t> slot_bytes_;     // of the arena's slots
  size_t arena_bytes_ = 0;
  uint64_t generation_ = 0;
  bool prepared_ = false, contradicted_ = false;
};

}  // namespace baton::vm
