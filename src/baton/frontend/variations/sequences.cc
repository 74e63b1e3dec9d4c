// Networks on sequences: LSTMs (Hochreiter and Schmidhuber 1997) and encoders of transformers (Devlin et al.
// 2018).
#include <cmath>

#include "baton/frontend/variations/blocks.h"
#include "baton/frontend/workloads/networks.h"

namespace baton::variations {

namespace {

struct Encoder {
  int64_t batch, tokens, hidden, heads, inner;
  int64_t head() const { return hidden / heads; }
};

Expr linear(Blocks& make, const Expr& x, int64_t units) { return make.dense(x, units); }

/// (rows, hidden) -> (batch * heads, tokens, head)
Expr heads_of(Blocks& make, const Expr& x, const Encoder& e) {
  const Expr split = make.reshape(x, {e.batch, e.tokens, e.heads, e.head()});
  return make.reshape(make.transpose(split, {0, 2, 1, 3}), {e.batch * e.heads, e.tokens, e.head()});
}

Expr attention(Blocks& make, const Expr& x, const Encoder& e) {
  const Expr query = heads_of(make, linear(make, x, e.hidden), e),
             key = heads_of(make, linear(make, x, e.hidden), e),
             value = heads_of(make, linear(make, x, e.hidden), e);
  Expr scores =
      make.scaled(make.batch_matmul(query, key, true), 1 / std::sqrt(static_cast<double>(e.head())));
  // The product takes its right side transposed, as Relay's default has it.
  const Expr mixed = make.batch_matmul(make.softmax(scores), make.transpose(value, {0, 2, 1}), true);
  const Expr joined =
      make.transpose(make.reshape(mixed, {e.batch, e.heads, e.tokens, e.head()}), {0, 2, 1, 3});
  return linear(make, make.reshape(joined, {e.batch * e.tokens, e.hidden}), e.hidden);
}

}  // namespace

Expr vary_bert(Blocks& make) {
  Choice& choose = make.choose;
  const int64_t head = choose.of<int64_t>({16, 32, 32, 48, 64, 64}),
                heads = choose.of<int64_t>({1, 2, 3, 4, 6, 8, 12});
  const Encoder e{.batch = choose.of<int64_t>({1, 1, 1, 2}),
                  .tokens = choose.scaled(8, 256, choose.of<int64_t>({1, 8})),
                  .hidden = head * heads,
                  .heads = heads,
                  .inner = head * heads * choose.of<int64_t>({2, 3, 4, 4})};
  Expr x = make.reshape(make.input({e.batch, e.tokens, e.hidden}), {e.batch * e.tokens, e.hidden});
  for (int64_t i = choose.between(1, 4); i > 0; --i) {
    x = make.layer_norm(make.add(attention(make, x, e), x), e.hidden);
    Expr y = linear(make, x, e.inner);
    y = linear(make, choose.chance(0.7) ? make.gelu(y) : make.relu(y), e.hidden);
    x = make.layer_norm(make.add(y, x), e.hidden);
  }
  return make.dense(x, choose.scaled(2, e.hidden));
}

Expr vary_lstm(Blocks& make) {
  Choice& choose = make.choose;
  const workloads::LstmOptions options{.iterations = choose.between(2, 16),
                                       .num_hidden = choose.scaled(48, 768, choose.of<int64_t>({1, 8, 16})),
                                       .batch = choose.scaled(1, 32)};
  return workloads::lstm(options)->find("main")->body();
}

}  // namespace baton::variations
