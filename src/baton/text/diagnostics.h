#pragma once
// Diagnostics for Relay text, E0101 to E0149.
#include "baton/support/diagnostic.h"

namespace baton::text {

// ---- characters
inline constexpr DiagnosticDef kBadUtf8{"E0101", "the text is not valid UTF-8: byte {0}"};
inline constexpr DiagnosticDef kBadCharacter{"E0102", "unexpected character {0}"};
inline constexpr DiagnosticDef kOpenComment{"E0103", "this comment is never closed",
                                            "it ends with */, and comments nest"};
inline constexpr DiagnosticDef kOpenString{"E0104", "this string is never closed",
                                           "a string ends on its own line"};
inline constexpr DiagnosticDef kBadInteger{"E0105", "{0} is not an integer", "{1}"};
inline constexpr DiagnosticDef kBadNumber{"E0106", "{0} is not a number", "{1}"};
inline constexpr DiagnosticDef kOutOfRange{"E0107", "{0} does not fit into {1}"};
inline constexpr DiagnosticDef kTooLong{"E0108",
                                        "the text has {0} bytes, more than the 4 GB that can be read"};

// ---- syntax
inline constexpr DiagnosticDef kExpected{"E0110", "expected {0}, found {1}"};
inline constexpr DiagnosticDef kExpectedHint{"E0111", "expected {0}, found {1}", "{2}"};
inline constexpr DiagnosticDef kNoVersion{"E0112", "a module begins with its version, found {0}",
                                          "write #[version = \"0.0.5\"] above it"};
inline constexpr DiagnosticDef kBadVersion{"E0113", "version {0} of the text format is not known",
                                           "this is 0.0.5"};
inline constexpr DiagnosticDef kUnknownHash{"E0114", "unknown section {0}",
                                            "there are #[version = \"0.0.5\"] and #[metadata]"};
inline constexpr DiagnosticDef kTooDeep{"E0115", "nested more than {0} levels deep",
                                        "bind inner expressions to %0, %1, ..."};
inline constexpr DiagnosticDef kNotYet{"E0116", "{0}: not supported yet"};
inline constexpr DiagnosticDef kTooManyErrors{"E0117", "more than {0} errors, the rest is not read"};

// ---- names
inline constexpr DiagnosticDef kUnknownOp{"E0120", "there is no operator `{0}`", "{1}"};
inline constexpr DiagnosticDef kUnknownLocal{"E0121", "`{0}` is not defined here", "{1}"};
inline constexpr DiagnosticDef kUnknownGraph{"E0122", "`{0}` is used before its definition"};
inline constexpr DiagnosticDef kUnknownGlobal{"E0123", "there is no function `{0}` in this module", "{1}"};
inline constexpr DiagnosticDef kDuplicateDef{"E0124", "`{0}` is defined twice"};
inline constexpr DiagnosticDef kOwnValue{
    "E0125", "`{0}` is used in its own value",
    "only a function may call itself; give the new variable another name"};
inline constexpr DiagnosticDef kUnknownType{"E0126", "there is no type `{0}`", "{1}"};
inline constexpr DiagnosticDef kBadDType{"E0127", "there is no element type `{0}`", "{1}"};
inline constexpr DiagnosticDef kNegativeExtent{"E0128", "the extent {0} is negative",
                                               "write ? for an unknown extent"};
inline constexpr DiagnosticDef kFreeVariable{"E0129", "a function cannot have the free variable `{0}`",
                                             "make it a parameter"};

inline constexpr DiagnosticDef kTypeArity{"E0135", "type `{0}` takes {1} type arguments, got {2}"};
inline constexpr DiagnosticDef kUnknownConstructor{"E0136", "there is no constructor `{0}`", "{1}"};
inline constexpr DiagnosticDef kPatternArity{"E0137",
                                             "constructor `{0}` has {1} fields, the pattern gives {2}",
                                             "write _ for a field that is not needed"};

// ---- attributes
inline constexpr DiagnosticDef kUnknownAttr{"E0130", "`{0}` has no attribute `{1}`", "{2}"};
inline constexpr DiagnosticDef kBadAttr{"E0131", "attribute `{0}` of `{1}` expects {2}, got {3}"};
inline constexpr DiagnosticDef kDuplicateAttr{"E0132", "attribute `{0}` is given twice"};
inline constexpr DiagnosticDef kAttrOfFunction{"E0133", "attribute `{0}` in a call of a function",
                                               "only operators have attributes"};
inline constexpr DiagnosticDef kWrongAttrsType{"E0134", "`{0}` has attributes of type {1}, not {2}"};
inline constexpr DiagnosticDef kMissingAttr{"E0138", "`{0}` is without its attribute `{1}`", "{2}"};

// ---- metadata
inline constexpr DiagnosticDef kBadMetadata{"E0140", "the metadata section cannot be read: {0}"};
inline constexpr DiagnosticDef kNoMetadata{"E0141", "`{0}` is not in the metadata section", "{1}"};

inline constexpr DiagnosticDef kMetaNoExpr{"E0142", "`{0}` is no expression",
                                           "only meta[relay.Constant][n] stands for a value"};

}  // namespace baton::text
