#pragma once
// From the instructions of a compiled kernel back to operators: Halide names the basic blocks of the assembly
// it prints after its loops, and those are named after our stages (/docs/design/0013). Needs `as` of
// binutils.
#include <cstdint>
#include <string>
#include <vector>

#include "baton/codegen/kernel/kernel.h"
#include "baton/codegen/kernel/kernel_cache.h"
#include "baton/support/base/status.h"
#include "baton/target/device_sheet.h"

namespace baton {

/// What a stretch of a kernel's code computes. Blocks are indices into kernel_blocks(function).
struct CodePlace {
  std::string stage;  ///< "pad", "conv2d", ...; empty: what belongs to no stage (entry, exit, buffers)
  int block = -1;     ///< whose stage it is; -1: none's
  std::vector<HeldStage> holds;  ///< other stages whose code stands in between, without a block of its own
  std::vector<int> blocks;  ///< all operators computed here, those inlined into the stages too; ascending
  friend bool operator==(const CodePlace&, const CodePlace&) = default;
};

/// A basic block.
struct CodeRange {
  uint32_t begin = 0, end = 0;  ///< bytes from the function's first one
  int place = 0;                ///< index into CodeMap::places
  int depth = 0;                ///< loops around it
  std::string label;            ///< "for b0_nn_conv2d__pad.s0.p2"; "entry"; may be empty
  friend bool operator==(const CodeRange&, const CodeRange&) = default;
};

/// A function of the kernel's object: the kernel itself, its _argv, the bodies of its parallel loops.
struct CodeFunction {
  std::string symbol;
  uint32_t bytes = 0;
  std::vector<CodeRange> ranges;  ///< ascending; without gaps
  friend bool operator==(const CodeFunction&, const CodeFunction&) = default;
};

struct CodeMap {
  std::vector<CodePlace> places;
  std::vector<CodeFunction> functions;

  /// The basic block at `offset` of a function; null when there is none.
  const CodeRange* find(const std::string& symbol, uint32_t offset) const;
  friend bool operator==(const CodeMap&, const CodeMap&) = default;
};

}  // namespace baton
