#pragma once
// Parses the x86-64 assembly text that LLVM prints for a kernel: functions and their named basic blocks; runs
// the assembler.
#include <map>
#include <string>
#include <vector>

#include "baton/support/base/status.h"

namespace baton {

struct AssemblyBlock {
  std::string
      name;  ///< as LLVM calls it, without "%": "entry", "1_for_baton_k...$1.s0.y"; empty when it has none
  int depth = 0;               ///< number of enclosing loops
  size_t first = 0, last = 0;  ///< lines [first, last), including its label
};

struct AssemblyFunction {
  std::string symbol;
  size_t line = 0;                    ///< of the label
  std::vector<AssemblyBlock> blocks;  ///< in textual order
  std::vector<size_t> paddings;       ///< lines of alignment directives inside the function
};

struct Assembly {
  std::vector<std::string> lines;
  std::vector<AssemblyFunction> functions;
};

Assembly parse_assembly(const std::string& text);

/// The instruction of a line without comments, "vaddps\t%zmm0, %zmm1, %zmm2"; "" when it has none.
std::string instruction_of(const std::string& line);

/// The text with lines inserted before others: [line] -> lines, each with its newline.
std::string with_inserted(const Assembly& assembly, const std::map<size_t, std::string>& before);

/// The path of the assembler: $BATON_ASSEMBLER, else `as`; empty when there is none.
std::string find_assembler();

/// Assembles text to object code. kUnavailable when there is no assembler, kIo when it reports an error.
Result<std::string> assemble(const std::string& text);

}  // namespace baton
