#include <cmath>

#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"

namespace baton {

struct StftAttrs {
  int64_t n_fft = -1, hop_length = -1, win_length = -1;
  bool normalized = false;
  bool onesided = true;
};

template <>
const AttrSchema& attr_schema<StftAttrs>() {
  using A = StftAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.StftAttrs", {{"n_fft", &A::n_fft, "length of a transform"},
                                {"hop_length", &A::hop_length, "distance of the windows"},
                                {"win_length", &A::win_length, "length of the window"},
                                {"normalized", &A::normalized, "whether results are divided by sqrt(n_fft)"},
                                {"onesided", &A::onesided, "whether the conjugate half is left out"}});
  return schema;
}

namespace {

// (batch, frequencies, windows, 2): real and imaginary part.
RelationStatus stft_relation(RelationContext& ctx, const StftAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (data->rank() < 1 || data->rank() > 2)
    return fail_arg(ctx, 0, "a signal or a batch of them is needed, got " + type_text(ctx.input(0)));
  if (!check_least(ctx, "n_fft", {&attrs.n_fft, 1}, 1) ||
      !check_least(ctx, "hop_length", {&attrs.hop_length, 1}, 1))
    return kFailed;
  std::vector<Dim> shape(data->shape().begin(), data->shape().end() - 1);
  const Dim length = data->shape().back();
  if (!length.is_any() && length.value() < attrs.n_fft)
    return fail_attr(ctx, "n_fft", std::to_string(attrs.n_fft),
                     "the signal has only " + std::to_string(length.value()) + " elements");
  shape.push_back(attrs.onesided ? attrs.n_fft / 2 + 1 : attrs.n_fft);
  shape.push_back(length.is_any() ? floor_div(length - attrs.n_fft, attrs.hop_length) + 1
                                  : Dim((length.value() - attrs.n_fft) / attrs.hop_length + 1));
  shape.push_back(2);
  return ctx.assign_result(tensor_type(std::move(shape), data->dtype()));
}

// result[..., f, w, :] = sum over n of data[..., w * hop + n] * window[n] * exp(-2 pi i f n / n_fft).
void stft_compute(Compute& c, const StftAttrs& attrs) {
  const Tensor &data = c.in(0), &window = c.in(1);
  const Axes i(c.out().rank());
  const int taps = as_int(std::min(attrs.win_length > 0 ? attrs.win_length : attrs.n_fft, window.extent(0)));
  const Domain r({taps});
  const Halide::Type type = sum_type(c.out().dtype());
  Index at;
  for (int axis = 0; axis + 1 < data.rank(); ++axis) at.push_back(i[axis]);
  at.push_back(inside_axis(i[-2] * as_int(attrs.hop_length) + r[0], data.dim(-1)));
  // The turn is reduced to one circle in integers, so that angles stay exact.
  const Halide::Expr turn = cast(type, (i[-3] * r[0]) % as_int(attrs.n_fft)) *
                            cast(type, Halide::Expr(2 * M_PI / static_cast<double>(attrs.n_fft)));
  const Halide::Expr value = cast(type, data(at)) * cast(type, window(Index{r[0]}));
  Halide::Func sum = c.stage("sum"), result = c.stage("stft");
  sum(i.reversed()) = cast(type, 0);
  sum(i.reversed()) += value * select(i[-1] == 0, cos(turn), -sin(turn));
  const double scale = attrs.normalized ? 1 / std::sqrt(static_cast<double>(attrs.n_fft)) : 1;
  result(i.reversed()) = cast_to(c.out().dtype(), sum(i.reversed()) * cast(type, Halide::Expr(scale)));
  c.result(result);
}

}  // namespace

const OpDef& op_stft() {
  static const OpDef def = OpSpec<StftAttrs>{
      .name = "stft",
      .doc = "The Fourier transforms of windows along a signal.",
      .inputs = {{"data", "signals"}, {"window", "the window"}},
      .relation = stft_relation,
      .compute = stft_compute,
      .data_dependent = true,
      .declares_attrs = false,
      .test_shapes = {"(2, 12)f32, (4)f32, n_fft=4, hop_length=2, win_length=4, onesided=True"},
  };
  return def;
}

}  // namespace baton
