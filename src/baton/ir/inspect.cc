#include "baton/ir/inspect.h"

namespace baton {

namespace {

void flatten(const Type& type, std::vector<const TensorTypeNode*>& out) {
  if (const auto* tuple = as_type<TupleTypeNode>(type)) {
    for (const Type& field : tuple->fields()) flatten(field, out);
    return;
  }
  const auto* tensor = as_type<TensorTypeNode>(type);
  BATON_CHECK(tensor,
              "a fused function holds a value that is no tensor: " + (type ? type_text(type) : "not typed"));
  out.push_back(tensor);
}

AttrValue attr_of(const CallNode& call, std::string_view name) {
  BATON_CHECK(
      call.attrs() && call.attrs()->schema().find(name),
      (call.op() ? call.op()->name : std::string("a function")) + " has no attribute " + std::string(name));
  return call.attrs()->get(name);
}

}  // namespace

int64_t int_attr(const CallNode& call, std::string_view name) {
  const AttrValue value = attr_of(call, name);
  const int64_t* number = value.as<int64_t>();
  BATON_CHECK(number, std::string(name) + " is " + attr_text(value));
  return *number;
}

double float_attr(const CallNode& call, std::string_view name) {
  const AttrValue value = attr_of(call, name);
  if (const int64_t* number = value.as<int64_t>()) return static_cast<double>(*number);
  const double* number = value.as<double>();
  BATON_CHECK(number, std::string(name) + " is " + attr_text(value));
  return *number;
}

bool bool_attr(const CallNode& call, std::string_view name) {
  const AttrValue value = attr_of(call, name);
  if (const int64_t* number = value.as<int64_t>()) return *number != 0;
  const bool* flag = value.as<bool>();
  BATON_CHECK(flag, std::string(name) + " is " + attr_text(value));
  return *flag;
}

std::string text_attr(const FunctionNode& function, std::string_view name) {
  const AttrValue* value = function.attr(name);
  const std::string* text = value ? value->as<std::string>() : nullptr;
  return text ? *text : std::string();
}

std::string text_attr(const CallNode& call, std::string_view name) {
  const AttrValue value = attr_of(call, name);
  const std::string* text = value.as<std::string>();
  BATON_CHECK(text || value.is_none(), std::string(name) + " is " + attr_text(value));
  return text ? *text : std::string();
}

std::vector<int64_t> ints_of(const AttrValue& value) {
  std::vector<int64_t> numbers;
  if (const int64_t* number = value.as<int64_t>()) numbers.push_back(*number);
  if (const AttrList* list = value.as<AttrList>())
    for (const AttrValue& item : *list) {
      const int64_t* number = item.as<int64_t>();
      BATON_CHECK(number, "not a list of integers: " + attr_text(value));
      numbers.push_back(*number);
    }
  return numbers;
}

std::vector<int64_t> ints_attr(const CallNode& call, std::string_view name) {
  return ints_of(attr_of(call, name));
}

DType dtype_attr(const CallNode& call, std::string_view name) {
  const AttrValue value = attr_of(call, name);
  const DType* dtype = value.as<DType>();
  BATON_CHECK(dtype || value.is_none(), std::string(name) + " is " + attr_text(value));
  return dtype ? *dtype : DType::void_();
}

const TensorTypeNode* tensor_type_of(const Expr& expr) {
  return as_type<TensorTypeNode>(expr->checked_type());
}

const TensorTypeNode* static_type_of(const Expr& expr) {
  const TensorTypeNode* type = tensor_type_of(expr);
  return type && type->is_static() ? type : nullptr;
}

std::vector<const TensorTypeNode*> flat_types(const Type& type) {
  std::vector<const TensorTypeNode*> out;
  flatten(type, out);
  return out;
}

int front_axis(int64_t axis, int rank) {
  const int64_t front = axis < 0 ? axis + rank : axis;
  BATON_CHECK(front >= 0 && front < rank,
              "axis " + std::to_string(axis) + " of rank " + std::to_string(rank));
  return static_cast<int>(front);
}

const CallNode* call_of(const Expr& expr, std::string_view op) {
  return is_call(expr, op) ? as<CallNode>(expr) : nullptr;
}

}  // namespace baton
