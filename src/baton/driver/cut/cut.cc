#include "baton/driver/cut/cut.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "baton/driver/plan/kernel_names.h"
#include "baton/ir/functions.h"
#include "baton/pass/rewriter.h"
#include "baton/support/error.h"
#include "baton/text/origin_label.h"
#include "baton/types/infer_type.h"

namespace baton {

namespace {

Type type_at(Type type, const std::vector<int>& path) {
  for (const int index : path) type = as_type<TupleTypeNode>(type)->fields()[static_cast<size_t>(index)];
  return type;
}

/// The parameter name for `value`: "relu_19" for %19 = nn.relu(..), "x" for let %x = .., "relu_12_7" for an
/// expression at line 12, column 7.
std::string readable_name(const CutNode& step) {
  const Origin* origin = step.operators.empty() ? nullptr : step.operators.back();
  std::string name = origin ? origin_name(*origin) : "";
  if (name.find(".py:") != std::string::npos) name.clear();  // the place of a call, not a name
  const bool numbered = !name.empty() && name.find_first_not_of("0123456789%:") == std::string::npos;
  if (!origin)
    name = "value";
  else if (name.empty() || numbered)
    name = origin->op().substr(origin->op().rfind('.') + 1) + (name.empty() ? "" : "_" + name);
  std::erase(name, '%');
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return std::isdigit(static_cast<unsigned char>(name.front())) ? "value_" + name : name;
}

/// Rewrites the cut's nodes over its parameters.
class Inside final : public Rewriter {
 public:
  explicit Inside(const CutGraph& graph) : graph_(graph) {}
  using Rewriter::map;

 private:
  // A closed function is kept unchanged.
  bool enter(const Expr& node) override {
    return node->kind() != ExprKind::kFunction ||
           (!is_closed(static_cast<const FunctionNode&>(*node)) && graph_.captures(node));
  }
  Type type_of_rebuilt(const ExprNode& node) const override { return node.checked_type(); }

  const CutGraph& graph_;
};

class CutMaker {
 public:
  CutMaker(const CutGraph& graph, const CutChoice& choice) : graph_(graph), choice_(choice), inside_(graph) {}

  Cut run() {
    for (const Var& param : graph_.main()->params()) names_.make(param->name());
    for (const CutNode& node : graph_.nodes())
      if (as<TupleGetItemNode>(node.expr))
        if (const CutValue part = CutGraph::resolve(node.expr); is_direct(node.expr, part))
          items_.emplace(part, node.expr);
    for (uint32_t i = 0; i < graph_.nodes().size(); ++i)
      if (choice_.chosen[i])
        for (const uint32_t read : graph_[i].reads) enter(graph_[read].expr);
    find_outputs();
    std::vector<Expr> results;
    for (const CutOutput& output : cut_.outputs) results.push_back(inside_.run(output.source));
    const Expr body = results.size() == 1 ? results[0] : make_tuple(results, no_operator());
    std::stable_sort(cut_.params.begin(), cut_.params.end(),
                     [](const CutParam& a, const CutParam& b) { return rank(a) < rank(b); });
    std::vector<Var> params;
    for (const CutParam& param : cut_.params) params.push_back(param.var);
    cut_.module = module_around(make_function(std::move(params), body, {}, {}, no_operator()));
    cut_.operators = choice_.operators;
    cut_.left_out = choice_.left_out;
    return std::move(cut_);
  }

 private:
  static int rank(const CutParam& param) {
    return param.kind == CutParam::Kind::kValue ? 0 : param.kind == CutParam::Kind::kParam ? 1 : 2;
  }

  /// `value` is an operand of a chosen step: its parts computed outside the cut become parameters. Tuples are
  /// rebuilt inside.
  void enter(const Expr& value) {
    std::vector<std::pair<Expr, CutValue>> aliases;  // items of tuple literals
    std::vector<Expr> todo{value};
    while (!todo.empty()) {
      const Expr expr = std::move(todo.back());
      todo.pop_back();
      if (!entered_.insert(expr.get())) continue;
      const CutValue part = CutGraph::resolve(expr);
      const auto* tuple = as<TupleNode>(part.base);
      if (tuple)
        for (const Expr& field : tuple->fields()) todo.push_back(field);
      const uint32_t number = graph_.number_of(part.base.get());
      if (!tuple && !choice_.chosen[number])
        inside_.map(expr, made_of_params(number, part));
      else if (!is_direct(expr, part))
        aliases.emplace_back(expr, part);
    }
    for (const auto& [item, part] : aliases) inside_.map(item, inside_.run(item_at(part.base, part.path)));
  }

  static bool is_direct(Expr expr, const CutValue& part) {
    while (const auto* item = as<TupleGetItemNode>(expr)) expr = Expr(item->tuple());
    return expr == part.base;
  }

  Expr made_of_params(uint32_t number, const CutValue& part) {
    const Type type = type_at(part.base->checked_type(), part.path);
    if (const auto* constant = as<ConstantNode>(part.base); constant && constant->is_scalar())
      return part.base;
    if (!as_type<TupleTypeNode>(type)) return Expr(param_for(number, part));
    std::vector<Expr> fields;
    for (size_t i = 0; i < as_type<TupleTypeNode>(type)->fields().size(); ++i) {
      CutValue field = part;
      field.path.push_back(static_cast<int>(i));
      fields.push_back(made_of_params(number, field));
    }
    return make_tuple(std::move(fields), no_operator(type));
  }

  Var param_for(uint32_t number, const CutValue& part) {
    if (const auto known = params_.find(part); known != params_.end()) return known->second;
    const CutNode& node = graph_[number];
    const Type type = type_at(part.base->checked_type(), part.path);
    CutParam param{
        CutParam::Kind::kValue, {}, item(part), node.step ? item_label(step_label(node), part.path) : ""};
    tensors_in(type, "the cut would take " + (node.step ? param.label : "a value") + " as input, which");
    std::string name = "const";
    if (const auto* var = as<VarNode>(part.base)) {
      param.kind = CutParam::Kind::kParam;
      name = var->name();
    } else if (as<ConstantNode>(part.base)) {
      param.kind = CutParam::Kind::kConstant;
    } else {
      name = readable_name(node);
    }
    for (const int index : part.path) name += "_" + std::to_string(index);
    // A parameter of the program keeps its name, which is unique.
    const bool own = param.kind == CutParam::Kind::kParam && part.path.empty();
    param.var = make_var(own ? name : names_.make(name), type, no_operator(type));
    cut_.params.push_back(param);
    params_.emplace(part, param.var);
    return param.var;
  }

  // Finds the values of chosen steps used by other steps or returned by main, looking through tuples.
  void find_outputs() {
    const size_t count = graph_.nodes().size();
    std::vector<bool> wanted(count);
    std::set<std::pair<uint32_t, std::vector<int>>> outputs;
    const auto want = [&](const Expr& expr) {
      const CutValue part = CutGraph::resolve(expr);
      const uint32_t number = graph_.number_of(part.base.get());
      if (!choice_.chosen[number]) {
        wanted[number] = true;
        return;
      }
      const Type type = type_at(part.base->checked_type(), part.path);
      for (const std::vector<int>& rest :
           tensors_in(type, "the cut would return " + step_label(graph_[number]) + ", which")) {
        std::vector<int> path = part.path;
        path.insert(path.end(), rest.begin(), rest.end());
        outputs.emplace(number, std::move(path));
      }
    };
    want(graph_.main()->body());
    for (uint32_t i = static_cast<uint32_t>(count); i-- > 0;) {
      const CutNode& node = graph_[i];
      if (choice_.chosen[i] || !(node.step || wanted[i])) continue;
      for (const uint32_t each : node.reads) want(graph_[each].expr);
    }
    for (const auto& [number, path] : outputs)
      cut_.outputs.push_back(
          {item({graph_[number].expr, path}), item_label(step_label(graph_[number]), path)});
  }

  /// The existing item node of a tuple, where there is one.
  Expr item(const CutValue& part) const {
    const auto own = items_.find(part);
    return own != items_.end() ? own->second : item_at(part.base, part.path);
  }

  static std::string item_label(std::string label, const std::vector<int>& path) {
    for (const int index : path) label = "item " + std::to_string(index) + " of " + label;
    return label;
  }

  /// `main` with the functions and data types it references.
  IRModule module_around(const Function& main) const {
    const IRModule& source = graph_.module();
    IRModule module = make_module();
    for (const auto& [name, type] : source->type_defs()) module->set_type(type);
    std::vector<std::string> todo;
    std::set<std::string> seen;
    const auto name_all = [&](const Function& function) {
      for (const std::string& name : functions_named_by(function))
        if (seen.insert(name).second) todo.push_back(name);
    };
    name_all(main);
    while (!todo.empty()) {
      const std::string name = std::move(todo.back());
      todo.pop_back();
      const Function function = source->find(name);
      if (!function) continue;
      if (name == "main") throw NotSupported("a step of the cut calls main itself");
      module->set(name, function);
      name_all(function);
    }
    module->set("main", main);
    return infer_types(module);
  }

  const CutGraph& graph_;
  const CutChoice& choice_;
  Inside inside_;
  Cut cut_;
  UniqueNames names_;
  PointerSet entered_;
  std::map<CutValue, Expr> items_;
  std::map<CutValue, Var> params_;
};

}  // namespace

std::vector<std::vector<int>> tensors_in(const Type& type, const std::string& what) {
  if (as_type<TensorTypeNode>(type)) return {{}};
  const auto* tuple = as_type<TupleTypeNode>(type);
  if (!tuple)
    throw NotSupported(what + " is " + (type ? type_text(type) : "not typed") +
                       ": only tensors, and tuples of them, cross the border of a cut");
  std::vector<std::vector<int>> found;
  for (size_t i = 0; i < tuple->fields().size(); ++i)
    for (std::vector<int>& rest : tensors_in(tuple->fields()[i], what)) {
      rest.insert(rest.begin(), static_cast<int>(i));
      found.push_back(std::move(rest));
    }
  return found;
}

Expr item_at(Expr value, const std::vector<int>& path) {
  for (const int index : path) {
    const auto* type = as_type<TupleTypeNode>(value->checked_type());
    BATON_CHECK(type && static_cast<size_t>(index) < type->fields().size(), "no such item");
    value = make_tuple_get_item(value, index, no_operator(type->fields()[static_cast<size_t>(index)]));
  }
  return value;
}

Cut cut_out(const CutGraph& graph, const CutChoice& choice) { return CutMaker(graph, choice).run(); }

}  // namespace baton
