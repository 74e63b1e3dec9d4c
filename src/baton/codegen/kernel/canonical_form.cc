#include "baton/codegen/kernel/canonical_form.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "baton/ir/attr_objects.h"
#include "baton/ir/extent.h"
#include "baton/ir/extents/kernel_extents.h"
#include "baton/ir/op.h"
#include "baton/ir/type.h"
#include "baton/ir/visit.h"
#include "baton/support/base/checksum.h"
#include "baton/support/pointer_map.h"

namespace baton {
namespace {

/// Writes one record per node in post-order. A record has a kind and fields of known or written length, and
/// refers to other nodes by the numbers of their records, so that no two functions have the same bytes.
class CanonicalForm {
 public:
  std::string of(const FunctionNode& function) {
    extents_ = kernel_extents(function);
    number(function.params().size());
    for (const Var& param : function.params()) add_var(*param);
    post_order(function.body(), [&](const Expr& node) { add_node(*node); });
    reference(function.body());
    type(function.ret_type());
    add_function_attrs(function);
    return std::move(bytes_);
  }

 private:
  void number(uint64_t value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void text(std::string_view value) {
    number(value.size());
    bytes_ += value;
  }
  void dtype(DType type) {
    number(static_cast<uint64_t>(type.code) << 32 | static_cast<uint64_t>(type.bits) << 16 | type.lanes);
  }

  void type(const Type& type) {
    number(type ? static_cast<uint64_t>(type->kind()) + 1 : 0);
    if (const auto* tensor = as_type<TensorTypeNode>(type)) {
      dtype(tensor->dtype());
      number(tensor->shape().size());
      for (const Dim& dim : tensor->shape()) {
        number(dim.is_symbolic() ? 2 : dim.is_any());
        if (dim.is_symbolic())
          text(extent_text(replace_extent_vars(dim, [this](Dim var) { return numbered(var); })));
        else
          number(dim.is_any() ? 0 : static_cast<uint64_t>(dim.value()));
      }
    } else if (const auto* tuple = as_type<TupleTypeNode>(type)) {
      number(tuple->fields().size());
      for (const Type& field : tuple->fields()) this->type(field);
    } else if (type) {
      text(type_text(type));
    }
  }

  /// What stands for a variable, whatever its name.
  Dim numbered(Dim var) {
    const auto at = std::ranges::find(extents_, var);
    if (at == extents_.end())
      throw NeedsNumbers("no operand says what the extent " + extent_text(var) + " is");
    return numbered_extent(static_cast<int>(at - extents_.begin()));
  }

  void array(const NDArray& value) {
    dtype(value.dtype());
    number(value.shape().size());
    for (const int64_t extent : value.shape()) number(static_cast<uint64_t>(extent));
    constexpr size_t kWhole = 64;
    if (value.bytes() <= kWhole) return text({static_cast<const char*>(value.data()), value.bytes()});
    const Digest digest = digest128(value.data(), value.bytes());
    number(digest.high);
    number(digest.low);
  }

  void attr(const AttrValue& value) {
    number(value.index());
    if (const bool* flag = value.as<bool>()) number(*flag);
    if (const int64_t* integer = value.as<int64_t>()) number(static_cast<uint64_t>(*integer));
    if (const double* real = value.as<double>()) {
      uint64_t word;
      std::memcpy(&word, real, sizeof word);
      number(word);
    }
    if (const std::string* string = value.as<std::string>()) text(*string);
    if (const DType* type = value.as<DType>()) dtype(*type);
    if (const AttrList* list = value.as<AttrList>()) {
      number(list->size());
      for (const AttrValue& item : *list) attr(item);
    }
    if (const AttrObjectRef* object = value.as<AttrObjectRef>()) {
      text(object->object->type_key());
      const auto* expr = value.object<ExprAttr>();
      if (const auto* constant = expr ? as<ConstantNode>(expr->expr()) : nullptr)
        array(constant->value());
      else
        number(object->object->hash());
    }
  }

  void add_function_attrs(const FunctionNode& function) {
    std::vector<const std::pair<std::string, AttrValue>*> sorted;
    for (const auto& each : function.attrs()) sorted.push_back(&each);
    std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
    number(sorted.size());
    for (const auto* each : sorted) {
      text(each->first);
      attr(each->second);
    }
  }

  void begin(const ExprNode& node) {
    records_.insert(&node, static_cast<uint32_t>(records_.size()));
    number(static_cast<uint64_t>(node.kind()));
  }
  void reference(const Expr& node) { number(*records_.find(node.get())); }

  void add_var(const VarNode& var) {
    begin(var);
    type(var.annotation() ? var.annotation() : var.checked_type());
  }

  void add_node(const ExprNode& node) {
    if (node.kind() == ExprKind::kOp) return;  // named in its calls
    if (const auto* var = as<VarNode>(&node)) {
      if (!records_.contains(var)) add_var(*var);
    } else if (const auto* constant = as<ConstantNode>(&node)) {
      begin(node);
      array(constant->value());
    } else if (const auto* tuple = as<TupleNode>(&node)) {
      begin(node);
      number(tuple->fields().size());
      for (const Expr& field : tuple->fields()) reference(field);
    } else if (const auto* item = as<TupleGetItemNode>(&node)) {
      begin(node);
      reference(item->tuple());
      number(static_cast<uint64_t>(item->index()));
    } else if (const auto* call = as<CallNode>(&node)) {
      add_call(*call);
    } else {
      throw NotSupported("a fused function holds control flow or a function of its own");
    }
  }

  void add_call(const CallNode& call) {
    if (!call.op()) throw NotSupported("a fused function calls something that is no operator");
    begin(call);
    text(call.op()->name);
    type(call.checked_type());
    number(call.args().size());
    for (const Expr& arg : call.args()) reference(arg);
    number(call.attrs() ? 1 : 0);
    if (!call.attrs()) return;
    text(call.attrs()->schema().type_key);
    for (const AttrField& field : call.attrs()->schema().fields) attr(field.get(call.attrs()->data()));
  }

  std::string bytes_;
  PointerMap<uint32_t> records_;  // node -> the number of its record
  std::vector<Dim> extents_;
};

}  // namespace

std::string canonical_form(const FunctionNode& function) { return CanonicalForm().of(function); }

}  // namespace baton
