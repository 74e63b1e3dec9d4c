#include "baton/predict/loop_counts.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "baton/ir/rules/conv_positions.h"
#include "baton/ir/rules/cost.h"

namespace baton {

namespace {

double parts(double extent, double part) { return std::ceil(extent / std::max(1.0, part)); }

class Counting {
 public:
  Counting(const KernelCase& kernel, const Extents& e, const WinogradTiles& winograd)
      : kernel_(kernel), e_(e), winograd_(winograd) {
    counts_.lanes = std::max(1, kernel.sheet->float_lanes);
    counts_.depth = std::max(1.0, e.reduction);
  }

  LoopCounts count() {
    counts_.rows = parameter({"tile_x", "tile_m", "tile_t", "rows"});
    counts_.columns = parameter({"tile_c", "tile_n", "vectors"});
    if (winograd_.multiplies > 0)
      count_winograd();
    else if (!(kernel_.template_name == "conv_positions" && count_positions()))
      count_pixels();
    return counts_;
  }

 private:
  /// The first of these that the schedule has, at least 1.
  double parameter(std::initializer_list<const char*> names) const {
    for (const char* name : names)
      if (const auto at = kernel_.parameters.find(name); at != kernel_.parameters.end())
        return std::max(1.0, at->second);
    return 1;
  }

  /// Vectors of a result's channels, or of the columns of a product.
  double column_vectors() const {
    return e_.out_block > 1 ? e_.out / e_.out_block * parts(e_.out_block, counts_.lanes)
                            : parts(e_.columns, counts_.lanes);
  }

  void count_winograd() {
    const double at_once = std::min(parameter({"rows"}), winograd_.tiles_down);
    counts_.depth = e_.in;
    counts_.tiles = e_.batch * parts(winograd_.tiles_down, at_once) *
                    parts(at_once * winograd_.tiles_across, counts_.rows) * winograd_.inputs(e_) *
                    parts(column_vectors(), counts_.columns);
    counts_.transforms = winograd_.tiles(e_) * winograd_.inputs(e_) *
                         (e_.in / e_.in_block * pieces(e_.in_block, counts_.lanes) +
                          e_.out / e_.out_block * pieces(e_.out_block, counts_.lanes));
  }

  /// False for what the form does not serve.
  bool count_positions() {
    const DescribedOperator& op = *kernel_.kernel.anchored();
    const auto strides = op.numbers.find("strides");
    if (op.inputs.size() < 2 || op.results.empty() || strides == op.numbers.end()) return false;
    ConvPositionsOf of;
    of.data = op.inputs[0].extents, of.weight = op.inputs[1].extents, of.out = op.results[0].extents;
    of.strides = strides->second;
    of.groups = op.number("groups", 0, 1);
    const size_t count = of.strides.size();
    if (of.data.size() != count + 2 || of.weight.size() != count + 2 || of.out.size() != count + 2)
      return false;
    for (size_t i = 0; i < count; ++i) {
      of.dilation.push_back(op.number("dilation", i, 1));
      of.before.push_back(op.number("padding", i, 0));
    }
    const bool transposed = op.op && op.op->cost == conv_transpose_cost;
    const auto form = conv_positions(transposed ? as_convolution(std::move(of)) : join_pixels(std::move(of)));
    if (!form) return false;
    counts_.rows = form->tile;
    counts_.tiles = double(form->batch) * form->out[0] * form->bands * form->groups * form->tiles *
                    parts(form->positions(), counts_.columns * counts_.lanes);
    return true;
  }

  /// Pixels, or the rows of a product, times vectors of columns.
  void count_pixels() {
    const bool pixels = kernel_.parameters.count("tile_x") > 0;
    const double tile_y = parameter({"tile_y"});
    const bool transposed = kernel_.template_name == "conv_transpose";
    const double phases = transposed ? e_.stride_w : 1, width = e_.out_w / phases;
    if (transposed) counts_.depth = std::max(1.0, counts_.depth / (e_.stride_h * e_.stride_w));
    const bool positions = transposed && e_.out_block <= 1;  // vectors run over them, not over channels
    if (positions) std::swap(counts_.rows, counts_.columns);
    if (!pixels)
      counts_.tiles = parts(e_.rows, counts_.rows) * parts(column_vectors(), counts_.columns);
    else if (positions)
      counts_.tiles = e_.batch * e_.out_h * phases * parts(width, counts_.columns * counts_.lanes) *
                      parts(e_.out, counts_.rows);
    else
      counts_.tiles = e_.batch * parts(e_.out_h, tile_y) * phases * parts(width, counts_.rows) *
                      parts(column_vectors(), counts_.columns);
    counts_.rows *= tile_y;
  }

  const KernelCase& kernel_;
  const Extents& e_;
  const WinogradTiles& winograd_;
  LoopCounts counts_;
};

}  // namespace

double pieces(double count, double lanes) {
  double whole = std::floor(count / lanes);
  for (auto rest = static_cast<unsigned>(count - whole * lanes); rest; rest &= rest - 1) ++whole;
  return std::max(1.0, whole);
}

LoopCounts loop_counts(const KernelCase& kernel, const Extents& e, const WinogradTiles& winograd) {
  return Counting(kernel, e, winograd).count();
}

}  // namespace baton
