// Prefetches over a block of weights: that each line of the next block is asked for, and no others.
#include "baton/schedule/lowered/stream_ahead.h"

#include <set>

#include <gtest/gtest.h>

namespace baton {
namespace {

namespace lowered = Halide::Internal;

/// The number of bytes from the beginning of `array` to `address`; undefined when it is none of its.
Halide::Expr offset_in(const std::string& array, const Halide::Expr& address) {
  class Base final : public lowered::IRMutator {
   public:
    explicit Base(std::string array) : array_(std::move(array)) {}
    bool found = false;

   private:
    using IRMutator::visit;
    Halide::Expr visit(const lowered::Reinterpret* node) override {
      const auto* base = node->value.as<lowered::Variable>();
      if (!base || base->name != array_) return mutate(node->value);
      found = true;
      return lowered::make_zero(Halide::UInt(64));
    }
    std::string array_;
  };
  Base base(array);
  const Halide::Expr offset = base.mutate(address);
  return base.found ? offset : Halide::Expr();
}

/// Collects, after the pass, the offsets in bytes that prefetches of `array` ask for, by the iteration of
/// loop `ahead`.
class PrefetchedBytes final : public lowered::IRMutator {
 public:
  PrefetchedBytes(std::string array, std::string ahead)
      : array_(std::move(array)), ahead_(std::move(ahead)) {}
  std::map<int, std::multiset<int>> found;

 private:
  using IRMutator::visit;
  lowered::Stmt visit(const lowered::For* node) override {
    loops_.push_back(node);
    lowered::Stmt same = IRMutator::visit(node);
    loops_.pop_back();
    return same;
  }
  Halide::Expr visit(const lowered::Call* node) override {
    if (node->name == "llvm.prefetch.p0")
      if (const Halide::Expr offset = offset_in(array_, node->args[0]); offset.defined())
        collect(offset, 0, -1);
    return node;
  }
  void collect(const Halide::Expr& at, size_t loop, int iteration) {
    if (loop == loops_.size()) {
      const auto value = lowered::as_const_uint(lowered::simplify(at));
      ASSERT_TRUE(value.has_value()) << at;
      found[iteration].insert(static_cast<int>(*value));
      return;
    }
    const lowered::For* node = loops_[loop];
    const int64_t begin = *lowered::as_const_int(node->min), count = *lowered::as_const_int(node->extent);
    for (int64_t i = begin; i < begin + count; ++i)
      collect(lowered::substitute(node->name, static_cast<int>(i), at), loop + 1,
              node->name == ahead_ ? static_cast<int>(i) : iteration);
  }

  std::string array_, ahead_;
  std::vector<const lowered::For*> loops_;
};

struct Product {
  int rows, tile, depth, columns, batch;
  Halide::Type weights = Halide::Float(32);
};

/// out[e][c][row][lane] = sum over k of x[e][k][row] * w[e][c][k][lane]; the weights of batch e + 1 are
/// prefetched while those of e are used.
std::map<int, std::multiset<int>> prefetched(const Product& p) {
  static int serial = 0;
  const std::string name = "stream" + std::to_string(serial++);
  const int lanes = 8;
  Halide::ImageParam x(Halide::Float(32), 3, name + "_x"), w(p.weights, 4, name + "_w");
  auto lay_out = [](Halide::ImageParam& image, const std::vector<int>& extents) {
    int stride = 1;
    for (size_t d = 0; d < extents.size(); ++d) {
      image.dim(static_cast<int>(d)).set_bounds(0, extents[d]).set_stride(stride);
      stride *= extents[d];
    }
  };
  lay_out(x, {p.rows, p.depth, p.batch});
  lay_out(w, {lanes, p.depth, p.columns, p.batch});
  const Halide::Var lane("lane"), row("row"), c("c"), e("e"), to("to"), ti("ti");
  const Halide::RDom k(0, p.depth, "k");
  Halide::Func sum(name + "_sum"), out(name + "_out");
  sum(lane, row, c, e) = 0.f;
  sum(lane, row, c, e) += x(row, k, e) * Halide::cast<float>(w(lane, k, c, e));
  out(lane, row, c, e) = sum(lane, row, c, e);
  out.bound(lane, 0, lanes).bound(row, 0, p.rows).bound(c, 0, p.columns).bound(e, 0, p.batch);
  out.split(row, to, ti, p.tile, Halide::TailStrategy::ShiftInwards).vectorize(lane).unroll(ti);
  sum.compute_at(out, to).bound_extent(row, p.tile).vectorize(lane).unroll(row);
  sum.update().reorder(lane, row, k.x).vectorize(lane).unroll(row);

  const int passes = (p.rows + p.tile - 1) / p.tile;
  const LoopRef steps{sum.name(), 1, k.x.name()};
  StreamAheadPass pass({{.array = w.name(),
                         .issue = steps,
                         .ahead = {out.name(), 0, e.name()},
                         .bytes = int64_t{p.weights.bytes()} * lanes * p.depth * p.columns,
                         .turns = {{steps, 1},
                                   {{out.name(), 0, to.name()}, p.depth},
                                   {{out.name(), 0, c.name()}, int64_t{p.depth} * passes}},
                         .iterations = int64_t{p.depth} * passes * p.columns}});
  PrefetchedBytes seen(w.name(), out.name() + ".s0." + e.name());
  Halide::Pipeline pipeline(out);
  pipeline.add_custom_lowering_pass(&pass, [] {});
  pipeline.add_custom_lowering_pass(&seen, [] {});
  pipeline.compile_to_module({x, w}, name, Halide::Target("x86-64-linux-no_asserts-no_bounds_query"));
  return seen.found;
}

void expect_the_next_block(const Product& p) {
  constexpr int kLine = 64;
  const int block = 8 * p.depth * p.columns * p.weights.bytes();
  const auto found = prefetched(p);
  ASSERT_EQ(static_cast<int>(found.size()), p.batch);
  for (const auto& [iteration, offsets] : found) {
    std::set<int> lines;
    for (const int offset : offsets) lines.insert(offset - (iteration + 1) * block);
    std::set<int> want;
    for (int at = 0; at < block; at += kLine) want.insert(at);
    // Several lines at once may ask for a few beyond the end of the block.
    EXPECT_TRUE(std::includes(lines.begin(), lines.end(), want.begin(), want.end()))
        << ::testing::PrintToString(lines);
    EXPECT_LE(*lines.rbegin(), block + kLine * 8);
    EXPECT_GE(*lines.begin(), 0);
  }
}

TEST(StreamAhead, AsksForEachLineOfTheNextBlock) {
  expect_the_next_block({12, 4, 64, 2, 3});    // a line in every few iterations
  expect_the_next_block({13, 4, 32, 5, 4});    // odd extents, overlapping last tile
  expect_the_next_block({100, 10, 16, 2, 2});  // far more iterations than lines
  expect_the_next_block({4, 2, 24, 1, 5});
  expect_the_next_block({12, 4, 64, 2, 3, Halide::BFloat(16)});
  expect_the_next_block({12, 4, 64, 2, 3, Halide::Int(8)});
}

TEST(StreamAhead, LoopsOfOneIterationAreLeftOut) {
  EXPECT_TRUE(prefetched({8, 4, 16, 2, 1}).empty());  // there is no next block
  expect_the_next_block({4, 4, 16, 3, 3});            // one pass over the rows
}

}  // namespace
}  // namespace baton
