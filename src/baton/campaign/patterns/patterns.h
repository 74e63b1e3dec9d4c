#pragma once
// Operators and fused functions as models have them, and the same with other extents and attributes.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "baton/frontend/variations/choice.h"
#include "baton/ir/module.h"
#include "baton/pass/build_context.h"

namespace baton {

/// A function that a model computes as one kernel.
struct KernelPattern {
  Function function;          ///< typed, of static shapes; no constants but scalars
  std::vector<bool> weights;  ///< of each parameter: a weight of its model, not data
  std::string family;         ///< of that model
};

/// The fused functions of `module` (typed, main of operators only, weights as parameters), each once by
/// content.
std::vector<KernelPattern> patterns_of(const IRModule& module, const std::string& family,
                                       const BuildContext& context);

/// Every operator call of `pattern` as a pattern by itself.
std::vector<KernelPattern> single_operators(const KernelPattern& pattern);

/// The operators of `pattern` up to the first that others may be fused behind (a convolution, a product), and
/// behind it a usual epilogue; nullopt when it has none.
std::optional<KernelPattern> with_epilogue(const KernelPattern& pattern, Choice& choose);

/// `pattern` with other extents, windows, strides and channels: equal extents stay equal. Log-uniform within
/// a factor of three. Nullopt when what was chosen has no type, or is too large.
std::optional<KernelPattern> perturbed(const KernelPattern& pattern, Choice& choose);

/// A program that computes it once: data parameters are inputs (`data`, `data1`, ...), the others weights
/// (`weight0`, ...). Typed.
IRModule program_of(const KernelPattern& pattern);

/// The operators' names in order: patterns of one kind have equal ones.
std::string operators_text(const KernelPattern& pattern);

}  // namespace baton
