// Regions of a feature map, pooled to one size; and squares of pixels turned into channels.
#include "baton/ir/attrs.h"
#include "baton/ir/rules/read_rule.h"
#include "baton/ops/domain.h"
#include "baton/ops/math.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/vision/extent.h"

namespace baton {

struct ROIAlignAttrs {
  std::vector<int64_t> pooled_size = {};
  double spatial_scale = 0;
  int64_t sample_ratio = -1;
  std::string layout = "NCHW";
  std::string mode = "avg";
};

/// ONNX's RoiAlign.
struct SampledRegionsAttrs {
  std::vector<int64_t> pooled_size = {};
  double spatial_scale = 0;
  int64_t sample_ratio = -1;
  std::string mode = "avg";
  bool half_pixel = true;
};

struct ROIPoolAttrs {
  std::vector<int64_t> pooled_size = {};
  double spatial_scale = 0;
  std::string layout = "NCHW";
};

struct YoloReorgAttrs {
  int64_t stride = 1;
};

template <>
const AttrSchema& attr_schema<ROIAlignAttrs>() {
  using A = ROIAlignAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.ROIAlignAttrs",
                     {{"pooled_size", &A::pooled_size, "height and width of the result", kNoDefault},
                      {"spatial_scale", &A::spatial_scale,
                       "from the coordinates of a region to those of the data", kNoDefault},
                      {"sample_ratio", &A::sample_ratio,
                       "samples per element, along each axis; -1: from the size of the region"},
                      {"layout", &A::layout, "layout of the data: NCHW or NHWC"},
                      {"mode", &A::mode, "what is made of the samples: avg or max"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<SampledRegionsAttrs>() {
  using A = SampledRegionsAttrs;
  static const AttrSchema schema = make_schema<A>(
      "baton.attrs.SampledRegionsAttrs",
      {{"pooled_size", &A::pooled_size, "height and width of the result", kNoDefault},
       {"spatial_scale", &A::spatial_scale, "from the coordinates of a region to those of the data",
        kNoDefault},
       {"sample_ratio", &A::sample_ratio,
        "samples per element, along each axis; -1: from the size of the region"},
       {"mode", &A::mode, "avg: of the samples; max: the largest pixel, times its weight in a sample"},
       {"half_pixel", &A::half_pixel,
        "whether regions lie half a pixel before their coordinates; otherwise they are at least one pixel "
        "large"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ROIPoolAttrs>() {
  using A = ROIPoolAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.ROIPoolAttrs",
                     {{"pooled_size", &A::pooled_size, "height and width of the result", kNoDefault},
                      {"spatial_scale", &A::spatial_scale,
                       "from the coordinates of a region to those of the data", kNoDefault},
                      {"layout", &A::layout, "layout of the data: NCHW or NHWC"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<YoloReorgAttrs>() {
  using A = YoloReorgAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.YoloReorgAttrs", {{"stride", &A::stride, "each stride x stride square becomes channels"}});
  return schema;
}

namespace {

// roi_align and roi_pool: one pooled piece per region.
RelationStatus regions_relation(RelationContext& ctx, const std::vector<int64_t>& pooled_size,
                                const std::string& layout) {
  const TensorTypeNode *data = ctx.tensor(0), *rois = ctx.tensor(1);
  if (!data || !rois) return kDefer;
  if (!check_rank(ctx, *data, 4, 0) || !check_rank(ctx, *rois, 2, 1) ||
      !check_extent(ctx, *rois, 1, 5, 1, "an image and two corners of each region"))
    return kFailed;
  if (!check_count(ctx, "pooled_size", pooled_size, 2) || !check_least(ctx, "pooled_size", pooled_size, 0))
    return kFailed;
  const Dim count = rois->shape()[0];
  if (layout == "NCHW")
    return ctx.assign_result(tensor_type(
        std::vector<Dim>{count, data->shape()[1], pooled_size[0], pooled_size[1]}, data->dtype()));
  if (layout == "NHWC")
    return ctx.assign_result(tensor_type(
        std::vector<Dim>{count, pooled_size[0], pooled_size[1], data->shape()[3]}, data->dtype()));
  return fail_attr(ctx, "layout", attr_text(AttrValue(layout)), "it must be \"NCHW\" or \"NHWC\"");
}

RelationStatus yolo_reorg_relation(RelationContext& ctx, const YoloReorgAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (!check_rank(ctx, *data, 4, 0) || !check_least(ctx, "stride", {&attrs.stride, 1}, 1)) return kFailed;
  const std::vector<Dim>& in = data->shape();
  const auto channels = result_extent(ctx, 0, {in[1], attrs.stride, attrs.stride});
  if (!channels) return kFailed;
  auto divided = [&](Dim dim) {
    return dim.is_any() ? floor_div(dim, attrs.stride) : Dim(dim.value() / attrs.stride);
  };
  return ctx.assign_result(
      tensor_type(std::vector<Dim>{in[0], *channels, divided(in[2]), divided(in[3])}, data->dtype()));
}

// Result (region, channel, y, x) and data (image, channel, y, x) in both layouts.
struct Regions {
  Regions(const Compute& c, const std::string& layout, double scale)
      : data(c.in(0)),
        rois(c.in(1)),
        i(4),
        nchw(layout == "NCHW"),
        real(data.dtype() == DType::float_(64) ? Halide::Float(64) : Halide::Float(32)),
        scale(number(scale)) {
    const Index at = i.exprs();
    region = at[0];
    channel = nchw ? at[1] : at[3];
    y = nchw ? at[2] : at[1];
    x = nchw ? at[3] : at[2];
    height = as_int(data.extent(nchw ? 2 : 1));
    width = as_int(data.extent(nchw ? 3 : 2));
    image = inside_axis(rois(Index{region, 0}), data.extent(0));
  }
  Halide::Expr edge(int which) const {
    return Halide::cast(real, rois(Index{region, 1 + which})) * scale;
  }  // x0, y0, x1, y1
  Halide::Expr pixel(const Halide::Expr& at_y, const Halide::Expr& at_x) const {
    const Halide::Expr py = inside_axis(at_y, height), px = inside_axis(at_x, width);
    return Halide::cast(real, data(nchw ? Index{image, channel, py, px} : Index{image, py, px, channel}));
  }
  Halide::Expr number(double value) const { return Halide::Internal::make_const(real, value); }
  const Tensor &data, &rois;
  Axes i;
  bool nchw;
  Halide::Type real;  ///< of positions and pixels: float64 for data of float64, else float32
  Halide::Expr scale;
  Halide::Expr region, channel, y, x, image;
  int height, width;
};

/// How regions are sampled.
struct Sampling {
  std::vector<int64_t> pooled_size;
  int64_t sample_ratio;
  bool mean;        ///< of the samples; else the largest
  bool half_pixel;  ///< regions lie half a pixel before their coordinates, and may be smaller than a pixel
  bool pixels;      ///< the largest pixel times its weight, not the largest sample
};

// Without sample_ratio a bin has as many samples as it covers pixels, rounded up.
void sample_regions(Compute& c, const Regions& in, const Sampling& attrs) {
  const int bins_y = std::max(as_int(attrs.pooled_size[0]), 1),
            bins_x = std::max(as_int(attrs.pooled_size[1]), 1);
  const bool mean = attrs.mean;
  auto extent = [&](int axis) -> Halide::Expr {  // 0: x, 1: y
    const Halide::Expr size = in.edge(2 + axis) - in.edge(axis);
    return attrs.half_pixel ? size : max(size, in.number(1));
  };
  const Halide::Expr shift = in.number(attrs.half_pixel ? 0.5 : 0.0);
  const bool counted = attrs.sample_ratio > 0;
  // Loops need a bound that is known beforehand: it is enough for regions twice as large as the data.
  auto most = [&](int pixels, int bins) {
    return counted ? as_int(attrs.sample_ratio) : (2 * pixels + bins - 1) / bins + 1;
  };
  auto samples = [&](int axis, int pixels, int bins) {
    if (counted) return Halide::Expr(as_int(attrs.sample_ratio));
    return clamp(Halide::cast<int>(ceil(extent(axis) / in.number(bins))), 0, most(pixels, bins));
  };
  const Halide::Expr samples_y = samples(1, in.height, bins_y), samples_x = samples(0, in.width, bins_x);
  Halide::RDom r(0, most(in.width, bins_x), 0, most(in.height, bins_y), "r");
  if (!counted) r.where(r.x < samples_x && r.y < samples_y);
  const Halide::Expr bin_y = extent(1) / in.number(bins_y), bin_x = extent(0) / in.number(bins_x);
  const Halide::Expr y = in.edge(1) - shift +
                         (Halide::cast(in.real, in.y) +
                          (Halide::cast(in.real, r.y) + in.number(0.5)) / Halide::cast(in.real, samples_y)) *
                             bin_y;
  const Halide::Expr x = in.edge(0) - shift +
                         (Halide::cast(in.real, in.x) +
                          (Halide::cast(in.real, r.x) + in.number(0.5)) / Halide::cast(in.real, samples_x)) *
                             bin_x;
  const Halide::Expr outside =
      y < in.number(-1.0) || y > in.number(in.height) || x < in.number(-1.0) || x > in.number(in.width);
  const Halide::Expr cy = clamp(y, in.number(0.0), in.number(in.height - 1)),
                     cx = clamp(x, in.number(0.0), in.number(in.width - 1));
  const Halide::Expr y0 = floor(cy), x0 = floor(cx), dy = cy - y0, dx = cx - x0, iy = Halide::cast<int>(y0),
                     ix = Halide::cast<int>(x0);
  const Halide::Expr whole_x = in.number(1.0) - dx, whole_y = in.number(1.0) - dy;
  const Halide::Expr largest = ieee_maximum(
      ieee_maximum(in.pixel(iy, ix) * (whole_y * whole_x), in.pixel(iy, ix + 1) * (whole_y * dx)),
      ieee_maximum(in.pixel(iy + 1, ix) * (dy * whole_x), in.pixel(iy + 1, ix + 1) * (dy * dx)));
  const Halide::Expr top = in.pixel(iy, ix) * (in.number(1.0) - dx) + in.pixel(iy, ix + 1) * dx;
  const Halide::Expr bottom = in.pixel(iy + 1, ix) * (in.number(1.0) - dx) + in.pixel(iy + 1, ix + 1) * dx;
  Halide::Expr value =
      select(outside, in.number(0.0), attrs.pixels ? largest : top * (in.number(1.0) - dy) + bottom * dy);
  // For integers: 7 or just below it, depending on which multiplications and additions are fused, would
  // become 7 or 6.
  if (!halide_type(c.out().dtype()).is_float()) value = rounded_products(value);
  Halide::Func pooled = c.stage(mean ? "sum" : "max"), out = c.stage("roi_align");
  const auto i = in.i.reversed();
  pooled(i) = mean ? Halide::Expr(in.number(0.0)) : lowest(in.real);
  pooled(i) = mean ? pooled(i) + value : ieee_maximum(pooled(i), value);
  const Halide::Expr folded = pooled(i);
  // A region without samples gives 0.
  const Halide::Expr count = samples_y * samples_x;
  const Halide::Expr all = mean ? folded / Halide::cast(in.real, max(count, 1)) : folded;
  out(i) = cast_to(c.out().dtype(), mean || counted ? all : select(count == 0, in.number(0.0), all));
  c.result(out);
}

void roi_align_compute(Compute& c, const ROIAlignAttrs& attrs) {
  const bool mean = attrs.mode == "avg";
  if (!mean && attrs.mode != "max") throw NotSupported("vision.roi_align has no mode \"" + attrs.mode + "\"");
  sample_regions(c, Regions(c, attrs.layout, attrs.spatial_scale),
                 {attrs.pooled_size, attrs.sample_ratio, mean, false, false});
}

void sampled_regions_compute(Compute& c, const SampledRegionsAttrs& attrs) {
  const bool mean = attrs.mode == "avg";
  if (!mean && attrs.mode != "max")
    throw NotSupported("vision.sampled_regions has no mode \"" + attrs.mode + "\"");
  sample_regions(c, Regions(c, "NCHW", attrs.spatial_scale),
                 {attrs.pooled_size, attrs.sample_ratio, mean, attrs.half_pixel, !mean});
}

// Corners are rounded to pixels, both inside the region. Empty bins give 0.
void roi_pool_compute(Compute& c, const ROIPoolAttrs& attrs) {
  const Regions in(c, attrs.layout, attrs.spatial_scale);
  auto corner = [&](int which) { return Halide::cast<int>(round_away(in.edge(which))); };
  auto bin = [&](int axis, const Halide::Expr& number, int bins, int extent, bool end) {
    const Halide::Expr size =
        Halide::cast<float>(max(corner(2 + axis) - corner(axis) + 1, 1)) / static_cast<float>(bins);
    const Halide::Expr edge =
        end ? ceil(Halide::cast<float>(number + 1) * size) : floor(Halide::cast<float>(number) * size);
    return clamp(Halide::cast<int>(edge) + corner(axis), 0, extent);
  };
  const int bins_y = as_int(attrs.pooled_size[0]), bins_x = as_int(attrs.pooled_size[1]);
  const Halide::Expr y0 = bin(1, in.y, bins_y, in.height, false), y1 = bin(1, in.y, bins_y, in.height, true);
  const Halide::Expr x0 = bin(0, in.x, bins_x, in.width, false), x1 = bin(0, in.x, bins_x, in.width, true);
  Halide::RDom r(0, in.width, 0, in.height, "r");
  r.where(r.x < x1 - x0 && r.y < y1 - y0);
  Halide::Func largest = c.stage("max"), out = c.stage("roi_pool");
  const auto i = in.i.reversed();
  largest(i) = lowest(in.real);
  largest(i) = ieee_maximum(largest(i), in.pixel(y0 + r.y, x0 + r.x));
  out(i) = cast_to(c.out().dtype(), select(y1 <= y0 || x1 <= x0, in.number(0), largest(i)));
  c.result(out);
}

// Both tensors are read as flat memory, as Darknet does: position (k, j, i) of the data's own extents takes
// pixel (j * stride + offset / stride, i * stride + offset % stride) of an image that is stride times as
// large and has stride * stride times fewer channels, where offset is k over the number of these channels.
void yolo_reorg_compute(Compute& c, const YoloReorgAttrs& attrs) {
  const Tensor& data = c.in(0);
  const std::vector<int64_t> out = c.out().extents();
  const int stride = as_int(attrs.stride), channels = as_int(data.extent(1)), height = as_int(data.extent(2)),
            width = as_int(data.extent(3));
  const int fewer = std::max(1, channels / (stride * stride));
  const Axes i(4);
  const Halide::Expr flat = (i[1] * as_int(out[2]) + i[2]) * as_int(out[3]) + i[3];
  const Halide::Expr x = flat % width, y = flat / width % height, k = flat / (width * height),
                     offset = k / fewer;
  const Halide::Expr from_y = y * stride + offset / stride, from_x = x * stride + offset % stride;
  const Halide::Expr from = from_x + width * stride * (from_y + height * stride * (k % fewer));
  Halide::Func moved = c.stage("yolo_reorg");
  moved(i.reversed()) =
      data(Index{i[0], inside_axis(from / (width * height), channels), from / width % height, from % width});
  c.result(moved);
}

/// Each sample is interpolated between four elements.
double roi_align_reads(const CostQuery& q, size_t input, double results) {
  const auto ratio = static_cast<double>(attrs_as<ROIAlignAttrs>(q.attrs).sample_ratio);
  return input == 0 && ratio > 0 ? results * 4 * ratio * ratio : q.input_elements(input);
}

}  // namespace

const OpDef& op_vision_roi_align() {
  static const OpDef def = OpSpec<ROIAlignAttrs>{
      .name = "vision.roi_align",
      .doc = "Each region of the data, sampled between pixels, pooled to one size.",
      .inputs = {{"data", "4-D tensor in layout"}, {"rois", "(regions, 5): which image, two corners"}},
      .fuse = Fuse::kOutFusable,
      .relation =
          [](RelationContext& ctx, const ROIAlignAttrs& attrs) {
            return regions_relation(ctx, attrs.pooled_size, attrs.layout);
          },
      .compute = roi_align_compute,
      .declares_attrs = false,
      .rules = op_rules(ReadRule{roi_align_reads}, regions_layout_flow(), ConvertedLayout::kWindows),
      .test_shapes =
          {"(1, 2, 8, 8)f32, (1, 5)f32{0, 1, 1, 5, 6}, pooled_size=[2, 2], spatial_scale=1., mode=max",
           "(2, 3, 6, 6)f32, (2, 5)f32{0, 0.5, 0.5, 4, 5, 1, 1, 2, 5, 3}, pooled_size=[2, 3], "
           "spatial_scale=0.5, sample_ratio=2"},
  };
  return def;
}

const OpDef& op_vision_roi_pool() {
  static const OpDef def = OpSpec<ROIPoolAttrs>{
      .name = "vision.roi_pool",
      .doc = "The largest pixels of each region of the data, on a grid of one size.",
      .inputs = {{"data", "4-D tensor in layout"}, {"rois", "(regions, 5): which image, two corners"}},
      .fuse = Fuse::kOutFusable,
      .relation =
          [](RelationContext& ctx, const ROIPoolAttrs& attrs) {
            return regions_relation(ctx, attrs.pooled_size, attrs.layout);
          },
      .compute = roi_pool_compute,
      .declares_attrs = false,
      .rules = op_rules(regions_layout_flow(), ConvertedLayout::kWindows),
      .test_shapes = {"(1, 2, 8, 8)f32, (1, 5)f32{0, 1, 1, 6, 6}, pooled_size=[3, 3], spatial_scale=1."},
  };
  return def;
}

const OpDef& op_vision_sampled_regions() {
  static const OpDef def = OpSpec<SampledRegionsAttrs>{
      .name = "vision.sampled_regions",
      .doc = "vision.roi_align as ONNX has it: regions at half pixels, the largest of weighted pixels.",
      .inputs = {{"data", "4-D tensor, NCHW"}, {"rois", "(regions, 5): which image, two corners"}},
      .fuse = Fuse::kOutFusable,
      .relation =
          [](RelationContext& ctx, const SampledRegionsAttrs& attrs) {
            return regions_relation(ctx, attrs.pooled_size, "NCHW");
          },
      .compute = sampled_regions_compute,
      .declares_attrs = false,
      .test_shapes =
          {"(1, 2, 8, 8)f32, (1, 5)f32{0, 1, 1, 5, 6}, pooled_size=[2, 2], spatial_scale=1., mode=max",
           "(2, 3, 6, 6)f32, (2, 5)f32{0, 0.5, 0.5, 4, 5, 1, 1, 2, 1.25, 3}, pooled_size=[2, 3], "
           "spatial_scale=0.5, sample_ratio=2",
           "(1, 2, 8, 8)f32, (1, 5)f32{0, 1, 1, 5, 6}, pooled_size=[2, 2], spatial_scale=0.5, "
           "half_pixel=False"},
  };
  return def;
}

const OpDef& op_vision_yolo_reorg() {
  static const OpDef def = OpSpec<YoloReorgAttrs>{
      .name = "vision.yolo_reorg",
      .doc = "Every stride-th pixel of the rows and columns, all shifts of that as channels.",
      .inputs = {{"data", "4-D tensor, NCHW"}},
      .fuse = Fuse::kInjective,
      .relation = yolo_reorg_relation,
      .compute = yolo_reorg_compute,
      .python = "vision.yolo_reorg(data, stride)",
      .test_shapes = {"(1, 4, 4, 6)f32, stride=2"},
  };
  return def;
}

}  // namespace baton
