#pragma once
// A part of a program as a program of its own, in the user's own operators. See docs/design/0012-cutting.md.
#include <string>
#include <vector>

#include "baton/driver/cut/cut_choice.h"
#include "baton/driver/cut/cut_graph.h"

namespace baton {

/// A parameter of what was cut out, and what stands for it in the program.
struct CutParam {
  enum class Kind {
    kParam,     ///< a parameter of the program, of the same name
    kConstant,  ///< a constant of the program
    kValue,     ///< what the program computes before the cut
  };
  Kind kind;
  Var var;            ///< of the cut's main
  Expr source;        ///< in the program
  std::string label;  ///< of a value: what computes it, "%19 nn.relu"
};

struct CutOutput {
  Expr source;  ///< in the program
  std::string label;
};

struct Cut {
  IRModule module;  ///< typed; main takes `params` and returns `outputs`, a tuple when there are several
  std::vector<CutParam> params;    ///< tensors: values first, then parameters and constants
  std::vector<CutOutput> outputs;  ///< tensors
  std::vector<CutOperator> operators, left_out;
};

/// Constants become parameters, but for scalars and those inside functions. Throws NotSupported for a value
/// that crosses the border of the cut and is no tensor or tuple of tensors.
Cut cut_out(const CutGraph& graph, const CutChoice& choice);

/// The tensors that a value of this type is made of, each as items of it. Throws NotSupported for anything
/// else in it.
std::vector<std::vector<int>> tensors_in(const Type& type, const std::string& what);

/// Item path[0] of `value`, of that item path[1], ...
Expr item_at(Expr value, const std::vector<int>& path);

}  // namespace baton
