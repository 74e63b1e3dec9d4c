// Templates of dense layers and matrix products.
#include <array>

#include "baton/schedule/kernel_choice.h"

#include "schedule/layers.h"

namespace baton {
namespace {

using test::batch_matmul;
using test::check;
using test::dense;
using test::DenseCase;
using test::expect_near;
using test::KernelBuilder;
using test::MakeKernel;
using test::MatmulCase;
using test::named;
using test::op_attrs;
using test::run;
using test::Shape;
using test::sheet;
using test::text;
using test::Value;

TEST(Gemm, ShapesAndEpilogues) {
  for (const DenseCase& t : std::vector<DenseCase>{{1, 100, 64, 16, true},
                                                   {1, 33, 1000, 8, false},
                                                   {5, 17, 48, 16, true},
                                                   {29, 64, 96, 16, false},
                                                   {3, 1, 7, 7, true},
                                                   {64, 40, 10, 10, true},
                                                   {1, 7, 3, 1, false},
                                                   // No tile divides the blocks; the last block is part full.
                                                   {1, 9, 101, 8, true},
                                                   {33, 44, 389, 8, true},
                                                   {6, 5, 13, 16, false},
                                                   {40, 3, 8 * 23, 8, true}}) {
    SCOPED_TRACE(std::to_string(t.m) + "x" + std::to_string(t.k) + "x" + std::to_string(t.n));
    check("gemm", [&] { return dense(t, true); });
  }
}

/// A GRU that resets before its product: two products, the gates of the first one taken apart.
LoweredKernel cell(int64_t rows, int64_t units, int64_t inputs, int block) {
  KernelBuilder b("cell" + std::to_string(rows) + "_" + std::to_string(units));
  const Value x = b.input({rows, 3 * units}), h = b.input({rows, units}), before = b.input({rows, inputs});
  const auto product = [&](const Value& data, int64_t depth, int64_t all) {
    const Value weight = b.input({(all + block - 1) / block, depth, block});
    return b.call("nn.contrib_dense_pack", {data, weight},
                  op_attrs("nn.contrib_dense_pack",
                           {{"units", all}, {"weight_layout", "NC" + std::to_string(block) + "n"}}),
                  {rows, all});
  };
  const auto part = [&](const Value& of, int64_t from, int64_t to) {
    return b.call("strided_slice", {of},
                  op_attrs("strided_slice", {{"begin", AttrList{int64_t{0}, from}},
                                             {"end", AttrList{rows, to}},
                                             {"strides", AttrList{int64_t{1}}}}),
                  {rows, to - from});
  };
  const Shape state = {rows, units};
  const Value sums =
      b.call("add", {part(x, 0, 2 * units), product(before, inputs, 2 * units)}, {}, {rows, 2 * units});
  const Value gates = b.call("sigmoid", {sums}, {}, {rows, 2 * units});
  const Value update = part(gates, 0, units), reset = part(gates, units, 2 * units);
  const Value kept = b.call("multiply", {reset, h}, {}, state);
  const Value fresh =
      b.call("tanh", {b.call("add", {product(kept, units, units), part(x, 2 * units, 3 * units)}, {}, state)},
             {}, state);
  const Value change = b.call("multiply", {update, b.call("subtract", {h, fresh}, {}, state)}, {}, state);
  return b.finish(b.call("add", {fresh, change}, {}, state));
}

TEST(Parts, CellsOfAnySize) {
  for (const auto& [rows, units, inputs, block] : std::vector<std::array<int, 4>>{
           {1, 64, 64, 16}, {1, 5, 7, 8}, {3, 17, 4, 16}, {9, 33, 12, 8}, {8, 16, 1, 4}}) {
    SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(units));
    check("parts", [&] { return cell(rows, units, inputs, block); }, 1e-5, 3);
  }
}

/// Weights from memory: the next panel is fetched while one is used.
TEST(Gemm, FetchesTheNextPanel) {
  DeviceSheet small = sheet();
  small.float_lanes = 8, small.vector_registers = 16, small.l2_bytes = 1 << 12;
  for (const DenseCase& t : std::vector<DenseCase>{{128, 64, 96, 8, true},
                                                   {130, 18, 203, 8, false},
                                                   {66, 33, 80, 16, true},
                                                   {11, 40, 203, 8, false},
                                                   {5, 33, 80, 16, true}}) {
    SCOPED_TRACE(std::to_string(t.m) + "x" + std::to_string(t.k) + "x" + std::to_string(t.n));
    const ScheduleParams params = named("gemm").default_params(dense(t, true), small);
    EXPECT_EQ(params.at("stream"), 1) << text(params);
    test::with_halide_errors([&] {
      LoweredKernel plain = dense(t, true), ahead = dense(t, true);
      named("trivial").apply(plain, {}, small);
      named("gemm").apply(ahead, params, small);
      ASSERT_EQ(ahead.streams.size(), 1u);
      expect_near(run(ahead, true), run(plain, true), 3e-6, "fetched ahead");
    });
  }
  EXPECT_EQ(named("gemm").default_params(dense({5, 1100, 96, 8, true}, true), small).at("stream"), 0)
      << "the processor's prefetchers follow long panels, and few products hide a prefetch";
}

/// Rows that lie a multiple of 4096 bytes apart: at most 8 of them per tile, or a copy whose rows lie further
/// apart.
TEST(Gemm, RowsThatConflictInTheCache) {
  DeviceSheet wide = sheet();
  wide.float_lanes = 16, wide.vector_registers = 32, wide.l1_bytes = 32 << 10;
  wide.halves_at_full_rate = false;
  for (const int64_t depth : {1024, 2048, 3072, 4096})
    for (const int64_t rows : {8, 16, 26, 100, 128, 1000}) {
      SCOPED_TRACE(std::to_string(rows) + " rows of depth " + std::to_string(depth));
      const ScheduleParams params =
          named("gemm").default_params(dense({rows, depth, 768, 16, true}, true), wide);
      EXPECT_TRUE(params.at("copy_rows") || params.at("tile_m") <= 8) << text(params);
    }
  EXPECT_GT(named("gemm").default_params(dense({26, 3088, 768, 16, true}, true), wide).at("tile_m"), 8);
  check("gemm", [] { return dense({21, 1024, 32, 8, true}, true); });
  const MakeKernel make = [] { return dense({21, 1024, 32, 8, true}, true); };
  test::with_halide_errors([&] {
    LoweredKernel plain = make(), copied = make();
    named("trivial").apply(plain, {}, sheet());
    named("gemm").apply(
        copied, {{"tile_m", 10}, {"tile_n", 1}, {"unroll", 1}, {"copy_rows", 1}, {"stream", 0}}, sheet());
    expect_near(run(copied, true), run(plain, true), 3e-6, "rows copied");
  });
}

/// Every tile of rows reads the panel again: from the second-level cache, not from behind it.
TEST(Gemm, PanelsFitTheSecondLevelCache) {
  DeviceSheet wide = sheet();
  wide.float_lanes = 16, wide.vector_registers = 32, wide.l1_bytes = 48 << 10, wide.l2_bytes = 1 << 20;
  for (const int64_t depth : {1333, 2048, 2304, 3072, 4096})
    for (const int64_t rows : {34, 61, 128, 176}) {
      SCOPED_TRACE(std::to_string(rows) + " rows of depth " + std::to_string(depth));
      const ScheduleParams params =
          named("gemm").default_params(dense({rows, depth, 768, 16, true}, true), wide);
      EXPECT_LE(params.at("tile_n") * 16 * 4 * depth, wide.l2_bytes) << text(params);
    }
}

/// Weights that are read once, from memory: the prefetchers follow them beside 16 rows, not beside 28.
TEST(Gemm, WeightsFromMemoryAreReadBesideFewRows) {
  DeviceSheet wide = sheet();
  wide.float_lanes = 16, wide.vector_registers = 32, wide.l1_bytes = 48 << 10, wide.l2_bytes = 1 << 20;
  for (const int64_t rows : {17, 19, 28})
    EXPECT_LE(named("gemm").default_params(dense({rows, 3216, 2320, 16, true}, true), wide).at("tile_m"), 16)
        << rows;
}

/// Two or three rows: constant weights are packed; others, which would be packed in every run, are read as
/// they are, several rows at a time.
TEST(DenseOfFewRows, ReadsItsWeightAtTheRateOfTheMemory) {
  DeviceSheet wide = sheet();
  wide.float_lanes = 16, wide.l2_bytes = 1 << 20, wide.l3_bytes = 1 << 25;
  const auto packs = [&](int64_t rows, bool constant) {
    return cost_model_choice()->packs_dense({rows, 896, 4096, constant}, wide);
  };
  EXPECT_FALSE(packs(1, true));
  EXPECT_TRUE(packs(2, true) && packs(3, true) && packs(4, false));
  EXPECT_FALSE(packs(2, false) || packs(3, false));
  for (const int64_t rows : {1, 2, 3})
    EXPECT_GE(named("rows").default_params(dense({rows, 4096, 896, 1, true}, false), wide).at("tile_n"), 4)
        << rows;
}

TEST(Matmul, BatchesTransposedAndBroadcast) {
  for (const MatmulCase& t : std::vector<MatmulCase>{{12, 12, 17, 64, 40, "epilogue"},
                                                     {3, 3, 128, 20, 33, ""},
                                                     {1, 5, 9, 17, 24, "epilogue"},
                                                     {5, 1, 9, 17, 64, ""},
                                                     {4, 1, 30, 3, 8, "epilogue"},
                                                     {1, 1, 50, 31, 100, ""},
                                                     {200, 200, 4, 4, 4, "epilogue"},
                                                     {2, 2, 1, 17, 3, ""},
                                                     {7, 7, 3, 1, 1, "epilogue"},
                                                     {2, 2, 20, 1024, 17, ""},
                                                     {1, 1, 1, 1, 1, ""}})
    for (const bool transpose_a : {false, true})
      for (const bool transpose_b : {false, true}) {
        SCOPED_TRACE(std::to_string(t.left) + ", " + std::to_string(t.right) + " x " + std::to_string(t.m) +
                     "x" + std::to_string(t.k) + "x" + std::to_string(t.n) + (transpose_a ? " T" : " N") +
                     (transpose_b ? "T" : "N"));
        check("matmul", [&] { return batch_matmul(t, transpose_a, transpose_b); });
      }
}

TEST(Matmul, MatricesOfAnyRank) {
  for (const auto& [left, right, ta, tb] :
       std::vector<std::tuple<Shape, Shape, bool, bool>>{{{33, 70}, {70, 50}, false, false},
                                                         {{70, 33}, {50, 70}, true, true},
                                                         {{2, 3, 9, 17}, {17, 20}, false, false},
                                                         {{2, 17, 9}, {17, 3}, true, false},
                                                         {{300, 40}, {40, 8}, false, false},
                                                         {{1, 40}, {40, 100}, false, false}}) {
    Shape shape = left;
    if (ta) std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    shape.back() = right[tb ? 0 : 1];
    SCOPED_TRACE(std::to_string(left.size()) + " axes, columns " + std::to_string(shape.back()));
    check("matmul", [&, &left = left, &right = right, ta = ta, tb = tb] {
      KernelBuilder b("matmul");
      const Value y = b.call("nn.matmul", {b.input(left), b.input(right)},
                             op_attrs("nn.matmul", {{"transpose_a", ta}, {"transpose_b", tb}}), shape);
      return b.finish(b.call("nn.relu", {y}, {}, shape));
    });
  }
}

TEST(Matmul, DenseWithAWeightThatIsNoConstant) {
  for (const DenseCase& t : std::vector<DenseCase>{
           {128, 300, 33, 1, true}, {4, 64, 128, 1, false}, {50, 5, 7, 1, true}, {9, 1, 1, 1, false}}) {
    SCOPED_TRACE(std::to_string(t.m) + "x" + std::to_string(t.k) + "x" + std::to_string(t.n));
    check("matmul", [&] { return dense(t, false); });
  }
}

TEST(Rows, Dense) {
  for (const DenseCase& t : std::vector<DenseCase>{{1, 512, 100, 1, true},
                                                   {3, 300, 33, 1, false},
                                                   {3, 5, 7, 1, true},
                                                   {1, 1000, 1, 1, false},
                                                   {2, 4097, 9, 1, true},
                                                   {1, 33, 8, 1, true}}) {
    SCOPED_TRACE(std::to_string(t.m) + "x" + std::to_string(t.k) + "x" + std::to_string(t.n));
    check("rows", [&] { return dense(t, false); });
  }
}

TEST(Rows, FewRowsOfDenseReadSeveralRowsOfTheWeightAtATime) {
  EXPECT_EQ(named("rows").default_params(dense({1, 512, 100, 1, true}, false), sheet()).at("tile_n"), 8);
  EXPECT_EQ(named("rows").default_params(dense({3, 512, 100, 1, true}, false), sheet()).at("tile_n"), 4);
  EXPECT_EQ(named("rows").default_params(dense({1, 512, 3, 1, true}, false), sheet()).at("tile_n"), 3);
}

TEST(Rows, Softmax) {
  for (const Shape& shape : std::vector<Shape>{{1, 1000}, {7, 128}, {2, 3, 257}, {4, 5}, {3, 1}, {1, 64}})
    for (const char* op : {"nn.softmax", "nn.log_softmax"}) {
      SCOPED_TRACE(op + std::to_string(shape.back()));
      check("rows", [&] {
        KernelBuilder b("softmax");
        return b.finish(b.call(op, {b.input(shape)}, op_attrs(op), shape));
      });
    }
}
}  // namespace
}  // namespace baton
