// Partial evaluation: calls are inlined, operators on constants are folded, tuple items are extracted,
// references are read, and ifs and matches on known values become the branch taken. Unknown values are
// emitted, one let per value:
//   let f = fn (y) { add(y, 1) }; f(f(x))
//   ->  let f = ..; let x_0 = 1; let x_1 = add(x, x_0); let x_2 = 1; let x_3 = add(x_1, x_2); x_3
// Unused values are left to DeadCodeElimination. Recursive calls are inlined while an argument decreases.

#include <algorithm>

#include "baton/ir/analysis/features.h"
#include "baton/ir/analysis/normal_form.h"
#include "baton/ir/functions.h"
#include "baton/pass/pass.h"
#include "baton/transform/functional/partial_evaluator.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

bool is_dataflow(const std::set<Feature>& features) {
  return std::ranges::all_of(features, [](Feature feature) {
    return feature == Feature::kVar || feature == Feature::kGlobalVar || feature == Feature::kConstant ||
           feature == Feature::kOp || feature == Feature::kTuple || feature == Feature::kTupleGetItem ||
           feature == Feature::kCall || feature == Feature::kGraph;
  });
}

}  // namespace

Pass partial_evaluate() {
  return module_pass(
      {1, "PartialEval", {}},
      [](IRModule module, const BuildContext& context) {
        // Shared values must be bound to variables, so that they are computed once. Pure dataflow is exempt:
        // everything in it is evaluated, in the same order.
        bool shared = false, dataflow = true;
        for (const auto& [name, function] : module->functions()) {
          const auto found = features(function->body());
          shared |= found.contains(Feature::kGraph);
          dataflow &= is_closed(*function) || is_dataflow(found);
        }
        if (shared && !dataflow) module = to_normal_form(std::move(module), NormalForm::kAll);
        module = infer_types(std::move(module));
        const IRModule before = module->copy();
        uint64_t names = 0;
        partial::PartialEvaluator machine(*before, context, names, shared && dataflow);
        for (const auto& [name, function] : before->functions()) machine.know(name, module->global_var(name));
        for (const auto& [name, function] : before->functions())
          if (!is_closed(*function)) module->set(name, machine.run(name, function));
        return module;
      },
      /*may_retire=*/true);
}

}  // namespace baton
