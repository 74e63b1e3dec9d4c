#pragma once
// Layouts of tensors that lack some of the axes: what both kinds of layout rules (layout_rules.h,
// layout_flow_rules.h) are made of.
#include <string>
#include <string_view>

#include "baton/ir/expr.h"
#include "baton/ir/rules/known_layout.h"

namespace baton {

/// An axis as layouts write it: "C", "16c".
std::string axis_text(const LayoutAxis& axis, int64_t factor);
/// The last `rank` axes of `layout`; null when they make no layout of their own.
KnownLayout tail(const Layout& layout, int rank);
/// `now` for a tensor that lies as `was` in the program: axes it does not have, or of extent 1, are not
/// split.
KnownLayout fitted(const Layout& now, const Layout& was, const TensorTypeNode& type);
/// `layout` without the axes `gone`; with `keep` they stay, with extent 1.
KnownLayout reduced(const Layout& layout, std::string_view gone, bool keep);
/// Whether all extents are 1; a tensor without axes too.
bool all_ones(const TensorTypeNode& type);

/// `attrs` of operator `op` with `name` set to `value`.
Attrs with_field(const Attrs& attrs, std::string_view op, std::string_view name, const AttrValue& value);

}  // namespace baton
