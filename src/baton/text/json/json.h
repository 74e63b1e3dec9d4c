#pragma once
// Lossless JSON form of modules and expressions, and a reader of TVM 0.11.1's `save_json`. The schema is in
// docs/design/0006-json.md.
#include <string>
#include <string_view>

#include "baton/ir/module.h"

namespace baton {

/// The contents of a JSON text: one of the two.
struct Saved {
  IRModule module;
  Expr expr;
};

struct JsonOptions {
  bool source_text = true;  ///< the texts that spans refer to, for source lines in diagnostics
};

std::string to_json(const IRModuleNode& module, const JsonOptions& options = {});
std::string to_json(const Expr& expr, const JsonOptions& options = {});

/// Reads either form, detected automatically. Throws Error with the position of the error. `types`: keep the
/// inferred types in Baton's form. They are not verified here (driver/load_json.h does that). TVM's form
/// never includes them.
Saved from_json(std::string_view text, bool types = true);

}  // namespace baton
