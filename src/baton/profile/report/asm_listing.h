#pragma once
// Annotated assembly of a kernel, for `baton explain --asm`.
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "baton/codegen/debug/code_map.h"
#include "baton/codegen/debug/debug_lines.h"
#include "baton/codegen/kernel/code_shape.h"
#include "baton/profile/inside/sampling.h"
#include "baton/support/json.h"

namespace baton {

/// A basic block and its instructions.
struct ListedBlock {
  std::string label;   ///< "for b0_nn_conv2d__pad.s0.p2"; may be empty
  std::string target;  ///< ".LBB0_3": what jumps call it; empty when it is only fallen into
  int depth = 0;       ///< number of enclosing loops
  CodePlace place;
  int line = 0;  ///< source line
  std::vector<std::string> instructions;
  uint64_t samples = 0;
};

struct ListedFunction {
  std::string symbol;
  std::vector<ListedBlock> blocks;
};

struct AsmListing {
  std::string symbol;
  KernelSource source;
  std::vector<std::string> operators;  ///< name of each block of kernel_blocks()
  std::vector<ListedFunction> functions;
  std::vector<CodePlace> places;
  bool sampled = false;
  uint64_t samples = 0;  ///< in all blocks
};

/// The listing of `kernel`, compiled from `request`. `counts`: its samples from sample_kernel(), or null.
/// kUnavailable as for code_map().
Result<AsmListing> asm_listing(const KernelRequest& request, const Kernel& kernel, const DeviceSheet& sheet,
                               const SampleCounts* counts = nullptr);

/// The source with line numbers, instructions (and time) by operator, then every block: line, stage, loops,
/// instruction.
void write_listing(std::ostream& out, const AsmListing& listing);
Json to_json(const AsmListing& listing);

}  // namespace baton
