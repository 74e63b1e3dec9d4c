#pragma once
// From the listing of a kernel to its code map.
#include <cstdint>
#include <string>
#include <vector>

#include "baton/codegen/debug/assembly.h"
#include "baton/codegen/debug/code_map.h"
#include "baton/codegen/kernel/code_shape.h"

namespace baton {

/// Where the blocks of a function begin in the object that ships, and the bytes that fill its gaps.
struct LabelledFunction {
  uint32_t bytes = 0;
  std::vector<uint32_t> blocks;       ///< per block of the assembly: offset from the function's first byte
  std::vector<std::string> paddings;  ///< per padding of the assembly
};
struct LabelledCode {
  std::vector<LabelledFunction> functions;  ///< as in the assembly
};

/// Assembles the text with labels. kUnavailable unless the instructions are those of `object`, byte by byte.
Result<LabelledCode> label_code(const Assembly& assembly, const std::string& object);

/// The map that a labelled listing gives.
CodeMap map_of(const Assembly& assembly, const LabelledCode& code, const KernelListing& listing);

/// The map of `object` by the listing that was made with it, or with another compilation of the same request.
/// kUnavailable where there is no `as`, or one that makes other code than Halide.
Result<CodeMap> map_listing(const KernelListing& listing, const std::string& object);

}  // namespace baton
