// The operands of each instruction.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "baton/runtime/vm/program.h"

namespace baton::vm {

/// What a word of an instruction is.
enum class Role : char {
  kWritten = 'd',       ///< a register
  kRead = 's',          ///< a register, perhaps with kLastUse
  kItselfOrRead = 'c',  ///< the same, or kItself
  kNumber = 'i',
  kCount = 'n',  ///< how many registers follow
  kTarget = 't',
  kFunction = 'f',
  kConstant = 'k',
  kConstructor = 'q',
  kText = 'x',
  kPiece = 'p',
  kOperator = 'o',
  kIntegerKind = 'y',
};

struct Operand {
  Role role;
  uint32_t word;  ///< its offset in the function
};

struct Instruction {
  Opcode op = Opcode::kMove;
  uint32_t at = 0, end = 0;  ///< its words
  std::vector<Operand> operands;
};

/// Decodes the instruction at word `at` of a function's code. False when it is not complete, has an unknown
/// opcode, or names a piece that the program does not have.
bool decode(const Program& program, std::span<const int32_t> code, uint32_t at, Instruction& out);

/// Whether control never goes on to the instruction behind it.
bool ends_block(Opcode op);

/// The register that a word with role kRead names.
inline int32_t register_of(int32_t word) { return word & ~kLastUse; }

}  // namespace baton::vm
