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

/// The device that an attribute names, else `otherwise`.
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

std::optional<DeviceCopy> device_copy_of(const FunctionNode& function) {
  const CallNode* copy = call_of(function.body(), "device_copy");
  if (!copy || function.params().size() != 1 || copy->args()[0].get() != function.params()[0].get()) return {};
  return DeviceCopy{device_of_attr(*copy, "src_virtual_device", kProcessor),
                    device_of_attr(*copy, "dst_virtual_device", kProcessor)};
}

// Lexical, as PlanDevices leaves it: what says nothing is where its reader is; on_device, device_copy,
// parameters and the function's result say something. Readers come first, and the first one decides: PlanDevices
// has made them agree.
PointerMap<int> value_devices(const FunctionNode& main,
                              const std::function<int(const FunctionNode& kernel)>& device_of) {
  PointerMap<int> devices;
  for (size_t i = 0; i < main.params().size(); ++i)
    devices.insert(main.params()[i].get(), device_of_place(param_device(main, i), kProcessor));
  std::vector<std::pair<Expr, int>> todo = {{main.body(), device_of_place(result_device(main), kProcessor)}};
  while (!todo.empty()) {
    const auto [expr, around] = std::move(todo.back());
    todo.pop_back();
    if (devices.contains(expr.get())) continue;
    const auto* call = as<CallNode>(expr);
    const auto* kernel = call ? as<FunctionNode>(call->callee()) : nullptr;
    int here = around, of_args = around;
    if (call_of(expr, "on_device")) {
      here = of_args = device_of_attr(*call, "virtual_device", around);
    } else if (const auto copy = kernel ? device_copy_of(*kernel) : std::nullopt) {
      here = copy->to;
      of_args = copy->from;
    } else if (kernel) {
      if (const int own = device_of(*kernel)) here = own;
    }
    devices.insert(expr.get(), here);
    if (call) {  // pushed last to first, so that the first argument is looked at first
      for (size_t i = call->args().size(); i-- > 0;) {
        const Expr& arg = call->args()[i];
        todo.emplace_back(arg, arg->kind() == ExprKind::kConstant && kernel ? here : of_args);
      }
    } else if (expr->kind() != ExprKind::kFunction) {
      for_each_child(*expr, [&](const Expr& child) { todo.emplace_back(child, here); });
    }
  }
  return devices;
}

}  // namespace baton
