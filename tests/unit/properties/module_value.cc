#include "properties/module_value.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "baton/support/base/tensor_rule.h"
#include "baton/support/error.h"

namespace baton::properties {

namespace {

void flatten(const run::Value& value, std::vector<NDArray>& arrays) {
  if (value.array) return arrays.push_back(value.array);
  if (value.callable || value.cell) throw NotSupported("main returns something else than tensors");
  for (const run::Value& field : value.fields) flatten(field, arrays);
}

NDArray transposed(const NDArray& matrix) {
  const int64_t rows = matrix.shape()[0], columns = matrix.shape()[1];
  NDArray result = NDArray::empty({columns, rows}, matrix.dtype());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      result.as<float>()[static_cast<size_t>(j * rows + i)] =
          matrix.as<float>()[static_cast<size_t>(i * columns + j)];
  return result;
}

NDArray given(const std::string& name, Shape shape, DType dtype) {
  if (!name.ends_with(".T")) return parameter_value(name, shape, dtype);
  return transposed(parameter_value(name.substr(0, name.size() - 2), {shape.at(1), shape.at(0)}, dtype));
}

}  // namespace

std::vector<NDArray> value_of_main(run::Interpreter& interpreter, const IRModule& module) {
  std::vector<run::Value> args;
  for (const Var& param : module->find("main")->params()) {
    const auto* type =
        as_type<TensorTypeNode>(param->checked_type() ? param->checked_type() : param->annotation());
    if (!type || !type->is_static())
      throw NotSupported("parameter %" + param->name() + " is no tensor of known shape");
    args.push_back(run::tensor(given(param->name(), type->extents(), type->dtype())));
  }
  std::vector<NDArray> arrays;
  flatten(interpreter.run(module, "main", args), arrays);
  return arrays;
}

double difference(const std::vector<NDArray>& a, const std::vector<NDArray>& b) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (a.size() != b.size()) return kNever;
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].dtype() != b[i].dtype() || a[i].shape() != b[i].shape()) return kNever;
    for (int64_t at = 0; at < a[i].size(); ++at) {
      const double x = run::element(a[i], at), y = run::element(b[i], at);
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      const double apart = std::abs(x - y) / (1 + std::max(std::abs(x), std::abs(y)));
      most = std::max(most, std::isnan(apart) ? kNever : apart);
    }
  }
  return most;
}

}  // namespace baton::properties
