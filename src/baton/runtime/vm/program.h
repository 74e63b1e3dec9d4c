// Programs of the virtual machine: functions of instructions over registers, and the straight-line pieces
// that they run. Immutable; any number of machines may share one. See docs/design/0048-virtual-machine.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "baton/runtime/values/value.h"
#include "baton/support/base/dtype.h"
#include "baton/support/base/params_blob.h"
#include "baton/support/base/status.h"

namespace baton::vm {

/// Instructions are words of 32 bits: the opcode, then its operands in the order given here. Registers are
/// numbered per frame: parameters, captured variables, locals. Targets are word offsets in the function.
enum class Opcode : int32_t {
  kMove,       ///< dst, src
  kReturn,     ///< src
  kFatal,      ///< text
  kCall,       ///< function, dst, n, args...
  kTailCall,   ///< function, n, args...
  kCallValue,  ///< callee, dst, n, args...
  kTailCallValue,
  kPiece,        ///< piece, inputs..., outputs... (as many as the piece has)
  kOperator,     ///< operator, dst, n, args...
  kTuple,        ///< dst, n, fields...
  kData,         ///< dst, constructor, n, fields...
  kClosure,      ///< dst, function, n, captured... (kItself: the closure)
  kField,        ///< dst, src, index: of a tuple or a data value
  kUnlessTag,    ///< src, tag, target: jumps when it is another
  kUnless,       ///< condition, target
  kJump,         ///< target
  kConstant,     ///< dst, constant
  kInteger,      ///< dst, kind, low word, high word
  kMakeCell,     ///< dst, src
  kReadCell,     ///< dst, src
  kWriteCell,    ///< cell, src
  kRelease,      ///< n, registers...
  kConstructor,  ///< dst, constructor: as a function
  // Integers and truth values of rank 0: dst, kind, a, b.
  kAdd,
  kSubtract,
  kMultiply,
  kMinimum,
  kMaximum,
  kAnd,
  kOr,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kNot,   ///< dst, kind, a
  kCast,  ///< dst, kind, a
  /// piece, inputs..., outputs..., target: jumps, without results, where a check of the piece fails
  kTryPiece,
  kAppend,  ///< dst, tensor, rows: concatenate along the first axis, in the tensor's memory where that is
            ///< free
  kCount
};

/// Marks an operand, in the word's bit 30, that is not read again: its value is moved.
inline constexpr int32_t kLastUse = 1 << 30;
/// An operand of kClosure: the closure that is being made.
inline constexpr int32_t kItself = -1;

/// The types of integers that registers hold without memory.
enum class IntegerKind : int32_t { kBool, kInt8, kInt16, kInt32, kInt64, kUInt8, kUInt16, kUInt32 };
/// Whether tensors of rank 0 of this type are held as integers.
bool is_integer_kind(DType dtype, IntegerKind* kind = nullptr);
DType dtype_of(IntegerKind kind);
/// `value` as a number of this type: reduced modulo 2^bits.
int64_t wrapped(int64_t value, IntegerKind kind);

/// A step of the prologue of a piece: an extent, computed from earlier steps.
struct ExtentStep {
  enum class Op : uint8_t { kNumber, kAxis, kAdd, kSubtract, kMultiply, kFloorDivide };
  Op op = Op::kNumber;
  /// kAxis: the input and its axis. kFloorDivide: the step that is divided. Others: two steps.
  uint32_t a = 0, b = 0;
  int64_t number = 0;  ///< of kNumber; the divisor of kFloorDivide, > 0
};

/// Two steps that must be equal.
struct ExtentCheck {
  uint32_t a, b;
  std::string what;  ///< "axis 1 of %x and axis 0 of %w"
};

/// A tensor of a piece.
struct PieceTensor {
  enum class Home : uint8_t {
    kInput,           ///< `place`: its number among the inputs
    kConstant,        ///< `place`: its number among the program's constants
    kArena,           ///< `place`: the arena's slot
    kOutput,          ///< memory of its own. `place`: its number among the outputs
    kView,            ///< the memory of tensor `place`
    kOutputOnDevice,  ///< like kOutput, in the memory of a device
  };
  DType dtype;
  std::vector<uint32_t> extents;  ///< steps
  Home home = Home::kArena;
  uint32_t place = 0;
  uint32_t device = 0;  ///< 0: the processor; else from 1 in Program::devices
};

struct PieceCall {
  /// In place of a kernel: the only input is copied to the only output, on another device.
  static constexpr uint32_t kCopy = UINT32_MAX;
  uint32_t kernel = 0;
  std::vector<uint32_t> inputs, outputs;  ///< tensors
  std::vector<uint32_t> extents;          ///< steps whose values the kernel takes, between the two
  /// It has no result where all steps of one of these are 0: it would read from a tensor without elements.
  std::vector<std::vector<uint32_t>> undefined = {};
  uint32_t node = 0;  ///< of the plan that reports read
};

/// Calls of kernels without control flow: one prologue computes all extents, one allocation holds all results
/// that are not outputs.
struct Piece {
  std::vector<ExtentStep> steps;
  std::vector<ExtentCheck> checks;
  std::vector<PieceTensor> tensors;
  std::vector<uint32_t> inputs, outputs;  ///< tensors
  std::vector<std::string> input_names;   ///< for messages
  std::vector<PieceCall> calls;
  uint32_t slots = 0;  ///< of the arena
  /// The bytes of the arena where all extents are what they may be at most; 0: not known.
  uint64_t most_bytes = 0;
};

/// What a program says of a parameter or a result. `kOther` is not checked.
struct ParameterType {
  enum class Kind : uint8_t { kTensor, kTuple, kOther };
  Kind kind = Kind::kOther;
  DType dtype;
  std::vector<int64_t> extents;    ///< -1: any
  std::vector<std::string> names;  ///< of the extents, as the program has them: "n", "2*n + 1", or empty
  std::vector<int64_t> most;       ///< what each may be at most; -1: there is no bound
  std::vector<ParameterType> fields;
};

/// Which extent of a shape that fits the type is above its bound: "axis 0, n = 600, is above 512, ...";
/// empty: none.
std::string above_bound(const ParameterType& type, const Shape& shape);

/// What the instruction at a word is in the source, for reports.
struct CodeLine {
  uint32_t word = 0, line = 0, column = 0;  ///< line 0: not known
  std::string what = {};                    ///< of a branch: "if", "match Cons"
};

struct FunctionCode {
  std::string name;
  uint32_t parameters = 0, captured = 0, registers = 0;
  std::vector<std::string> parameter_names;
  std::vector<ParameterType> parameter_types;
  ParameterType result_type;
  std::vector<int32_t> code;
  /// Which nodes of the plan that reports read are computed by the instruction at a word; ascending. Calls of
  /// pieces have their own; a piece that only loads a constant has one here.
  std::vector<std::pair<uint32_t, uint32_t>> nodes;
  std::vector<CodeLine> lines;  ///< of branches and calls, ascending
  uint32_t line = 0;            ///< of the function; 0: not known
  bool is_global = true;        ///< callable by name
};

struct KernelName {
  std::string name;     ///< the symbol
  std::string backend;  ///< empty: the processor
  uint32_t device = 0;  ///< that its tensors are on, as PieceTensor::device
};

struct ConstructorEntry {
  int32_t tag = 0;
  program::ConstructorRef info;
};

struct Program {
  std::vector<FunctionCode> functions;
  std::vector<Piece> pieces;
  std::vector<KernelName> kernels;
  std::vector<std::string> operators;  ///< names of what Services evaluates
  std::vector<ConstructorEntry> constructors;
  NamedArrays constants;
  std::vector<std::string> texts;
  std::vector<int32_t> devices;  ///< DLPack's types of those beside the processor

  /// The function of that name; -1 when there is none.
  int find(const std::string& name) const;
};

}  // namespace baton::vm
