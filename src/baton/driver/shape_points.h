#pragma once
// Several shapes of a model with open extents: the points of a curve.
#include <string>
#include <vector>

namespace baton {

struct ShapePoint {
  std::string name;                 ///< what differs between points: "n=64", "x=64,32"
  double value = 0;                 ///< the first extent that differs
  std::vector<std::string> shapes;  ///< as for load_model()
};

/// Whether one of `shapes` has a range.
bool has_ranges(const std::vector<std::string>& shapes);

/// Extents may be ranges, both ends included: "n=1:512:x2" (1, 2, 4, ... 512), "n=16:64:16", "x=1:4,80". All
/// ranges step together. Throws UsageError for ranges that are empty, or of several lengths, and for more
/// than a thousand points.
std::vector<ShapePoint> shape_points(const std::vector<std::string>& shapes);

}  // namespace baton
