#pragma once
// The source as a graph of operators, before any pass: types, and which operator reads the result of which.
#include <unordered_map>
#include <vector>

#include "baton/ir/module.h"

namespace baton {

/// What the source says of one of its operators.
struct SourceOperator {
  Type type;                      ///< of its value
  std::vector<Type> input_types;  ///< of its arguments
  std::vector<const Origin*>
      inputs;  ///< the operators whose results it reads, in the order of its arguments, each once
};

/// `typed`: the source. Results are followed through tuples, variables, branches and calls of functions; a
/// call of a function that is not known (a parameter, say) reads its arguments. An operator that passes have
/// already made several calls of has the types of the last one.
std::unordered_map<const Origin*, SourceOperator> source_graph(const IRModuleNode& typed);

}  // namespace baton
