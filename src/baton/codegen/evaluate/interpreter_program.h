#pragma once
// The interpreter's program: instructions over registers of kChunk values, nested in reduction loops. Does
// not use Halide.
#include <cstdint>
#include <vector>

namespace baton {

/// The number of output elements computed together.
inline constexpr int kChunk = 128;

/// The type of a register's values. Narrow integers are held in kI32 and wrapped after arithmetic; uint32 is
/// held in kI64.
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
  kSelect,       // a: kI32 condition, b, c
  kCast,         // from kind `from`
  kReinterpret,  // the bits of a value of kind `from`
  kUnary,
  kBinaryMath,  // a C library function
  kLoad,        // a: kI32 offset into table `table`
  kLoop,        // runs loops[table]
};

struct Instruction {
  Opcode op = Opcode::kCopy;
  RegKind kind = RegKind::kI32;  ///< of the result (for comparisons the operands' kind is `from`)
  RegKind from = RegKind::kI32;
  uint8_t wrap_bits = 0;  ///< > 0: wrap an integer result to this many bits
  bool wrap_unsigned = false;
  bool truth = false;  ///< kCast to bool: compares with zero
  int dst = -1, a = -1, b = -1, c = -1;
  int table = -1;
  int64_t integer = 0;
  double real = 0;
  double (*unary)(double) = nullptr;
  double (*binary)(double, double) = nullptr;
};

/// The source of a load: a dense array of `count` elements.
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
  std::vector<Variable> variables;  ///< innermost first
  std::vector<Instruction> body;
  /// After each iteration all accumulators are set simultaneously to `next`, where `predicate` holds (-1:
  /// always).
  std::vector<int> accumulators, next;
  std::vector<RegKind> kinds;
  int predicate = -1;
};

/// Computes one output element by element: sets the registers `variables` to the position, then runs `body`.
struct ElementProgram {
  std::vector<Instruction> body;
  std::vector<Loop> loops;
  std::vector<LoadTable> tables;
  std::vector<int> variables;    ///< one per axis in Halide's order, innermost first
  std::vector<int32_t> extents;  ///< likewise
  int num_registers = 0;
  int result = -1;
  RegKind result_kind = RegKind::kF32;

  /// Instructions per element, including loops.
  double work() const;
  /// Computes elements begin .. begin + count of the output, count <= kChunk; the result is in
  /// registers[result].
  void run(std::vector<int64_t>& registers, int64_t begin) const;
};

/// Whether this thread has converted a float to an integer type that cannot hold it, since it was asked last.
/// Results are then unspecified: what comes of that is the processor's to say.
bool take_undefined_conversion();

/// Runs one instruction other than loads and loops.
void run_simple(const Instruction& instruction, std::vector<int64_t>& registers);

}  // namespace baton
