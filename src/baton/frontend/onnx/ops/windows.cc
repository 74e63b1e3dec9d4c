#include "baton/frontend/onnx/ops/windows.h"

#include <algorithm>

namespace baton::onnx {

std::vector<int64_t> Window::padding() const {
  std::vector<int64_t> all = before;
  all.insert(all.end(), after.begin(), after.end());
  return all;
}

Window window_of_axes(const Conversion& c, std::vector<int64_t> kernel) {
  Window window;
  if (auto given = c.integers_of("kernel_shape")) kernel = *given;
  if (kernel.empty()) throw c.error("attribute `kernel_shape` is missing");
  const size_t axes = kernel.size();
  const auto each_axis = [&](const char* name) {
    std::vector<int64_t> values = c.integers_of(name).value_or(std::vector<int64_t>(axes, 1));
    if (values.size() != axes || std::ranges::any_of(values, [](int64_t value) { return value < 1; }))
      throw c.error("attribute `" + std::string(name) + "` is not " + std::to_string(axes) +
                    " numbers from 1 on");
    return values;
  };
  window.kernel = std::move(kernel);
  window.strides = each_axis("strides");
  window.dilations = each_axis("dilations");
  window.before.assign(axes, 0), window.after.assign(axes, 0);
  if (const auto pads = c.integers_of("pads")) {
    if (pads->size() != 2 * axes)
      throw c.error("attribute `pads` is not " + std::to_string(2 * axes) + " numbers");
    window.before.assign(pads->begin(), pads->begin() + static_cast<std::ptrdiff_t>(axes));
    window.after.assign(pads->begin() + static_cast<std::ptrdiff_t>(axes), pads->end());
  }
  return window;
}

Window window_of(const Conversion& c, std::vector<int64_t> kernel) {
  Window window = window_of_axes(c, std::move(kernel));
  const size_t axes = window.axes();
  if (c.rank(0) != static_cast<int>(axes) + 2)
    throw c.error("a window of " + std::to_string(axes) + " axes over a tensor of rank " +
                  std::to_string(c.rank(0)));
  const std::string automatic = c.text("auto_pad", "NOTSET");
  if (automatic == "NOTSET" || automatic.empty()) return window;
  window.before.assign(axes, 0), window.after.assign(axes, 0);
  if (automatic == "VALID") return window;
  if (automatic != "SAME_UPPER" && automatic != "SAME_LOWER")
    throw c.error("`auto_pad` is \"" + automatic +
                  "\", and should be NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  for (size_t i = 0; i < axes; ++i) {
    const Dim extent = c.type(0).shape().at(i + 2);
    if (extent.is_any()) throw c.not_supported("windows with `auto_pad` over extents that are not known");
    const int64_t reach = (window.kernel.at(i) - 1) * window.dilations[i] + 1,
                  results = (extent.value() + window.strides.at(i) - 1) / window.strides.at(i),
                  both = std::max<int64_t>(0, (results - 1) * window.strides.at(i) + reach - extent.value());
    (automatic == "SAME_UPPER" ? window.before : window.after)[i] = both / 2;
    (automatic == "SAME_UPPER" ? window.after : window.before)[i] = both - both / 2;
  }
  return window;
}

std::vector<int64_t> window_counts(const Conversion& c, const Window& window) {
  const bool ceil = c.integer("ceil_mode", 0) != 0;
  std::vector<int64_t> counts;
  for (size_t i = 0; i < window.axes(); ++i) {
    const int64_t extent = c.type(0).shape().at(i + 2).value(), stride = window.strides.at(i),
                  reach = (window.kernel.at(i) - 1) * window.dilations[i] + 1,
                  room = extent + window.before[i] + window.after[i] - reach;
    int64_t count = (room + (ceil ? stride - 1 : 0)) / stride + 1;
    if (ceil && (count - 1) * stride >= extent + window.before[i]) --count;
    if (room < 0 && !ceil) throw c.error("a window is larger than the data and its padding");
    counts.push_back(count);
  }
  return counts;
}

bool windows_wait(const Conversion& c) {
  return !c.has_known_shape(0) &&
         (c.integer("ceil_mode", 0) != 0 || c.text("auto_pad", "NOTSET").starts_with("SAME"));
}

size_t checked_axes(const Conversion& c, size_t axes) {
  if (axes < 1 || axes > 3) throw c.not_supported("layers over " + std::to_string(axes) + " spatial axes");
  return axes;
}

std::string layout_of(const char* channels, size_t axes) {
  static const char* const kSpatial[] = {"", "W", "HW", "DHW"};
  return channels + std::string(kSpatial[axes]);
}

std::string by_axes(const char* name, size_t axes, const char* behind) {
  return name + std::to_string(axes) + "d" + behind;
}

}  // namespace baton::onnx
