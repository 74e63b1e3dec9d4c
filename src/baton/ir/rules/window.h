#pragma once
// How the windows of convolutions and pools lie over their data: one reader for all operators, which say it
// by attributes of the same names.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "baton/ir/attrs.h"
#include "baton/ir/inspect.h"
#include "baton/support/function_ref.h"

namespace baton {

/// Lists have one value per axis of space, or one for all; `padding` has what is before each axis first.
/// Empty where the operator does not say it.
struct WindowAttrs {
  std::vector<int64_t> size;  ///< of the window; empty: that of the weight, or all of the data
  std::vector<int64_t> strides, dilation, padding;
  int64_t groups = 1;
  std::string data_layout, kernel_layout, out_layout;  ///< out_layout empty: as the data
};

/// `attr`: the value of an attribute by name; none where the operator has no such attribute.
inline WindowAttrs window_attrs(FunctionRef<AttrValue(std::string_view name)> attr) {
  const auto text = [&](std::string_view name) {
    const AttrValue value = attr(name);
    const std::string* found = value.as<std::string>();
    return found ? *found : std::string();
  };
  WindowAttrs window;
  window.size = ints_of(attr("pool_size"));
  if (window.size.empty()) window.size = ints_of(attr("kernel_size"));
  window.strides = ints_of(attr("strides"));
  window.dilation = ints_of(attr("dilation"));
  window.padding = ints_of(attr("padding"));
  if (const std::vector<int64_t> groups = ints_of(attr("groups")); !groups.empty())
    window.groups = groups.front();
  window.data_layout = text("data_layout");
  if (window.data_layout.empty()) window.data_layout = text("layout");
  window.kernel_layout = text("kernel_layout");
  window.out_layout = text("out_layout");
  return window;
}

/// Null: an operator without attributes.
inline WindowAttrs window_attrs(const Attrs& attrs) {
  return window_attrs([&](std::string_view name) {
    return attrs && attrs->schema().find(name) ? attrs->get(name) : AttrValue();
  });
}

}  // namespace baton
