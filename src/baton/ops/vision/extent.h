#pragma once
#include <initializer_list>
#include <optional>

#include "baton/ops/relations.h"

namespace baton {

/// The product of a result's extents; `?` when one is `?`. Reports overflow of 64 bits at input `arg`.
std::optional<Dim> result_extent(RelationContext& ctx, int arg, std::initializer_list<Dim> dims);

}  // namespace baton
