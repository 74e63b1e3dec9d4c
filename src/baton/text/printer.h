#pragma once
// The printer: modules, expressions and types as Relay text, with numbering, names and layout as in TVM
// 0.11.1.
#include <string>

#include "baton/ir/module.h"
#include "baton/text/print_options.h"

namespace baton {

std::string print(const IRModuleNode& module, const PrintOptions& options);
std::string print(const Expr& expr, const PrintOptions& options);

/// The parsable text form; without metadata its constants cannot be parsed back.
std::string astext(const IRModule& module, bool show_meta_data = true);
std::string astext(const Expr& expr, bool show_meta_data = true);
std::string astext(const Type& type);

/// The short form: without version line and metadata.
std::string str(const IRModule& module);
std::string str(const Expr& expr);
std::string str(const Type& type);

}  // namespace baton
