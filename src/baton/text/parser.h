#pragma once
// Relay text to modules and expressions. Throws DiagnosticError with every mistake found.
#include <string>
#include <vector>

#include "baton/ir/module.h"
#include "baton/text/meta_table.h"

namespace baton {

/// Reads a module: the version line, `def`s, `type`s and the metadata section if there is one. Types are
/// those written; nothing is inferred. Each call of an operator gets a new Origin, whose span is the
/// operator's name in the text. `init`: its functions and data types are known in the text, and are in the
/// result (`init` itself stays as it is). `metadata`: objects that the text may refer to, counted behind
/// those of its own metadata section.
IRModule parse_module(std::string text, std::string source_name = "from_string", const IRModule& init = {},
                      MetaTable metadata = {});

/// Reads one expression. Variables it does not bind must be declared: `free_var %x: int32; add(%x, 1)`.
Expr parse_expr(std::string text, std::string source_name = "string");

/// Reads a type.
Type parse_type(std::string text, std::string source_name = "string");

/// Reads `key=value, key=value`, as in the attributes of a function.
FunctionAttrs parse_attributes(std::string text, std::string source_name = "string");

/// Where argument `index` of the call that stands at `call` is written (a call's span in the text it was
/// parsed from); no span when the call has another form there, e.g. `%a + %b`.
Span argument_span(const Span& call, size_t index);

}  // namespace baton
