// Operators inserted by executors and device planning: devices, storage, lowered calls.
#include "baton/ir/attr_objects.h"
#include "baton/ir/rules/placement_rule.h"
#include "baton/ops/op_spec.h"
#include "baton/ops/relations.h"
#include "baton/ops/shared/reindex.h"
#include "baton/ops/tensor/dynamic_forms.h"

namespace baton {

struct OnDeviceAttrs {
  AttrValue virtual_device = virtual_device_attr({});
  bool constrain_result = false;
  bool constrain_body = true;
};
struct DeviceCopyAttrs {
  AttrValue src_virtual_device = {}, dst_virtual_device = {};
};
struct CallLoweredAttrs {
  AttrValue metadata = {};
};
struct DebugAttrs {
  AttrValue debug_func = {};
};
struct MetaRefAttrs {};
struct DictAttrs {};
struct AllocStorageAttrs {
  DType dtype = DType::float_(32);
  AttrValue virtual_device = {};
};
struct AllocTensorAttrs {
  DType dtype = DType::float_(32);
  AttrValue const_shape = {};
  std::vector<int64_t> assert_shape = {};
};
struct ReshapeTensorAttrs {
  std::vector<int64_t> newshape = {};
};

template <>
const AttrSchema& attr_schema<OnDeviceAttrs>() {
  using A = OnDeviceAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.OnDeviceAttrs",
                     {{"virtual_device", &A::virtual_device, "where the value lives"},
                      {"constrain_result", &A::constrain_result, "whether the result lives there"},
                      {"constrain_body", &A::constrain_body, "whether the body lives there"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<DeviceCopyAttrs>() {
  using A = DeviceCopyAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.DeviceCopyAttrs",
                     {{"src_virtual_device", &A::src_virtual_device, "where the value is", kNoDefault},
                      {"dst_virtual_device", &A::dst_virtual_device, "where it is copied to", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<CallLoweredAttrs>() {
  using A = CallLoweredAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.CallLoweredAttrs", {{"metadata", &A::metadata, "what else is known of the call"}});
  return schema;
}

template <>
const AttrSchema& attr_schema<DebugAttrs>() {
  using A = DebugAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.DebugAttrs",
                     {{"debug_func", &A::debug_func, "what is called with the value", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<MetaRefAttrs>() {
  using A = MetaRefAttrs;
  static const AttrSchema schema = make_schema<A>("relay.attrs.MetaRefAttrs", {});
  return schema;
}

template <>
const AttrSchema& attr_schema<AllocStorageAttrs>() {
  using A = AllocStorageAttrs;
  static const AttrSchema schema =
      make_schema<A>("relay.attrs.AllocStorageAttrs",
                     {{"dtype", &A::dtype, "element type that the storage is aligned for"},
                      {"virtual_device", &A::virtual_device, "where the storage is", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<AllocTensorAttrs>() {
  using A = AllocTensorAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.AllocTensorAttrs",
      {{"dtype", &A::dtype, "element type of the tensor"},
       {"const_shape", &A::const_shape, "the shape when it is known: a constant", kNoDefault},
       {"assert_shape", &A::assert_shape, "the shape that is checked at run time", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<ReshapeTensorAttrs>() {
  using A = ReshapeTensorAttrs;
  static const AttrSchema schema = make_schema<A>(
      "relay.attrs.ReshapeTensorAttrs", {{"newshape", &A::newshape, "the shape of the result", kNoDefault}});
  return schema;
}

template <>
const AttrSchema& attr_schema<DictAttrs>() {
  static const AttrSchema schema = make_schema<DictAttrs>("DictAttrs", {});
  return schema;
}

namespace {

Type storage_type() { return type_call(Type(global_type_var("Storage")), {}); }

// The function's own result; the arguments are the fields of a tuple.
RelationStatus lowered_relation(RelationContext& ctx) {
  const Type called = ctx.input(0), given = ctx.input(1);
  if (called->kind() == TypeKind::kIncomplete || given->kind() == TypeKind::kIncomplete) return kDefer;
  const auto* function = as_type<FuncTypeNode>(called);
  if (!function) return fail_arg(ctx, 0, "a function is needed, got " + type_text(called));
  if (ctx.assign(1, tuple_type(function->params())) == kFailed) return kFailed;
  return ctx.assign_result(function->result());
}

// The extents in a constant vector of integers.
std::optional<std::vector<int64_t>> constant_extents(const AttrValue& attr) {
  const auto* object = attr.object<ExprAttr>();
  const auto* constant = object ? as<ConstantNode>(object->expr()) : nullptr;
  if (!constant || constant->value().ndim() != 1 || !constant->value().dtype().is_int()) return std::nullopt;
  std::vector<int64_t> extents;
  const auto* bytes = static_cast<const char*>(constant->value().data());
  const size_t count = static_cast<size_t>(constant->value().shape()[0]);
  for (size_t i = 0; i < count; ++i) {
    if (constant->value().dtype().bits == 64)
      extents.push_back(reinterpret_cast<const int64_t*>(bytes)[i]);
    else if (constant->value().dtype().bits == 32)
      extents.push_back(reinterpret_cast<const int32_t*>(bytes)[i]);
    else
      return std::nullopt;
  }
  return extents;
}

RelationStatus alloc_tensor_relation(RelationContext& ctx, const AllocTensorAttrs& attrs) {
  if (ctx.assign(0, storage_type()) == kFailed) return kFailed;
  if (!attrs.assert_shape.empty()) return ctx.assign_result(tensor_type(attrs.assert_shape, attrs.dtype));
  const auto extents = constant_extents(attrs.const_shape);
  if (!extents)
    return fail_attr(ctx, "const_shape", attr_text(attrs.const_shape),
                     "a constant vector of extents is needed, or `assert_shape`");
  return ctx.assign_result(tensor_type(*extents, attrs.dtype));
}

RelationStatus shape_of_relation(RelationContext& ctx, DType dtype) {
  const TensorTypeNode* data = ctx.tensor(0);
  if (!data) return kDefer;
  return ctx.assign_result(
      tensor_type(std::vector<int64_t>{data->rank()}, dtype.is_void() ? DType::int_(64) : dtype));
}

using Place = PlacementRule::Place;
constexpr Place kAnywhere = {}, kWithResult = {Place::At::kWithResult}, kOnHost = {Place::At::kHost};

Place named_place(std::string_view device, std::string_view when = {}) {
  return {Place::At::kNamed, device, when};
}

PlacementRule on_device_places() {
  return {.args = {named_place("virtual_device", "constrain_body")},
          .result = named_place("virtual_device", "constrain_result"),
          .is_border = true};
}

PlacementRule device_copy_places() {
  return {.args = {named_place("src_virtual_device")},
          .result = named_place("dst_virtual_device"),
          .is_border = true};
}

}  // namespace

const OpDef& op_on_device() {
  static const OpDef def = OpSpec<OnDeviceAttrs>{
      .name = "on_device",
      .doc = "The value lives on a device.",
      .inputs = {{"body", "the value"}},
      .relation = [](RelationContext& ctx, const OnDeviceAttrs&) { return identity_relation(ctx); },
      .non_computational = true,
      .rules = op_rules(same_layout_flow(), on_device_places()),
  };
  return def;
}

const OpDef& op_device_copy() {
  static const OpDef def = OpSpec<DeviceCopyAttrs>{
      .name = "device_copy",
      .doc = "A copy on another device.",
      .inputs = {{"data", "tensor"}},
      .relation = [](RelationContext& ctx, const DeviceCopyAttrs&) { return identity_relation(ctx); },
      .data_dependent = true,
      .rules = op_rules(same_layout_flow(), device_copy_places()),
  };
  return def;
}

const OpDef& op_call_lowered() {
  static const OpDef def = OpSpec<CallLoweredAttrs>{
      .name = "call_lowered",
      .doc = "A call of a function that is lowered already.",
      .inputs = {{"func", "function"}, {"call_args", "tuple of the arguments"}},
      .relation = [](RelationContext& ctx, const CallLoweredAttrs&) { return lowered_relation(ctx); },
      .non_computational = true,
  };
  return def;
}

const OpDef& op_debug() {
  static const OpDef def = OpSpec<DebugAttrs>{
      .name = "debug",
      .doc = "Calls back with the value.",
      .inputs = {{"program", "the value"}},
      .relation = [](RelationContext& ctx, const DebugAttrs&) { return identity_relation(ctx); },
  };
  return def;
}

const OpDef& op_parser_MetaRef() {
  static const OpDef def = OpSpec<MetaRefAttrs>{
      .name = "parser.MetaRef",
      .doc = "Stands for an entry of the metadata section while a text is read; no program has it.",
      .inputs = {},
      .relation = [](RelationContext& ctx, const MetaRefAttrs&) { return ctx.assign_result(tuple_type({})); },
      .non_computational = true,
  };
  return def;
}

const OpDef& op_memory_alloc_storage() {
  static const OpDef def = OpSpec<AllocStorageAttrs>{
      .name = "memory.alloc_storage",
      .doc = "Storage of a size.",
      .inputs = {{"size", "scalar: bytes"}, {"alignment", "scalar: bytes"}},
      .relation = [](RelationContext& ctx,
                     const AllocStorageAttrs&) { return ctx.assign_result(storage_type()); },
      .non_computational = true,
      .rules = op_rules(PlacementRule{.args = {kOnHost}, .result = named_place("virtual_device")}),
  };
  return def;
}

const OpDef& op_memory_alloc_tensor() {
  static const OpDef def = OpSpec<AllocTensorAttrs>{
      .name = "memory.alloc_tensor",
      .doc = "A tensor in storage.",
      .inputs = {{"storage", "storage"}, {"offset", "scalar: bytes"}, {"shape", "vector of extents"}},
      .relation = alloc_tensor_relation,
      .non_computational = true,
      .rules = op_rules(PlacementRule{.args = {kWithResult, kOnHost}}),
  };
  return def;
}

const OpDef& op_memory_kill() {
  static const OpDef def = OpSpec<NoAttrs>{
      .name = "memory.kill",
      .doc = "The tensor is not needed any more.",
      .inputs = {{"to_free", "tensor"}},
      .relation = [](RelationContext& ctx, const NoAttrs&) { return ctx.assign_result(tuple_type({})); },
      .non_computational = true,
      .stateful = true,
  };
  return def;
}

const OpDef& op_vm_invoke_tvm_op() {
  static const OpDef def = OpSpec<DictAttrs>{
      .name = "vm.invoke_tvm_op",
      .doc = "Runs a primitive function over inputs into outputs.",
      .inputs = {{"op", "function"}, {"ins", "tuple of the inputs"}, {"outs", "tuple of the outputs"}},
      .relation = [](RelationContext& ctx, const DictAttrs&) { return ctx.assign_result(tuple_type({})); },
      .non_computational = true,
      .stateful = true,
      .python = "vm.invoke_tvm_op(func, inputs, outputs)",
  };
  return def;
}

const OpDef& op_vm_shape_of() {
  static const OpDef def = OpSpec<ShapeOfAttrs>{
      .name = "vm.shape_of",
      .doc = "The extents of a tensor, as a vector.",
      .inputs = {{"tensor", "tensor"}},
      .relation = [](RelationContext& ctx,
                     const ShapeOfAttrs& attrs) { return shape_of_relation(ctx, attrs.dtype); },
      .compute = shape_of_compute,
      .non_computational = true,
      .rules = op_rules(PlacementRule{.args = {kAnywhere}, .result = kOnHost}),
      .test_shapes = {"(2, 3)f32, dtype=int64"},
  };
  return def;
}

const OpDef& op_vm_reshape_tensor() {
  static const OpDef def = OpSpec<ReshapeTensorAttrs>{
      .name = "vm.reshape_tensor",
      .doc = "The same elements in another shape.",
      .inputs = {{"data", "tensor"}, {"shape", "vector of extents"}},
      .relation =
          [](RelationContext& ctx, const ReshapeTensorAttrs& attrs) {
            const TensorTypeNode* data = ctx.tensor(0);
            if (!data) return kDefer;
            if (!check_least(ctx, "newshape", attrs.newshape, 0)) return kFailed;
            if (const std::vector<Dim> to(attrs.newshape.begin(), attrs.newshape.end());
                !may_equal(product(data->shape()), product(to)))
              return fail_attr(ctx, "newshape", attr_text(AttrValue(attrs.newshape)),
                               "the data has another number of elements: " + type_text(ctx.input(0)));
            return ctx.assign_result(tensor_type(attrs.newshape, data->dtype()));
          },
      .compute = [](Compute& c, const ReshapeTensorAttrs&) { reshape_compute(c, "reshape_tensor"); },
      .non_computational = true,
      .rules = op_rules(PlacementRule{.args = {kWithResult, kOnHost}}),
      .test_shapes = {"(2, 3)f32, (1)i64={6}, newshape=[6]"},
  };
  return def;
}

}  // namespace baton
