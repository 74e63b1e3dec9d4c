#pragma once
// The table of all conversion rules.
#include "baton/frontend/onnx/conversion.h"

namespace baton::onnx {

/// The newest version of ONNX's own operators whose definitions the rules follow.
constexpr int64_t kNewestOpset = 28;

/// Null: there is no rule.
const Operator* find_operator(std::string_view domain, std::string_view name);
std::vector<const Operator*> all_operators();

/// Rules that need no Relay: integers that shapes are made of. nullopt: not all of `c`'s inputs are known, or
/// it is no such operator.
std::optional<KnownIntegers> fold_integers(const Conversion& c);

/// The extents that an Equal compares; nullopt: `c` is none, or compares something else.
std::optional<std::pair<Dim, Dim>> compared_extents(const Conversion& c);

}  // namespace baton::onnx
