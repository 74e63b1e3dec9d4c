#pragma once
// `baton explain MODEL --bytecode`: the instructions of the virtual machine, with their operators and times.
#include <string>

#include "baton/cli/common.h"

namespace baton::cli {

struct BytecodeFlags {
  bool on = false, timed = false;
  std::string inputs;
  int threads = 1;
  void add(Flags& flags);
};

/// Builds the model as a program of the virtual machine, unless it is a file of one, and writes the listing
/// of its functions. `timed`: runs it, on the values of `inputs` and else of the tensor rule, and says of
/// each instruction how often it ran, and of kernels and operators their time.
void write_bytecode(Io& io, const ModelFlags& flags, const BytecodeFlags& wanted);

}  // namespace baton::cli
