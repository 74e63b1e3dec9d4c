// Counting of valid boxes, and non-maximum suppression.
#include "baton/ir/attrs.h"
#include "baton/ir/inspect.h"
#include "baton/ops/domain.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/shared/sort_compute.h"
#include "baton/ops/vision/extent.h"
#include "baton/ops/vision/nms_compute.h"

namespace baton {

struct GetValidCountsAttrs {
  std::optional<double> score_threshold =
      {};  ///< Relay keeps the threshold as an input; this one is left None
  int64_t id_index = 0;
  int64_t score_index = 1;
};

struct NonMaximumSuppressionAttrs {
  bool force_suppress = false;
  int64_t top_k = -1;
  int64_t coord_start = 2;
  int64_t score_index = 1;
  int64_t id_index = 0;
  bool return_indices = true;
  bool invalid_to_bottom = false;
};

struct AllClassNonMaximumSuppressionAttrs {
  std::string output_format = "onnx";  ///< or "tensorflow"
};

template <>
const AttrSchema& attr_schema<GetValidCountsAttrs>() {
  using A = GetValidCountsAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.GetValidCountsAttrs",
      {{"score_threshold", &A::score_threshold, "unused: the threshold is an input", kNoDefault},
       {"id_index", &A::id_index, "where a box has its class; -1: nowhere"},
       {"score_index", &A::score_index, "where a box has its score"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<NonMaximumSuppressionAttrs>() {
  using A = NonMaximumSuppressionAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.NonMaximumSuppressionAttrs",
      {{"force_suppress", &A::force_suppress, "boxes of different classes suppress each other too"},
       {"top_k", &A::top_k, "only so many of the best boxes are looked at; -1: all"},
       {"coord_start", &A::coord_start, "where a box has its four coordinates"},
       {"score_index", &A::score_index, "where a box has its score"},
       {"id_index", &A::id_index, "where a box has its class; -1: nowhere"},
       {"return_indices", &A::return_indices, "the result is the indices of the boxes, and how many"},
       {"invalid_to_bottom", &A::invalid_to_bottom, "suppressed boxes are moved to the end"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<AllClassNonMaximumSuppressionAttrs>() {
  using A = AllClassNonMaximumSuppressionAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.AllClassNonMaximumSuppressionAttrs",
      {{"output_format", &A::output_format, "\"onnx\" or \"tensorflow\": the form of the result"}});
  return schema;
}

namespace {

constexpr DType kIndex = DType::int_(32), kLongIndex = DType::int_(64);

// Reports unless each box of input 0 has a value at position `at`, attribute `name`.
bool check_value_of_box(RelationContext& ctx, const char* name, int64_t at) {
  const Dim values = ctx.tensor(0)->shape()[2];
  if (at >= 0 && (values.is_any() || at < values.value())) return true;
  fail_attr(ctx, name, std::to_string(at), "a box of " + type_text(ctx.input(0)) + " has no such value");
  return false;
}

RelationStatus valid_counts_relation(RelationContext& ctx, const GetValidCountsAttrs& attrs) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  if (!check_rank(ctx, *data, 3, 0) || !check_value_of_box(ctx, "score_index", attrs.score_index) ||
      (attrs.id_index >= 0 && !check_value_of_box(ctx, "id_index", attrs.id_index)))
    return kFailed;
  const Dim batch = data->shape()[0], boxes = data->shape()[1];
  return ctx.assign_result(tuple_type({tensor_type(std::vector<Dim>{batch}, kIndex), ctx.input(0),
                                       tensor_type(std::vector<Dim>{batch, boxes}, kIndex)}));
}

RelationStatus nms_relation(RelationContext& ctx, const NonMaximumSuppressionAttrs& attrs) {
  const TensorTypeNode *data = ctx.tensor(0), *valid_count = ctx.tensor(1);
  if (!data || !valid_count) return kDefer;
  if (!check_rank(ctx, *data, 3, 0) || !check_rank(ctx, *valid_count, 1, 1)) return kFailed;
  const Dim batch = data->shape()[0], boxes = data->shape()[1];
  if (!check_extent(ctx, *valid_count, 0, batch, 1, "one count per image") ||
      !check_value_of_box(ctx, "score_index", attrs.score_index) ||
      !check_value_of_box(ctx, "coord_start", attrs.coord_start) ||
      !check_value_of_box(ctx, "coord_start + 3", attrs.coord_start + 3) ||
      (attrs.id_index >= 0 && !check_value_of_box(ctx, "id_index", attrs.id_index)))
    return kFailed;
  if (!attrs.return_indices) return ctx.assign_result(ctx.input(0));
  const TensorTypeNode* indices = ctx.tensor(2);
  if (!indices) return kDefer;
  if (!check_shape(ctx, *indices, {batch, boxes}, 2, "an index for each box")) return kFailed;
  return ctx.assign_result(tuple_type({tensor_type(std::vector<Dim>{batch, boxes}, kIndex),
                                       tensor_type(std::vector<Dim>{batch, 1}, kIndex)}));
}

RelationStatus all_class_relation(RelationContext& ctx, const AllClassNonMaximumSuppressionAttrs& attrs) {
  const TensorTypeNode *boxes = ctx.tensor(0), *scores = ctx.tensor(1);
  if (!boxes || !scores) return kDefer;
  if (!check_rank(ctx, *boxes, 3, 0) || !check_rank(ctx, *scores, 3, 1)) return kFailed;
  const Dim batch = boxes->shape()[0];
  if (!check_extent(ctx, *boxes, 2, 4, 0, "a box of four coordinates") ||
      !check_extent(ctx, *scores, 0, batch, 1, "scores of each image") ||
      !check_extent(ctx, *scores, 2, boxes->shape()[1], 1, "a score of each box"))
    return kFailed;
  const auto per_image = result_extent(ctx, 1, {scores->shape()[1], boxes->shape()[1]});
  if (!per_image) return kFailed;
  if (attrs.output_format == "onnx") {
    const auto all = result_extent(ctx, 1, {batch, *per_image});
    if (!all) return kFailed;
    return ctx.assign_result(tuple_type(
        {tensor_type(std::vector<Dim>{*all, 3}, kLongIndex), tensor_type(std::vector<Dim>{1}, kLongIndex)}));
  }
  if (attrs.output_format == "tensorflow")
    return ctx.assign_result(tuple_type({tensor_type(std::vector<Dim>{batch, *per_image, 2}, kLongIndex),
                                         tensor_type(std::vector<Dim>{batch, *per_image}, DType::float_(32)),
                                         tensor_type(std::vector<Dim>{batch}, kLongIndex)}));
  return fail_attr(ctx, "output_format", attr_text(AttrValue(attrs.output_format)),
                   "it must be \"onnx\" or \"tensorflow\"");
}

// An input of one element.
Halide::Expr scalar(const Tensor& tensor) { return tensor(Index(tensor.rank(), Halide::Expr(0))); }

// Running counts along the boxes (the first Halide argument) of a Func of 0 and 1 over (box, batch).
void count_up(Halide::Func counts, int64_t boxes, const Halide::Expr& batch) {
  if (boxes < 2) return;
  const Halide::RDom later(1, as_int(boxes - 1), "s");
  counts(later, batch) += counts(later - 1, batch);
}

void valid_counts_compute(Compute& c, const GetValidCountsAttrs& attrs) {
  const Tensor& data = c.in(0);
  const int boxes = as_int(data.extent(1)), score = as_int(attrs.score_index), id = as_int(attrs.id_index);
  const Halide::Type type = halide_type(data.dtype());
  const Halide::Var b("b"), n("n"), k("k");
  const Halide::Expr threshold =
      cast(type, c.num_inputs() > 1 ? scalar(c.in(1))
                                    : Halide::Expr(static_cast<float>(attrs.score_threshold.value_or(0))));
  auto valid = [&](const Halide::Expr& box) {
    const Halide::Expr good = data(Index{b, box, score}) > threshold;
    return id < 0 ? good : good && at_most(cast(type, 0), data(Index{b, box, id}));
  };
  Halide::Func place = c.stage("place"), count = c.stage("count"), moved = c.stage("boxes"),
               indices = c.stage("indices");
  place(n, b) = select(valid(n), 1, 0);
  count_up(place, boxes, b);
  count(b) = boxes > 0 ? place(boxes - 1, b) : Halide::Expr(0);
  Halide::RDom r(0, boxes, "r");
  r.where(valid(r));
  const Halide::Expr to = inside_axis(place(r, b) - 1, boxes);
  moved(k, n, b) = cast(type, -1);
  moved(k, to, b) = data(Index{b, r, k});
  indices(n, b) = -1;
  indices(to, b) = r;
  c.results({count, moved, indices});
}

// Boxes sorted by score; suppressed boxes (overlapped by a better one of their class) become -1, as do those
// beyond valid_count.
void nms_compute(Compute& c, const NonMaximumSuppressionAttrs& attrs) {
  const Tensor &data = c.in(0), &indices = c.in(2);
  const int batch = as_int(data.extent(0)), boxes = as_int(data.extent(1)), id = as_int(attrs.id_index),
            corner = as_int(attrs.coord_start);
  const Halide::Type type = halide_type(data.dtype());
  const Halide::Var b("l0"), n("n"), k("k");
  auto valid = [&](const Halide::Expr& at) { return Halide::cast<int>(c.in(1)(Index{at})); };
  const Halide::Expr threshold = cast(type, scalar(c.in(4))), by_overlap = threshold > cast(type, 0);
  Halide::Func scores = c.stage("scores");
  scores(n, b) = select(n < valid(b), data(Index{b, n, as_int(attrs.score_index)}), lowest(type));
  const Halide::Func sorted = sorted_pairs(c, scores, {batch, boxes}, 1, false);
  Halide::Func place = c.stage("place"), box = c.stage("sorted_boxes");
  place(n, b) = select(by_overlap, sorted(n, b)[1], n);  // without a threshold nothing changes
  box(k, n, b) = data(Index{b, inside_axis(place(n, b), boxes), k});

  Suppression s;
  s.lists = {batch};
  s.boxes = boxes;
  s.most = select(by_overlap, Halide::cast<int>(scalar(c.in(3))), -1);
  s.present = [&](const Index& list, const Halide::Expr& at) {
    Halide::Expr count = valid(list[0]);
    if (attrs.top_k > 0) count = select(by_overlap, min(count, as_int(attrs.top_k)), count);
    return at < count && (!by_overlap || box(as_int(attrs.score_index), at, list[0]) > cast(type, 0));
  };
  s.suppresses = [&](const Index& list, const Halide::Expr& better, const Halide::Expr& at) {
    auto edges = [&](const Halide::Expr& which) {
      auto edge = [&](int coordinate) {
        return Halide::cast<float>(box(corner + coordinate, which, list[0]));
      };
      return Box{edge(0), edge(1), edge(2), edge(3)};
    };
    Halide::Expr meet =
        by_overlap && at_most(Halide::cast<float>(threshold), overlap(edges(at), edges(better)));
    if (id >= 0) meet = meet && box(id, better, list[0]) >= cast(type, 0);
    if (id >= 0 && !attrs.force_suppress) meet = meet && box(id, better, list[0]) == box(id, at, list[0]);
    return meet;
  };
  const Kept kept = suppress(c, s);
  auto is_kept = [&](const Halide::Expr& at) { return kept.kept(at, b) == 1; };
  Halide::RDom r(0, boxes, "r");
  r.where(is_kept(r));
  const Halide::Expr front = inside_axis(kept.count(r, b) - 1, boxes);

  if (!attrs.return_indices) {
    Halide::Func out = c.stage("non_max_suppression");
    if (attrs.invalid_to_bottom) {
      out(k, n, b) = cast(type, -1);
      out(k, front, b) = box(k, r, b);
    } else {
      // Boxes below the score threshold are kept unchanged: only valid_count and top_k cut them off.
      Halide::Expr count = valid(b);
      if (attrs.top_k > 0) count = select(by_overlap, min(count, as_int(attrs.top_k)), count);
      const Halide::Expr score = box(as_int(attrs.score_index), n, b);
      const Halide::Expr stays = is_kept(n) || (by_overlap && n < count && score <= cast(type, 0) &&
                                                (s.most < 0 || kept.count(n, b) < s.most));
      out(k, n, b) = select(stays, box(k, n, b), cast(type, -1));
    }
    c.result(out);
    return;
  }
  Halide::Func which = c.stage("indices"), total = c.stage("valid_box_count");
  const Halide::Var one("one");
  which(n, b) = -1;
  which(front, b) = Halide::cast<int>(indices(Index{b, inside_axis(place(r, b), indices.extent(1))}));
  total(one, b) = boxes > 0 ? kept.count(boxes - 1, b) : Halide::Expr(0);
  c.results({which, total});
}

// Every class of every image is suppressed separately.
void all_class_compute(Compute& c, const AllClassNonMaximumSuppressionAttrs& attrs) {
  const Tensor &boxes = c.in(0), &scores = c.in(1);
  const int batch = as_int(scores.extent(0)), classes = as_int(scores.extent(1)),
            count = as_int(boxes.extent(1));
  const Halide::Expr most = Halide::cast<int>(scalar(c.in(2)));
  const Halide::Expr threshold = Halide::cast<float>(scalar(c.in(3))),
                     least = Halide::cast<float>(scalar(c.in(4)));
  const Halide::Func sorted = sorted_pairs(c, scores, 2, false);
  auto place = [&](const Index& list, const Halide::Expr& n) {
    return inside_axis(sorted(n, list[1], list[0])[1], count);
  };
  Suppression s;
  s.lists = {batch, classes};
  s.boxes = count;
  s.most = most;
  s.present = [&](const Index& list, const Halide::Expr& n) {
    return Halide::cast<float>(sorted(n, list[1], list[0])[0]) > least;
  };
  s.suppresses = [&](const Index& list, const Halide::Expr& better, const Halide::Expr& n) {
    auto edges = [&](const Halide::Expr& which) {
      auto edge = [&](int coordinate) {
        return Halide::cast<float>(boxes(Index{list[0], place(list, which), coordinate}));
      };
      return Box{edge(1), edge(0), edge(3), edge(2)};
    };
    return at_most(threshold, overlap(edges(n), edges(better)));
  };
  const Kept kept = suppress(c, s);

  // The offset of each list's boxes in the result: the sum of the counts before it (of the same image, or of
  // all).
  const bool onnx = attrs.output_format == "onnx";
  const Halide::Var i("i"), k("k"), b("b");
  const int lists = batch * classes;
  Halide::Func start = c.stage("start");
  auto list_count = [&](const Halide::Expr& list) {
    return count > 0 ? kept.count(count - 1, list % classes, clamp(list / classes, 0, batch - 1))
                     : Halide::Expr(0);
  };
  start(i) = select(i == 0, 0, list_count(clamp(i - 1, 0, lists - 1)));
  const Halide::RDom later(1, lists, "s");
  start(later) = start(later - 1) + start(later);
  Halide::RDom r(0, count, 0, classes, 0, batch, "r");
  r.where(kept.kept(r.x, r.y, r.z) == 1);
  const Halide::Expr list = r.z * classes + r.y, from_all = start(list) + kept.count(r.x, r.y, r.z) - 1;
  const Halide::Expr which = place({r.z, r.y}, r.x);
  Halide::Func selected = c.stage("selected");
  const Halide::Expr zero = Halide::cast<int64_t>(0);
  if (onnx) {
    Halide::Func total = c.stage("total");
    selected(k, i) = zero;
    selected(k, inside_axis(from_all, c.out(0).extents()[0])) =
        Halide::cast<int64_t>(select(k == 0, r.z, k == 1, r.y, which));
    total(i) = Halide::cast<int64_t>(start(lists));
    c.results({selected, total});
    return;
  }
  const Halide::Expr to = inside_axis(from_all - start(r.z * classes), c.out(0).extents()[1]);
  Halide::Func best = c.stage("scores"), total = c.stage("total");
  selected(k, i, b) = zero;
  selected(k, to, r.z) = Halide::cast<int64_t>(select(k == 0, r.y, which));
  best(i, b) = 0.0f;
  best(to, r.z) = Halide::cast<float>(sorted(r.x, r.y, r.z)[0]);
  total(b) = Halide::cast<int64_t>(start((b + 1) * classes) - start(b * classes));
  c.results({selected, best, total});
}

}  // namespace

const OpDef& op_vision_get_valid_counts() {
  static const OpDef def = OpSpec<GetValidCountsAttrs>{
      .name = "vision.get_valid_counts",
      .doc =
          "How many boxes have a score above the threshold, those boxes moved to the front, and where they "
          "were.",
      .inputs = {{"data", "(batch, boxes, values of a box)"}, {"score_threshold", "scalar"}},
      .relation = valid_counts_relation,
      .compute = valid_counts_compute,
      .declares_attrs = false,
      .rules = op_rules(ResultCount{3}),
      .test_shapes = {"(1, 6, 6)f32[0, 1], ()f32{0.3}, score_threshold=None"},
  };
  return def;
}

const OpDef& op_vision_non_max_suppression() {
  static const OpDef def = OpSpec<NonMaximumSuppressionAttrs>{
      .name = "vision.non_max_suppression",
      .doc = "The boxes without those that overlap a better one by more than the threshold.",
      .inputs = {{"data", "(batch, boxes, values of a box)"},
                 {"valid_count", "(batch): how many of the boxes count"},
                 {"indices", "(batch, boxes): which boxes they are"},
                 {"max_output_size", "scalar: so many are kept at most; -1: all"},
                 {"iou_threshold", "scalar"}},
      .relation = nms_relation,
      .compute = nms_compute,
      .declares_attrs = false,
      .rules = op_rules(ResultCount{.of = [](const CallNode& call) -> std::optional<int64_t> {
        if (bool_attr(call, "return_indices")) return 2;
        return std::nullopt;
      }}),
      .test_shapes =
          {"(1, 4, 6)f32{0, 0.8, 1, 20, 25, 45, 1, 0.7, 30, 60, 50, 80, 0, 0.4, 4, 21, 19, 40, 2, 0.9, 35, "
           "61, 52, 79}, (1)i32{4}, (1, 4)i32{0, 1, 2, 3}, ()i32={-1}, ()f32={0.5}, return_indices=False",
           "(1, 4, 6)f32{0, 0.8, 1, 20, 25, 45, 1, 0.7, 30, 60, 50, 80, 0, 0.4, 4, 21, 19, 40, 2, 0.9, 35, "
           "61, 52, 79}, (1)i32{3}, (1, 4)i32{0, 1, 2, 3}, ()i32={-1}, ()f32={0.5}, force_suppress=True"},
  };
  return def;
}

const OpDef& op_vision_all_class_non_max_suppression() {
  static const OpDef def = OpSpec<AllClassNonMaximumSuppressionAttrs>{
      .name = "vision.all_class_non_max_suppression",
      .doc = "Non-maximum suppression for every class of every image.",
      .inputs = {{"boxes", "(batch, boxes, 4)"},
                 {"scores", "(batch, classes, boxes)"},
                 {"max_output_boxes_per_class", "scalar"},
                 {"iou_threshold", "scalar"},
                 {"score_threshold", "scalar"}},
      .relation = all_class_relation,
      .compute = all_class_compute,
      .declares_attrs = false,
      .rules = op_rules(ResultCount{.of = [](const CallNode& call) -> std::optional<int64_t> {
        return text_attr(call, "output_format") == "onnx" ? 2 : 3;
      }}),
      .test_shapes = {"(1, 4, 4)f32{0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11, 0, 10.1, 1, 11.1}, (1, 2, "
                      "4)f32[0, 1], ()i64{2}, ()f32{0.5}, ()f32{0.1}",
                      "(1, 3, 4)f32{0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11}, (1, 1, 3)f32[0, 1], ()i64{2}, "
                      "()f32{0.5}, ()f32{0.1}, output_format=tensorflow"},
  };
  return def;
}

}  // namespace baton
