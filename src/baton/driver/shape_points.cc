#include "baton/driver/shape_points.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "baton/support/error.h"

namespace baton {

namespace {

constexpr size_t kMost = 1000;

/// "n" of "n=1:4". Names of ONNX files contain anything.
size_t equals_of(const std::string& text) { return text.rfind('='); }

int64_t number_of(const std::string& text, const std::string& whole) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw UsageError("--shape " + whole + ": `" + text +
                     "` is no extent; a range is FIRST:LAST, FIRST:LAST:STEP or FIRST:LAST:xFACTOR");
  return value;
}

/// Its values; one for an extent that is no range.
std::vector<int64_t> values_of(const std::string& text, const std::string& whole) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return {number_of(text, whole)};
  const size_t second = text.find(':', colon + 1);
  const int64_t first = number_of(text.substr(0, colon), whole),
                last = number_of(text.substr(colon + 1, second - colon - 1), whole);
  const std::string step = second == std::string::npos ? "1" : text.substr(second + 1);
  const bool multiplies = step.starts_with('x');
  const int64_t by = number_of(multiplies ? step.substr(1) : step, whole);
  if (last < first || by < (multiplies ? 2 : 1) || (multiplies && first == 0))
    throw UsageError("--shape " + whole + ": the range " + text + " has no end; write 1:512:x2 or 16:64:16");
  std::vector<int64_t> values;
  for (int64_t value = first; value <= last; value = multiplies ? value * by : value + by) {
    values.push_back(value);
    if (values.size() > kMost) throw UsageError("--shape " + whole + ": more than 1000 points");
    if (multiplies ? value > last / by : by > last - value) break;  // the next one might not fit into 64 bits
  }
  return values;
}

/// "1:4,80" as lists of values.
std::vector<std::vector<int64_t>> extents_of(const std::string& shape) {
  std::vector<std::vector<int64_t>> extents;
  const size_t equals = equals_of(shape);
  std::string text;
  const auto end = [&] {
    extents.push_back(values_of(text, shape));
    text.clear();
  };
  for (size_t i = equals + 1; i < shape.size(); ++i) {
    // `x` is between extents, unless it begins the factor of a range.
    const bool between = shape[i] == ',' || (shape[i] == 'x' && shape[i - 1] != ':');
    if (between)
      end();
    else
      text += shape[i];
  }
  end();
  return extents;
}

}  // namespace

bool has_ranges(const std::vector<std::string>& shapes) {
  return std::ranges::any_of(shapes, [](const std::string& shape) {
    const size_t equals = equals_of(shape);
    return equals != std::string::npos && shape.find(':', equals) != std::string::npos;
  });
}

std::vector<ShapePoint> shape_points(const std::vector<std::string>& shapes) {
  size_t count = 1;
  std::string of;  // the first range
  std::vector<std::vector<std::vector<int64_t>>> all;
  for (const std::string& shape : shapes) {
    all.push_back(has_ranges({shape}) ? extents_of(shape) : std::vector<std::vector<int64_t>>());
    for (const std::vector<int64_t>& extent : all.back()) {
      if (extent.size() == 1) continue;
      if (of.empty()) of = shape;
      if (count != 1 && extent.size() != count)
        throw UsageError("--shape: ranges step together, and those of " + of + " and " + shape + " have " +
                         std::to_string(count) + " and " + std::to_string(extent.size()) + " values");
      count = extent.size();
    }
  }
  std::vector<ShapePoint> points(count);
  for (size_t p = 0; p < count; ++p) {
    ShapePoint& point = points[p];
    bool has_value = false;
    for (size_t s = 0; s < shapes.size(); ++s) {
      if (all[s].empty()) {
        point.shapes.push_back(shapes[s]);
        continue;
      }
      std::string text = shapes[s].substr(0, equals_of(shapes[s]) + 1);
      for (size_t e = 0; e < all[s].size(); ++e) {
        const std::vector<int64_t>& extent = all[s][e];
        const int64_t value = extent[extent.size() == 1 ? 0 : p];
        if (extent.size() > 1 && !std::exchange(has_value, true)) point.value = static_cast<double>(value);
        text += (e ? "," : "") + std::to_string(value);
      }
      if (!has_value) {  // a range of one value
        has_value = true;
        point.value = static_cast<double>(all[s][0][0]);
      }
      point.name += (point.name.empty() ? "" : " ") + text;
      point.shapes.push_back(text);
    }
  }
  return points;
}

}  // namespace baton
