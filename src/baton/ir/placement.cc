#include "baton/ir/placement.h"

#include <algorithm>

namespace baton {

namespace {

const VirtualDevice* device_in(const AttrValue* value) {
  const auto* device = value ? value->object<VirtualDeviceAttr>() : nullptr;
  return device ? &device->device() : nullptr;
}

void put(FunctionAttrs& attrs, std::string_view name, AttrValue value) {
  std::erase_if(attrs, [&](const auto& attr) { return attr.first == name; });
  if (!value.is_none()) attrs.emplace_back(std::string(name), std::move(value));
}

}  // namespace

const VirtualDevice* result_device(const FunctionNode& function) {
  return device_in(function.attr(kResultDevice));
}

const VirtualDevice* param_device(const FunctionNode& function, size_t index) {
  const AttrValue* value = function.attr(kParamDevices);
  const AttrList* list = value ? value->as<AttrList>() : nullptr;
  return list && list->size() == function.params().size() && index < list->size() ? device_in(&(*list)[index])
                                                                                  : nullptr;
}

FunctionAttrs with_param_devices(FunctionAttrs attrs, const std::vector<VirtualDevice>& params) {
  const bool open = std::ranges::all_of(params, [](const VirtualDevice& device) { return device.is_open(); });
  AttrList list;
  for (const VirtualDevice& device : params)
    list.push_back(device.is_open() ? AttrValue() : virtual_device_attr(device));
  put(attrs, kParamDevices, open ? AttrValue() : AttrValue(std::move(list)));
  return attrs;
}

Function with_devices(const Function& function, const std::vector<VirtualDevice>& params,
                      const VirtualDevice& result) {
  FunctionAttrs attrs = with_param_devices(function->attrs(), params);
  put(attrs, kResultDevice, result.is_open() ? AttrValue() : virtual_device_attr(result));
  return make_function(function->params(), function->body(), function->ret_type(), std::move(attrs),
                       function->info(), function->type_params());
}

}  // namespace baton
