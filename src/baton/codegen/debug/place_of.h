#pragma once
// The steps on the way from assembly text to a code map.
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

/// What each block of a function computes.
std::vector<CodePlace> places_of(const AssemblyFunction& function, const KernelShape& shape);

/// "12_for_baton_k0_b0_nn_conv2d__pad$1.s0.y"  ->  "for b0_nn_conv2d__pad.s0.y"
std::string shown_label(const std::string& name, const std::string& prefix);

}  // namespace baton
