#include "baton/byoc/region_json.h"

#include <algorithm>
#include <unordered_map>

#include "baton/ir/functions.h"
#include "baton/ir/inspect.h"
#include "baton/ir/op.h"
#include "baton/ir/visit.h"
#include "baton/support/error.h"
#include "baton/support/json.h"

namespace baton {
namespace {

/// An output of a node.
struct Entry {
  size_t node, output;
};

/// A number, a flag or a text as TVM writes it; lists in lists become one list.
void append_texts(const AttrValue& value, Json& texts) {
  if (const AttrList* list = value.as<AttrList>()) {
    for (const AttrValue& item : *list) append_texts(item, texts);
  } else if (const bool* flag = value.as<bool>()) {
    texts.push_back(*flag ? "1" : "0");
  } else if (const std::string* text = value.as<std::string>()) {
    texts.push_back(*text);
  } else if (!value.is_none()) {
    texts.push_back(attr_text(value));
  }
}

class JsonMaker {
 public:
  JsonMaker(std::string symbol, const std::vector<NDArray>& constants)
      : symbol_(std::move(symbol)), constants_(constants) {}

  std::string make(const FunctionNode& region) {
    for (const Var& param : region.params())
      entries_[param.get()] = add("input", param->name(), {}, type_of(*param), {});
    const std::vector<Entry> heads = value(region.body());
    Json graph{
        {"nodes", nodes_}, {"arg_nodes", Json::array()}, {"heads", Json::array()}, {"node_row_ptr", rows_}};
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i]["op"] != "kernel") graph["arg_nodes"].push_back(i);
    for (const Entry& head : heads) graph["heads"].push_back({head.node, head.output, 0});
    return graph.dump();
  }

 private:
  /// The outputs of a value. Regions are visited in post-order: no deep recursion.
  std::vector<Entry> value(const Expr& root) {
    post_order(
        root, [&](const Expr& node) { visit(node); },
        [](const Expr& node) { return node->kind() != ExprKind::kFunction; });
    return entries_.at(root.get());
  }

  void visit(const Expr& node) {
    switch (node->kind()) {
      case ExprKind::kCall:
        return call(static_cast<const CallNode&>(*node));
      case ExprKind::kTuple:
        for (const Expr& field : static_cast<const TupleNode&>(*node).fields()) {
          const std::vector<Entry> parts = entries_.at(field.get());
          auto& all = entries_[node.get()];
          all.insert(all.end(), parts.begin(), parts.end());
        }
        entries_[node.get()];  // of an empty tuple, too
        return;
      case ExprKind::kTupleGetItem:
        return item(static_cast<const TupleGetItemNode&>(*node));
      case ExprKind::kConstant:
        entries_[node.get()] = constant(static_cast<const ConstantNode&>(*node));
        return;
      case ExprKind::kVar:
      case ExprKind::kOp:
      case ExprKind::kFunction:  // a composite: its call is looked at
        return;
      default:
        throw NotSupported("a region with control flow has no graph JSON");
    }
  }

  std::vector<Entry> constant(const ConstantNode& node) {
    const auto at = std::ranges::find_if(
        constants_, [&](const NDArray& each) { return each.data() == node.value().data(); });
    BATON_CHECK(at != constants_.end(), "a constant of a region without a number");
    const std::string name = symbol_ + "_const_" + std::to_string(at - constants_.begin());
    const auto [known, fresh] = const_nodes_.try_emplace(name);
    if (fresh) known->second = add("const", name, {}, type_of(Expr(&node)), {});
    return known->second;
  }

  void call(const CallNode& call) {
    std::vector<Entry> inputs;
    for (const Expr& arg : call.args()) {
      const std::vector<Entry>& parts = entries_.at(arg.get());
      inputs.insert(inputs.end(), parts.begin(), parts.end());
    }
    std::string name = call.op() ? call.op()->name : "";
    Json attrs = Json::object();
    if (const auto* function = as<FunctionNode>(call.callee())) {
      name = text_attr(*function, "Composite");
      // What tells one composite from another: the attributes of its operators, as TVM's code generators read
      // them from the one that they look for. The later operator's stay where two have one.
      // Constants that are part of its pattern are its last inputs.
      post_order(function->body(), [&](const Expr& node) {
        if (const auto* inner = as<CallNode>(node)) add_attrs(*inner, attrs);
        if (const auto* own = as<ConstantNode>(node)) {
          const std::vector<Entry> parts = constant(*own);
          inputs.insert(inputs.end(), parts.begin(), parts.end());
        }
      });
    } else {
      add_attrs(call, attrs);
    }
    if (name.empty()) throw NotSupported("a region that calls a function has no graph JSON");
    entries_[&call] = add("kernel", name, inputs, call.checked_type(), std::move(attrs));
  }

  static void add_attrs(const CallNode& call, Json& attrs) {
    if (!call.attrs()) return;
    for (const AttrField& field : call.attrs()->schema().fields) {
      Json texts = Json::array();
      append_texts(call.attrs()->get(field.name), texts);
      attrs[field.name] = Json::array({std::move(texts)});
    }
  }

  void item(const TupleGetItemNode& item) {
    const auto* type = as_type<TupleTypeNode>(item.tuple()->checked_type());
    BATON_CHECK(type, "a projection of a value that is no tuple");
    size_t first = 0;
    for (int i = 0; i < item.index(); ++i) first += flat_types(type->fields()[static_cast<size_t>(i)]).size();
    const size_t count = flat_types(type->fields()[static_cast<size_t>(item.index())]).size();
    const std::vector<Entry> all = entries_.at(item.tuple().get());
    entries_[&item] = {all.begin() + static_cast<std::ptrdiff_t>(first),
                       all.begin() + static_cast<std::ptrdiff_t>(first + count)};
  }

  std::vector<Entry> add(const char* op, const std::string& name, const std::vector<Entry>& inputs,
                         const Type& type, Json attrs) {
    Json shapes = Json::array(), dtypes = Json::array();
    std::vector<Entry> outputs;
    for (const TensorTypeNode* tensor : flat_types(type)) {
      if (!tensor->is_static()) throw NotSupported("a region with symbolic shapes has no graph JSON");
      outputs.push_back({nodes_.size(), outputs.size()});
      shapes.push_back(tensor->extents());
      dtypes.push_back(tensor->dtype().str());
    }
    Json node{{"op", op}, {"name", name}};
    if (!inputs.empty()) {
      node["inputs"] = Json::array();
      for (const Entry& input : inputs) node["inputs"].push_back({input.node, input.output, 0});
    }
    if (attrs.is_null()) attrs = Json::object();
    attrs["num_inputs"] = std::to_string(inputs.size());
    attrs["num_outputs"] = std::to_string(outputs.size());
    attrs["shape"] = Json::array({std::move(shapes)});
    attrs["dtype"] = Json::array({std::move(dtypes)});
    node["attrs"] = std::move(attrs);
    nodes_.push_back(std::move(node));
    rows_.push_back(rows_.back().get<size_t>() + outputs.size());
    return outputs;
  }

  const std::string symbol_;
  const std::vector<NDArray>& constants_;
  Json nodes_ = Json::array();
  Json rows_ = Json::array({0});
  std::unordered_map<const ExprNode*, std::vector<Entry>> entries_;
  std::unordered_map<std::string, std::vector<Entry>> const_nodes_;
};

}  // namespace

std::vector<NDArray> region_constants(const FunctionNode& region) {
  std::vector<NDArray> all;
  post_order(region.body(), [&](const Expr& node) {
    const auto* constant = as<ConstantNode>(node);
    if (!constant) return;
    const auto same = [&](const NDArray& each) { return each.data() == constant->value().data(); };
    if (std::ranges::none_of(all, same)) all.push_back(constant->value());
  });
  return all;
}

std::string region_json(const FunctionNode& region, const std::string& symbol, const FunctionNode& numbered) {
  return JsonMaker(symbol, region_constants(numbered)).make(region);
}

}  // namespace baton
