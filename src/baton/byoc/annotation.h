#pragma once
// Annotations of external compilers' regions: compiler_begin(x) where a value enters a region,
// compiler_end(x) where one leaves it.
#include <string>
#include <string_view>

#include "baton/ir/expr.h"

namespace baton {

/// The compiler of unassigned calls: Baton itself.
inline constexpr std::string_view kDefaultCompiler = "default";

/// `expr` as a call of compiler_begin, or of compiler_end; else null.
const CallNode* as_compiler_begin(const Expr& expr);
const CallNode* as_compiler_end(const Expr& expr);
/// The compiler of a compiler_begin or compiler_end.
std::string compiler_of(const CallNode& mark);

/// Makes one compiler's annotations, sharing their common parts.
class CompilerMarks {
 public:
  explicit CompilerMarks(std::string compiler);
  const std::string& compiler() const { return compiler_; }
  /// The reason of the annotations' origins.
  const std::string& reason() const { return reason_; }
  /// compiler_begin(value) and compiler_end(value), with `origins` and the value's type.
  Expr begin(const Expr& value, const OriginSet& origins) const;
  Expr end(const Expr& value, const OriginSet& origins) const;

 private:
  std::string compiler_, reason_;
  Attrs attrs_;
};

}  // namespace baton
