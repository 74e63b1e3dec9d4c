#pragma once
// Layouts of tensors that lack some axes; shared by both kinds of layout rules (layout_rules.h,
// layout_flow_rules.h).
#include <string>
#include <string_view>

#include "baton/ir/expr.h"
#include "baton/ir/rules/known_layout.h"

namespace baton {

/// An axis as written in layouts: "C", "16c".
std::string axis_text(const LayoutAxis& axis, int64_t factor);
/// The last `rank` axes of `layout`; null when they are not a valid layout.
KnownLayout tail(const Layout& layout, int rank);
/// `now` restricted to a tensor with original layout `was`: axes that are absent or of extent 1 are not
/// split.
KnownLayout fitted(const Layout& now, const Layout& was, const TensorTypeNode& type);
/// `layout` after reducing the axes `gone`; with `keep` they remain with extent 1.
KnownLayout reduced(const Layout& layout, std::string_view gone, bool keep);
/// Whether all extents are 1; true for rank 0.
bool all_ones(const TensorTypeNode& type);

/// `attrs` of operator `op` with `name` set to `value`.
Attrs with_field(const Attrs& attrs, std::string_view op, std::string_view name, const AttrValue& value);

}  // namespace baton
