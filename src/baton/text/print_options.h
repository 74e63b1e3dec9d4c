#pragma once
// Options of the printer.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// The position of the operator's name in a printed call. Lines and columns are 1-based.
struct CallPosition {
  const CallNode* call;
  uint32_t line, column;
};

struct PrintOptions {
  enum class Metadata {
    kFull,     ///< `#[metadata]` and JSON, which can be parsed back
    kComment,  ///< a comment in place of the metadata
    kNone,
  };
  bool version = true;       ///< `#[version = "0.0.5"]` first
  bool types = true;         ///< `/* ty=... */` where types are inferred
  bool spans = true;         ///< `/* span=name:line:column */` for parsed nodes
  bool origins = false;      ///< `/* from=LINE:COL */` after nodes with origins, `made_for=LINE:COL
                             ///< "reason"` for the compiler's own, and a table of them at the end, with which
                             ///< they are read back: origin_text.h
  bool origin_table = true;  ///< with `origins`: the table
  Metadata metadata = Metadata::kFull;
  /// Replaces the comments: its text is printed after the first occurrence of each expression.
  std::function<std::string(const Expr&)> annotate;
  /// Overrides the names of origins (default: line and column in the source, else source name, else
  /// operator); no table is printed then.
  std::function<std::string(const Origin&)> origin_name;
  /// When set, receives the positions of all operator calls, in textual order.
  std::vector<CallPosition>* positions = nullptr;
};

}  // namespace baton
