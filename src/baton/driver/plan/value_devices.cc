#include "baton/driver/plan/value_devices.h"

#include <utility>
#include <vector>

#include "baton/ir/attr_objects.h"
#include "baton/ir/op.h"
#include "baton/ir/placement.h"
#include "baton/ir/visit.h"

namespace baton {
namespace {

constexpr int kProcessor = 1;

/// The device named by an attribute, else `otherwise`.
int device_of_attr(const CallNode& call, const char* name, int otherwise) {
  const AttrValue value = call.attrs()->get(name);
  const auto* device = value.object<VirtualDeviceAttr>();
  return device && device->device().device_type > 0 ? device->device().device_type : otherwise;
}

int device_of_place(const VirtualDevice* place, int otherwise) {
  return place && place->device_type > 0 ? place->device_type : otherwise;
}

const CallNode* call_of(const Expr& expr, const char* name) {
  const auto* call = as<CallNode>(expr);
  return call && call->op() && call->op()->name == name ? call : nullptr;
}

}  // namespace

Function kernel_called(const IRModuleNode& module, const CallNode& call) {
  Function function = as_ref<FunctionNode>(call.callee());
  if (const auto* global = as<GlobalVarNode>(call.callee())) function = module.find(global->name());
  return function && function->is_primitive() ? function : Function();
}

std::optional<DeviceCopy> device_copy_of(const FunctionNode& function) {
  const CallNode* copy = call_of(function.body(), "device_copy");
  if (!copy || function.params().size() != 1 || copy->args()[0].get() != function.params()[0].get())
    return {};
  return DeviceCopy{device_of_attr(*copy, "src_virtual_device", kProcessor),
                    device_of_attr(*copy, "dst_virtual_device", kProcessor)};
}

std::string copy_reason(const DeviceCopy& between) {
  return "copied from device type " + std::to_string(between.from) + " to " + std::to_string(between.to) +
         ", where it is read";
}

Function make_device_copy(const Type& type, const DeviceCopy& between, const OriginSet& origins) {
  static const OpDef& op = *find_op("device_copy");
  const Var value = make_var("p0", type, NodeInfo(OriginSet::none(), {}, type));
  const Attrs attrs =
      make_attrs(*op.attrs, {{"src_virtual_device", virtual_device_attr({between.from, 0, {}, {}})},
                             {"dst_virtual_device", virtual_device_attr({between.to, 0, {}, {}})}});
  const Expr copy = make_call(op_expr(op), {Expr(value)}, attrs, NodeInfo(origins, {}, type));
  return make_function({value}, copy, type, {{"Primitive", 1}}, NodeInfo(origins));
}

// Lexical, as written by PlanDevices: an unannotated value is on its user's device; on_device, device_copy,
// parameters and the function's result are annotated. Users are visited first, and the first one decides;
// PlanDevices has made them agree.
PointerMap<int> value_devices(const IRModuleNode& module, const FunctionNode& main,
                              const PlaceKernel& place) {
  PointerMap<int> devices;
  for (size_t i = 0; i < main.params().size(); ++i)
    devices.insert(main.params()[i].get(), device_of_place(param_device(main, i), kProcessor));
  std::vector<std::pair<Expr, int>> todo = {{main.body(), device_of_place(result_device(main), kProcessor)}};
  while (!todo.empty()) {
    const auto [expr, around] = std::move(todo.back());
    todo.pop_back();
    if (devices.contains(expr.get())) continue;
    const auto* call = as<CallNode>(expr);
    const Function kernel = call ? kernel_called(module, *call) : Function();
    const auto copy = kernel ? device_copy_of(*kernel) : std::nullopt;
    int here = around, of_args = around, of_constants = around;
    if (call_of(expr, "on_device")) {
      here = of_args = of_constants = device_of_attr(*call, "virtual_device", around);
    } else if (copy) {
      here = copy->to;
      of_args = of_constants = copy->from;
    } else if (kernel) {
      here = of_constants = place(*kernel, around).device_type;
    }
    devices.insert(expr.get(), here);
    if (call) {
      for (size_t i = call->args().size(); i-- > 0;) {  // the first argument is visited first
        const Expr& arg = call->args()[i];
        todo.emplace_back(arg, arg->kind() == ExprKind::kConstant ? of_constants : of_args);
      }
    } else if (expr->kind() != ExprKind::kFunction) {
      for_each_child(*expr, [&](const Expr& child) { todo.emplace_back(child, here); });
    }
  }
  return devices;
}

}  // namespace baton
