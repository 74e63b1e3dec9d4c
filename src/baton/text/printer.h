#pragma once
// Modules, expressions and types as Relay text: numbering, names and layout as in TVM 0.11.1.
#include <string>

#include "baton/ir/module.h"
#include "baton/text/print_options.h"

namespace baton {

std::string print(const IRModuleNode& module, const PrintOptions& options);
std::string print(const Expr& expr, const PrintOptions& options);

/// The text that can be read back; without metadata the constants in it cannot.
std::string astext(const IRModule& module, bool show_meta_data = true);
std::string astext(const Expr& expr, bool show_meta_data = true);
std::string astext(const Type& type);

/// The short form: no version line, no metadata.
std::string str(const IRModule& module);
std::string str(const Expr& expr);
std::string str(const Type& type);

}  // namespace baton
