// One module for inputs of several sizes. FlexibleShapeDispatch([2, 4]) makes of
//   def @main(%x: Tensor[(1, 3), float32]) { exp(%x) }
// its copies @main_2, @main_4 for these extents of an axis, @main_dynamic for all others, and a main that
// chooses:
//   def @main(%x: Tensor[(?, 3), float32]) {
//     if (equal(take(shape_of(%x), 0), 2)) {
//       let %result: Tensor[(?, 3), float32] = @main_2(%x);
//       %result
//     } else { ... @main_dynamic(%x) ... }
//   }
// With auto_pad inputs are padded to the next of the extents, and what that added is cut off the results.
// Axes, and parameters that vary, may be chosen.

#include <algorithm>
#include <optional>
#include <set>

#include "baton/ir/build.h"
#include "baton/ir/functions.h"
#include "baton/ir/origin_scope.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/transform/parameter_types.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

const DType kInt64 = DType::int_(64);

struct DispatchOptions {
  std::set<int64_t> buckets;
  int64_t axis = 0;
  bool auto_pad = false;
  double pad_value = 0;
  std::optional<std::set<int64_t>> inputs;  ///< numbers of the parameters that vary; all when not given
  bool affects_output = true;
};

std::set<int64_t> numbers_of(const AttrValue& value, int64_t least, const char* wrong) {
  std::set<int64_t> numbers;
  const AttrList* list = value.as<AttrList>();
  if (!list) throw UsageError(wrong);
  for (const AttrValue& each : *list) {
    const int64_t* number = each.as<int64_t>();
    if (!number || *number < least) throw UsageError(wrong);
    numbers.insert(*number);
  }
  return numbers;
}

Expr number(int64_t value) { return scalar(static_cast<double>(value), kInt64); }

Expr vector(const std::vector<int64_t>& values) {
  return constant(NDArray::of<int64_t>({static_cast<int64_t>(values.size())}, values, kInt64));
}

class Dispatch {
 public:
  Dispatch(IRModule module, const DispatchOptions& options)
      : module_(std::move(module)), options_(options), main_(module_->find("main")) {
    if (!main_) throw Error("FlexibleShapeDispatch: the module has no function main");
    for (size_t i = 0; i < main_->params().size(); ++i)
      if (!options_.inputs || options_.inputs->contains(static_cast<int64_t>(i))) varying_.push_back(i);
    if (varying_.empty()) throw Error("FlexibleShapeDispatch: no parameter of main varies");
  }

  IRModule run() {
    for (const int64_t bucket : options_.buckets) module_->set(name_of(bucket), sized(Dim(bucket)));
    module_->set("main_dynamic", sized(Dim::any()));
    module_ = infer_types(std::move(module_));
    const Function dynamic = module_->find("main_dynamic");
    OriginSet causes = OriginSet::none();
    post_order(main_->body(), [&](const Expr& node) { causes = causes.merge(node->origins()); });
    const OriginScope scope(causes.empty() ? causes
                                           : OriginSet::made_for(causes, "chooses by the extent of an axis"));
    for (const Var& param : dynamic->params()) params_.push_back(var(param->name(), declared_type(*param)));
    Expr body = call("main_dynamic", {params_.begin(), params_.end()});
    for (auto bucket = options_.buckets.rbegin(); bucket != options_.buckets.rend(); ++bucket) {
      // Bound to a variable of unknown extents: the branches have one type.
      const Var result = var("result", dynamic->ret_type());
      body = if_else(fits(*bucket), let(result, call_of(*bucket), Expr(result)), body);
    }
    module_->replace("main", function(params_, body));
    return infer_types(std::move(module_));
  }

 private:
  static std::string name_of(int64_t bucket) { return "main_" + std::to_string(bucket); }

  Function sized(Dim extent) const {
    std::vector<Type> types(main_->params().size());
    for (const size_t i : varying_) {
      const Var& param = main_->params()[i];
      types[i] = with_extent(declared_type(*param), options_.axis, extent,
                             "FlexibleShapeDispatch: %" + param->name());
    }
    return with_parameter_types(main_, types);
  }

  Expr call(const std::string& name, std::vector<Expr> args) const {
    return make_call(Expr(module_->global_var(name)), std::move(args), {},
                     NodeInfo(OriginScope::current_or_none()));
  }

  static const TensorTypeNode& type_of(const Var& param) {
    return *as_type<TensorTypeNode>(param->annotation());
  }
  size_t axis_of(int rank) const {
    return static_cast<size_t>(options_.axis < 0 ? options_.axis + rank : options_.axis);
  }
  Expr extent_of(const Var& param) const {
    const auto axis = static_cast<int64_t>(axis_of(type_of(param).rank()));
    return call_op("take", {call_op("shape_of", {param}, {{"dtype", kInt64}}), number(axis)},
                   {{"mode", "fast"}});
  }

  Expr fits(int64_t bucket) const {
    Expr all;
    for (const size_t i : varying_) {
      const Expr one =
          call_op(options_.auto_pad ? "less_equal" : "equal", {extent_of(params_[i]), number(bucket)});
      all = all ? Expr(call_op("logical_and", {all, one})) : one;
    }
    return all;
  }

  Expr call_of(int64_t bucket) const {
    std::vector<Expr> args(params_.begin(), params_.end());
    if (!options_.auto_pad) return call(name_of(bucket), std::move(args));
    for (const size_t i : varying_) args[i] = padded(params_[i], bucket);
    const Expr result = call(name_of(bucket), std::move(args));
    if (!options_.affects_output) return result;
    const Var whole = var("whole");
    return let(whole, result, cut(whole, module_->find(name_of(bucket))->ret_type()));
  }

  Expr padded(const Var& param, int64_t bucket) const {
    const TensorTypeNode& type = type_of(param);
    const size_t axis = axis_of(type.rank());
    std::vector<int64_t> behind(2 * static_cast<size_t>(type.rank()), 0);
    behind[2 * axis + 1] = 1;
    const Expr where = constant(NDArray::of<int64_t>({type.rank(), 2}, behind, kInt64));
    const Expr missing = call_op("subtract", {number(bucket), extent_of(param)});
    const Expr filled =
        call_op("dyn.nn.pad",
                {param, call_op("multiply", {where, missing}), scalar(options_.pad_value, type.dtype())},
                {{"pad_mode", "constant"}});
    AttrList shape(static_cast<size_t>(type.rank()), int64_t{0});  // 0: as it is
    shape[axis] = bucket;
    return call_op("reshape", {filled}, {{"newshape", shape}});
  }

  /// `value`, of this type, without what was added.
  Expr cut(const Expr& value, const Type& type) const {
    if (const auto* tuple_type = as_type<TupleTypeNode>(type)) {
      std::vector<Expr> fields;
      for (size_t i = 0; i < tuple_type->fields().size(); ++i)
        fields.push_back(cut(get_item(value, static_cast<int>(i)), tuple_type->fields()[i]));
      return tuple(std::move(fields));
    }
    const auto* tensor = as_type<TensorTypeNode>(type);
    const size_t axis = tensor ? axis_of(tensor->rank()) : 0;
    if (!tensor || axis >= tensor->shape().size())
      throw Error("FlexibleShapeDispatch: a result has no axis " + std::to_string(options_.axis) +
                  " (affects_output=False leaves results as they are)");
    std::vector<int64_t> ends, along(tensor->shape().size(), 0);
    for (const Dim extent : tensor->shape()) ends.push_back(extent.is_any() ? INT32_MAX : extent.value());
    ends[axis] = 0;
    along[axis] = 1;
    const Expr extent = extent_of(params_[varying_.front()]);
    return call_op("dyn.strided_slice",
                   {value, vector(std::vector<int64_t>(ends.size(), 0)),
                    call_op("add", {vector(ends), call_op("multiply", {vector(along), extent})}),
                    vector(std::vector<int64_t>(ends.size(), 1))});
  }

  IRModule module_;
  const DispatchOptions& options_;
  Function main_;
  std::vector<size_t> varying_;
  std::vector<Var> params_;  // of the new main
};

}  // namespace

Pass flexible_shape_dispatch(const PassArgs& args) {
  PassArgReader reader("FlexibleShapeDispatch", args);
  const char* const no_buckets = "FlexibleShapeDispatch: buckets are positive extents, at least one";
  DispatchOptions options;
  if (const AttrValue* buckets = reader.value("buckets"))
    options.buckets = numbers_of(*buckets, 1, no_buckets);
  if (options.buckets.empty()) throw UsageError(no_buckets);
  options.axis = reader.integer("axis", 0);
  options.auto_pad = reader.flag("auto_pad", false);
  if (const AttrValue* value = reader.value("pad_value")) {
    const int64_t* whole = value->as<int64_t>();
    const double* fraction = value->as<double>();
    if (!whole && !fraction) throw UsageError("FlexibleShapeDispatch: pad_value is a number");
    options.pad_value = whole ? static_cast<double>(*whole) : *fraction;
  }
  if (const AttrValue* inputs = reader.value("input_indices"))
    options.inputs = numbers_of(*inputs, 0, "FlexibleShapeDispatch: input_indices are numbers of parameters");
  options.affects_output = reader.flag("affects_output", true);
  reader.finish();
  return module_pass({0, "FlexibleShapeDispatch", {"InferType"}},
                     [options](IRModule module, const BuildContext&) {
                       return Dispatch(infer_types(std::move(module)), options).run();
                     });
}

}  // namespace baton
