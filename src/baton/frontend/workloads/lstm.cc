#include "baton/frontend/workloads/networks.h"
#include "baton/ir/op_names.h"

namespace baton::workloads {

namespace {

/// A chain of `let`, written from the outside in: `bind` gives the variable, `finish` nests the bindings.
class Lets {
 public:
  Expr bind(const std::string& name, Expr value) {
    bindings_.emplace_back(var(name), std::move(value));
    return bindings_.back().first;
  }
  Expr finish(Expr body) const {
    for (auto it = bindings_.rbegin(); it != bindings_.rend(); ++it)
      body = let(it->first, it->second, std::move(body));
    return body;
  }

 private:
  std::vector<std::pair<Var, Expr>> bindings_;
};

struct CellTypes {
  Type state, states, weight, bias;
};

// One step, a closed function: (input, (h, c), weights) -> (h', (h', c')). Hochreiter and Schmidhuber 1997
// with the forget gate of Gers et al. 2000; the four gates come out of one matrix product.
Expr cell(int64_t hidden, const CellTypes& types) {
  const Var inputs = var("inputs", types.state), states = var("states", types.states);
  const Var i2h_weight = var("i2h_weight", types.weight), i2h_bias = var("i2h_bias", types.bias);
  const Var h2h_weight = var("h2h_weight", types.weight), h2h_bias = var("h2h_bias", types.bias);
  auto affine = [&](const Expr& x, const Expr& weight, const Expr& bias) {
    return layer("nn.bias_add", {layer(op_names::kDense, {x, weight}, {{"units", 4 * hidden}}), bias},
                 {{"axis", int64_t{-1}}});
  };
  Lets lets;
  const Expr i2h = lets.bind("i2h", affine(inputs, i2h_weight, i2h_bias));
  const Expr h2h = lets.bind("h2h", affine(get_item(states, 0), h2h_weight, h2h_bias));
  const Expr gates = lets.bind("gates", layer("add", {i2h, h2h}));
  const Expr slices = lets.bind(
      "slice_gates", layer("split", {gates}, {{"indices_or_sections", int64_t{4}}, {"axis", int64_t{1}}}));
  const Expr in_gate = lets.bind("in_gate", layer("sigmoid", {get_item(slices, 0)}));
  const Expr forget_gate = lets.bind("forget_gate", layer("sigmoid", {get_item(slices, 1)}));
  const Expr in_transform = lets.bind("in_transform", layer("tanh", {get_item(slices, 2)}));
  const Expr out_gate = lets.bind("out_gate", layer("sigmoid", {get_item(slices, 3)}));
  const Expr kept = layer("multiply", {forget_gate, get_item(states, 1)});
  const Expr next_c = lets.bind("next_c", layer("add", {kept, layer("multiply", {in_gate, in_transform})}));
  const Expr next_h = lets.bind("next_h", layer("multiply", {out_gate, layer("tanh", {next_c})}));
  const Expr ret = lets.bind("ret", tuple({next_h, tuple({next_h, next_c})}));
  return function({inputs, states, i2h_weight, i2h_bias, h2h_weight, h2h_bias}, lets.finish(ret),
                  tuple_type({types.state, types.states}));
}

}  // namespace

IRModule lstm(const LstmOptions& options) {
  if (options.iterations < 1)
    throw Error("an LSTM of " + std::to_string(options.iterations) + " iterations; give 1 or more");
  if (options.num_hidden < 1 || options.batch < 1)
    throw Error("an LSTM with num_hidden=" + std::to_string(options.num_hidden) +
                " and batch_size=" + std::to_string(options.batch) + "; both must be 1 or more");
  const int64_t hidden = options.num_hidden, batch = options.batch;
  auto tensor = [&](const std::vector<int64_t>& extents) { return tensor_type(extents, options.dtype); };
  const Type state = tensor({batch, hidden});
  const CellTypes types{state, tuple_type({state, state}), tensor({4 * hidden, hidden}),
                        tensor({4 * hidden})};
  Lets lets;
  const Expr zeros = lets.bind(
      "zeros",
      layer("zeros", {}, {{"shape", std::vector<int64_t>{batch, hidden}}, {"dtype", options.dtype}}));
  Expr states = lets.bind("init_states", tuple({zeros, zeros}));
  Expr out;
  for (int64_t i = 0; i < options.iterations; ++i) {
    const std::string step = std::to_string(i);
    // Every step reads an input of its own; all of them are called `data`, as those of the other networks.
    const Expr call =
        call_expr(cell(hidden, types),
                  {var("data", state), states, var("i2h_" + step + "_weight"), var("i2h_" + step + "_bias"),
                   var("h2h_" + step + "_weight"), var("h2h_" + step + "_bias")});
    const Expr result = lets.bind("call_" + step, call);
    out = lets.bind("out_" + step, get_item(result, 0));
    states = lets.bind("states_" + step, get_item(result, 1));
  }
  return network(lets.finish(out));
}

}  // namespace baton::workloads
