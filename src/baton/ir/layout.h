#pragma once
// Layouts: how the axes of a tensor lie in memory. An upper-case letter is a primal axis; a lower-case letter
// with a factor is a split of it: in NCHW16c channel x is at C = x / 16, c = x % 16. Splits of one letter
// nest from left to right: in OIHW4i16o4i input channel x is at I = x / 16, i = x / 4 % 4, i = x % 4.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "baton/ir/type.h"

namespace baton {

struct LayoutAxis {
  char letter = 0;     ///< upper case, also for a split
  int64_t factor = 0;  ///< extent of a split; 0 for a primal axis
  bool is_primal() const { return factor == 0; }
  friend bool operator==(const LayoutAxis&, const LayoutAxis&) = default;
};

class Layout {
 public:
  /// Parses `NCHW`, `NCHW16c`, `OIHW16i16o`. Nullopt for an invalid layout: a duplicate primal axis, a split
  /// without its primal axis or without a factor, other characters, or no axis.
  static std::optional<Layout> parse(std::string_view text);

  const std::vector<LayoutAxis>& axes() const { return axes_; }
  int rank() const { return static_cast<int>(axes_.size()); }
  std::string str() const;

  /// The position of primal axis `letter` (upper case), or -1.
  int find(char letter) const;
  /// The product of the splits of `letter`; 1 when it is not split.
  int64_t factor(char letter) const;
  bool is_split(char letter) const;
  /// The stride of axis `position` in elements of its primal axis: 16 for C of NCHW16c, 1 for its c.
  int64_t weight(int position) const;
  /// The primal axes in order: NCHW for NCHW16c.
  std::string primal() const;

  /// Whether layout_transform can convert between both: they have the same primal axes.
  bool convertible(const Layout& other) const;

  friend bool operator==(const Layout&, const Layout&) = default;

 private:
  std::vector<LayoutAxis> axes_;
};

/// The shape of a tensor of shape `shape` in layout `from` after conversion to `to`. Extents that a split
/// does not divide are rounded up (layout_transform pads with zeros). A primal axis with a `?` extent in
/// `from` is `?`. Requires convertible layouts and a shape of from's rank.
std::vector<Dim> convert_shape(const std::vector<Dim>& shape, const Layout& from, const Layout& to);
std::vector<int64_t> convert_shape(const std::vector<int64_t>& shape, const Layout& from, const Layout& to);

/// The index in layout `from` of the element at `index` in layout `to`. T has + * / % (floor division) and is
/// constructible from int.
template <class T>
std::vector<T> convert_index(const std::vector<T>& index, const Layout& to, const Layout& from) {
  std::vector<T> result;
  for (int i = 0; i < from.rank(); ++i) {
    const LayoutAxis& axis = from.axes()[i];
    std::optional<T> position;  // along the primal axis, summed over its splits in `to`
    for (int j = 0; j < to.rank(); ++j) {
      if (to.axes()[j].letter != axis.letter) continue;
      const int step = static_cast<int>(to.weight(j));
      T part = step == 1 ? index[j] : T(index[j] * step);
      position = position ? T(*position + part) : part;
    }
    const int step = static_cast<int>(from.weight(i));
    if (step != 1) position = T(*position / step);
    if (!axis.is_primal()) position = T(*position % static_cast<int>(axis.factor));
    result.push_back(*position);
  }
  return result;
}

}  // namespace baton
