#include "baton/ir/attr_objects.h"

#include "baton/ir/structural.h"
#include "baton/support/hash.h"

namespace baton {

std::string ExprAttr::type_key() const {
  switch (expr_->kind()) {
    case ExprKind::kVar:
      return "relay.Var";
    case ExprKind::kGlobalVar:
      return "GlobalVar";
    case ExprKind::kConstant:
      return "relay.Constant";
    case ExprKind::kOp:
      return "Op";
    case ExprKind::kConstructor:
      return "relay.Constructor";
    case ExprKind::kTuple:
      return "relay.Tuple";
    case ExprKind::kTupleGetItem:
      return "relay.TupleGetItem";
    case ExprKind::kCall:
      return "relay.Call";
    case ExprKind::kFunction:
      return "relay.Function";
    case ExprKind::kLet:
      return "relay.Let";
    case ExprKind::kIf:
      return "relay.If";
    case ExprKind::kMatch:
      return "relay.Match";
    case ExprKind::kRefCreate:
      return "relay.RefCreate";
    case ExprKind::kRefRead:
      return "relay.RefRead";
    case ExprKind::kRefWrite:
      return "relay.RefWrite";
  }
  return "relay.Expr";
}

std::string ExprAttr::text() const {
  if (const auto value = scalar_value(expr_)) return attr_text(AttrValue(*value));
  if (const auto* var = as<VarNode>(expr_)) return "%" + var->name();
  return type_key();
}

bool ExprAttr::equals(const AttrObject& other) const {
  const auto* that = dynamic_cast<const ExprAttr*>(&other);
  if (!that) return false;
  if (expr_ == that->expr_) return true;
  return expr_->kind() == ExprKind::kConstant && structural_equal(expr_, that->expr_);
}

uint64_t ExprAttr::hash() const {
  Hasher hash(static_cast<uint64_t>(expr_->kind()));
  if (expr_->kind() == ExprKind::kConstant) hash.add(structural_hash(expr_));
  return hash.value();
}

bool VirtualDevice::operator==(const VirtualDevice& other) const {
  return device_type == other.device_type && device_id == other.device_id &&
         memory_scope == other.memory_scope && same_target(target, other.target);
}

bool VirtualDevice::is_open() const {
  return device_type < 0 && device_id < 0 && memory_scope.empty() && !target;
}

std::string VirtualDevice::text() const {
  std::string fields;
  auto field = [&](const std::string& text) { fields += (fields.empty() ? "" : ", ") + text; };
  if (device_type >= 0) field("device_type=" + std::to_string(device_type));
  if (device_id >= 0) field("virtual_device_id=" + std::to_string(device_id));
  if (target) field("target=" + target->text());
  if (!memory_scope.empty()) field("memory_scope='" + memory_scope + "'");
  return "VirtualDevice(" + (fields.empty() ? "?" : fields) + ")";
}

bool VirtualDeviceAttr::equals(const AttrObject& other) const {
  const auto* that = dynamic_cast<const VirtualDeviceAttr*>(&other);
  return that && device_ == that->device_;
}

uint64_t VirtualDeviceAttr::hash() const {
  Hasher hash(static_cast<uint64_t>(device_.device_type + 1));
  hash.add(static_cast<uint64_t>(device_.device_id + 1));
  hash.add_text(device_.memory_scope);
  if (device_.target) hash.add_text(device_.target->kind);
  return hash.value();
}

bool ExtentAttr::equals(const AttrObject& other) const {
  const auto* that = dynamic_cast<const ExtentAttr*>(&other);
  return that && dim_ == that->dim_;
}

AttrValue expr_attr(Expr expr) {
  return AttrValue(Ref<const AttrObject>(make_ref<const ExprAttr>(std::move(expr))));
}
AttrValue virtual_device_attr(VirtualDevice device) {
  return AttrValue(Ref<const AttrObject>(make_ref<const VirtualDeviceAttr>(std::move(device))));
}

}  // namespace baton
