#pragma once
// What other compilers build as one: for each, patterns by name, in order of preference.
#include <string>
#include <vector>

#include "baton/byoc/dataflow_pattern.h"
#include "baton/byoc/pattern_rewrite.h"
#include "baton/pass/pass.h"

namespace baton {

/// "dnnl.conv2d_relu": what stands before the first dot is the compiler.
struct CompositePattern {
  std::string name;
  DFPattern pattern;
  DFCheck check;  ///< null: every match
};
using PatternTable = std::vector<CompositePattern>;

/// For MergeComposite by name. Replaces an earlier one; thread safe.
void register_pattern_table(const std::string& compiler, PatternTable table);

/// The pass MergeComposite with a table of its own.
Pass merge_composite(PatternTable table);

}  // namespace baton
