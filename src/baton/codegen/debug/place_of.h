#pragma once
// Maps the basic blocks of assembly text to stages, by the names that Halide gave them.
#include <string>
#include <vector>

#include "baton/codegen/debug/assembly.h"
#include "baton/codegen/debug/code_map.h"
#include "baton/codegen/kernel/code_shape.h"

namespace baton {

/// The place of each block of a function.
std::vector<CodePlace> places_of(const AssemblyFunction& function, const KernelShape& shape);

/// "12_for_baton_k0_b0_nn_conv2d__pad$1.s0.y"  ->  "for b0_nn_conv2d__pad.s0.y"
std::string shown_label(const std::string& name, const std::string& prefix);

}  // namespace baton
