#pragma once
// Passes over lowered GPU kernels, before Halide parts the device's code from the host's. Needs Halide.h: for
// .cc files of codegen only.
#include <map>
#include <string>
#include <vector>

#include <Halide.h>

namespace baton {

/// Moves what the host would compute from data into the device's loops: values that several launches use, and
/// conditions under which there is a launch at all. Nothing of a kernel then runs on the host
/// (device_code.h). What reads memory that its loops write stays, since other threads would see it change.
class DataOnDevicePass final : public Halide::Internal::IRMutator {
 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::LetStmt* node) override;
  Halide::Internal::Stmt visit(const Halide::Internal::IfThenElse* node) override;
  Halide::Internal::Stmt visit(const Halide::Internal::Evaluate* node) override;
  Halide::Internal::Stmt visit(const Halide::Internal::For* node) override;

  struct FromData {
    std::string name;  ///< of a value; empty: a condition
    Halide::Expr value;
  };
  /// Whether the device must compute `value`, because data determine it or only the device can.
  bool is_from_data(const Halide::Expr& value, const Halide::Internal::Stmt& body) const;
  /// `body` with all that determines it around.
  Halide::Internal::Stmt with_data(Halide::Internal::Stmt body) const;
  /// `loops` with that around the body of the innermost one.
  Halide::Internal::Stmt with_data_inside(const Halide::Internal::Stmt& loops) const;

  std::vector<FromData> from_data_;  ///< around the current statement
};

/// Writes what Halide's code generators for devices cannot: functions of the C library get Halide's names,
/// behind which devices have functions, and the bits of a float are a number: OpenCL C gets numbers of
/// float64 as float32, infinity as that of float32.
class DeviceFunctionsPass final : public Halide::Internal::IRMutator {
 public:
  /// `cuda`: functions that Halide has no name for are those of CUDA's library, not OpenCL's.
  explicit DeviceFunctionsPass(bool cuda) : cuda_(cuda) {}

 private:
  using IRMutator::visit;
  Halide::Expr visit(const Halide::Internal::Call* node) override;
  Halide::Expr visit(const Halide::Internal::Reinterpret* node) override;
  Halide::Expr visit(const Halide::Internal::FloatImm* node) override;
  Halide::Internal::Stmt visit(const Halide::Internal::For* node) override;

  bool cuda_, inside_ = false;  ///< of a loop over blocks or threads
};

/// Stores tiles of results that are computed for a whole block of threads but kept in registers
/// (MemoryType::Register) by thread: Halide gives each thread memory for the tile of the block, of which it
/// uses the elements at constant distances from its first one. Only these remain, at constant positions, so
/// that they can be registers. Allocations that are used in other ways stay as they are.
class ThreadTilesPass final : public Halide::Internal::IRMutator {
 private:
  using IRMutator::visit;
  Halide::Internal::Stmt visit(const Halide::Internal::Allocate* node) override;
};

}  // namespace baton
