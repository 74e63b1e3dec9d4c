#pragma once
// Collects calls of kernels, and makes pieces of them.
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "baton/driver/vm/lowered_value.h"
#include "baton/driver/vm/lowering_state.h"

namespace baton::vm {

/// A call of a primitive function that is not made yet.
struct PendingCall {
  Function function;
  OriginSet origins;
  std::vector<LoweredRef> args;  ///< one per parameter
  LoweredRef result;             ///< its tensors are pending
  int around = 1;                ///< the device type of what is around it, of which its place follows
  std::string fallback = {};     ///< why no device computes it that should; empty: one does, or none should
};

/// Why a primitive function is no kernel that a device can have; empty when it is one.
std::string refused_on_devices(const FunctionNode& function);

class PieceBuilder {
 public:
  PieceBuilder(LoweringState& state, CodeBuilder& code) : state_(state), code_(code) {}

  bool empty() const { return calls_.empty(); }
  void add(PendingCall call) { calls_.push_back(std::move(call)); }
  /// The call that computes a pending tensor; null when none of these does.
  PendingCall* maker_of(const LoweredValue& tensor);
  /// Forgets the calls: control never comes to where their results are read.
  void drop() { calls_.clear(); }
  /// Emits a constant as a tensor on its device.
  Register constant_on_device(const LoweredValue& constant);
  /// Emits what computes all calls. Afterwards no value is pending: of results in `needed`, the registers are
  /// known.
  void flush(const std::vector<LoweredRef>& needed);

 private:
  class Typing;
  /// A function, or why there is none.
  struct TypedOrNot {
    Function function;
    std::string why;
  };
  TypedOrNot typed_or_assumed(size_t call, size_t* first, std::unique_ptr<Typing>& typing,
                              const std::vector<LoweredRef>& wanted);
  static int device_of(const PendingCall& call);
  std::string why_no_kernel(const PendingCall& call, const Function& typed) const;
  std::vector<LoweredRef> read_from(size_t call, std::vector<LoweredRef> also) const;
  std::vector<Function> specialized_calls(size_t first, size_t last, Typing& typing) const;
  void emit_calls(size_t first, size_t last, Typing& typing, const std::vector<LoweredRef>& needed);
  void emit_piece(size_t first, size_t last, Typing& typing, const std::vector<LoweredRef>& needed,
                  std::optional<int32_t> otherwise = {});
  void emit_operator(const PendingCall& call, const std::string& why);
  Register as_register(const LoweredRef& value);

  LoweringState& state_;
  CodeBuilder& code_;
  std::vector<PendingCall> calls_;
  std::vector<Function> given_;  ///< of each call: its function before it was typed
};

}  // namespace baton::vm
