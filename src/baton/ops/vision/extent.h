#pragma once
#include <initializer_list>
#include <optional>

#include "baton/ops/relations.h"

namespace baton {

/// The product of extents of a result; `?` when one is `?`. Reports, at input `arg`, when 64 bits do not hold
/// it.
std::optional<Dim> result_extent(RelationContext& ctx, int arg, std::initializer_list<Dim> dims);

}  // namespace baton
