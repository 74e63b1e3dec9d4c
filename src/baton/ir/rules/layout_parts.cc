#include "baton/ir/rules/layout_parts.h"

#include <algorithm>

namespace baton {

std::string axis_text(const LayoutAxis& axis, int64_t factor) {
  if (axis.is_primal()) return {axis.letter};
  return std::to_string(factor) + static_cast<char>(axis.letter - 'A' + 'a');
}

KnownLayout tail(const Layout& layout, int rank) {
  std::string text;
  for (int i = layout.rank() - rank; i < layout.rank(); ++i)
    text += axis_text(layout.axes()[i], layout.axes()[i].factor);
  return known_layout(text);
}

KnownLayout fitted(const Layout& now, const Layout& was, const TensorTypeNode& type) {
  std::string text;
  for (const LayoutAxis& axis : now.axes()) {
    const int at = was.find(axis.letter);
    const bool one = at < 0 || at >= type.rank() || type.shape()[at] == Dim(1);
    text += axis_text(axis, one ? 1 : axis.factor);
  }
  return known_layout(text);
}

KnownLayout reduced(const Layout& layout, std::string_view gone, bool keep) {
  std::string text;
  for (const LayoutAxis& axis : layout.axes()) {
    const bool is_gone = gone.find(axis.letter) != std::string_view::npos;
    if (!is_gone || keep) text += axis_text(axis, is_gone ? 1 : axis.factor);
  }
  return known_layout(text);
}

bool all_ones(const TensorTypeNode& type) {
  return std::ranges::all_of(type.shape(), [](const Dim& dim) { return dim == Dim(1); });
}

Attrs with_field(const Attrs& attrs, std::string_view op, std::string_view name, const AttrValue& value) {
  const Ref<AttrsNode> copy = attrs->copy();
  const AttrField* field = copy->schema().find(name);
  BATON_CHECK(field && field->set(copy->data(), value), std::string(op) + "." + std::string(name));
  return copy;
}

}  // namespace baton
