#include "baton/cli/selection.h"

#include <algorithm>

#include "baton/support/error.h"
#include "baton/text/origin_label.h"

namespace baton::cli {

void SelectionFlags::add(Flags& flags) {
  flags.option("nodes", &selection.nodes,
               "nodes of graph.json: ids (12), names, entry:17 (the node with that tensor, as node_row_ptr "
               "counts), ranges with both "
               "ends (5:9, entry:5:9), lists (3,5,9:12)");
  flags.option("kernel", &selection.kernel, "a kernel, as `baton profile` names it");
  flags.option("operators", &selection.operators,
               "operators as `baton explain --operator` takes them: %3,%5; or id:3");
}

std::string SelectionFlags::text() const {
  if (!selection.kernel.empty()) return "--kernel " + selection.kernel;
  return selection.nodes.empty() ? "--operators " + selection.operators : "--nodes " + selection.nodes;
}

CutModel load_for_cut(const ModelFlags& flags) {
  CutModel cut;
  if (flags.model.ends_with(".baton"))
    throw UsageError(flags.model +
                     " is an artifact: it holds kernels and no Relay; give the model that it was built from");
  cut.model = load_model(flags.model, flags.shapes);
  BuildOptions options;
  options.params = load_params(cut.model, flags.params, flags.inputs);
  options.context = flags.context();
  cut.program = std::make_unique<CutProgram>(cut.model.module, std::move(options));
  return cut;
}

std::string operator_lines(const std::vector<CutOperator>& operators) {
  size_t width = 0;
  for (const CutOperator& each : operators) width = std::max(width, origin_label(*each.origin).size());
  std::string text;
  for (const CutOperator& each : operators) {
    std::string label = origin_label(*each.origin);
    label.resize(width, ' ');
    text += "  " + label + "  " + each.why + "\n";
  }
  return text;
}

}  // namespace baton::cli
