// What a compiler builds as one becomes a function of its own, one entry of the pattern table after the
// other:
//   relu(conv2d(x, w))  ->  fn(a, b, PartitionedFromPattern="nn.conv2d_nn.relu_",
//   Composite="dnnl.conv2d_relu")
//                             { relu(conv2d(a, b)) }(x, w)

#include <map>

#include "baton/byoc/pattern_table.h"
#include "baton/byoc/typed_expr.h"
#include "baton/support/diagnostic.h"
#include "baton/support/error.h"

namespace baton {

namespace {

std::map<std::string, PatternTable>& tables() {
  static std::map<std::string, PatternTable> tables;
  return tables;
}

const PatternTable& table_named(const std::string& compiler) {
  if (const PatternTable* table = find_pattern_table(compiler)) return *table;
  std::vector<std::string> names;
  for (const auto& [name, table] : tables()) names.push_back(name);
  const std::string near = did_you_mean(compiler, names);
  throw UsageError("no pattern table is registered for `" + compiler + "`" +
                   (near.empty() ? "" : "; did you mean `" + near + "`?"));
}

Function composed(Function function, const IRModuleNode& module, const PatternTable& table) {
  for (const CompositePattern& entry : table) {
    const CutTypes types = function->checked_type() ? CutTypes::kGiven : CutTypes::kLeftOpen;
    const Function merged = as_ref<FunctionNode>(
        dataflow_partition(entry.pattern, Expr(function), {{"Composite", entry.name}}, entry.check, types));
    if (merged == function) continue;
    // Checks and patterns of later entries look at types.
    function = as_ref<FunctionNode>(typed_expr(Expr(merged), &module));
  }
  return function;
}

}  // namespace

void register_pattern_table(const std::string& compiler, PatternTable table) {
  tables()[compiler] = std::move(table);
}

const PatternTable* find_pattern_table(const std::string& compiler) {
  const auto at = tables().find(compiler);
  return at == tables().end() ? nullptr : &at->second;
}

Pass merge_composite(PatternTable table) {
  return function_pass(
      {0, "MergeComposite", {}},
      [table = std::move(table)](const Function& function, const IRModule& module, const PassContext&) {
        return composed(function, *module, table);
      });
}

/// By the name of a registered table.
Pass merge_composite(const PassArgs& args) {
  PassArgReader reader("MergeComposite", args);
  const std::string compiler = reader.text("pattern_table", "");
  reader.finish();
  return merge_composite(compiler.empty() ? PatternTable() : table_named(compiler));
}

}  // namespace baton
