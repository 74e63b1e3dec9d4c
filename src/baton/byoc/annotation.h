#pragma once
// The marks around what another compiler builds: compiler_begin(x) where a value enters its region,
// compiler_end(x) where one leaves it.
#include <string>
#include <string_view>

#include "baton/ir/expr.h"

namespace baton {

/// The compiler of calls that no other one takes: Baton itself.
inline constexpr std::string_view kDefaultCompiler = "default";

/// The call when `expr` is a compiler_begin, or a compiler_end; else null.
const CallNode* as_compiler_begin(const Expr& expr);
const CallNode* as_compiler_end(const Expr& expr);
/// Of a compiler_begin or compiler_end.
std::string compiler_of(const CallNode& mark);

/// One compiler's marks: what they have in common is made once.
class CompilerMarks {
 public:
  explicit CompilerMarks(std::string compiler);
  const std::string& compiler() const { return compiler_; }
  /// Why marks are made.
  const std::string& reason() const { return reason_; }
  /// compiler_begin(value) and compiler_end(value), standing for `origins`. They have the value's type.
  Expr begin(const Expr& value, const OriginSet& origins) const;
  Expr end(const Expr& value, const OriginSet& origins) const;

 private:
  std::string compiler_, reason_;
  Attrs attrs_;
};

}  // namespace baton
