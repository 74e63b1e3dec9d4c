#pragma once
// Builds nested lets: let %x_1 = ..; let %x_2 = ..; result.
#include <string>
#include <utility>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// Generates variables x_0, x_1, ...; one instance per pass run over a module.
class FreshVars {
 public:
  /// A fresh variable for values of `type` (null: to be inferred). `annotate`: also set it as the annotation.
  Var make(Type type = {}, bool annotate = false) {
    Type annotation = annotate ? type : Type();
    return make_var("x_" + std::to_string(next_++), std::move(annotation),
                    NodeInfo(OriginSet::none(), {}, std::move(type)));
  }
  uint64_t& next() { return next_; }

 private:
  uint64_t next_ = 0;
};

class LetList {
 public:
  /// `annotate`: annotate the variables with their types where known.
  explicit LetList(FreshVars& fresh, bool annotate = false) : fresh_(fresh), annotate_(annotate) {}
  /// Binds `value` to a fresh variable.
  Expr push(Expr value, Type type = {}) {
    bindings_.emplace_back(fresh_.make(std::move(type), annotate_), std::move(value));
    return Expr(bindings_.back().first);
  }
  /// Wraps `body` in the bindings and clears the list; the lets are typed when all values and `body` are.
  Expr close(Expr body) {
    for (auto binding = bindings_.rbegin(); binding != bindings_.rend(); ++binding) {
      NodeInfo info(OriginSet::none(), {}, body->checked_type());
      body =
          make_let(std::move(binding->first), std::move(binding->second), std::move(body), std::move(info));
    }
    bindings_.clear();
    return body;
  }

 private:
  FreshVars& fresh_;
  bool annotate_;
  std::vector<std::pair<Var, Expr>> bindings_;
};

}  // namespace baton
