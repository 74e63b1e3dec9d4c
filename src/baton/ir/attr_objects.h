#pragma once
// Attribute values that are objects: expressions, virtual devices and symbolic extents.
#include <string>

#include "baton/ir/expr.h"
#include "baton/ir/extent.h"
#include "baton/target/target.h"

namespace baton {

/// An expression as an attribute value, as for the bounds of `arange`. Constants compare by value, other
/// expressions by identity.
class ExprAttr final : public AttrObject {
 public:
  explicit ExprAttr(Expr expr) : expr_(std::move(expr)) {}
  const Expr& expr() const { return expr_; }
  std::string type_key() const override;  ///< "relay.Constant", "relay.Var", "relay.Call", ...
  std::string text() const override;
  bool equals(const AttrObject& other) const override;
  uint64_t hash() const override;

 private:
  Expr expr_;
};

/// The placement of a value: device type and number, the target that compiles for the device, and a memory
/// scope. Fields that are -1, null or empty are unconstrained.
struct VirtualDevice {
  int device_type = -1;  ///< as in DLPack: cpu 1, cuda 2, opencl 4, ...
  int device_id = -1;
  std::string memory_scope = {};
  TargetRef target = {};
  bool operator==(const VirtualDevice& other) const;
  bool is_open() const;  ///< true when every field is unconstrained
  /// `VirtualDevice(device_type=2, virtual_device_id=0)`
  std::string text() const;
};
class VirtualDeviceAttr final : public AttrObject {
 public:
  explicit VirtualDeviceAttr(VirtualDevice device) : device_(std::move(device)) {}
  const VirtualDevice& device() const { return device_; }
  std::string type_key() const override { return "VirtualDevice"; }
  std::string text() const override { return device_.text(); }
  bool equals(const AttrObject& other) const override;
  uint64_t hash() const override;

 private:
  VirtualDevice device_;
};

/// A symbolic extent. No attribute of an operator takes one; entries of a metadata table are such.
class ExtentAttr final : public AttrObject {
 public:
  explicit ExtentAttr(Dim dim) : dim_(dim) {}
  Dim dim() const { return dim_; }
  std::string type_key() const override { return extent_type_key(dim_); }
  std::string text() const override { return extent_text(dim_); }
  bool equals(const AttrObject& other) const override;
  uint64_t hash() const override { return extent_hash(dim_); }

 private:
  Dim dim_;
};

AttrValue expr_attr(Expr expr);
AttrValue virtual_device_attr(VirtualDevice device);

}  // namespace baton
