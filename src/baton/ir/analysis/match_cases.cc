// Exhaustiveness check: cases are matched against the clauses in order. A case too general to decide whether
// a clause matches is split at the subpattern where the clause is deeper: by constructor, or into tuple
// fields.
#include "baton/ir/analysis/match_cases.h"

namespace baton {

namespace {

constexpr size_t kMaxCases = 20000;

enum class Fit { kApplies, kDiffers, kTooGeneral };

Fit fit_of(const Pattern& clause, const Pattern& value) {
  if (clause->kind() == PatternKind::kWildcard || clause->kind() == PatternKind::kVar) return Fit::kApplies;
  if (value->kind() == PatternKind::kWildcard) return Fit::kTooGeneral;
  if (clause->kind() != value->kind() || clause->patterns().size() != value->patterns().size())
    return Fit::kDiffers;
  if (clause->kind() == PatternKind::kConstructor &&
      clause->constructor()->name() != value->constructor()->name())
    return Fit::kDiffers;
  Fit all = Fit::kApplies;
  for (size_t i = 0; i < clause->patterns().size(); ++i) {
    const Fit fit = fit_of(clause->patterns()[i], value->patterns()[i]);
    if (fit == Fit::kDiffers) return fit;
    if (fit == Fit::kTooGeneral) all = fit;
  }
  return all;
}

// The most general patterns at the level of `clause`: one per constructor, or a tuple of wildcards. Empty for
// an undefined data type.
std::vector<Pattern> most_general(const Pattern& clause, const IRModuleNode& module) {
  std::vector<Pattern> values;
  if (clause->kind() == PatternKind::kTuple) {
    values.push_back(tuple_pattern(std::vector<Pattern>(clause->patterns().size(), wildcard_pattern())));
    return values;
  }
  const TypeData type = module.find_type(clause->constructor()->belongs_to()->name());
  if (!type) return values;
  for (const Constructor& each : type->constructors())
    values.push_back(
        constructor_pattern(each, std::vector<Pattern>(each->inputs().size(), wildcard_pattern())));
  return values;
}

// `value` split at the first subpattern where `clause` is deeper.
std::vector<Pattern> split(const Pattern& clause, const Pattern& value, const IRModuleNode& module) {
  if (value->kind() == PatternKind::kWildcard) return most_general(clause, module);
  for (size_t i = 0; i < clause->patterns().size(); ++i) {
    if (fit_of(clause->patterns()[i], value->patterns()[i]) != Fit::kTooGeneral) continue;
    std::vector<Pattern> values;
    for (const Pattern& part : split(clause->patterns()[i], value->patterns()[i], module)) {
      std::vector<Pattern> parts = value->patterns();
      parts[i] = part;
      values.push_back(value->kind() == PatternKind::kTuple
                           ? tuple_pattern(std::move(parts))
                           : constructor_pattern(value->constructor(), std::move(parts)));
    }
    return values;
  }
  return {};
}

}  // namespace

std::optional<std::vector<Pattern>> unmatched_cases(const MatchNode& match, const IRModuleNode& module) {
  struct Case {
    Pattern value;
    size_t clause;  // the first clause that may match
  };
  std::vector<Case> open{{wildcard_pattern(), 0}};
  std::vector<Pattern> unmatched;
  for (size_t looked_at = 0; !open.empty(); ++looked_at) {
    if (looked_at > kMaxCases) return std::nullopt;
    const Case current = open.back();
    open.pop_back();
    if (current.clause == match.clauses().size()) {
      unmatched.push_back(current.value);
      continue;
    }
    const Pattern& clause = match.clauses()[current.clause].pattern;
    switch (fit_of(clause, current.value)) {
      case Fit::kApplies:
        break;
      case Fit::kDiffers:
        open.push_back({current.value, current.clause + 1});
        break;
      case Fit::kTooGeneral: {
        const std::vector<Pattern> parts = split(clause, current.value, module);
        for (auto part = parts.rbegin(); part != parts.rend(); ++part)
          open.push_back({*part, current.clause});
        break;
      }
    }
  }
  return unmatched;
}

}  // namespace baton
