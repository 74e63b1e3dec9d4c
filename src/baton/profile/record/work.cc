#include "baton/profile/record/work.h"

#include <cinttypes>
#include <unordered_map>

#include "baton/codegen/kernel/source_hash.h"
#include "baton/driver/origins/record_json.h"
#include "baton/ir/inspect.h"
#include "baton/ir/layout.h"
#include "baton/ir/op.h"
#include "baton/ir/rules/brief.h"
#include "baton/ir/rules/cost.h"
#include "baton/ir/visit.h"
#include "baton/pass/rewriter.h"
#include "baton/support/error.h"
#include "baton/support/json.h"
#include "baton/support/version.h"
#include "baton/text/printer.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

/// Renames variables by number, and makes constants parameters.
class Canonical final : public Rewriter {
 public:
  std::vector<Var> constants;

  Var renamed(const Var& var, const std::string& prefix) {
    const auto [at, is_new] = vars_.try_emplace(var.get());
    if (is_new) at->second = numbered(prefix, type_of(*var));
    return at->second;
  }

 protected:
  bool enter(const Expr&) override { return true; }
  Var rewrite_var(const Var& var) override { return renamed(var, "v"); }
  Type type_of_rebuilt(const ExprNode& node) const override { return node.checked_type(); }
  Expr rewrite(const Expr& original, const Expr& rebuilt) override {
    if (const auto* constant = as<ConstantNode>(original)) {
      constants.push_back(numbered("p", constant->checked_type()));
      return constants.back();
    }
    // Symbols and hashes of a function in its model say nothing about what it computes.
    if (const auto* function = as<FunctionNode>(rebuilt); function && !function->attrs().empty())
      return make_function(function->params(), function->body(), function->ret_type(), {},
                           NodeInfo(OriginSet::none(), {}, original->checked_type()),
                           function->type_params());
    return rebuilt;
  }

 private:
  Var numbered(const std::string& prefix, const Type& type) {
    return make_var(prefix + std::to_string(count_[prefix]++), type, NodeInfo(OriginSet::none(), {}, type));
  }

  std::unordered_map<const ExprNode*, Var> vars_;
  std::map<std::string, int> count_;
};

PrintOptions canonical_options() {
  PrintOptions options;
  options.version = options.spans = options.types = false;
  options.metadata = PrintOptions::Metadata::kNone;
  return options;
}

/// Depth, height and width of a weight in `layout`, as far as it has them; empty when they are not known.
std::vector<int64_t> window_of(const TensorTypeNode& weight, const std::string& layout) {
  const std::optional<Layout> axes = Layout::parse(layout);
  if (!axes || axes->rank() != weight.rank()) return {};
  const Layout primal = *Layout::parse(axes->primal());
  const std::vector<Dim> shape = convert_shape(weight.shape(), *axes, primal);
  std::vector<int64_t> window;
  for (const char letter : {'D', 'H', 'W'}) {
    const int at = primal.find(letter);
    if (at < 0) continue;
    if (shape[static_cast<size_t>(at)].is_any()) return {};
    window.push_back(shape[static_cast<size_t>(at)].value());
  }
  return window;
}

Json attributes_of(const CallNode& call) {
  Json json = Json::object();
  if (!call.attrs()) return json;
  const AttrSchema& schema = call.attrs()->schema();
  for (const AttrField& field : schema.fields) json[field.name] = attr_json(field.get(call.attrs()->data()));
  const auto size = json.find("kernel_size");
  const auto layout = json.find("kernel_layout");
  if (size == json.end() || !size->is_null() || layout == json.end() || !layout->is_string()) return json;
  const TensorTypeNode* weight = call.args().size() > 1 ? tensor_type_of(call.args()[1]) : nullptr;
  if (!weight) return json;
  const std::vector<int64_t> window = window_of(*weight, layout->get<std::string>());
  if (!window.empty()) *size = window;
  return json;
}

std::string type_or_nothing(const Type& type) { return type ? type_text(type) : ""; }

}  // namespace

Function canonical_function(const Function& function) {
  Canonical canonical;
  std::vector<Var> params;
  for (const Var& param : function->params()) params.push_back(canonical.renamed(param, "p"));
  const Expr body = canonical.run(function->body());
  params.insert(params.end(), canonical.constants.begin(), canonical.constants.end());
  const Type result = function->ret_type() ? function->ret_type() : body->checked_type();
  return make_function(std::move(params), body, result, {}, NodeInfo(OriginSet::none()),
                       function->type_params());
}

std::string canonical_text(const Function& function) {
  return print(Expr(canonical_function(function)), canonical_options());
}

std::string canonical_text(const IRModule& module) {
  const IRModule canonical = module->copy();
  for (const auto& [name, function] : module->functions()) canonical->set(name, canonical_function(function));
  return print(*canonical, canonical_options());
}

std::vector<WorkOperator> operators_of(const Function& function) {
  std::vector<WorkOperator> operators;
  post_order(function->body(), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    if (!call || !call->op()) return;
    WorkOperator& op = operators.emplace_back();
    op.op = call->op()->name;
    op.attributes = attributes_of(*call);
    op.type = type_or_nothing(call->checked_type());
    for (const Expr& arg : call->args()) op.input_types.push_back(type_or_nothing(arg->checked_type()));
  });
  return operators;
}

Work kernel_work(const Function& function) {
  Work work;
  work.text = canonical_text(function);
  work.brief = brief_of_function(*function);
  work.operators = operators_of(function);
  std::vector<CostFacts> calls;
  post_order(function->body(), [&](const Expr& node) {
    const auto* call = as<CallNode>(node);
    if (call && call->op() && call->checked_type()) calls.push_back(cost_of_call(*call));
  });
  const CostFacts cost = cost_of_function(*function, calls);
  work.flops = cost.flops;
  work.bytes = cost.bytes;
  return work;
}

Work model_work(const IRModule& module) {
  Work work;
  work.kind = WorkKind::kModel;
  // Without types, the text would lack those of the program's results.
  work.text = canonical_text(infer_types(module->copy()));
  return work;
}

Work transfer_work(double bytes, const std::string& from, const std::string& to) {
  Work work;
  work.kind = WorkKind::kTransfer;
  work.brief = work.text =
      "copy " + std::to_string(static_cast<int64_t>(bytes)) + " from " + from + " to " + to;
  work.bytes = bytes;
  return work;
}

Work part_work(const Work& kernel, const std::string& stage, const std::string& operators) {
  Work work;
  work.kind = WorkKind::kPart;
  work.text = kernel.text + "\npart " + stage + ": " + operators;
  work.brief = (operators.empty() ? stage : operators) + " in " + kernel.brief;
  // Each name takes the next operator of that name.
  size_t next = 0;
  for (size_t begin = 0; begin < operators.size();) {
    const size_t end = std::min(operators.find(", ", begin), operators.size());
    const std::string name = operators.substr(begin, end - begin);
    for (size_t i = next; i < kernel.operators.size(); ++i) {
      if (kernel.operators[i].op != name) continue;
      work.operators.push_back(kernel.operators[i]);
      next = i + 1;
      break;
    }
    begin = end + 2;
  }
  return work;
}

std::string code_version() {
  char text[80];
  std::snprintf(text, sizeof text, "baton %s, code %016" PRIx64, std::string(version()).c_str(), kSourceHash);
  return text;
}

BuildFacts build_facts(const BuiltKernel& kernel, const BuildResult& built, int opt_level) {
  BuildFacts facts = build_facts(built, opt_level);
  if (!kernel.backend.empty()) {
    facts.backend = facts.target = kernel.backend;
    for (const TargetRef& target : built.targets)
      if (target->kind == kernel.backend) facts.target = target->asked();
  }
  facts.template_name = kernel.kernel->template_name;
  facts.parameters = Json(kernel.kernel->params).dump();
  if (kernel.kernel->params.empty()) facts.parameters = "{}";
  return facts;
}

BuildFacts build_facts(const BuildResult& built, int opt_level) {
  BuildFacts facts;
  facts.target = targets_text(built.targets);
  facts.backend = built.targets.empty() ? facts.target : built.targets.front()->kind;
  facts.compiler = code_version();
  facts.opt_level = opt_level;
  if (!built.precision.empty()) facts.precision = built.precision;
  return facts;
}

}  // namespace baton
