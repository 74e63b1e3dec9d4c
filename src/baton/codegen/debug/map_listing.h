#pragma once
// Builds a kernel's code map from its listing.
#include <cstdint>
#include <string>
#include <vector>

#include "baton/codegen/debug/assembly.h"
#include "baton/codegen/debug/code_map.h"
#include "baton/codegen/kernel/code_shape.h"

namespace baton {

/// No-op instructions up to an aligned address, as Halide chose them.
struct Padding {
  uint32_t offset = 0;
  std::string bytes;
};
/// Byte offsets are those from the function's start, in the shipped object.
struct LabelledFunction {
  uint32_t bytes = 0;
  std::vector<uint32_t> blocks;   ///< per block of the assembly
  std::vector<Padding> paddings;  ///< per padding of the assembly
};
struct LabelledCode {
  std::vector<LabelledFunction> functions;  ///< in assembly order
};

/// Assembles the text with labels added. kUnavailable unless the instructions equal those of `object` byte by
/// byte.
Result<LabelledCode> label_code(const Assembly& assembly, const std::string& object);

/// The code map of a labelled listing.
CodeMap map_of(const Assembly& assembly, const LabelledCode& code, const KernelListing& listing);

/// The code map of `object`, from a listing of the same compilation or of another one of the same request.
/// kUnavailable without `as`, or when its output differs from Halide's.
Result<CodeMap> map_listing(const KernelListing& listing, const std::string& object);

}  // namespace baton
