#pragma once
// The assembly text that LLVM prints for a kernel on x86-64: functions, their basic blocks with names, and
// what an assembler makes of it.
#include <map>
#include <string>
#include <vector>

#include "baton/support/base/status.h"

namespace baton {

struct AssemblyBlock {
  std::string
      name;  ///< as LLVM calls it, without "%": "entry", "1_for_baton_k...$1.s0.y"; empty when it has none
  int depth = 0;               ///< loops around it
  size_t first = 0, last = 0;  ///< lines [first, last), the label's own among them
};

struct AssemblyFunction {
  std::string symbol;
  size_t line = 0;                    ///< of the label
  std::vector<AssemblyBlock> blocks;  ///< in the order of the text
  std::vector<size_t> paddings;       ///< lines inside the function that align what follows
};

struct Assembly {
  std::vector<std::string> lines;
  std::vector<AssemblyFunction> functions;
};

Assembly parse_assembly(const std::string& text);

/// "vaddps\t%zmm0, %zmm1, %zmm2" for a line with an instruction, comments taken off; else "".
std::string instruction_of(const std::string& line);

/// The text with lines put before others: [line] -> lines, each with its own end.
std::string with_inserted(const Assembly& assembly, const std::map<size_t, std::string>& before,
                          const std::map<size_t, std::string>& instead = {});

/// The assembler of this machine: $BATON_ASSEMBLER, else `as`; empty when there is none.
std::string find_assembler();

/// Object code of assembly text. kUnavailable when there is no assembler, kIo when it refuses the text.
Result<std::string> assemble(const std::string& text);

}  // namespace baton
