// If, Loop, Scan and SequenceMap: what is decided while importing leaves no control flow behind.
#include <algorithm>

#include "baton/frontend/onnx/kept_node.h"
#include "baton/frontend/onnx/ops/loop.h"
#include "baton/types/infer_type.h"

namespace baton::onnx {

namespace {

// ---- If.

/// A value as tensors, and how it is put together of them again.
void add_tensors(const Conversion& c, const Value& value, std::vector<Expr>& to) {
  if (value.is_none)
    throw c.not_supported("branches that make an optional without an element, taken at run time,");
  if (!value.sequence) return to.push_back(c.tensor(value));
  for (const Value& each : *value.sequence) add_tensors(c, each, to);
}

Value rebuilt(const Value& like, const std::vector<Expr>& tensors, size_t& at) {
  if (!like.sequence) return tensors[at++];
  Values values;
  for (const Value& each : *like.sequence) values.push_back(rebuilt(each, tensors, at));
  return Value::of_sequence(std::move(values));
}

bool same_structure(const Value& a, const Value& b) {
  if (!a.sequence || !b.sequence) return !a.sequence && !b.sequence;
  return std::ranges::equal(*a.sequence, *b.sequence, &same_structure);
}

/// Exporters of PyTorch write x.squeeze(i) as an If: where the extent is 1 a Squeeze, else x, of another
/// rank. The Squeeze alone is as good, since it is an error where the extent is not 1.
bool squeezes_where_true(const Conversion& c, const AttributeFile& then_graph) {
  if (!c.value(0).equal) return false;
  auto [extent, one] = *c.value(0).equal;
  if (extent == Dim(1)) std::swap(extent, one);
  if (one != Dim(1)) return false;
  const GraphFile& graph = *then_graph.graphs.front();
  return std::ranges::any_of(c.around().outer_values(then_graph), [&](const auto& outer) {
    const auto* type =
        outer.second.tensor ? as_type<TensorTypeNode>(outer.second.tensor->checked_type()) : nullptr;
    return type && std::ranges::count(type->shape(), extent) == 1 &&
           std::ranges::any_of(graph.nodes, [&](const NodeFile& node) {
             return node.op_type == "Squeeze" && !node.inputs.empty() && node.inputs[0] == outer.first;
           });
  });
}

/// A scalar beside a vector of one element is such a vector: most of what reads it does not see the
/// difference.
void make_vectors(const Conversion& c, Expr& a, Expr& b) {
  const auto is_one = [](const Expr& value) { return tensor_type(value).shape() == std::vector<Dim>{1}; };
  if (tensor_type(a).rank() == 0 && is_one(b)) a = c.reshape(a, {1});
  if (tensor_type(b).rank() == 0 && is_one(a)) b = c.reshape(b, {1});
}

bool same_ranks(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return std::ranges::equal(a, b, [](const Expr& one, const Expr& other) {
    return tensor_type(one).rank() == tensor_type(other).rank();
  });
}

/// `if` over tensors that may have other extents in each branch.
std::vector<Expr> chosen(const Conversion& c, std::vector<Expr> if_true, std::vector<Expr> if_false) {
  for (size_t i = 0; i < if_true.size(); ++i) {
    make_vectors(c, if_true[i], if_false[i]);
    const Type type =
        joined(c, if_true[i]->checked_type(), if_false[i]->checked_type(), "its output " + std::to_string(i));
    if_true[i] = widened(c, if_true[i], type);
    if_false[i] = widened(c, if_false[i], type);
  }
  const Expr condition = c.rank(0) == 0 ? c[0] : c.reshape(c[0], {});
  std::vector<Expr> tensors;
  if (if_true.size() == 1) {
    tensors.push_back(infer_type(if_else(condition, if_true[0], if_false[0])));
  } else {
    const Expr all = infer_type(if_else(condition, baton::tuple(if_true), baton::tuple(if_false)));
    for (size_t i = 0; i < if_true.size(); ++i) tensors.push_back(c.item(all, static_cast<int>(i)));
  }
  return tensors;
}

/// In the place of `graph`, which cannot be computed: an error where it is taken, of the types of the other
/// branch.
Values error_in_place(const Conversion& c, const AttributeFile& graph, const std::string& error,
                      const Values& other) {
  c.around().skip_graph(graph, "a branch that is an error where it is taken: " + error);
  std::vector<Expr> tensors;
  for (const Value& each : other) add_tensors(c, each, tensors);
  for (Expr& each : tensors) each = error_of_type(c, c[0], error, each->checked_type());
  Values results;
  size_t at = 0;
  for (const Value& each : other) results.push_back(rebuilt(each, tensors, at));
  return results;
}

/// The results of both branches. One of them may be for inputs of another rank or size than those that the
/// model gets: it counts only where it is taken.
std::pair<Values, Values> both_branches(const Conversion& c, const AttributeFile& then_graph,
                                        const AttributeFile& else_graph) {
  GraphAttempt then = c.around().try_graph(then_graph), otherwise = c.around().try_graph(else_graph);
  if (then.error && otherwise.error)
    throw c.error("neither of its branches can be computed: " + *then.error + "; " + *otherwise.error);
  if (then.error) then.results = error_in_place(c, then_graph, *then.error, otherwise.results);
  if (otherwise.error) otherwise.results = error_in_place(c, else_graph, *otherwise.error, then.results);
  return {std::move(then.results), std::move(otherwise.results)};
}

Values chosen_at_run_time(Conversion& c, const AttributeFile& then_graph, const AttributeFile& else_graph) {
  const auto [then, otherwise] = both_branches(c, then_graph, else_graph);
  if (!std::ranges::equal(then, otherwise, &same_structure))
    throw c.error("its branches make another number of values, or sequences of other lengths");
  std::vector<Expr> if_true, if_false;
  for (const Value& each : then) add_tensors(c, each, if_true);
  for (const Value& each : otherwise) add_tensors(c, each, if_false);
  if (!same_ranks(if_true, if_false) && squeezes_where_true(c, then_graph)) {
    c.around().explain("its first branch squeezes an axis whose extent is not known, which has to be 1");
    c.around().skip_graph(else_graph,
                          "a branch of another rank, for an axis that is squeezed where its extent is 1");
    return then;
  }
  const std::vector<Expr> tensors = chosen(c, std::move(if_true), std::move(if_false));
  Values results;
  size_t at = 0;
  for (const Value& each : then) results.push_back(rebuilt(each, tensors, at));
  return results;
}

/// A branch that is not taken is not looked at: it need not have a type.
Values if_op(Conversion& c) {
  const AttributeFile& then_graph = c.required_graph("then_branch");
  const AttributeFile& else_graph = c.required_graph("else_branch");
  const auto condition = c.numbers(0);
  if (!condition) return chosen_at_run_time(c, then_graph, else_graph);
  if (condition->size() != 1)
    throw c.error("its condition has " + std::to_string(condition->size()) + " elements");
  const bool is_true = condition->front() != 0;
  c.around().explain("its condition is constant: the branch that is taken stands for it");
  c.around().skip_graph(is_true ? else_graph : then_graph,
                        "a branch that is not taken: the condition of If is constant");
  return c.around().run_graph(is_true ? then_graph : else_graph, {}, {});
}

// ---- Loop.

Values values_of(const Conversion& c, size_t begin, size_t end) {
  Values values;
  for (size_t i = begin; i < end; ++i) values.push_back(c.value(i));
  return values;
}

Values results_of(LoopResults results) {
  Values all = std::move(results.carried);
  all.insert(all.end(), results.collected.begin(), results.collected.end());
  return all;
}

Turn turn_of(Conversion& c, const Values& made, size_t carried, size_t collected, bool has_condition) {
  const size_t first = has_condition ? 1 : 0;
  if (made.size() != first + carried + collected)
    throw c.error("its body makes " + std::to_string(made.size()) + " values, and should make " +
                  std::to_string(first + carried + collected));
  const auto begin = made.begin() + static_cast<int64_t>(first);
  const auto middle = begin + static_cast<int64_t>(carried);
  return {has_condition ? made.front() : Value(), Values(begin, middle), Values(middle, made.end())};
}

Values loop_op(Conversion& c) {
  const AttributeFile& body = c.required_graph("body");
  const size_t outputs = body.graphs.front()->outputs.size();
  Loop loop;
  loop.graph = &body;
  if (c.has(0)) loop.trips = c.value(0);
  if (c.has(1)) loop.condition = c.value(1);
  loop.carried = values_of(c, 2, c.count());
  if (outputs < loop.carried.size() + 1)
    throw c.error("it carries " + std::to_string(loop.carried.size()) + " values, and its body makes " +
                  std::to_string(outputs) + ", of which the first is the condition");
  loop.collected = outputs - loop.carried.size() - 1;
  loop.turn = [&](const Value& index, const Value& condition, const Values& carried, const Values&,
                  const Bindings& bindings) {
    Values inputs{index, condition};
    inputs.insert(inputs.end(), carried.begin(), carried.end());
    return turn_of(c, c.around().run_graph(body, inputs, bindings), carried.size(), loop.collected, true);
  };
  return results_of(run_loop(c, loop));
}

// ---- Scan.

struct ScanAttributes {
  std::vector<int64_t> input_axes, input_directions, output_axes, output_directions;
};

std::vector<int64_t> per_value(const Conversion& c, const char* name, size_t count) {
  const auto given = c.integers_of(name);
  if (given && given->size() != count)
    throw c.error("attribute `" + std::string(name) + "` has " + std::to_string(given->size()) +
                  " elements for " + std::to_string(count) + " values");
  return given ? *given : std::vector<int64_t>(count, 0);
}

Expr scalar_at(const Conversion& c, int64_t at) {
  return c.constant(NDArray::of<int64_t>({}, std::vector<int64_t>{at}, DType::int_(64)));
}

/// The slice of a scanned input in one turn.
Expr slice_at(const Conversion& c, const Expr& from, int axis, bool is_reversed, const Value& index,
              const Value& trips) {
  Expr at = c.tensor(index);
  if (is_reversed) at = c.call("subtract", {c.call("subtract", {c.tensor(trips), scalar_at(c, 1)}), at});
  if (index.integers && trips.integers && !trips.integers->values[0].is_any()) {
    const int64_t turn = index.integers->values[0].value();
    at = scalar_at(c, is_reversed ? trips.integers->values[0].value() - 1 - turn : turn);
  }
  return c.call("take", {from, at}, {{"axis", axis}});
}

/// How many slices there are along `axis`: a known number, or computed.
Value extent_at(const Conversion& c, const Expr& from, int axis) {
  const Dim extent = tensor_type(from).shape().at(static_cast<size_t>(axis));
  if (!extent.is_any() || extent.is_symbolic()) return KnownIntegers{{extent}, true, DType::int_(64)};
  const Expr shape = c.call("shape_of", {from}, {{"dtype", DType::int_(64)}});
  return c.call("take", {shape, scalar_at(c, axis)}, {{"axis", 0}});
}

/// `collected`, whose first axis is the turns, as the attributes ask.
Expr placed(const Conversion& c, Expr collected, int64_t given_axis, bool is_reversed) {
  const int rank = tensor_type(collected).rank();
  if (is_reversed) collected = c.call("reverse", {collected}, {{"axis", 0}});
  std::vector<int64_t> axes;
  for (int i = 1; i < rank; ++i) axes.push_back(i);
  axes.insert(axes.begin() + c.axis(given_axis, rank), 0);
  return c.transpose(collected, axes);
}

Values scan(Conversion& c, const AttributeFile& body, const Values& states, const std::vector<Expr>& scanned,
            const ScanAttributes& attributes) {
  const size_t outputs = body.graphs.front()->outputs.size();
  if (outputs < states.size()) throw c.error("its body makes fewer values than there are states");
  Loop loop;
  loop.graph = &body;
  loop.carried = states;
  loop.collected = outputs - states.size();
  std::vector<int> axes;
  for (size_t i = 0; i < scanned.size(); ++i) {
    axes.push_back(c.axis(attributes.input_axes[i], tensor_type(scanned[i]).rank()));
    loop.more.emplace_back(scanned[i]);
  }
  loop.trips = extent_at(c, scanned[0], axes.at(0));
  loop.turn = [&](const Value& index, const Value&, const Values& carried, const Values& more,
                  const Bindings& bindings) {
    Values inputs = carried;
    for (size_t i = 0; i < more.size(); ++i)
      inputs.emplace_back(
          slice_at(c, c.tensor(more[i]), axes.at(i), attributes.input_directions[i] != 0, index, loop.trips));
    return turn_of(c, c.around().run_graph(body, inputs, bindings), carried.size(), loop.collected, false);
  };
  LoopResults results = run_loop(c, loop);
  for (size_t i = 0; i < results.collected.size(); ++i)
    results.collected[i] = placed(c, c.tensor(results.collected[i]), attributes.output_axes[i],
                                  attributes.output_directions[i] != 0);
  return results_of(std::move(results));
}

ScanAttributes scan_attributes(const Conversion& c, size_t scanned, size_t collected) {
  if (c.version < 9) {
    const std::vector<int64_t> none(scanned, 0), to(collected, 0);
    return {none, per_value(c, "directions", scanned), to, to};
  }
  return {per_value(c, "scan_input_axes", scanned), per_value(c, "scan_input_directions", scanned),
          per_value(c, "scan_output_axes", collected), per_value(c, "scan_output_directions", collected)};
}

/// The first versions scan the sequences of a batch, each from its first element on.
Values scan_of_batch(Conversion& c, const AttributeFile& body, size_t states,
                     const ScanAttributes& attributes) {
  const Dim batch = c.type(1).shape().empty() ? Dim::any() : c.type(1).shape().front();
  if (batch.is_any()) throw c.not_supported("batches (version 8) of an extent that is not known");
  if (c.has(0)) {
    const Dim length = c.type(1 + states).shape().at(1);
    const auto lengths = c.required_numbers(0, "lengths of sequences");
    if (length.is_any() || std::ranges::any_of(lengths, [&](int64_t each) { return each != length.value(); }))
      throw c.not_supported("sequences (version 8) that are shorter than the longest one");
  }
  std::vector<Values> results;
  for (int64_t row = 0; row < batch.value(); ++row) {
    Values carried;
    std::vector<Expr> scanned;
    for (size_t i = 1; i < c.count(); ++i) {
      const Expr one = c.call("take", {c[i], scalar_at(c, row)}, {{"axis", 0}});
      if (i <= states)
        carried.emplace_back(one);
      else
        scanned.push_back(one);
    }
    results.push_back(scan(c, body, carried, scanned, attributes));
  }
  if (results.empty()) throw c.not_supported("empty batches (version 8)");
  Values stacked;
  for (size_t i = 0; i < results.front().size(); ++i) {
    std::vector<Expr> rows;
    for (const Values& each : results) rows.push_back(c.tensor(each[i]));
    stacked.emplace_back(c.call("stack", {infer_type(baton::tuple(rows))}, {{"axis", 0}}));
  }
  return stacked;
}

Values scan_op(Conversion& c) {
  const AttributeFile& body = c.required_graph("body");
  const size_t first = c.version < 9 ? 1 : 0;
  const int64_t given = c.required_integer("num_scan_inputs");
  if (c.count() < first || given < 1 || static_cast<uint64_t>(given) > c.count() - first)
    throw c.error("`num_scan_inputs` is " + std::to_string(given) + " of " + std::to_string(c.count()) +
                  " inputs");
  const auto scanned = static_cast<size_t>(given);
  const size_t states = c.count() - first - scanned;
  const size_t outputs = body.graphs.front()->outputs.size();
  const ScanAttributes attributes = scan_attributes(c, scanned, outputs < states ? 0 : outputs - states);
  if (first) return scan_of_batch(c, body, states, attributes);
  std::vector<Expr> inputs;
  for (size_t i = states; i < c.count(); ++i) inputs.push_back(c[i]);
  return scan(c, body, values_of(c, 0, states), inputs, attributes);
}

// ---- SequenceMap.

/// The body once for every element; other inputs than the first may be sequences of the same length, or go to
/// every element as they are.
Values sequence_map(Conversion& c) {
  const AttributeFile& body = c.required_graph("body");
  const Value& first = c.value(0);
  if (!first.sequence) throw c.error("its first input is no sequence");
  std::vector<Values> outputs(body.graphs.front()->outputs.size());
  for (size_t i = 0; i < first.sequence->size(); ++i) {
    Values inputs;
    for (size_t input = 0; input < c.count(); ++input) {
      const Value& value = c.value(input);
      if (value.sequence && value.sequence->size() != first.sequence->size())
        throw c.error("its sequences have " + std::to_string(first.sequence->size()) + " and " +
                      std::to_string(value.sequence->size()) + " elements");
      inputs.push_back(value.sequence ? (*value.sequence)[i] : value);
    }
    const Values made = c.around().run_graph(body, inputs, {});
    for (size_t output = 0; output < outputs.size(); ++output) outputs[output].push_back(made[output]);
  }
  c.around().explain("computed for every element: the nodes of its body stand for it");
  Values results;
  for (Values& each : outputs) results.push_back(Value::of_sequence(std::move(each)));
  return results;
}

}  // namespace

const std::vector<Operator>& control_flow_operators() {
  static const std::vector<Operator> all = {
      {"", "If", {1, 11, 13, 16, 19, 21, 23, 24, 25}, &if_op},
      {"", "Loop", {1, 11, 13, 16, 19, 21, 23, 24, 25}, &loop_op},
      {"", "Scan", {8, 9, 11, 16, 19, 21, 23, 24, 25}, &scan_op},
      {"", "SequenceMap", {17}, &sequence_map},
  };
  return all;
}

}  // namespace baton::onnx
