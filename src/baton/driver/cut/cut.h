#pragma once
// Extracts a part of a program, in source operators, as a program. See docs/design/0012-cutting.md.
#include <string>
#include <vector>

#include "baton/driver/cut/cut_choice.h"
#include "baton/driver/cut/cut_graph.h"

namespace baton {

/// A parameter of the extracted program and its source in the original program.
struct CutParam {
  enum class Kind {
    kParam,     ///< a parameter of the original program, same name
    kConstant,  ///< a constant of the original program
    kValue,     ///< a value computed before the cut
  };
  Kind kind;
  Var var;            ///< parameter of the cut's main
  Expr source;        ///< in the original program
  std::string label;  ///< of a value: what computes it, "%19 nn.relu"
};

struct CutOutput {
  Expr source;  ///< in the original program
  std::string label;
};

struct Cut {
  IRModule module;  ///< typed; main takes `params` and returns `outputs`, a tuple when there are several
  std::vector<CutParam> params;    ///< tensors: values first, then parameters and constants
  std::vector<CutOutput> outputs;  ///< tensors
  std::vector<CutOperator> operators, left_out;
};

/// Constants become parameters, except scalars and those inside functions. Throws NotSupported for a value
/// that crosses the cut's boundary and is neither a tensor nor a tuple of tensors.
Cut cut_out(const CutGraph& graph, const CutChoice& choice);

/// The item paths of all tensors in a value of this type. Throws NotSupported for other component types.
std::vector<std::vector<int>> tensors_in(const Type& type, const std::string& what);

/// Item path[0] of `value`, of that item path[1], ...
Expr item_at(Expr value, const std::vector<int>& path);

}  // namespace baton
