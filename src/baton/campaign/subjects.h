#pragma once
// The programs that a design names, each once by content.
#include <string>
#include <vector>

#include "baton/campaign/design.h"
#include "baton/ir/module.h"
#include "baton/pass/build_context.h"
#include "baton/support/base/params_blob.h"

namespace baton {

struct Subject {
  enum class Kind { kModel, kPattern, kTransfer };
  Kind kind = Kind::kModel;
  std::string name;    ///< "resnet-18", "vgg/7", "conv2d 3x3 64->64 @56 + add + relu"
  std::string family;  ///< of the model, or of the one that the pattern is like; empty: none
  IRModule module;     ///< typed; its calls have origins of their own
  Work work;           ///< of the whole program
};

/// Uncertainty of what a predictor says of a work; >= 0, 1 is usual.
using Uncertainty = std::function<double(const Work& work)>;
/// By Design::uncertainty: the largest of the work's operators, 1 for those without an entry.
Uncertainty uncertainty_of(const Design& design);

/// Models first, then variations, patterns and transfers. `uncertain`: patterns are drawn in proportion to
/// it. Throws Error for a model that does not exist or parse.
std::vector<Subject> subjects_of(const Design& design, const BuildContext& context,
                                 const Uncertainty& uncertain);

/// Weights of its main by the tensor rule; the inputs are left out.
NamedArrays weights_of(const Subject& subject);

}  // namespace baton
