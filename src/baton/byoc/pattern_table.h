#pragma once
// Composite patterns of external compilers, by name, in order of preference.
#include <string>
#include <vector>

#include "baton/byoc/dataflow_pattern.h"
#include "baton/byoc/pattern_rewrite.h"
#include "baton/pass/pass.h"

namespace baton {

/// "dnnl.conv2d_relu": the prefix before the first dot is the compiler.
struct CompositePattern {
  std::string name;
  DFPattern pattern;
  DFCheck check;  ///< null: accepts every match
};
using PatternTable = std::vector<CompositePattern>;

/// Registers a table for MergeComposite by name. Replaces an earlier one; thread safe.
void register_pattern_table(const std::string& compiler, PatternTable table);

/// Whether there is one of that name.
bool has_pattern_table(const std::string& compiler);

/// The table of that name. UsageError when there is none.
PatternTable pattern_table(const std::string& compiler);

/// The pass MergeComposite with an explicit table.
Pass merge_composite(PatternTable table);

}  // namespace baton
