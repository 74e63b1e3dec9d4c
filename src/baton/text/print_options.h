#pragma once
// What of a program is printed.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "baton/ir/expr.h"

namespace baton {

/// Where a printed call's operator name stands. Lines and columns count from 1.
struct CallPosition {
  const CallNode* call;
  uint32_t line, column;
};

struct PrintOptions {
  enum class Metadata {
    kFull,     ///< `#[metadata]` and JSON, which can be read back
    kComment,  ///< a comment that says it was left out
    kNone,
  };
  bool version = true;   ///< `#[version = "0.0.5"]` first
  bool types = true;     ///< `/* ty=... */` where types are inferred
  bool spans = true;     ///< `/* span=name:line:column */` of what was parsed
  bool origins = false;  ///< `/* from=LINE:COL */` behind what stands for operators, `made_for=LINE:COL
                         ///< "reason"` for the compiler's own, and a table of them at the end, with which
                         ///< they are read back: origin_text.h
  bool origin_table = true;  ///< with `origins`: the table
  Metadata metadata = Metadata::kFull;
  /// Replaces the comments: its text stands right behind each expression, where that is printed first.
  std::function<std::string(const Expr&)> annotate;
  /// How `origins` names one, instead of the line and column it was read from, else its source name, else its
  /// operator; there is no table then.
  std::function<std::string(const Origin&)> origin_name;
  /// When set: filled with all calls of operators, in the order of the text.
  std::vector<CallPosition>* positions = nullptr;
};

}  // namespace baton
