// Convolution and dense product of numbers of few bits, and packing of bits into words.
#include "baton/ir/rules/read_rule.h"
#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/shared/spatial.h"

namespace baton {

struct BitPackAttrs {
  int64_t bits = 1;
  int64_t pack_axis = 1;
  int64_t bit_axis = -1;
  DType pack_type = {};
  std::string name = "BitPack";
};

struct BinaryConv2DAttrs {
  std::vector<int64_t> strides{1, 1};
  std::vector<int64_t> padding{0, 0};
  std::vector<int64_t> kernel_size{3, 3};
  std::optional<int64_t> channels = {};
  int64_t activation_bits = 1;
  int64_t weight_bits = 1;
  std::string data_layout = "NCHW";
  std::string kernel_layout = "OIHW";
  DType pack_dtype = {};
  DType out_dtype = {};
  bool unipolar = true;
};

struct BinaryDenseAttrs {
  std::optional<int64_t> units = {};
  int64_t data_bits = 1;
  int64_t weight_bits = 1;
  DType pack_dtype = {};
  DType out_dtype = {};
  bool unipolar = true;
};

template <>
const AttrSchema& attr_schema<BitPackAttrs>() {
  using A = BitPackAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.BitPackAttrs",
                     {{"bits", &A::bits, "bits of each element that are kept"},
                      {"pack_axis", &A::pack_axis, "the axis along which bits are put into words"},
                      {"bit_axis", &A::bit_axis, "where the axis of the bits comes in"},
                      {"pack_type", &A::pack_type, "type of the words"},
                      {"name", &A::name, "name of the stage"}});
  return schema;
}
template <>
const AttrSchema& attr_schema<BinaryConv2DAttrs>() {
  using A = BinaryConv2DAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.BinaryConv2DAttrs",
      {{"strides", &A::strides, "step along height and width"},
       {"padding", &A::padding, "zeros around the data: p, or [h, w], or [top, left, bottom, right]"},
       {"kernel_size", &A::kernel_size, "height and width of the kernel"},
       {"channels", &A::channels, "number of output channels"},
       {"activation_bits", &A::activation_bits, "bits of the data"},
       {"weight_bits", &A::weight_bits, "bits of the weight"},
       {"data_layout", &A::data_layout, "layout of the data"},
       {"kernel_layout", &A::kernel_layout, "layout of the weight"},
       {"pack_dtype", &A::pack_dtype, "type of the words that bits are packed into"},
       {"out_dtype", &A::out_dtype, "element type of the result; void: as the data"},
       {"unipolar", &A::unipolar, "whether a zero bit of the weight counts as 0 instead of -1"}});
  return schema;
}
template <>
const AttrSchema& attr_schema<BinaryDenseAttrs>() {
  using A = BinaryDenseAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.BinaryDenseAttrs",
      {{"units", &A::units, "number of output features", kNoDefault},
       {"data_bits", &A::data_bits, "bits of the data"},
       {"weight_bits", &A::weight_bits, "bits of the weight"},
       {"pack_dtype", &A::pack_dtype, "type of the words that bits are packed into"},
       {"out_dtype", &A::out_dtype, "element type of the result; void: as the data"},
       {"unipolar", &A::unipolar, "whether a zero bit of the weight counts as 0 instead of -1"}});
  return schema;
}

namespace {

RelationStatus bitpack_relation(RelationContext& ctx, const BitPackAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (!check_least(ctx, "bits", {&attrs.bits, 1}, 1)) return kFailed;
  const DType word = attrs.pack_type;
  if (!word.is_uint() || word.bits < 8)
    return fail_attr(ctx, "pack_type", "\"" + word.str() + "\"",
                     "unsigned words of 8, 16, 32 or 64 bits are needed");
  const auto axis = checked_axis(ctx, attrs.pack_axis, data->rank());
  if (!axis) return kFailed;
  if (attrs.bit_axis < 0 || attrs.bit_axis > data->rank())
    return fail_attr(ctx, "bit_axis", std::to_string(attrs.bit_axis),
                     "it must lie in 0.." + std::to_string(data->rank()));
  std::vector<Dim> shape = data->shape();
  shape[*axis] = divided(shape[*axis], word.bits);
  shape.insert(shape.begin() + attrs.bit_axis, Dim(attrs.bits));
  return ctx.assign_result(tensor_type(std::move(shape), word));
}

RelationStatus bitserial_conv2d_relation(RelationContext& ctx, const BinaryConv2DAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  const auto layout = checked_layout(ctx, "data_layout", attrs.data_layout, "NCHW");
  if (!layout || !check_in_layout(ctx, *data, *layout, 0)) return kFailed;
  if (!attrs.channels) return fail_attr(ctx, "channels", "None", "it is needed, as the weight may be packed");
  if (!check_least(ctx, "channels", {&*attrs.channels, 1}, 1)) return kFailed;
  if (!check_lists(ctx, {{"strides", &attrs.strides}, {"kernel_size", &attrs.kernel_size}}, 2))
    return kFailed;
  const auto padding = padding_sums(ctx, attrs.padding, 2);
  if (!padding) return kFailed;
  const Layout canonical = *Layout::parse("NCHW");
  std::vector<Dim> shape = convert_shape(data->shape(), *layout, canonical);
  shape[1] = *attrs.channels;
  for (int i = 0; i < 2; ++i) {
    const auto extent =
        window_positions(ctx, {shape[2 + i], (*padding)[i], attrs.kernel_size[i], 1, attrs.strides[i]});
    if (!extent) return kFailed;
    shape[2 + i] = *extent;
  }
  return ctx.assign_result(tensor_type(convert_shape(shape, canonical, *layout),
                                       attrs.out_dtype.is_void() ? data->dtype() : attrs.out_dtype));
}

RelationStatus bitserial_dense_relation(RelationContext& ctx, const BinaryDenseAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (data->rank() < 1)
    return fail_arg(ctx, 0, "data of rank >= 1 is needed, got " + type_text(ctx.input(0)));
  if (!attrs.units) return fail_attr(ctx, "units", "None", "it is needed, as the weight may be packed");
  if (!check_least(ctx, "units", {&*attrs.units, 1}, 1)) return kFailed;
  std::vector<Dim> shape = data->shape();
  shape.back() = *attrs.units;
  return ctx.assign_result(
      tensor_type(std::move(shape), attrs.out_dtype.is_void() ? data->dtype() : attrs.out_dtype));
}

// The first neighbour becomes the highest bit of its word.
void bitpack_compute(Compute& c, const BitPackAttrs& attrs) {
  const Tensor& data = c.in(0);
  const Axes i(c.out().rank());
  const int axis = from_front(attrs.pack_axis, data.rank()), width = attrs.pack_type.bits,
            bit_axis = static_cast<int>(attrs.bit_axis);
  const Halide::Type type = halide_type(c.out().dtype());
  Index at = i.exprs();
  const Halide::Expr bit = at[bit_axis];
  at.erase(at.begin() + bit_axis);
  const Halide::Expr first = at[axis] * width;
  Halide::Expr word = cast(type, 0);
  for (int k = 0; k < width; ++k) {
    at[axis] = inside_axis(first + k, data.extent(axis));
    word = word | (((cast(type, data(at)) >> cast(type, bit)) & cast(type, 1)) << cast(type, width - 1 - k));
  }
  Halide::Func packed = c.stage("bitpack");
  packed(i.reversed()) = word;
  c.result(packed);
}

// The lowest `bits` bits of a number; in a unipolar weight a cleared bit counts as -1.
Halide::Expr few_bits(const Halide::Expr& value, int64_t bits, bool minus) {
  const Halide::Expr low = Halide::cast<int>(value) & ((1 << bits) - 1);
  return minus ? 2 * low - ((1 << bits) - 1) : low;
}

void check_bits(const char* name, int64_t bits) {
  if (bits < 1 || bits > 15)
    throw NotSupported(std::string("bitserial operators with ") + name + " = " + std::to_string(bits));
}

// Equivalent to counting ones: the operands are used unpacked.
void bitserial_conv2d_compute(Compute& c, const BinaryConv2DAttrs& attrs) {
  const Tensor &data = c.in(0), &weight = c.in(1);
  check_bits("activation_bits", attrs.activation_bits);
  check_bits("weight_bits", attrs.weight_bits);
  const Layout nchw = *Layout::parse("NCHW"), oihw = *Layout::parse("OIHW"),
               layout = *Layout::parse(attrs.data_layout);
  const auto kernel_layout = Layout::parse(attrs.kernel_layout);
  if (weight.rank() != 4 || !kernel_layout || !kernel_layout->convertible(oihw))
    throw NotSupported("nn.bitserial_conv2d with a weight that is packed already");
  const std::vector<int64_t> in = convert_shape(data.shape(), layout, nchw),
                             kernel = convert_shape(weight.shape(), *kernel_layout, oihw);
  if (kernel != std::vector<int64_t>{*attrs.channels, in[1], attrs.kernel_size[0], attrs.kernel_size[1]})
    throw NotSupported("nn.bitserial_conv2d of data " + describe(data.shape(), data.dtype()) + " in " +
                       attrs.data_layout + " with a weight " + describe(weight.shape(), weight.dtype()) +
                       " in " + attrs.kernel_layout);
  if (convert_shape(c.out().extents(), layout, nchw)[1] != *attrs.channels)
    throw NotSupported("nn.bitserial_conv2d of " + std::to_string(*attrs.channels) + " channels in " +
                       attrs.data_layout + ", whose blocks they do not fill");
  std::vector<int64_t> before, after;
  split_padding(attrs.padding, 2, &before, &after);
  const Axes i(data.rank());
  const Index to = convert_index<Halide::Expr>(i.exprs(), layout, nchw);
  const Domain r({in[1], kernel[2], kernel[3]});
  Index from{to[0], r[0]};
  Halide::Expr inside = Halide::Internal::const_true();
  for (int k = 0; k < 2; ++k) {
    const Halide::Expr position = to[2 + k] * as_int(attrs.strides[k]) + r[1 + k] - as_int(before[k]);
    inside = inside && position >= 0 && position < as_int(in[2 + k]);
    from.push_back(inside_axis(position, in[2 + k]));
  }
  const Halide::Expr value =
      few_bits(data(convert_index<Halide::Expr>(from, nchw, layout)), attrs.activation_bits, false);
  const Halide::Expr factor =
      few_bits(weight(convert_index<Halide::Expr>({to[1], r[0], r[1], r[2]}, oihw, *kernel_layout)),
               attrs.weight_bits, attrs.unipolar);
  Halide::Func sum = c.stage("bitserial_conv2d"), out = c.stage("out");
  sum(i.reversed()) = 0;
  sum(i.reversed()) += select(inside, value, 0) * factor;
  out(i.reversed()) = cast_to(c.out().dtype(), sum(i.reversed()));
  c.result(out);
}

void bitserial_dense_compute(Compute& c, const BinaryDenseAttrs& attrs) {
  const Tensor &data = c.in(0), &weight = c.in(1);
  check_bits("data_bits", attrs.data_bits);
  check_bits("weight_bits", attrs.weight_bits);
  if (weight.rank() != 2 || weight.extent(1) != data.extent(-1))
    throw NotSupported("nn.bitserial_dense with a weight that is packed already");
  if (weight.extent(0) != *attrs.units)
    throw NotSupported("nn.bitserial_dense of " + std::to_string(*attrs.units) + " units with a weight " +
                       describe(weight.shape(), weight.dtype()));
  const Axes i(data.rank());
  const Domain r({data.extent(-1)});
  Index at = i.exprs();
  at.back() = r[0];
  Halide::Func sum = c.stage("bitserial_dense"), out = c.stage("out");
  sum(i.reversed()) = 0;
  sum(i.reversed()) += few_bits(data(at), attrs.data_bits, false) *
                       few_bits(weight(Index{i[-1], r[0]}), attrs.weight_bits, attrs.unipolar);
  out(i.reversed()) = cast_to(c.out().dtype(), sum(i.reversed()));
  c.result(out);
}

}  // namespace

const OpDef& op_nn_bitpack() {
  static const OpDef def = OpSpec<BitPackAttrs>{
      .name = "nn.bitpack",
      .doc = "Puts the lowest bits of neighbours along pack_axis into words; a new axis says which bit.",
      .inputs = {{"data", "tensor of unsigned integers"}},
      .fuse = Fuse::kInjective,
      .relation = bitpack_relation,
      .compute = bitpack_compute,
      .rules = op_rules(reads_all()),
      .test_shapes = {"(1, 8, 4, 4)u8[0, 2], bit_axis=1, pack_type=uint8"},
  };
  return def;
}

const OpDef& op_nn_bitserial_conv2d() {
  static const OpDef def = OpSpec<BinaryConv2DAttrs>{
      .name = "nn.bitserial_conv2d",
      .doc = "nn.conv2d of numbers of a few bits, by counting ones.",
      .inputs = {{"data", "4-D tensor in data_layout"}, {"weight", "tensor in kernel_layout, or packed"}},
      .fuse = Fuse::kOutFusable,
      .relation = bitserial_conv2d_relation,
      .compute = bitserial_conv2d_compute,
      .cost = conv_cost,
      .python =
          "nn.bitserial_conv2d(data, weight, strides=(1, 1), padding=(0, 0), channels=None, kernel_size=(3, "
          "3), activation_bits=1, weight_bits=1, data_layout='NCHW', kernel_layout='OIHW', "
          "pack_dtype='uint32', out_dtype='int16', unipolar=True)",
      .rules = op_rules(conv_layout_flow()),
      .test_shapes =
          {"(1, 32, 6, 5)u8[0, 2], (4, 32, 3, 3)u8[0, 2], channels=4, pack_dtype=uint32, out_dtype=int16"},
  };
  return def;
}

const OpDef& op_nn_bitserial_dense() {
  static const OpDef def = OpSpec<BinaryDenseAttrs>{
      .name = "nn.bitserial_dense",
      .doc = "nn.dense of numbers of a few bits, by counting ones.",
      .inputs = {{"data", "tensor of rank >= 1"}, {"weight", "matrix, or packed"}},
      .fuse = Fuse::kOutFusable,
      .relation = bitserial_dense_relation,
      .compute = bitserial_dense_compute,
      .cost = dense_cost,
      .python =
          "nn.bitserial_dense(data, weight, units=None, data_bits=1, weight_bits=1, pack_dtype='uint32', "
          "out_dtype='int16', unipolar=True)",
      .test_shapes =
          {"(2, 32)u8[0, 4], (3, 32)u8[0, 2], units=3, data_bits=2, pack_dtype=uint32, out_dtype=int16"},
  };
  return def;
}

}  // namespace baton
