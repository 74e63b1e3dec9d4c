// Outlines composite patterns of an external compiler as functions, in the order of the pattern table:
//   relu(conv2d(x, w))  ->  fn(a, b, PartitionedFromPattern="nn.conv2d_nn.relu_",
//   Composite="dnnl.conv2d_relu")
//                             { relu(conv2d(a, b)) }(x, w)

#include "baton/byoc/pattern_table.h"
#include "baton/byoc/typed_expr.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"
#include "baton/support/registry.h"

namespace baton {

namespace {

// Never destroyed: checks of patterns may be Python functions, and the interpreter may be gone at process
// exit.
Registry<PatternTable>& tables() {
  static auto& all = *new Registry<PatternTable>;
  return all;
}

Function composed(Function function, const IRModuleNode& module, const PatternTable& table) {
  for (const CompositePattern& entry : table) {
    const CutTypes types = function->checked_type() ? CutTypes::kGiven : CutTypes::kLeftOpen;
    const Function merged = as_ref<FunctionNode>(
        dataflow_partition(entry.pattern, Expr(function), {{"Composite", entry.name}}, entry.check, types));
    if (merged == function) continue;
    // Checks and patterns of later entries read types.
    function = as_ref<FunctionNode>(typed_expr(Expr(merged), &module));
  }
  return function;
}

}  // namespace

void register_pattern_table(const std::string& compiler, PatternTable table) {
  tables().set(compiler, std::move(table));
}

PatternTable pattern_table(const std::string& compiler) {
  if (const auto table = tables().find(compiler)) return *table;
  const std::string near = did_you_mean(compiler, tables().keys());
  throw UsageError("no pattern table is registered for `" + compiler + "`" +
                   (near.empty() ? "" : "; did you mean `" + near + "`?"));
}

bool has_pattern_table(const std::string& compiler) { return tables().find(compiler) != nullptr; }

Pass merge_composite(PatternTable table) {
  return function_pass(
      {0, "MergeComposite", {}},
      [table = std::move(table)](const Function& function, const IRModule& module, const PassContext&) {
        return composed(function, *module, table);
      });
}

/// Uses the registered table of that name.
Pass merge_composite(const PassArgs& args) {
  PassArgReader reader("MergeComposite", args);
  const std::string compiler = reader.text("pattern_table", "");
  reader.finish();
  return merge_composite(compiler.empty() ? PatternTable() : pattern_table(compiler));
}

}  // namespace baton
