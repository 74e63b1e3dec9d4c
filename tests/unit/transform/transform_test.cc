#include "transform/transform_test.h"

#include <functional>
#include <unordered_map>

#include "baton/codegen/backend.h"
#include "baton/codegen/evaluate/evaluator.h"
#include "baton/ops/register.h"
#include "baton/pass/origin_verifier.h"
#include "baton/pass/rewriter.h"
#include "baton/support/base/tensor_rule.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"
#include "baton/transform/register.h"

namespace baton {

IRModule typed_module(const std::string& text) {
  return (*named_pass("InferType"))(parse_module("#[version = \"0.0.5\"]\n" + text, "test.relay"),
                                    host_context());
}

Pass named_pass(const std::string& name) {
  register_all_ops();
  register_all_passes();
  return make_pass(name);
}

PassContextRef test_context(int opt_level) {
  auto context = std::make_shared<PassContext>();
  context->opt_level = opt_level;
  context->evaluator = make_evaluator();
  context->instruments.push_back(std::make_shared<OriginVerifier>());
  return context;
}

IRModule run_passes(IRModule module, const std::vector<Pass>& passes, int opt_level,
                    const BuildContext& context) {
  BuildContext under = context.with_passes(test_context(opt_level));
  if (under.sheets.empty()) under.sheets = host_context().sheets;
  const InstrumentScope scope(under.passes);
  for (const Pass& pass : passes) module = (*pass)(module, under);
  return module;
}

std::string body_text(const IRModule& module, bool origins) {
  PrintOptions options;
  options.version = options.types = options.spans = false;
  options.origins = origins;
  options.metadata = PrintOptions::Metadata::kNone;
  const std::string text = print(*module, options);
  const size_t first = text.find("{\n") + 2, last = text.rfind('}');
  std::string body;
  for (size_t at = first; at < last;) {
    const size_t end = text.find('\n', at);
    const size_t start = text.find_first_not_of(' ', at);
    body += text.substr(start, end - start) + "\n";
    at = end + 1;
  }
  return body;
}

namespace {

/// `main` with the parameters that `value` has something for replaced.
IRModule bind(const IRModule& module,
              const std::function<NDArray(const std::string&, const Shape&, DType)>& value) {
  const Function main = module->find("main");
  std::vector<Var> rest;
  std::unordered_map<const ExprNode*, Expr> values;
  for (const Var& param : main->params()) {
    const auto* type = as_type<TensorTypeNode>(param->checked_type());
    BATON_CHECK(type, "the type of " + param->name());
    NDArray array = value(param->name(), type->extents(), type->dtype());
    if (array)
      values[param.get()] = make_constant(std::move(array), NodeInfo(OriginSet::none()));
    else
      rest.push_back(param);
  }
  const IRModule result = module->copy();
  result->set("main", make_function(std::move(rest), substitute(main->body(), values), main->ret_type(),
                                    main->attrs(), NodeInfo(main->origins(), main->span())));
  return result;
}

}  // namespace

IRModule bind_param(const IRModule& module, const std::string& name, double low, double high) {
  return bind(module, [&](const std::string& param, const Shape& shape, DType dtype) {
    return param == name ? tensor_value(name, shape, dtype, ValueRange{low, high}) : NDArray();
  });
}

IRModule bind_model(const IRModule& module) {
  return bind(module, [&](const std::string& param, const Shape& shape, DType dtype) {
    return param == "data" ? NDArray() : parameter_value(param, shape, dtype);
  });
}

}  // namespace baton
