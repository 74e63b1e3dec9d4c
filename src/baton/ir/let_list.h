#pragma once
// Writing programs as lists of bindings: let %x_1 = ..; let %x_2 = ..; result.
#include <string>
#include <utility>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// Variables x_0, x_1, ...: the counter of one pass over one module.
class FreshVars {
 public:
  /// A variable that stands for values of `type` (null: to be inferred). `annotate`: says so in the text.
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
  /// `annotate`: the variables say what type they have, when that is known.
  explicit LetList(FreshVars& fresh, bool annotate = false) : fresh_(fresh), annotate_(annotate) {}
  /// Binds `value` to a fresh variable.
  Expr push(Expr value, Type type = {}) {
    bindings_.emplace_back(fresh_.make(std::move(type), annotate_), std::move(value));
    return Expr(bindings_.back().first);
  }
  /// The bindings around `body`, which end here; typed where all of them are.
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
