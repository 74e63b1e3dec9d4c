#include "baton/runtime/vm/instructions.h"

#include <iterator>

namespace baton::vm {
namespace {

// One letter for each word after the opcode (Role); N: a count and so many registers that are read; C: the
// same, which may be kItself; P: a piece, its inputs and outputs.
constexpr const char* kForms[] = {
    "ds",    // kMove
    "s",     // kReturn
    "x",     // kFatal
    "fdN",   // kCall
    "fN",    // kTailCall
    "sdN",   // kCallValue
    "sN",    // kTailCallValue
    "P",     // kPiece
    "odN",   // kOperator
    "dN",    // kTuple
    "dqN",   // kData
    "dfC",   // kClosure
    "dsi",   // kField
    "sit",   // kUnlessTag
    "st",    // kUnless
    "t",     // kJump
    "dk",    // kConstant
    "dyii",  // kInteger
    "ds",    // kMakeCell
    "ds",    // kReadCell
    "ss",    // kWriteCell
    "N",     // kRelease
    "dq",    // kConstructor
    "dyss",  // kAdd
    "dyss",  // kSubtract
    "dyss",  // kMultiply
    "dyss",  // kMinimum
    "dyss",  // kMaximum
    "dyss",  // kAnd
    "dyss",  // kOr
    "dyss",  // kEqual
    "dyss",  // kNotEqual
    "dyss",  // kLess
    "dyss",  // kLessEqual
    "dys",   // kNot
    "dys",   // kCast
    "Pt",    // kTryPiece
    "dss",   // kAppend
};
static_assert(std::size(kForms) == static_cast<size_t>(Opcode::kCount));

}  // namespace

bool ends_block(Opcode op) {
  return op == Opcode::kReturn || op == Opcode::kTailCall || op == Opcode::kTailCallValue ||
         op == Opcode::kFatal || op == Opcode::kJump;
}

bool decode(const Program& program, std::span<const int32_t> code, uint32_t at, Instruction& out) {
  if (at >= code.size() || code[at] < 0 || code[at] >= static_cast<int32_t>(Opcode::kCount)) return false;
  out.op = static_cast<Opcode>(code[at]);
  out.at = at;
  out.operands.clear();
  uint32_t word = at + 1;
  const auto add = [&](Role role) {
    if (word >= code.size()) return false;
    out.operands.push_back({role, word++});
    return true;
  };
  const auto add_all = [&](Role role, uint64_t count) {
    if (count > code.size()) return false;
    for (uint64_t i = 0; i < count; ++i)
      if (!add(role)) return false;
    return true;
  };
  for (const char* form = kForms[code[at]]; *form; ++form) {
    if (*form == 'N' || *form == 'C') {
      if (!add(Role::kCount)) return false;
      const int32_t count = code[word - 1];
      if (count < 0 ||
          !add_all(*form == 'N' ? Role::kRead : Role::kItselfOrRead, static_cast<uint64_t>(count)))
        return false;
    } else if (*form == 'P') {
      if (!add(Role::kPiece)) return false;
      const int32_t piece = code[word - 1];
      if (piece < 0 || static_cast<size_t>(piece) >= program.pieces.size()) return false;
      if (!add_all(Role::kRead, program.pieces[static_cast<size_t>(piece)].inputs.size()) ||
          !add_all(Role::kWritten, program.pieces[static_cast<size_t>(piece)].outputs.size()))
        return false;
    } else if (!add(static_cast<Role>(*form))) {
      return false;
    }
  }
  out.end = word;
  return true;
}

}  // namespace baton::vm
