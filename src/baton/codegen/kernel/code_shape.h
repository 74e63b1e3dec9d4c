#pragma once
// The shape of a kernel's code, from the lowered pipeline: the order of stages in its functions. LLVM merges
// basic blocks into their predecessor and keeps that one's name, so the contents of a block follow from name
// and order together.
#include <set>
#include <string>
#include <vector>

#include "baton/codegen/kernel/kernel.h"

namespace baton {

/// A point where Halide begins a basic block.
struct CodeSegment {
  std::string
      name;       ///< "entry", or as in a label: "3_for_baton_k..._b0_nn_conv2d__pad$1.s0.y", "3_end_for_..."
  HeldStage own;  ///< the enclosing stage
  std::vector<HeldStage> stores;  ///< stages that are stored to here, in order
};

struct FunctionShape {
  std::string symbol;
  std::vector<CodeSegment> segments;  ///< in program order
};

/// A stage and the operators computed in it.
struct StageBlocks {
  HeldStage stage;
  std::set<int> blocks;  ///< its own and those inlined into it
};

struct KernelShape {
  std::vector<FunctionShape> functions;
  std::vector<StageBlocks> stages;
};

/// Object code and assembly text of the same compilation, and its shape.
struct KernelListing {
  std::string symbol, object, assembly;
  KernelShape shape;
};

}  // namespace baton
