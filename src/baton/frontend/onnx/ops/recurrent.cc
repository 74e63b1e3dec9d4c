// RNN, GRU and LSTM. The data's products with the input weights are computed for all times at once.
#include "baton/frontend/onnx/ops/recurrent.h"

#include <algorithm>

#include "baton/frontend/onnx/operators.h"
#include "baton/frontend/onnx/ops/formulas.h"
#include "baton/frontend/onnx/ops/time_loop.h"
#include "baton/ir/op_names.h"

namespace baton::onnx {

namespace {

// ---- Activations.

using ActivationFunction = std::function<Expr(const Expr&)>;

/// What activations take of activation_alpha and activation_beta, where these are too short.
struct Activation {
  const char* name;
  std::optional<double> alpha, beta;
  Expr (*compute)(const Formulas& f, const Expr& x, double alpha, double beta);
};

Expr softplus(const Formulas& f, const Expr& x, double, double) {
  const Expr small = f.of("exp", f.of("negative", f.of("abs", x)));
  return f.add(f.of("maximum", x, f.number(0, x)), f.of("log", f.plus(small, 1)));
}

const std::vector<Activation>& activations() {
  using F = const Formulas&;
  using E = const Expr&;
  static const std::vector<Activation> all = {
      {"affine", 1, 0, [](F f, E x, double a, double b) { return f.plus(f.scaled(a, x), b); }},
      {"elu",
       1,
       {},
       [](F f, E x, double a, double) {
         return f.where(f.of("less", x, f.number(0, x)), f.scaled(a, f.plus(f.of("exp", x), -1)), x);
       }},
      {"hardsigmoid", 0.2, 0.5,
       [](F f, E x, double a, double b) { return f.clipped(f.plus(f.scaled(a, x), b), 0, 1); }},
      {"leakyrelu",
       0.01,
       {},
       [](F f, E x, double a, double) {
         return f.where(f.of("less", x, f.number(0, x)), f.scaled(a, x), x);
       }},
      {"relu", {}, {}, [](F f, E x, double, double) { return f.of("nn.relu", x); }},
      {"scaledtanh", 1, 1,
       [](F f, E x, double a, double b) { return f.scaled(a, f.of("tanh", f.scaled(b, x))); }},
      {"sigmoid", {}, {}, [](F f, E x, double, double) { return f.of("sigmoid", x); }},
      {"softplus", {}, {}, &softplus},
      {"softsign", {}, {}, [](F f, E x, double, double) { return f.div(x, f.plus(f.of("abs", x), 1)); }},
      {"tanh", {}, {}, [](F f, E x, double, double) { return f.of("tanh", x); }},
      {"thresholdedrelu",
       1,
       {},
       [](F f, E x, double a, double) {
         return f.where(f.of("greater", x, f.number(a, x)), x, f.number(0, x));
       }},
  };
  return all;
}

// ---- What the three have in common.

/// One node: its directions, sizes, activations and clipping.
class Recurrent {
 public:
  Recurrent(Conversion& c, int64_t hidden, std::vector<std::string> functions)
      : c_(c), f_(c), hidden_(hidden), batch_first_(c.integer("layout", 0) == 1), clip_(c.number("clip", 0)) {
    const std::string direction = c.text("direction", "forward");
    if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
      throw c.error("`direction` is \"" + direction + "\", and should be forward, reverse or bidirectional");
    if (direction == "bidirectional")
      backward_ = {false, true};
    else
      backward_ = {direction == "reverse"};
    if (c.rank(0) != 3)
      throw c.error("its data are of rank " + std::to_string(c.rank(0)) + ", and should be of 3");
    if (c.integer("hidden_size", hidden) != hidden)
      throw c.error("`hidden_size` is " + std::to_string(c.integer("hidden_size", 0)) +
                    ", but its weights are of " + std::to_string(hidden));
    data_ = batch_first_ ? c.transpose(c[0], {1, 0, 2}) : c[0];
    read_activations(std::move(functions));
  }

  int64_t directions() const { return static_cast<int64_t>(backward_.size()); }
  int64_t hidden() const { return hidden_; }
  const Expr& data() const { return data_; }  ///< (length, batch, inputs)
  const Formulas& f() const { return f_; }
  const Conversion& c() const { return c_; }

  /// Activation `index` of a direction, of what is clipped first.
  Expr activated(int64_t direction, size_t index, const Expr& x) const {
    const size_t all = functions_.size() / backward_.size();
    const Expr inside = clip_ > 0 ? f_.clipped(x, -clip_, clip_) : x;
    return functions_[static_cast<size_t>(direction) * all + index](inside);
  }

  /// That of one direction, of input `index`, whose first axis is directions.
  Expr of_direction(size_t index, int64_t direction) const { return f_.taken(c_[index], 0, direction); }

  /// The bias of the inputs, or of the hidden state, of one gate (of `gates`); null without one.
  Expr bias(size_t input, int64_t direction, int64_t part, int64_t parts) const {
    if (!c_.has(input)) return {};
    return f_.sliced(of_direction(input, direction), 0, part * hidden_, (part + parts) * hidden_);
  }

  /// The state before the first step: input `index`, or zeros like the first elements of `products`.
  Expr initial(size_t index, int64_t direction, const Expr& products) const {
    const std::vector<Dim>& shape = tensor_type(products).shape();
    const auto zeros = [&] {
      if (shape.at(1).is_any())
        return f_.of("zeros_like", f_.sliced(f_.taken(products, 0, 0), 1, 0, hidden_));
      return c_.call(
          "zeros", {},
          {{"shape", std::vector<int64_t>{shape.at(1).value(), hidden_}}, {"dtype", f_.dtype_of(products)}});
    };
    if (!c_.has(index)) return zeros();
    const Expr given = f_.taken(c_[index], batch_first_ ? 1 : 0, direction);
    // A file may call the state's batch otherwise than the data's: it is the same number at run time.
    return tensor_type(given).shape().at(0) == shape.at(1) ? given : f_.of("reshape_like", given, zeros());
  }

  /// Runs one direction; behind the end of a sequence (input `lengths`) states stay and outputs are 0.
  TimeStep run(
      int64_t direction, const Expr& products, std::vector<Expr> state, size_t lengths,
      const std::function<std::vector<Expr>(const Expr& product, const std::vector<Expr>&)>& next) const {
    const Expr ends = c_.has(lengths) ? f_.expanded(f_.cast(c_[lengths], DType::int_(32)), 1) : Expr();
    const StepRule step = [&](const Expr& time, const std::vector<Expr>& before) {
      TimeStep made;
      made.state = next(c_.call("take", {products, time}, {{"axis", 0}}), before);
      made.output = made.state.front();
      if (!ends) return made;
      const Expr lasts = f_.of("less", time, ends);
      for (size_t i = 0; i < before.size(); ++i) made.state[i] = f_.where(lasts, made.state[i], before[i]);
      made.output = f_.where(lasts, made.output, f_.number(0, made.output));
      return made;
    };
    TimeStep all = over_time(c_, products, backward_[static_cast<size_t>(direction)], std::move(state), step);
    // A loop does not know how many outputs it has.
    const std::vector<Dim>& shape = tensor_type(products).shape();
    if (tensor_type(all.output).shape().at(0).is_any() && tensor_type(products).is_static())
      all.output = c_.reshape(all.output, {shape[0].value(), shape[1].value(), hidden_});
    return all;
  }

  /// Outputs of all directions, and their last states, in ONNX's order of axes.
  Values results(const std::vector<TimeStep>& directions) const {
    const auto joined = [&](int64_t axis, const std::function<Expr(const TimeStep&)>& part) {
      std::vector<Expr> parts;
      for (const TimeStep& each : directions) parts.push_back(f_.expanded(part(each), axis));
      return f_.joined(std::move(parts), axis);
    };
    Values made;
    const Expr outputs = joined(1, [](const TimeStep& each) { return each.output; });
    made.emplace_back(batch_first_ ? c_.transpose(outputs, {2, 0, 1, 3}) : outputs);
    for (size_t i = 0; i < directions.front().state.size(); ++i)
      made.emplace_back(joined(batch_first_ ? 1 : 0, [i](const TimeStep& each) { return each.state[i]; }));
    return made;
  }

 private:
  void read_activations(std::vector<std::string> names) {
    const size_t of_one = names.size();
    if (const AttributeFile* given = c_.attribute("activations")) {
      names.clear();
      for (const std::string_view each : given->strings) names.emplace_back(each);
    } else if (backward_.size() == 2) {
      for (size_t i = 0; i < of_one; ++i) names.push_back(std::string(names[i]));
    }
    if (names.size() != of_one * backward_.size())
      throw c_.error("attribute `activations` has " + std::to_string(names.size()) +
                     " functions, and should have " + std::to_string(of_one * backward_.size()));
    std::vector<double> alphas = c_.numbers_of("activation_alpha").value_or(std::vector<double>()),
                        betas = c_.numbers_of("activation_beta").value_or(std::vector<double>());
    for (std::string& name : names) functions_.push_back(function(name, alphas, betas));
  }

  /// Takes its parameters from the front of both lists.
  ActivationFunction function(const std::string& name, std::vector<double>& alphas,
                              std::vector<double>& betas) const {
    std::string low = name;
    std::ranges::transform(low, low.begin(), [](char letter) {
      return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    });
    const auto at = std::ranges::find(activations(), low, &Activation::name);
    if (at == activations().end()) throw c_.error("there is no activation `" + name + "`");
    const auto taken = [](const std::optional<double>& otherwise, std::vector<double>& given) {
      if (!otherwise || given.empty()) return otherwise.value_or(0);
      const double value = given.front();
      given.erase(given.begin());
      return value;
    };
    const double alpha = taken(at->alpha, alphas), beta = taken(at->beta, betas);
    return [f = f_, compute = at->compute, alpha, beta](const Expr& x) { return compute(f, x, alpha, beta); };
  }

  const Conversion& c_;
  const Formulas f_;
  const int64_t hidden_;
  const bool batch_first_;
  const double clip_;
  std::vector<bool> backward_;
  std::vector<ActivationFunction> functions_;
  Expr data_;
};

/// By float weights, whose first axis is directions: inputs 1 and 2.
GateProducts float_products(const Conversion& c) {
  const auto by = [&c](size_t input) {
    return [&c, input](int64_t direction, const Expr& data) {
      const Expr weight = Formulas(c).taken(c[input], 0, direction);
      const Dim units = tensor_type(weight).shape().at(0);
      return c.call(op_names::kDense, {data, weight}, {{"units", units.value()}});
    };
  };
  return {by(1), by(2)};
}

int64_t hidden_size(const Conversion& c, int64_t gates) {
  const std::vector<Dim>& shape = c.type(2).shape();
  if (c.rank(1) != 3 || shape.size() != 3) throw c.error("its weights are not of rank 3");
  for (const size_t input : {1, 2})
    for (const Dim each : c.type(input).shape())
      if (each.is_any()) throw c.not_supported("weights whose shape is not known");
  const int64_t hidden = shape.at(2).value();
  if (shape.at(1).value() != gates * hidden || c.type(1).shape().at(1) != shape.at(1))
    throw c.error("its weights are not those of " + std::to_string(gates) + " gates of " +
                  std::to_string(hidden));
  return hidden;
}

void check_directions(const Conversion& c, const Recurrent& net) {
  if (c.type(1).shape().at(0) != Dim(net.directions()))
    throw c.error("its weights are not those of " + std::to_string(net.directions()) + " directions");
}

Expr with_bias(const Formulas& f, const Expr& value, const Expr& bias) {
  return bias ? f.add(value, bias) : value;
}

constexpr size_t kBias = 3, kEnds = 4, kHidden = 5;  // inputs

// ---- RNN: h = f(W x + R h + b)

Values rnn(Conversion& c) {
  const Recurrent net(c, hidden_size(c, 1), {"Tanh"});
  check_directions(c, net);
  const GateProducts products = float_products(c);
  std::vector<TimeStep> made;
  for (int64_t d = 0; d < net.directions(); ++d) {
    Expr all = with_bias(net.f(), products.inputs(d, net.data()), net.bias(kBias, d, 0, 1));
    all = with_bias(net.f(), all, net.bias(kBias, d, 1, 1));
    made.push_back(net.run(d, all, {net.initial(kHidden, d, all)}, kEnds,
                           [&](const Expr& product, const std::vector<Expr>& before) -> std::vector<Expr> {
                             const Expr sum = net.f().add(product, products.hidden(d, before[0]));
                             return {net.activated(d, 0, sum)};
                           }));
  }
  return net.results(made);
}

// ---- GRU: gates z, r, h.

Values gru(Conversion& c) {
  const int64_t hidden = hidden_size(c, 3);
  const Recurrent net(c, hidden, {"Sigmoid", "Tanh"});
  check_directions(c, net);
  const GateProducts products = float_products(c);
  const Formulas& f = net.f();
  const bool linear = c.integer("linear_before_reset", 0) != 0;
  std::vector<TimeStep> made;
  for (int64_t d = 0; d < net.directions(); ++d) {
    const Expr all = with_bias(f, products.inputs(d, net.data()), net.bias(kBias, d, 0, 3));
    const Expr weights = net.of_direction(2, d), bias = net.bias(kBias, d, 3, 3);
    const auto step = [&](const Expr& product, const std::vector<Expr>& before) -> std::vector<Expr> {
      const auto part = [&](const Expr& of, int64_t from, int64_t to) {
        return f.sliced(of, 1, from * hidden, to * hidden);
      };
      const auto bias_of = [&](int64_t from, int64_t to) {
        return bias ? f.sliced(bias, 0, from * hidden, to * hidden) : Expr();
      };
      const auto recurrent = [&](const Expr& data, int64_t from, int64_t to) {
        const Expr rows = f.sliced(weights, 0, from * hidden, to * hidden);
        return with_bias(f, c.call(op_names::kDense, {data, rows}, {{"units", (to - from) * hidden}}),
                         bias_of(from, to));
      };
      const Expr &h = before[0], all_gates = linear ? recurrent(h, 0, 3) : recurrent(h, 0, 2);
      const Expr gates =
          net.activated(d, 0, f.add(part(product, 0, 2), linear ? part(all_gates, 0, 2) : all_gates));
      const Expr z = part(gates, 0, 1), r = part(gates, 1, 2);
      const Expr reset = linear ? f.mul(r, part(all_gates, 2, 3)) : recurrent(f.mul(r, h), 2, 3);
      const Expr fresh = net.activated(d, 1, f.add(part(product, 2, 3), reset));
      return {f.add(f.mul(f.sub(f.number(1, z), z), fresh), f.mul(z, h))};
    };
    made.push_back(net.run(d, all, {net.initial(kHidden, d, all)}, kEnds, step));
  }
  return net.results(made);
}

Values lstm(Conversion& c) { return lstm_by(c, float_products(c), {}, hidden_size(c, 4)); }

}  // namespace

// ---- LSTM: gates i, o, f, c; peepholes i, o, f.

Values lstm_by(Conversion& c, const GateProducts& products, const LstmInputs& at, int64_t hidden) {
  const Recurrent net(c, hidden, {"Sigmoid", "Tanh", "Tanh"});
  check_directions(c, net);
  const Formulas& f = net.f();
  const bool coupled = c.integer("input_forget", 0) != 0;
  std::vector<TimeStep> made;
  for (int64_t d = 0; d < net.directions(); ++d) {
    Expr all = with_bias(f, products.inputs(d, net.data()), net.bias(at.bias, d, 0, 4));
    all = with_bias(f, all, net.bias(at.bias, d, 4, 4));
    const Expr peepholes = c.has(at.peepholes) ? net.of_direction(at.peepholes, d) : Expr();
    const auto step = [&](const Expr& product, const std::vector<Expr>& before) -> std::vector<Expr> {
      const Expr gates = f.add(product, products.hidden(d, before[0]));
      const auto gate = [&](int64_t index, int64_t peephole, const Expr& cell) {
        Expr x = f.sliced(gates, 1, index * hidden, (index + 1) * hidden);
        if (peepholes && peephole >= 0)
          x = f.add(x, f.mul(f.sliced(peepholes, 0, peephole * hidden, (peephole + 1) * hidden), cell));
        return x;
      };
      const Expr i = net.activated(d, 0, gate(0, 0, before[1]));
      const Expr forget = coupled ? f.sub(f.number(1, i), i) : net.activated(d, 0, gate(2, 2, before[1]));
      const Expr fresh = net.activated(d, 1, gate(3, -1, {}));
      const Expr cell = f.add(f.mul(forget, before[1]), f.mul(i, fresh));
      const Expr o = net.activated(d, 0, gate(1, 1, cell));
      return {f.mul(o, net.activated(d, 2, cell)), cell};
    };
    made.push_back(
        net.run(d, all, {net.initial(at.hidden, d, all), net.initial(at.cell, d, all)}, at.lengths, step));
  }
  return net.results(made);
}

const std::vector<Operator>& recurrent_operators() {
  static const std::vector<Operator> all = {
      {"", "GRU", {1, 3, 7, 14, 22}, &gru},
      {"", "LSTM", {1, 7, 14, 22}, &lstm},
      {"", "RNN", {1, 7, 14, 22}, &rnn},
  };
  return all;
}

}  // namespace baton::onnx
