#pragma once
// The parser of Relay text. Throws DiagnosticError with all errors found.
#include <string>
#include <vector>

#include "baton/ir/module.h"
#include "baton/text/meta_table.h"

namespace baton {

/// Parses a module: the version line, `def`s, `type`s and an optional metadata section. Types are those
/// written; nothing is inferred. Each operator call gets a new Origin, whose span is the operator's name in
/// the text. `init`: its functions and data types are visible to the text and included in the result (`init`
/// itself is not modified). `metadata`: objects that the text may reference, numbered after those of its own
/// metadata section.
IRModule parse_module(std::string text, std::string source_name = "from_string", const IRModule& init = {},
                      MetaTable metadata = {});

/// Parses one expression. Free variables must be declared: `free_var %x: int32; add(%x, 1)`.
Expr parse_expr(std::string text, std::string source_name = "string");

/// Parses a type.
Type parse_type(std::string text, std::string source_name = "string");

/// Parses `key=value, key=value`, as in the attributes of a function.
FunctionAttrs parse_attributes(std::string text, std::string source_name = "string");

/// The span of argument `index` of the call with span `call` in the text it was parsed from; an unknown span
/// when the call has another syntactic form, e.g. `%a + %b`.
Span argument_span(const Span& call, size_t index);

}  // namespace baton
