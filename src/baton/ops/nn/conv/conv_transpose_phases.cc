// Transposed convolutions by phases. Along one axis result X has the phase p = X % stride and the position
// q = X / stride; tap k of the kernel takes element e of the data there with stride * e + k * dilation =
// X + before. So a phase uses every stride-th tap (all, without strides), each at a fixed distance e - q.
#include <algorithm>

#include "baton/ops/nn/conv/conv_by_positions.h"
#include "baton/ops/nn/conv/conv_nd.h"
#include "baton/ops/nn/conv/conv_transpose.h"
#include "baton/ops/run_compute.h"

namespace baton {

namespace {

/// Rows up to this many bytes of sums, for two blocks of channels, are summed with the exact range of each
/// tap.
constexpr int64_t kExactRowBytes = 128 << 10;
/// Shorter reductions are not worth loading and storing the sums for each tap.
constexpr int64_t kExactDepth = 16;
/// Each tap of the last axis has loops of its own: longer kernels would take long to compile.
constexpr int kExactTaps = 16;

/// A transposed convolution whose layouts and extents fit the form. Spatial axes are in Relay order.
struct Phases {
  int count = 0;  ///< spatial axes
  bool blocked = false, depthwise = false, exact = false;
  int in_block = 1, out_block = 1;  ///< channels per block
  int groups = 1, in_per_group = 1, out_per_group = 1;
  std::vector<int> in, kernel, stride, dilation, before, out;

  int last() const { return count - 1; }
  /// The most taps of a phase.
  int taps(int axis) const { return (kernel[axis] + stride[axis] - 1) / stride[axis]; }
  /// Positions of a phase, the most.
  int positions(int axis) const { return (out[axis] + stride[axis] - 1) / stride[axis]; }
};

std::vector<int> ints(const std::vector<int64_t>& values) {
  std::vector<int> all;
  for (const int64_t value : values) all.push_back(as_int(value));
  return all;
}

std::string with_block(const std::string& axes, int64_t size, char letter) {
  return axes + std::to_string(size) + static_cast<char>(letter - 'A' + 'a');
}

bool any_split(const Layout& layout) {
  return std::ranges::any_of(layout.axes(), [](const LayoutAxis& axis) { return !axis.is_primal(); });
}

/// The weight of a blocked form: (blocks of output channels, spatial, input channels, channel of the block);
/// of a depthwise one (1, spatial, blocks, channel of the block).
std::string blocked_kernel(const Phases& p, const std::string& letters) {
  const std::string spatial = letters.substr(2);
  return with_block(letters[1] + spatial + letters[0], p.out_block, letters[p.depthwise ? 0 : 1]);
}

std::optional<Phases> phases_of(const Compute& c, const ConvNd& conv, const std::string& letters) {
  const std::string data_name = data_letters(conv.count);
  const Layout canonical = *Layout::parse(data_name), kernel_canonical = *Layout::parse(letters);
  const Tensor &data = c.in(0), &weight = c.in(1);
  const DType f32 = DType::float_(32);
  if (letters[0] == 'G' || data.dtype() != f32 || weight.dtype() != f32 || c.out().dtype() != f32)
    return std::nullopt;
  // Phases of rows, and where the padding lies, are numbers; the batch need not be one.
  const auto in = extents_but_batch(data.dims()), made = extents_but_batch(c.out().shape());
  if (!in || !made || !weight.is_static()) return std::nullopt;
  const std::vector<int64_t>& out = *made;
  if (is_empty(*in) || is_empty(weight.shape()) || is_empty(out)) return std::nullopt;
  const auto in_plain = convert_shape(*in, conv.data_layout, canonical),
             out_plain = convert_shape(out, conv.out_layout, canonical),
             kernel = convert_shape(weight.shape(), conv.kernel_layout, kernel_canonical);
  check_groups(conv.groups, in_plain[1], out_plain[1]);
  check_filled_blocks(out_plain[1], kernel[1] * conv.groups);
  Phases p;
  p.count = conv.count, p.groups = as_int(conv.groups);
  p.in_per_group = as_int(in_plain[1] / conv.groups), p.out_per_group = as_int(out_plain[1] / conv.groups);
  p.depthwise = p.groups > 1 && p.in_per_group == 1 && p.out_per_group == 1;
  p.in_block = as_int(conv.data_layout.factor('C')), p.out_block = as_int(conv.out_layout.factor('C'));
  p.blocked = conv.data_layout.str() == with_block(data_name, p.in_block, 'C') &&
              conv.out_layout.str() == with_block(data_name, p.out_block, 'C');
  if (p.blocked) {
    if (conv.kernel_layout.str() != blocked_kernel(p, letters)) return std::nullopt;
    if (p.depthwise ? p.in_block != p.out_block
                    : p.in_per_group % p.in_block != 0 || p.out_per_group % p.out_block != 0)
      return std::nullopt;
  } else if (conv.data_layout != canonical || conv.out_layout != canonical || any_split(conv.kernel_layout)) {
    return std::nullopt;
  }
  p.in = ints({in_plain.begin() + 2, in_plain.end()});
  p.out = ints({out_plain.begin() + 2, out_plain.end()});
  p.kernel = ints({kernel.begin() + 2, kernel.end()});
  p.stride = ints(conv.strides), p.dilation = ints(conv.dilation), p.before = ints(conv.before);
  int64_t row_bytes = 2 * p.out_block * 4 * p.positions(p.last());
  for (int axis = 0; axis < p.count; ++axis) {
    if (p.dilation[axis] != 1 && p.stride[axis] != 1) return std::nullopt;
    row_bytes *= p.stride[axis];
  }
  p.exact = p.blocked && !p.depthwise && p.in_per_group >= kExactDepth && p.kernel[p.last()] <= kExactTaps &&
            row_bytes <= kExactRowBytes;
  return p;
}

/// Which element of the data, and which tap, step `step` of the sum takes at position `at` of phase `phase`.
struct Step {
  Halide::Expr element, tap;
};

Step step_of(const Phases& p, int axis, const Halide::Expr& at, const Halide::Expr& phase,
             const Halide::Expr& step) {
  const int stride = p.stride[axis];
  if (stride == 1) return {at + p.before[axis] - step * p.dilation[axis], step};
  const Halide::Expr spread = phase + p.before[axis];
  return {at + spread / stride - step, spread % stride + step * stride};
}

/// The sums. Variables of one kind are in Halide's order, the last axis of Relay first.
class PhaseSums {
 public:
  PhaseSums(Compute& c, const Phases& p, const ConvNd& conv, std::string letters)
      : c_(c), p_(p), conv_(conv), letters_(std::move(letters)) {
    for (int axis = p.count; axis-- > 0;) {
      at_.emplace_back("q" + std::to_string(axis));
      phase_.emplace_back("p" + std::to_string(axis));
    }
  }

  Halide::Func make() {
    if (!p_.exact) pad();
    sum_ = c_.stage("phases");
    sum_(left_side({at_.begin(), at_.end()}, {phase_.begin(), phase_.end()})) = 0.0f;
    if (p_.exact)
      for (int tap = 0; tap < p_.kernel[p_.last()]; ++tap) add_exact(tap);
    else
      add_padded();
    return sum_;
  }

  /// The index of result element `x` (Halide's order, with the channel's lane first when blocked).
  std::vector<Halide::Expr> index_of(const std::vector<Halide::Var>& x) const {
    const int first = p_.blocked ? 1 : 0;
    std::vector<Halide::Expr> index(x.begin(), x.begin() + first),
        rest(x.begin() + first + p_.count, x.end());
    for (const bool phase : {false, true})
      for (int d = 0; d < p_.count; ++d) {
        const int stride = p_.stride[p_.last() - d];
        index.push_back(phase ? x[first + d] % stride : x[first + d] / stride);
      }
    index.insert(index.end(), rest.begin(), rest.end());
    return index;
  }

 private:
  /// Arguments of the sums: (lane,) positions, phases, channel or block, batch.
  std::vector<Halide::Expr> left_side(const std::vector<Halide::Expr>& at,
                                      const std::vector<Halide::Expr>& phase) const {
    std::vector<Halide::Expr> all;
    if (p_.blocked) all.push_back(lane_);
    all.insert(all.end(), at.begin(), at.end());
    all.insert(all.end(), phase.begin(), phase.end());
    all.insert(all.end(), {channel_, batch_});
    return all;
  }

  // Zeros at both ends of the rows, so that whole tiles of a row can be summed for every tap. There are none
  // above and below: those taps are skipped.
  void pad() {
    const int width = p_.in[p_.last()];
    const Axes i(c_.in(0).rank(), "p");
    const int x_axis = 1 + p_.count;
    Index at = i.exprs();
    at[x_axis] = clamp(likely(i[x_axis]), 0, width - 1);
    padded_ = c_.stage("pad");
    padded_(i.reversed()) =
        select(i[x_axis] < 0 || i[x_axis] >= width, Halide::Expr(0.0f), likely(c_.in(0)(at)));
  }

  Halide::Expr weight(const Halide::Expr& depth, const std::vector<Halide::Expr>& taps) const {
    const Tensor& weight = c_.in(1);
    if (p_.blocked) {  // depthwise: (1, spatial, block, lane)
      const int blocks = p_.out_per_group / p_.out_block;
      Index index{p_.depthwise     ? Halide::Expr(0)
                  : p_.groups == 1 ? Halide::Expr(channel_)
                                   : channel_ % blocks};
      index.insert(index.end(), taps.begin(), taps.end());
      index.insert(index.end(), {p_.depthwise ? Halide::Expr(channel_) : depth, lane_});
      return weight(index);
    }
    Index index{depth, p_.groups == 1 ? Halide::Expr(channel_) : channel_ % p_.out_per_group};
    index.insert(index.end(), taps.begin(), taps.end());
    return weight(convert_index<Halide::Expr>(index, *Layout::parse(letters_), conv_.kernel_layout));
  }

  /// Adds one update definition: the sums over `r` (innermost first: channel in the block and block, or
  /// channel; then the steps) at `at` and `phase`; `steps` in Relay order.
  void add(Halide::RDom r, const std::vector<Halide::Expr>& at, const std::vector<Halide::Expr>& phase,
           const std::vector<Step>& steps) {
    Index from{batch_}, taps;
    Halide::Expr depth = 0;
    if (p_.blocked && p_.depthwise) {
      from.push_back(channel_);
    } else if (p_.blocked) {
      const int blocks = p_.in_per_group / p_.in_block, out_blocks = p_.out_per_group / p_.out_block;
      const Halide::Expr block = p_.groups == 1 ? Halide::Expr(r[1]) : channel_ / out_blocks * blocks + r[1];
      depth = block * p_.in_block + r[0];
      from.push_back(block);
    } else {
      depth = p_.groups == 1 ? Halide::Expr(r[0]) : channel_ / p_.out_per_group * p_.in_per_group + r[0];
      from.push_back(depth);
    }
    for (int axis = 0; axis < p_.count; ++axis) {
      const bool fixed = p_.exact && axis == p_.last();  // the range of the loop is that of the tap
      Halide::Expr tap = steps[axis].tap, element = steps[axis].element;
      if (!fixed && p_.kernel[axis] % p_.stride[axis] != 0) {
        r.where(tap < p_.kernel[axis]);
        tap = clamp(tap, 0, p_.kernel[axis] - 1);
      }
      if (axis != p_.last()) {
        r.where(element >= 0 && element < p_.in[axis]);
        element = inside_axis(element, p_.in[axis]);
      }
      taps.push_back(tap);
      from.push_back(element);
    }
    if (p_.blocked) from.push_back(p_.depthwise ? Halide::Expr(lane_) : Halide::Expr(r[0]));
    const Halide::Expr value = p_.exact ? c_.in(0)(from) : padded_(reversed(from));
    sum_(left_side(at, phase)) += weight(depth, taps) * value;
  }

  /// The loops over channels, before the others.
  std::vector<Halide::Range> depth_ranges() const {
    if (p_.depthwise && p_.blocked) return {};
    if (!p_.blocked) return {{0, p_.in_per_group}};
    return {{0, p_.in_block}, {0, p_.in_per_group / p_.in_block}};
  }

  void add_padded() {
    std::vector<Halide::Range> ranges = depth_ranges();
    const int first = static_cast<int>(ranges.size());
    for (int axis = p_.count; axis-- > 0;) ranges.emplace_back(0, p_.taps(axis));
    const Halide::RDom r(ranges, "r");
    std::vector<Step> steps;
    for (int axis = 0; axis < p_.count; ++axis) {
      const int d = p_.last() - axis;
      steps.push_back(step_of(p_, axis, at_[d], phase_[d], r[first + d]));
    }
    add(r, {at_.begin(), at_.end()}, {phase_.begin(), phase_.end()}, steps);
  }

  // The sums of one tap of the last axis, at the positions where it meets an element.
  void add_exact(int tap) {
    const int axis = p_.last(), stride = p_.stride[axis];
    const int lag = tap * p_.dilation[axis] - p_.before[axis];  // X = stride * element + lag
    const int phase = ((lag % stride) + stride) % stride, distance = (phase - lag) / stride;
    const int positions = (p_.out[axis] - phase + stride - 1) / stride;
    const int begin = std::max(0, -distance), end = std::min(positions, p_.in[axis] - distance);
    if (begin >= end) return;
    std::vector<Halide::Range> ranges = depth_ranges();
    const int first = static_cast<int>(ranges.size());
    ranges.emplace_back(begin, end - begin);
    for (int outer = axis; outer-- > 0;) ranges.emplace_back(0, p_.taps(outer));
    const Halide::RDom r(ranges, "r");
    std::vector<Step> steps;
    for (int outer = 0; outer < axis; ++outer) {
      const int d = axis - outer;
      steps.push_back(step_of(p_, outer, at_[d], phase_[d], r[first + d]));
    }
    steps.push_back({r[first] + distance, Halide::Expr(tap)});
    std::vector<Halide::Expr> at(at_.begin(), at_.end()), phases(phase_.begin(), phase_.end());
    at[0] = r[first], phases[0] = phase;
    add(r, at, phases, steps);
  }

  Compute& c_;
  const Phases& p_;
  const ConvNd& conv_;
  const std::string letters_;
  const Halide::Var lane_{"o"}, channel_{"c"}, batch_{"n"};
  std::vector<Halide::Var> at_, phase_;
  Halide::Func padded_, sum_;
};

}  // namespace

bool conv_transpose_by_phases(Compute& c, const ConvNd& conv, const std::string& kernel_letters) {
  if (kernel_letters[0] != 'G' && conv_transpose_by_positions(c, conv, kernel_letters)) return true;
  const std::optional<Phases> p = phases_of(c, conv, kernel_letters);
  if (!p) return false;
  PhaseSums sums(c, *p, conv, kernel_letters);
  const Halide::Func sum = sums.make();
  Halide::Func out = c.stage("out");
  const std::vector<Halide::Var> x = Axes(conv.out_layout.rank()).reversed();
  out(x) = sum(sums.index_of(x));
  c.result(out);
  return true;
}

}  // namespace baton
