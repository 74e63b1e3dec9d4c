#pragma once
// The keys of Baton's JSON form, in one order for the reader's `switch`.
#include <array>
#include <string_view>
#include <utility>

#include "baton/ir/extent.h"

namespace baton::text {

enum class JsonKey : uint32_t {
  // File
  kFormat,
  kVersion,
  kNodes,
  kSources,
  kModule,
  kRoot,
  kName,
  kText,
  // Types
  kTensor,
  kDType,
  kTupleType,
  kFuncType,
  kRet,
  kTypeParams,
  kTypeVar,
  kGlobalTypeVar,
  kKind,
  kTypeCall,
  kArgs,
  kRefType,
  kHole,
  kExtent,
  // Expressions
  kVar,
  kGlobal,
  kArray,
  kData,
  kConstant,
  kOp,
  kConstructor,
  kInputs,
  kOf,
  kTag,
  kTuple,
  kItem,
  kIndex,
  kCall,
  kAttrs,
  kFunction,
  kBody,
  kLet,
  kValue,
  kIf,
  kThen,
  kElse,
  kMatch,
  kClauses,
  kComplete,
  kRef,
  kRead,
  kWrite,
  // Common fields of expressions
  kType,
  kSpan,
  kFrom,
  // Attributes, origins, data types
  kAttrsOf,
  kValues,
  kOrigin,
  kSource,
  kOrigins,
  kCauses,
  kReason,
  kAt,
  kPlace,
  kLine,
  kTypeDef,
  kConstructors,
  // Patterns and attribute values
  kBind,
  kCase,
  kParts,
  kReal,
  kExpr,
  kDevice,
  // Module
  kFunctions,
  kTypeDefs,
  kTable,
  kRetired,
  kPass,
  kCount
};

inline constexpr std::array<std::string_view, static_cast<size_t>(JsonKey::kCount)> kJsonKeys = {
    "format",       "version",     "nodes",      "sources",
    "module",       "root",        "name",       "text",
    "tensor",       "dtype",       "tuple_type", "func_type",
    "ret",          "type_params", "type_var",   "global_type_var",
    "kind",         "type_call",   "args",       "ref_type",
    "hole",         "extent",      "var",        "global",
    "array",        "data",        "constant",   "op",
    "constructor",  "inputs",      "of",         "tag",
    "tuple",        "item",        "index",      "call",
    "attrs",        "function",    "body",       "let",
    "value",        "if",          "then",       "else",
    "match",        "clauses",     "complete",   "ref",
    "read",         "write",       "type",       "span",
    "from",         "attrs_of",    "values",     "origin",
    "source",       "origins",     "causes",     "reason",
    "at",           "place",       "line",       "type_def",
    "constructors", "bind",        "case",       "parts",
    "real",         "expr",        "device",     "functions",
    "type_defs",    "table",       "retired",    "pass"};
static_assert(!kJsonKeys.back().empty());

/// The operations on symbolic extents.
inline constexpr std::pair<ExtentOp, std::string_view> kExtentOps[] = {{ExtentOp::kAdd, "add"},
                                                                       {ExtentOp::kSub, "sub"},
                                                                       {ExtentOp::kMul, "mul"},
                                                                       {ExtentOp::kFloorDiv, "floor_div"}};

inline constexpr std::string_view kJsonFormat = "baton.ir";
inline constexpr int kJsonVersion = 3;

}  // namespace baton::text
