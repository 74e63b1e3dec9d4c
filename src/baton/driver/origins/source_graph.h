#pragma once
// The source as a graph of operators before any pass: types and def-use edges.
#include <unordered_map>
#include <vector>

#include "baton/ir/module.h"
#include "baton/ir/rules/cost.h"

namespace baton {

/// Facts about one source operator.
struct SourceOperator {
  Type type;                      ///< of its result
  std::vector<Type> input_types;  ///< of its arguments
  Type weight;                    ///< of the argument named `weight` in the operator's block; or null
  std::string weight_name;        ///< of that argument, when it is a variable
  std::string brief;              ///< ir/rules/brief.h
  CostFacts cost;
  std::string function = {};  ///< the path of global functions that it is in, main left out: "block/norm"
  std::vector<const Origin*> inputs;  ///< the distinct operators whose results it reads, in argument order
};

/// `typed`: the source. Values are traced through tuples, variables, branches and function calls; a call of
/// an unknown function (e.g. a parameter) reads its arguments. An operator with several calls has the types
/// of the last one.
std::unordered_map<const Origin*, SourceOperator> source_graph(const IRModuleNode& typed);

}  // namespace baton
