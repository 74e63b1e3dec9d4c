#include "baton/ir/layout.h"

#include <algorithm>
#include <cctype>

#include "baton/ir/extent.h"
#include "baton/support/error.h"

namespace baton {

std::optional<Layout> Layout::parse(std::string_view text) {
  Layout layout;
  int64_t factor = 0;
  for (char c : text) {
    if (std::isdigit(static_cast<unsigned char>(c))) {
      factor = factor * 10 + (c - '0');
      if (factor > INT32_MAX) return std::nullopt;
    } else if (std::isupper(static_cast<unsigned char>(c))) {
      if (factor != 0 || layout.find(c) >= 0) return std::nullopt;
      layout.axes_.push_back({c, 0});
    } else if (std::islower(static_cast<unsigned char>(c))) {
      if (factor == 0) return std::nullopt;
      layout.axes_.push_back({static_cast<char>(std::toupper(static_cast<unsigned char>(c))), factor});
      factor = 0;
    } else {
      return std::nullopt;
    }
  }
  if (factor != 0 || layout.axes_.empty()) return std::nullopt;
  for (const LayoutAxis& axis : layout.axes_)
    if (layout.find(axis.letter) < 0) return std::nullopt;
  return layout;
}

std::string Layout::str() const {
  std::string text;
  for (const LayoutAxis& axis : axes_) {
    if (axis.is_primal())
      text += axis.letter;
    else
      text += std::to_string(axis.factor) +
              static_cast<char>(std::tolower(static_cast<unsigned char>(axis.letter)));
  }
  return text;
}

int Layout::find(char letter) const {
  for (int i = 0; i < rank(); ++i)
    if (axes_[i].is_primal() && axes_[i].letter == letter) return i;
  return -1;
}

int64_t Layout::factor(char letter) const {
  int64_t product = 1;
  for (const LayoutAxis& axis : axes_)
    if (axis.letter == letter && !axis.is_primal()) product *= axis.factor;
  return product;
}

bool Layout::is_split(char letter) const {
  return std::any_of(axes_.begin(), axes_.end(),
                     [&](const LayoutAxis& axis) { return axis.letter == letter && !axis.is_primal(); });
}

int64_t Layout::weight(int position) const {
  const LayoutAxis& axis = axes_.at(position);
  if (axis.is_primal()) return factor(axis.letter);
  int64_t below = 1;
  for (int i = position + 1; i < rank(); ++i)
    if (axes_[i].letter == axis.letter && !axes_[i].is_primal()) below *= axes_[i].factor;
  return below;
}

std::string Layout::primal() const {
  std::string letters;
  for (const LayoutAxis& axis : axes_)
    if (axis.is_primal()) letters += axis.letter;
  return letters;
}

bool Layout::convertible(const Layout& other) const {
  std::string a = primal(), b = other.primal();
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

std::vector<Dim> convert_shape(const std::vector<Dim>& shape, const Layout& from, const Layout& to) {
  BATON_CHECK(static_cast<int>(shape.size()) == from.rank(),
              "a shape of another rank than layout " + from.str());
  BATON_CHECK(from.convertible(to), from.str() + " to " + to.str());
  if (from == to) return shape;
  std::vector<Dim> result;
  for (const LayoutAxis& axis : to.axes()) {
    if (!axis.is_primal()) {
      result.push_back(axis.factor);
      continue;
    }
    Dim extent = 1;  // of the unsplit axis
    for (int i = 0; i < from.rank(); ++i) {
      if (from.axes()[i].letter != axis.letter) continue;
      extent =
          extent.is_any() || shape[i].is_any() ? extent * shape[i] : Dim(extent.value() * shape[i].value());
    }
    const int64_t split = to.factor(axis.letter);
    result.push_back(extent.is_any() ? floor_div(extent + (split - 1), split)
                                     : Dim((extent.value() + split - 1) / split));
  }
  return result;
}

std::vector<int64_t> convert_shape(const std::vector<int64_t>& shape, const Layout& from, const Layout& to) {
  std::vector<int64_t> result;
  for (const Dim& dim : convert_shape(std::vector<Dim>(shape.begin(), shape.end()), from, to))
    result.push_back(dim.value());
  return result;
}

}  // namespace baton
