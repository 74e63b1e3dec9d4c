#pragma once
// What the names of basic blocks mean: which stages stand in which order in the functions of a kernel, read
// off the lowered pipeline. LLVM melts blocks into the one before them and keeps that one's name, so a name
// alone does not say what is in a block; name and order do.
#include <set>
#include <string>
#include <vector>

#include "baton/codegen/kernel/kernel.h"

namespace baton {

/// Where Halide begins a basic block.
struct CodeSegment {
  std::string
      name;       ///< "entry", or as in a label: "3_for_baton_k..._b0_nn_conv2d__pad$1.s0.y", "3_end_for_..."
  HeldStage own;  ///< the stage it stands in
  std::vector<HeldStage> stores;  ///< the stages that values are stored to here, in order
};

struct FunctionShape {
  std::string symbol;
  std::vector<CodeSegment> segments;  ///< in the order of the program
};

/// A stage and the operators that are computed in it.
struct StageBlocks {
  HeldStage stage;
  std::set<int> blocks;  ///< its own and those that were inlined into it
};

struct KernelShape {
  std::vector<FunctionShape> functions;
  std::vector<StageBlocks> stages;
};

/// Object code and assembly text of one and the same compilation, and its shape.
struct KernelListing {
  std::string symbol, object, assembly;
  KernelShape shape;
};

}  // namespace baton
