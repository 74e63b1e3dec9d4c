#include "baton/ops/nn/conv/conv_by_positions.h"

#include <algorithm>

#include "baton/ir/rules/conv_positions.h"

namespace baton {

namespace {

struct TypeOf {
  std::vector<int64_t> shape;
  DType dtype;
};

std::optional<ConvPositions> positions_of(const TypeOf& data, const TypeOf& weight, const TypeOf& out,
                                          const ConvNd& conv, const std::string& kernel_letters,
                                          bool transposed) {
  const Layout canonical = *Layout::parse(data_letters(conv.count)),
               kernel_canonical = *Layout::parse(kernel_letters);
  const DType f32 = DType::float_(32);
  if (data.dtype != f32 || weight.dtype != f32 || out.dtype != f32) return std::nullopt;
  if (conv.data_layout != canonical || conv.out_layout != canonical ||
      conv.kernel_layout.rank() != kernel_canonical.rank() ||
      std::ranges::any_of(conv.kernel_layout.axes(),
                          [](const LayoutAxis& axis) { return !axis.is_primal(); }))
    return std::nullopt;
  ConvPositionsOf of{data.shape,    convert_shape(weight.shape, conv.kernel_layout, kernel_canonical),
                     out.shape,     conv.strides,
                     conv.dilation, conv.before,
                     conv.groups};
  return conv_positions(transposed ? as_convolution(std::move(of)) : of);
}

std::string convolution_letters(const ConvNd& conv) {
  return std::string("OI") + spatial_letters(conv.count);
}

/// (n, c, z, y, x) without the axes that the convolution does not have.
Index existing(const ConvPositions& p, Index all) {
  all.erase(all.begin() + 2, all.begin() + 5 - p.count);
  return all;
}

class PositionSums {
 public:
  PositionSums(Compute& c, const ConvPositions& p, const ConvNd& conv, std::string kernel_letters,
               bool transposed)
      : c_(c), p_(p), conv_(conv), kernel_letters_(std::move(kernel_letters)), transposed_(transposed) {}

  void make() {
    store_bands();
    sum_ = c_.stage("sums");
    sum_(at_, channel_, tile_, group_, z_, band_, batch_) = 0.0f;
    const int chunks = p_.in_per_group / p_.chunk, rest = p_.in_per_group % p_.chunk;
    const auto& k = p_.kernel;
    const Halide::RDom r(0, k[2], 0, k[1], 0, k[0], 0, p_.chunk, 0, chunks, "r");
    add(r, r[4] * p_.chunk + r[3]);
    if (rest > 0) {
      const Halide::RDom last(0, k[2], 0, k[1], 0, k[0], 0, rest, "last");
      add(last, chunks * p_.chunk + last[3]);
    }
    store_result();
  }

 private:
  // Rows beyond the data, and what lies between the rows of data, are zeros. The template "conv_positions"
  // copies row by row instead, without divisions.
  void store_bands() {
    const Halide::Var q("q"), phase("phase"), channel("channel"), z("z"), band("band"), n("n");
    pad_ = c_.stage("pad");
    if (p_.one_pixel) {
      const Halide::Expr y = p_.row > 0 ? q / p_.row * p_.stride[1] : Halide::Expr(0),
                         x = p_.row > 0 ? q % p_.row * p_.stride[2] : Halide::Expr(q);
      pad_(q, phase, channel, z, band, n) = c_.in(0)(existing(p_, {n, channel, 0, y, x}));
      return;
    }
    const Halide::Expr row = band * p_.band + q / p_.pitch,
                       y = row * p_.stride[1] + phase / p_.phases[2] - p_.before[1],
                       x = q % p_.pitch * p_.stride[2] + phase % p_.phases[2] - p_.before[2],
                       slice = z - p_.before[0];
    Halide::Expr inside = x >= 0 && x < p_.in[2] && y >= 0 && y < p_.in[1];
    if (p_.count == 3) inside = inside && slice >= 0 && slice < p_.in[0];
    pad_(q, phase, channel, z, band, n) =
        select(inside,
               c_.in(0)(existing(p_, {n, channel, inside_axis(slice, p_.in[0]), inside_axis(y, p_.in[1]),
                                      inside_axis(x, p_.in[2])})),
               0.0f);
  }

  /// The first channel of tile `tile` of a group.
  Halide::Expr first_channel(const Halide::Expr& tile) const {
    if (p_.tiles == 1) return 0;
    if (p_.out_per_group % p_.tile == 0) return tile * p_.tile;
    return min(tile * p_.tile, p_.out_per_group - p_.tile);
  }

  void add(const Halide::RDom& r, const Halide::Expr& depth) {
    Halide::Expr distance = 0, phase = 0;
    for (const int axis : {1, 2}) {
      if (p_.one_pixel) break;
      const Halide::Expr tap = r[2 - axis] * p_.dilation[axis];
      const int stride = p_.stride[axis], step = axis == 1 ? p_.pitch : 1;
      distance += (stride == 1 ? tap : tap / stride) * step;
      if (p_.phases[axis] > 1) phase += tap % stride * (axis == 1 ? p_.phases[2] : 1);
    }
    const Halide::Expr slice = z_ * p_.stride[0] + r[2] * p_.dilation[0];
    const Halide::Expr filter = first_channel(tile_) + channel_;
    Index tap{clamp(group_ * p_.out_per_group + filter, 0, p_.groups * p_.out_per_group - 1), depth};
    if (transposed_) tap = {group_ * p_.in_per_group + depth, clamp(filter, 0, p_.out_per_group - 1)};
    for (int axis = 0; axis < 3; ++axis)
      tap.push_back(transposed_ ? p_.kernel[axis] - 1 - r[2 - axis] : Halide::Expr(r[2 - axis]));
    tap =
        convert_index<Halide::Expr>(existing(p_, tap), *Layout::parse(kernel_letters_), conv_.kernel_layout);
    sum_(at_, channel_, tile_, group_, z_, band_, batch_) +=
        c_.in(1)(tap)*pad_(at_ + distance, phase, group_ * p_.in_per_group + depth, slice, band_, batch_);
  }

  void store_result() {
    Halide::Func out = c_.stage("out");
    const Axes i(2 + p_.count);
    const Halide::Expr zero = 0;
    const Halide::Expr x = i[1 + p_.count], y = p_.count > 1 ? Halide::Expr(i[p_.count]) : zero,
                       z = p_.count > 2 ? Halide::Expr(i[2]) : zero;
    const Halide::Expr group = p_.groups == 1 ? zero : i[1] / p_.out_per_group;
    const Halide::Expr channel = p_.groups == 1 ? Halide::Expr(i[1]) : i[1] % p_.out_per_group;
    const Halide::Expr tile = p_.tiles == 1 ? zero : channel / p_.tile;
    Halide::Expr in_tile = channel - first_channel(tile);
    if (p_.tiles > 1 && p_.out_per_group % p_.tile != 0) in_tile = clamp(in_tile, 0, p_.tile - 1);
    if (p_.out_per_group % p_.tile == 0 && p_.tiles > 1) in_tile = channel % p_.tile;
    const Halide::Expr in_band = p_.bands == 1 ? y : y % p_.band, band = p_.bands == 1 ? zero : y / p_.band;
    out(i.reversed()) = sum_(x + in_band * p_.pitch, in_tile, tile, group, z, band, i[0]);
    c_.result(out);
  }

  Compute& c_;
  const ConvPositions& p_;
  const ConvNd& conv_;
  const std::string kernel_letters_;
  const bool transposed_;
  const Halide::Var at_{"at"}, channel_{"channel"}, tile_{"tile"}, group_{"group"}, z_{"z"}, band_{"band"},
      batch_{"n"};
  Halide::Func pad_, sum_;
};

bool make_sums(Compute& c, const ConvNd& conv, const std::string& kernel_letters, bool transposed) {
  // Bands of rows, and where their padding lies, are numbers.
  if (!c.in(0).is_static() || !c.in(1).is_static() || !c.out().is_static()) return false;
  const std::optional<ConvPositions> p =
      positions_of({c.in(0).shape(), c.in(0).dtype()}, {c.in(1).shape(), c.in(1).dtype()},
                   {c.out().extents(), c.out().dtype()}, conv, kernel_letters, transposed);
  if (!p) return false;
  PositionSums(c, *p, conv, kernel_letters, transposed).make();
  return true;
}

}  // namespace

bool conv_by_positions(Compute& c, const ConvNd& conv) {
  return make_sums(c, conv, convolution_letters(conv), false);
}

bool sums_by_positions(const ConvNd& conv, const TensorTypeNode& data, const TensorTypeNode& weight,
                       const TensorTypeNode& result) {
  return positions_of({data.extents(), data.dtype()}, {weight.extents(), weight.dtype()},
                      {result.extents(), result.dtype()}, conv, convolution_letters(conv), false)
      .has_value();
}

bool conv_transpose_by_positions(Compute& c, const ConvNd& conv, const std::string& kernel_letters) {
  if (std::ranges::any_of(conv.strides, [](int64_t stride) { return stride != 1; })) return false;
  return make_sums(c, conv, kernel_letters, true);
}

}  // namespace baton
