#pragma once
// Shared by the relations of windows over 1, 2 or 3 spatial axes: layouts, paddings, extents. Extents are
// computed in 128 bits, so that no attribute or shape can overflow.
#include <optional>
#include <string>
#include <vector>

#include "baton/ops/relations.h"

namespace baton {

__extension__ typedef __int128 WideInt;

/// The names of the layouts with `count` spatial axes: "NCW", "NCHW", "NCDHW" / "W", "HW", "DHW".
const char* data_letters(int count);
const char* spatial_letters(int count);

/// `value` as an extent; reports when it is negative or exceeds 64 bits.
std::optional<Dim> checked_extent(RelationContext& ctx, WideInt value);
/// The product of all; `?` when one is `?`. Reports overflow of 64 bits of numbers.
std::optional<Dim> checked_product(RelationContext& ctx, std::initializer_list<Dim> dims);
/// `dim` / `by`, rounded; `?` stays `?`. Needs by > 0.
Dim divided(Dim dim, int64_t by);

/// Reports unless every named list has `count` values that are at least `least`.
struct NamedList {
  const char* name;
  const std::vector<int64_t>* values;
};
bool check_lists(RelationContext& ctx, std::initializer_list<NamedList> lists, size_t count,
                 int64_t least = 1);

/// Before plus after of each spatial axis, from 1 value (for all sides), `count` values (both sides alike) or
/// 2 * `count` values (all befores, then all afters). Reports any other number of values, and negative
/// values.
std::optional<std::vector<int64_t>> padding_sums(RelationContext& ctx, const std::vector<int64_t>& padding,
                                                 int count);

/// A window along one axis: extent, total padding, and the window itself.
struct Window {
  Dim extent;
  int64_t padding = 0;
  Dim size = 1;
  int64_t dilation = 1;
  int64_t stride = 1;
  bool ceil = false;  ///< the last window may reach over the edge
};
/// The number of window positions; reports when there are none.
std::optional<Dim> window_positions(RelationContext& ctx, const Window& window);

/// The layout of a pool of `count` spatial axes over input 0, whose rank it must have. The axes must not be
/// split.
std::optional<Layout> spatial_layout(RelationContext& ctx, const std::string& text, int count);

/// Positions of the letters in a layout.
std::vector<int> layout_axes(const std::string& layout, const std::string& letters);

/// 1, n or 2n values as the n values before and the n after.
void split_padding(const std::vector<int64_t>& padding, size_t n, std::vector<int64_t>* before,
                   std::vector<int64_t>* after);

}  // namespace baton
