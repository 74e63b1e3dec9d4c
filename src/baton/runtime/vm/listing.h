// Programs as text.
#pragma once

#include <functional>
#include <string>

#include "baton/runtime/vm/program.h"

namespace baton::vm {

/// What stands at the end of lines. All may be null.
struct ListingComments {
  /// Of an instruction that computes a node of the plan.
  std::function<std::string(uint32_t node)> node = {};
  /// Of the allocation of its result.
  std::function<std::string(uint32_t node)> made_for = {};
  /// Before these, of the first line of each instruction: how often it ran.
  std::function<std::string(size_t function, uint32_t word)> count = {};
};

/// The functions of a program, in the form of TVM's Executable.bytecode: a line for each instruction, with
/// its number, its opcode and fields, and its text. A piece is shown as what it stands for: the allocation of
/// its results, and calls of kernels (PackedFunc[i], by number; operators are numbered behind the kernels).
/// Registers behind those of the frame are its intermediate results. Opcodes from 21 on are Baton's.
std::string listing(const Program& program, const ListingComments& comments = {});

}  // namespace baton::vm
