#pragma once
// Maps the instructions of a compiled kernel to operators: Halide names the basic blocks in its assembly
// after its loops, and these are named after our stages (/docs/design/0013). Requires `as` of binutils.
#include <cstdint>
#include <string>
#include <vector>

#include "baton/codegen/kernel/kernel.h"
#include "baton/codegen/kernel/kernel_cache.h"
#include "baton/support/base/status.h"
#include "baton/target/device_sheet.h"

namespace baton {

/// The stage and operators computed by a range of a kernel's code. Blocks are indices into
/// kernel_blocks(function).
struct CodePlace {
  std::string stage;  ///< "pad", "conv2d", ...; empty: what belongs to no stage (entry, exit, buffers)
  int block = -1;     ///< the block of its stage; -1: none
  std::vector<HeldStage> holds;  ///< other stages interleaved with it, without a basic block of their own
  std::vector<int>
      blocks;  ///< all operators computed here, including those inlined into the stages; ascending
  friend bool operator==(const CodePlace&, const CodePlace&) = default;
};

/// A basic block.
struct CodeRange {
  uint32_t begin = 0, end = 0;  ///< byte offsets from the function's start
  int place = 0;                ///< index into CodeMap::places
  int depth = 0;                ///< number of enclosing loops
  std::string label;            ///< "for b0_nn_conv2d__pad.s0.p2"; "entry"; may be empty
  friend bool operator==(const CodeRange&, const CodeRange&) = default;
};

/// A function of the kernel's object: the kernel itself, its _argv wrapper, or the body of a parallel loop.
struct CodeFunction {
  std::string symbol;
  uint32_t bytes = 0;
  std::vector<CodeRange> ranges;  ///< ascending and contiguous
  friend bool operator==(const CodeFunction&, const CodeFunction&) = default;
};

struct CodeMap {
  std::vector<CodePlace> places;
  std::vector<CodeFunction> functions;

  /// The basic block at byte `offset` of a function, or null.
  const CodeRange* find(const std::string& symbol, uint32_t offset) const;
  friend bool operator==(const CodeMap&, const CodeMap&) = default;
};

}  // namespace baton
