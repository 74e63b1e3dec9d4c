#pragma once
// What the interpreter runs: instructions over registers of kChunk values, nested in reduction loops. No
// Halide here.
#include <cstdint>
#include <vector>

namespace baton {

/// Elements of an output that are computed together.
inline constexpr int kChunk = 128;

/// What a register holds. Narrow integers live in kI32 and are wrapped after arithmetic; uint32 lives in
/// kI64.
enum class RegKind : uint8_t { kF32, kF64, kI32, kI64 };

enum class Opcode : uint8_t {
  kConstant,
  kCopy,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kMin,
  kMax,
  kEq,
  kNe,
  kLt,
  kLe,  // operands of kind `from`, result kI32: 0 or 1
  kAnd,
  kOr,
  kNot,  // kI32, logical
  kBitAnd,
  kBitOr,
  kBitXor,
  kShiftLeft,
  kShiftRight,
  kSelect,  // a: kI32 condition, b, c
  kCast,    // from kind `from`
  kUnary,
  kBinaryMath,  // a function of the C library
  kLoad,        // a: kI32 offset into table `table`
  kLoop,        // runs loops[table]
};

struct Instruction {
  Opcode op = Opcode::kCopy;
  RegKind kind = RegKind::kI32;  ///< of the result (of the operands for comparisons: see `from`)
  RegKind from = RegKind::kI32;
  uint8_t wrap_bits = 0;  ///< > 0: an integer result is brought back into so many bits
  bool wrap_unsigned = false;
  bool truth = false;  ///< kCast to bool: not zero
  int dst = -1, a = -1, b = -1, c = -1;
  int table = -1;
  int64_t integer = 0;
  double real = 0;
  double (*unary)(double) = nullptr;
  double (*binary)(double, double) = nullptr;
};

/// Where values are loaded from: a dense array of `count` elements.
struct LoadTable {
  enum class Element : uint8_t { kF32, kF64, kI8, kU8, kI16, kU16, kI32, kU32, kI64 };
  Element element = Element::kF32;
  const void* data = nullptr;
  int64_t count = 0;
};

struct Loop {
  struct Variable {
    int reg;
    int32_t min, extent;
  };
  std::vector<Variable> variables;  ///< the first is the innermost
  std::vector<Instruction> body;
  /// After each iteration accumulator = next, all at once, where `predicate` holds (-1: everywhere).
  std::vector<int> accumulators, next;
  std::vector<RegKind> kinds;
  int predicate = -1;
};

/// One output element by element: the registers `variables` are set to the position, then `body` runs.
struct ElementProgram {
  std::vector<Instruction> body;
  std::vector<Loop> loops;
  std::vector<LoadTable> tables;
  std::vector<int> variables;    ///< one per axis in Halide's order: the innermost first
  std::vector<int32_t> extents;  ///< likewise
  int num_registers = 0;
  int result = -1;
  RegKind result_kind = RegKind::kF32;

  /// Instructions per element, loops included.
  double work() const;
  /// Computes elements begin .. begin + count of the output, count <= kChunk; the result lies in
  /// registers[result].
  void run(std::vector<int64_t>& registers, int64_t begin) const;
};

/// Runs one instruction that is neither a load nor a loop.
void run_simple(const Instruction& instruction, std::vector<int64_t>& registers);

}  // namespace baton
