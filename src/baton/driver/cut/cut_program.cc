#include "baton/driver/cut/cut_program.h"

#include "baton/driver/cut/node_selection.h"
#include "baton/support/error.h"
#include "baton/types/infer_type.h"

namespace baton {

CutProgram::CutProgram(const IRModule& module, BuildOptions options)
    : options_(std::move(options)), source_(module), graph_(cut_source(module, options_.context)) {}

CutProgram::CutProgram(const BuildResult& built, BuildOptions options)
    : options_(std::move(options)),
      source_(built.source),
      graph_(cut_source(built.source, options_.context)),
      built_(&built) {}

CutPlan CutProgram::plan() {
  if (built_) return {&built_->plan, &built_->optimized->origins()};
  if (!plan_) {
    optimized_ = optimized_for_build(infer_types(source_->copy()), options_);
    plan_ = make_plan(optimized_, options_.mod_name);
  }
  return {&*plan_, &optimized_->origins()};
}

std::vector<int> CutProgram::nodes(const CutSelection& selection) {
  const int given = !selection.kernel.empty() + !selection.nodes.empty() + !selection.operators.empty();
  if (given != 1)
    throw UsageError("what is to be cut? Give one of --kernel NAME, --nodes A:B and --operators %3,%5");
  if (!selection.operators.empty()) return {};
  if (!selection.nodes.empty()) return select_nodes(*plan().plan, selection.nodes);
  return select_kernel(*plan().plan, selection.kernel);
}

CutChoice CutProgram::choose(const CutSelection& selection) {
  std::vector<int> chosen_nodes = nodes(selection);
  std::vector<ChosenOperator> wanted;
  if (!selection.operators.empty()) {
    for (const Origin* origin : select_operators(graph_.module()->origins(), selection.operators))
      wanted.push_back({origin, "chosen", false});
  } else {
    if (!selection.kernel.empty()) chosen_nodes.resize(1);  // other nodes run the same code on other values
    wanted = operators_of_nodes(plan(), chosen_nodes);
  }
  return choose_steps(graph_, wanted, [this]() -> CutPlan {
    try {
      return plan();
    } catch (const NotSupported&) {
      return {};
    }
  });
}

}  // namespace baton
