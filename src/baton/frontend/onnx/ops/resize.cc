// Resize and Upsample: interpolation is separable, so each axis is resized by itself, by a table of which
// elements make a new one and how much of each. Two spatial axes of images go to image.resize2d where that
// computes the same.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/ops/numbers.h"
#include "baton/ir/extent.h"
#include "baton/ir/op_names.h"

namespace baton::onnx {

namespace {

enum class Interpolation : uint8_t { kNearest, kLinear, kCubic };

/// What the node says of all axes.
struct ResizeForm {
  Interpolation mode = Interpolation::kNearest;
  std::string positions, rounding, policy;
  double cubic = -0.75, outside = 0;
  bool exclude_outside = false, antialias = false;
  bool crops() const { return positions == "tf_crop_and_resize"; }
};

/// One axis of the data, which becomes one of `to` elements.
struct ResizedAxis {
  int64_t from = 0, to = 0;
  double scale = 1, begin = 0, end = 1;  ///< begin and end of the part that is taken
  bool is_exact = true;                  ///< scale * from is `to`
};

/// Of each new element: `count` elements of the data and their weights.
struct Taps {
  int64_t count = 1;
  std::vector<int64_t> from;
  std::vector<double> weights;
  std::vector<uint8_t> is_outside;  ///< empty: none is
};

Interpolation interpolation_of(const Conversion& c) {
  const std::string mode = c.text("mode", "nearest");
  if (mode == "nearest") return Interpolation::kNearest;
  if (mode == "linear" || mode == "bilinear") return Interpolation::kLinear;
  if (mode == "cubic") return Interpolation::kCubic;
  throw c.error("`mode` is \"" + mode + "\", and should be nearest, linear or cubic");
}

void check_words(const Conversion& c, const ResizeForm& form) {
  const auto check = [&](const char* name, const std::string& given, std::vector<std::string_view> known) {
    if (std::ranges::find(known, given) == known.end())
      throw c.error("`" + std::string(name) + "` is \"" + given + "\", which there is not");
  };
  check("coordinate_transformation_mode", form.positions,
        {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
         "tf_crop_and_resize", "tf_half_pixel_for_nn"});
  check("nearest_mode", form.rounding, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  check("keep_aspect_ratio_policy", form.policy, {"stretch", "not_larger", "not_smaller"});
}

ResizeForm resize_form(const Conversion& c) {
  ResizeForm form;
  form.mode = interpolation_of(c);
  form.cubic = c.number("cubic_coeff_a", -0.75);
  form.exclude_outside = c.integer("exclude_outside", 0) != 0;
  form.antialias = c.integer("antialias", 0) != 0;
  form.outside = c.number("extrapolation_value", 0);
  form.policy = c.text("keep_aspect_ratio_policy", "stretch");
  const bool is_plain = c.node.op_type == "Upsample" || c.version < 11;
  form.positions = is_plain ? "asymmetric" : c.text("coordinate_transformation_mode", "half_pixel");
  form.rounding = is_plain ? "floor" : c.text("nearest_mode", "round_prefer_floor");
  check_words(c, form);
  return form;
}

// ---- Positions and weights.

double position_of(const ResizeForm& form, const ResizedAxis& axis, double at) {
  const double from = static_cast<double>(axis.from), length = axis.scale * from;
  const double half = (at + 0.5) / axis.scale - 0.5;
  if (form.positions == "asymmetric") return at / axis.scale;
  if (form.positions == "tf_half_pixel_for_nn") return (at + 0.5) / axis.scale;
  if (form.positions == "align_corners") return length == 1 ? 0 : at * (from - 1) / (length - 1);
  if (form.positions == "pytorch_half_pixel") return length == 1 ? -0.5 : half;
  if (form.positions == "half_pixel_symmetric")
    return from / 2 * (1 - static_cast<double>(axis.to) / length) + half;
  if (!form.crops()) return half;
  const double part = axis.end - axis.begin, first = axis.begin * (from - 1);
  return first + (length == 1 ? part * (from - 1) / 2 : at * part * (from - 1) / (length - 1));
}

int64_t nearest_to(const ResizeForm& form, double x) {
  if (form.rounding == "floor") return static_cast<int64_t>(std::floor(x));
  if (form.rounding == "ceil") return static_cast<int64_t>(std::ceil(x));
  return static_cast<int64_t>(form.rounding == "round_prefer_ceil" ? std::floor(x + 0.5)
                                                                   : std::ceil(x - 0.5));
}

double weight_at(const ResizeForm& form, double distance) {
  const double x = std::abs(distance), a = form.cubic;
  if (form.mode == Interpolation::kLinear) return std::max(0.0, 1 - x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/// The elements around position `x`; where an axis becomes smaller and the form says so, as many more as it
/// becomes smaller.
void add_weights(const ResizeForm& form, const ResizedAxis& axis, double x, Taps& taps) {
  const double scale = form.antialias ? std::min(axis.scale, 1.0) : 1;
  const int64_t first = static_cast<int64_t>(std::floor(x)) + 1 - taps.count / 2;
  std::vector<double> weights;
  double sum = 0;
  for (int64_t k = 0; k < taps.count; ++k) {
    const int64_t at = first + k;
    double weight = weight_at(form, scale * (static_cast<double>(at) - x));
    if (form.exclude_outside && (at < 0 || at >= axis.from)) weight = 0;
    weights.push_back(weight), sum += weight;
    taps.from.push_back(std::clamp<int64_t>(at, 0, axis.from - 1));
  }
  const bool is_scaled = (form.antialias || form.exclude_outside) && sum != 0;
  for (const double weight : weights) taps.weights.push_back(is_scaled ? weight / sum : weight);
}

Taps taps_of(const ResizeForm& form, const ResizedAxis& axis) {
  Taps taps;
  const double scale = form.antialias ? std::min(axis.scale, 1.0) : 1;
  const double reach = (form.mode == Interpolation::kCubic ? 2 : 1) / scale;
  if (form.mode != Interpolation::kNearest) taps.count = 2 * static_cast<int64_t>(std::ceil(reach));
  for (int64_t i = 0; i < axis.to; ++i) {
    const double x = position_of(form, axis, static_cast<double>(i));
    if (form.crops()) taps.is_outside.push_back(x < 0 || x > static_cast<double>(axis.from - 1));
    if (form.mode == Interpolation::kNearest)
      taps.from.push_back(std::clamp<int64_t>(nearest_to(form, x), 0, axis.from - 1));
    else
      add_weights(form, axis, x, taps);
  }
  return taps;
}

// ---- One axis.

std::vector<int64_t> along_axis(int rank, int axis, int64_t extent) {
  std::vector<int64_t> shape(static_cast<size_t>(rank), 1);
  shape.at(static_cast<size_t>(axis)) = extent;
  return shape;
}

/// A product with the matrix of all weights: for more taps than are worth a pass over the data each.
Expr by_matrix(const Conversion& c, const Expr& data, int axis, const ResizedAxis& of, const Taps& taps) {
  const DType type = tensor_type(data).dtype();
  std::vector<double> matrix(c.table_size({of.to, of.from}), 0.0);
  for (int64_t i = 0; i < of.to; ++i)
    for (int64_t k = 0; k < taps.count; ++k) {
      const auto at = static_cast<size_t>(i * taps.count + k);
      matrix[static_cast<size_t>(i * of.from + taps.from.at(at))] += taps.weights[at];
    }
  const int rank = tensor_type(data).rank();
  std::vector<int64_t> last(static_cast<size_t>(rank));
  std::iota(last.begin(), last.end(), int64_t{0});
  std::swap(last[static_cast<size_t>(axis)], last.back());
  const Expr weights = c.constant(reals_array({of.to, of.from}, matrix, type));
  const Expr product = c.call(op_names::kDense, {c.transpose(data, last), weights}, {{"units", of.to}});
  return c.transpose(product, last);
}

Expr resized(const Conversion& c, const Expr& data, int axis, const ResizeForm& form, const ResizedAxis& of) {
  const Taps taps = taps_of(form, of);
  const DType type = tensor_type(data).dtype();
  const int rank = tensor_type(data).rank();
  Expr result;
  constexpr int64_t kMostPasses = 4;
  if (form.mode != Interpolation::kNearest && taps.count > kMostPasses) {
    result = by_matrix(c, data, axis, of, taps);
  } else {
    for (int64_t k = 0; k < taps.count; ++k) {
      std::vector<int64_t> from;
      std::vector<double> weights;
      for (int64_t i = 0; i < of.to; ++i) {
        from.push_back(taps.from.at(static_cast<size_t>(i * taps.count + k)));
        if (!taps.weights.empty()) weights.push_back(taps.weights[static_cast<size_t>(i * taps.count + k)]);
      }
      Expr part = c.call("take", {data, c.vector(from, DType::int_(32))}, {{"axis", axis}, {"mode", "clip"}});
      if (!weights.empty())
        part =
            c.call("multiply", {part, c.constant(reals_array(along_axis(rank, axis, of.to), weights, type))});
      result = result ? c.call("add", {result, part}) : part;
    }
  }
  if (std::ranges::find(taps.is_outside, 1) == taps.is_outside.end()) return result;
  const Expr outside =
      c.constant(NDArray::of<uint8_t>(along_axis(rank, axis, of.to), taps.is_outside, DType::bool_()));
  return c.call("where", {outside, c.scalar(form.outside, type), result});
}

// ---- All axes.

/// Whether image.resize2d has the same nearest elements: it computes in float32, so none may be close to
/// where the choice changes.
bool same_elements(const ResizeForm& form, const ResizedAxis& axis) {
  for (int64_t i = 0; i < axis.to; ++i) {
    const double x = position_of(form, axis, static_cast<double>(i)), error = 1e-6 * (std::abs(x) + 1);
    const double moved = form.rounding == "floor" ? 1e-5 : 0;
    if (nearest_to(form, x + moved - error) != nearest_to(form, x) ||
        nearest_to(form, x + moved + error) != nearest_to(form, x))
      return false;
  }
  return true;
}

NamedAttrs image_attrs(const ResizeForm& form) {
  const char* method = form.mode == Interpolation::kNearest  ? "nearest_neighbor"
                       : form.mode == Interpolation::kLinear ? "linear"
                                                             : "cubic";
  return {{"layout", "NCHW"},
          {"method", method},
          {"coordinate_transformation_mode", form.positions},
          {"rounding_method", form.mode == Interpolation::kNearest ? form.rounding : ""},
          {"cubic_alpha", form.cubic},
          {"cubic_exclude", form.exclude_outside ? 1 : 0},
          {"extrapolation_value", 0.0}};
}

/// Whether image.resize2d can say it, of whatever extents.
bool is_image_form(const Conversion& c, const ResizeForm& form) {
  const bool has_positions = form.positions == "half_pixel" || form.positions == "asymmetric" ||
                             form.positions == "align_corners" ||
                             (form.positions == "pytorch_half_pixel" && form.mode == Interpolation::kLinear);
  const DType type = c.dtype(0);
  const bool has_type =
      type == DType::float_(32) || type == DType::float_(16) || form.mode == Interpolation::kNearest;
  return c.rank(0) == 4 && has_positions && has_type && !form.antialias &&
         !(form.exclude_outside && form.mode == Interpolation::kLinear);
}

bool is_image_resize(const Conversion& c, const ResizeForm& form, const std::vector<ResizedAxis>& axes) {
  if (!is_image_form(c, form)) return false;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (i < 2 && axes.at(i).from != axes.at(i).to) return false;
    if (i < 2) continue;
    if (!axes.at(i).is_exact || axes.at(i).to == 0) return false;
    if (form.mode == Interpolation::kNearest && !same_elements(form, axes.at(i))) return false;
  }
  return true;
}

bool stays(const ResizeForm& form, const ResizedAxis& axis) {
  return axis.from == axis.to && std::abs(axis.scale - 1) < 1e-9 &&
         !(form.crops() && (axis.begin != 0 || axis.end != 1));
}

Values resized_axes(const Conversion& c, const ResizeForm& form, const std::vector<ResizedAxis>& axes) {
  const DType type = c.dtype(0);
  const bool is_real = type.is_float() || type.is_bfloat(), nearest = form.mode == Interpolation::kNearest;
  std::vector<int64_t> shape;
  for (const ResizedAxis& each : axes) {
    shape.push_back(each.to);
    if (each.from == 0 && each.to != 0) throw c.error("an axis without elements cannot be resized");
  }
  if (std::ranges::find(shape, 0) != shape.end())
    return {c.call("full", {c.scalar(0, type)}, {{"shape", shape}, {"dtype", type}})};
  if (is_image_resize(c, form, axes)) {
    NamedAttrs attrs = image_attrs(form);
    attrs.emplace_back("size", std::vector<int64_t>{axes.at(2).to, axes.at(3).to});
    attrs.emplace_back("roi", AttrList(4, AttrValue(0.0)));
    return {c.call("image.resize2d", {c[0]}, attrs)};
  }
  const bool is_wide = type == DType::float_(64) || (!is_real && type.bits > 16);
  const DType computed = nearest && !form.crops() ? type : is_wide ? DType::float_(64) : DType::float_(32);
  Expr result = c.cast(c[0], computed);
  for (size_t i = 0; i < axes.size(); ++i)
    if (!stays(form, axes.at(i))) result = resized(c, result, static_cast<int>(i), form, axes.at(i));
  return {is_real ? c.cast(result, type) : saturated(c, result, type)};
}

/// The axes that the node names; all of them without.
std::vector<int64_t> named_axes(const Conversion& c) {
  std::vector<int64_t> axes(static_cast<size_t>(c.rank(0)));
  std::iota(axes.begin(), axes.end(), int64_t{0});
  if (const auto given = c.integers_of("axes")) {
    axes = *given;
    for (int64_t& axis : axes) axis = c.axis(axis, c.rank(0));
  }
  return axes;
}

/// `sizes` of the named axes as scales; a policy makes them one.
void scale_by_sizes(const ResizeForm& form, const std::vector<int64_t>& names,
                    const std::vector<int64_t>& sizes, std::vector<ResizedAxis>& axes) {
  std::vector<double> scales;
  for (size_t i = 0; i < names.size(); ++i)
    scales.push_back(static_cast<double>(sizes.at(i)) /
                     static_cast<double>(axes.at(static_cast<size_t>(names[i])).from));
  if (form.policy != "stretch" && !scales.empty())
    scales.assign(names.size(), form.policy == "not_larger" ? *std::ranges::min_element(scales)
                                                            : *std::ranges::max_element(scales));
  for (size_t i = 0; i < names.size(); ++i) {
    ResizedAxis& axis = axes.at(static_cast<size_t>(names[i]));
    axis.scale = scales.at(i);
    axis.to = form.policy == "stretch"
                  ? sizes.at(i)
                  : static_cast<int64_t>(std::floor(scales.at(i) * static_cast<double>(axis.from) + 0.5));
    axis.is_exact = std::abs(axis.scale * static_cast<double>(axis.from) - static_cast<double>(axis.to)) <
                    1e-6 * static_cast<double>(axis.to);
  }
}

void scale_by(const Conversion& c, const std::vector<int64_t>& names, const std::vector<double>& scales,
              std::vector<ResizedAxis>& axes) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (!(scales.at(i) > 0)) throw c.error("a scale is not greater than 0");
    ResizedAxis& axis = axes.at(static_cast<size_t>(names[i]));
    const double length = scales.at(i) * static_cast<double>(axis.from);
    axis.scale = scales.at(i), axis.to = static_cast<int64_t>(length);
    axis.is_exact = std::abs(length - static_cast<double>(axis.to)) < 1e-6 * length;
  }
}

/// Where the sizes or scales are.
struct ResizeInputs {
  std::optional<size_t> scales, sizes, roi;
};
ResizeInputs resize_inputs(const Conversion& c) {
  const auto filled = [&](size_t i) -> std::optional<size_t> {
    if (!c.has(i) || c.type(i).shape() == std::vector<Dim>{0}) return std::nullopt;
    return i;
  };
  if (c.node.op_type == "Upsample" || c.version < 11) return {filled(1), {}, {}};
  return {filled(2), filled(3), filled(1)};
}

/// Before version 9, an attribute.
std::vector<double> upsampling_scales(const Conversion& c) {
  if (c.version >= 7) {
    if (const auto scales = c.numbers_of("scales")) return *scales;
    throw c.error("attribute `scales` is missing");
  }
  return {1, 1, c.number("height_scale", 1), c.number("width_scale", 1)};
}

/// Two axes of images whose extents, or new extents, are only known at run time. nullopt: it is no such form.
std::optional<Expr> image_at_run_time(const Conversion& c, const ResizeForm& form, const ResizeInputs& in) {
  if (!is_image_form(c, form) || form.policy != "stretch" || c.has_attribute("axes")) return std::nullopt;
  const std::vector<Dim>& shape = c.type(0).shape();
  KnownIntegers size{{}, false, DType::int_(64)};
  if (in.scales) {
    const auto scales = c.constant(*in.scales) ? reals_of(c, *in.scales) : std::vector<double>();
    if (scales.size() != 4 || scales.at(0) != 1 || scales.at(1) != 1) return std::nullopt;
    for (const size_t i : {2u, 3u}) {
      if (scales.at(i) != std::floor(scales.at(i)) || scales.at(i) < 1) return std::nullopt;
      size.values.push_back(shape.at(i) * Dim(static_cast<int64_t>(scales.at(i))));
    }
  } else {
    const auto sizes = in.sizes ? c.integers(*in.sizes) : std::nullopt;
    if (!sizes || sizes->values.size() != 4 || sizes->values[0] != shape.at(0) ||
        sizes->values[1] != shape.at(1))
      return std::nullopt;
    size.values = {sizes->values[2], sizes->values[3]};
  }
  for (const Dim each : size.values)
    if (each.is_any() && !each.is_symbolic()) return std::nullopt;
  const Expr roi = c.constant(reals_array({4}, {0, 0, 0, 0}, DType::float_(32)));
  NamedAttrs attrs = image_attrs(form);
  return c.call("dyn.image.resize2d", {c[0], c.tensor(size), roi}, attrs);
}

Values resize(Conversion& c) {
  const ResizeForm form = resize_form(c);
  const bool by_attribute = c.node.op_type == "Upsample" && c.version < 9;
  const ResizeInputs in = by_attribute ? ResizeInputs() : resize_inputs(c);
  if (!by_attribute && !in.scales == !in.sizes) throw c.error("it needs either scales or sizes");
  const bool is_known = (!in.scales || c.constant(*in.scales)) && (!in.sizes || c.numbers(*in.sizes)) &&
                        (!form.crops() || (in.roi && c.constant(*in.roi)));
  if (!is_known || !c.has_known_shape(0)) {
    if (const auto image = by_attribute ? std::nullopt : image_at_run_time(c, form, in)) return {*image};
    return c.later(c.rank(0), c.dtype(0));
  }
  const std::vector<int64_t> names = named_axes(c);
  std::vector<ResizedAxis> axes;
  for (const Dim each : c.type(0).shape()) axes.push_back({each.value(), each.value()});
  const auto check = [&](const char* what, size_t count, size_t wanted) {
    if (count != wanted)
      throw c.error(std::string(what) + " are " + std::to_string(count) + " numbers, and should be " +
                    std::to_string(wanted));
  };
  if (in.sizes) {
    const std::vector<int64_t> sizes = *c.numbers(*in.sizes);
    check("its sizes", sizes.size(), names.size());
    scale_by_sizes(form, names, sizes, axes);
  } else {
    const std::vector<double> scales = by_attribute ? upsampling_scales(c) : reals_of(c, *in.scales);
    check("its scales", scales.size(), names.size());
    scale_by(c, names, scales, axes);
  }
  if (form.crops()) {
    const std::vector<double> roi = reals_of(c, *in.roi);
    check("its region", roi.size(), 2 * names.size());
    for (size_t i = 0; i < names.size(); ++i)
      axes.at(static_cast<size_t>(names[i])).begin = roi[i],
      axes.at(static_cast<size_t>(names[i])).end = roi[i + names.size()];
  }
  return resized_axes(c, form, axes);
}

}  // namespace

const std::vector<Operator>& resizing_operators() {
  static const std::vector<Operator> all = {
      {"", "Resize", {10, 11, 13, 18, 19}, &resize},
      {"", "Upsample", {1, 7, 9, 10}, &resize},
  };
  return all;
}

}  // namespace baton::onnx
