#pragma once
// Modules and expressions as JSON, without loss, and TVM 0.11.1's `save_json`. docs/design/0006-json.md has
// the schema.
#include <string>
#include <string_view>

#include "baton/ir/module.h"

namespace baton {

/// What a JSON text holds: one of the two.
struct Saved {
  IRModule module;
  Expr expr;
};

struct JsonOptions {
  bool source_text = true;  ///< the texts that spans point into, for the lines that diagnostics show
};

std::string to_json(const IRModuleNode& module, const JsonOptions& options = {});
std::string to_json(const Expr& expr, const JsonOptions& options = {});

/// Reads either form, whichever it is. Throws Error with what is wrong and where.
/// `types`: keeps the inferred types that our form holds. They are what the file says: nothing has compared
/// them with the program (driver/load_json.h does). TVM's form always comes without them.
Saved from_json(std::string_view text, bool types = true);

}  // namespace baton
