#include "baton/ops/shared/spatial.h"

#include <algorithm>
#include <string_view>

namespace baton {

const char* data_letters(int count) { return count == 1 ? "NCW" : count == 2 ? "NCHW" : "NCDHW"; }
const char* spatial_letters(int count) { return data_letters(count) + 2; }

std::optional<Dim> checked_extent(RelationContext& ctx, WideInt value) {
  if (value >= 0 && value <= INT64_MAX) return Dim(static_cast<int64_t>(value));
  fail_arg(ctx, -1,
           value < 0 ? "the result would have an axis of negative extent"
                     : "the result would have an axis that does not fit into 64 bits");
  return std::nullopt;
}

std::optional<Dim> checked_product(RelationContext& ctx, std::initializer_list<Dim> dims) {
  WideInt product = 1;
  if (std::ranges::any_of(dims, &Dim::is_any)) return baton::product({dims.begin(), dims.size()});
  for (const Dim& dim : dims) {
    const std::optional<Dim> next = checked_extent(ctx, product * dim.value());
    if (!next) return std::nullopt;
    product = next->value();
  }
  return Dim(static_cast<int64_t>(product));
}

Dim divided(Dim dim, int64_t by) { return dim.is_any() ? floor_div(dim, by) : Dim(dim.value() / by); }

bool check_lists(RelationContext& ctx, std::initializer_list<NamedList> lists, size_t count, int64_t least) {
  for (const NamedList& list : lists)
    if (!check_count(ctx, list.name, *list.values, count) ||
        !check_least(ctx, list.name, *list.values, least))
      return false;
  return true;
}

std::optional<std::vector<int64_t>> padding_sums(RelationContext& ctx, const std::vector<int64_t>& padding,
                                                 int count) {
  const size_t n = static_cast<size_t>(count), given = padding.size();
  if (given != 1 && given != n && given != 2 * n) {
    const std::string most = std::to_string(2 * n);
    fail_attr(ctx, "padding", attr_text(AttrValue(padding)),
              (n == 1 ? "1 or " : "1, " + std::to_string(n) + " or ") + most + " values are needed");
    return std::nullopt;
  }
  if (!check_least(ctx, "padding", padding, 0)) return std::nullopt;
  std::vector<int64_t> sums;
  for (size_t i = 0; i < n; ++i) {
    const WideInt before = padding[given == 1 ? 0 : i], after = padding[given == 1   ? 0
                                                                        : given == n ? i
                                                                                     : n + i];
    const std::optional<Dim> sum = checked_extent(ctx, before + after);
    if (!sum) return std::nullopt;
    sums.push_back(sum->value());
  }
  return sums;
}

std::optional<Dim> window_positions(RelationContext& ctx, const Window& w) {
  if (w.extent.is_any() || w.size.is_any())
    return floor_div(w.extent + w.padding - ((w.size - 1) * w.dilation + 1) + (w.ceil ? w.stride - 1 : 0),
                     w.stride) +
           1;
  const WideInt reach = static_cast<WideInt>(w.size.value() - 1) * w.dilation + 1;
  WideInt free = static_cast<WideInt>(w.extent.value()) + w.padding - reach;
  if (w.ceil) free += w.stride - 1;
  if (free < 0 || w.size.value() < 1) {
    fail_arg(ctx, 0,
             "a window of " + std::to_string(w.size.value()) + " cells at a distance of " +
                 std::to_string(w.dilation) + " does not fit into an axis of " +
                 std::to_string(w.extent.value()) + " with " + std::to_string(w.padding) +
                 " cells of padding");
    return std::nullopt;
  }
  return checked_extent(ctx, free / w.stride + 1);
}

std::optional<Layout> spatial_layout(RelationContext& ctx, const std::string& text, int count) {
  const auto layout = Layout::parse(text);
  const std::string letters = spatial_letters(count);
  bool good = layout.has_value();
  for (const char letter : letters) good = good && layout->find(letter) >= 0 && !layout->is_split(letter);
  if (!good) {
    fail_attr(ctx, "layout", "\"" + text + "\"",
              "a layout with the axes " + letters + ", which are not split, is needed");
    return std::nullopt;
  }
  if (!check_in_layout(ctx, *ctx.tensor(0), *layout, 0)) return std::nullopt;
  return layout;
}

std::vector<int> layout_axes(const std::string& layout, const std::string& letters) {
  std::vector<int> axes;
  const Layout parsed = *Layout::parse(layout);
  for (const char letter : letters) axes.push_back(parsed.find(letter));
  return axes;
}

void split_padding(const std::vector<int64_t>& padding, size_t n, std::vector<int64_t>* before,
                   std::vector<int64_t>* after) {
  for (size_t k = 0; k < n; ++k) {
    before->push_back(padding[padding.size() == 1 ? 0 : k]);
    after->push_back(padding[padding.size() == 1 ? 0 : padding.size() == n ? k : n + k]);
  }
}

}  // namespace baton
