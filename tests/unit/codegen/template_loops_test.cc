// The loops that templates say they make (ScheduleTemplate::loops), beside those that Halide makes: each step
// of a kernel's sums is counted while it runs.
#include <array>
#include <atomic>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include <gtest/gtest.h>

#include "baton/codegen/kernel/lower.h"
#include "baton/driver/initialize.h"
#include "baton/predict/kernel_facts.h"
#include "baton/types/function_text.h"

#include "schedule/template_checks.h"

namespace baton {
namespace {

namespace hi = Halide::Internal;

std::array<std::atomic<int64_t>, 8192> executed_steps;

int count_step(int site) { return static_cast<int>(++executed_steps.at(static_cast<size_t>(site))); }

/// Adds a count to each store of a sum's step, one that adds to what it overwrites; of kernels without sums,
/// to each store of the result.
class CountSteps final : public hi::IRMutator {
 public:
  struct Site {
    const void* loop;   ///< the innermost around it
    std::string place;  ///< where it stores
    int lanes;
  };
  CountSteps(std::set<std::string> stored, bool sums) : stored_(std::move(stored)), sums_(sums) {}
  std::vector<Site> sites;

 private:
  using IRMutator::visit;

  /// rfactor() appends to the name of the sum that it divides.
  bool is_counted(const std::string& name) const {
    return std::ranges::any_of(stored_, [&](const std::string& each) { return name.starts_with(each); });
  }

  class FindLoads final : public hi::IRGraphVisitor {
   public:
    FindLoads(const CountSteps& of, const Halide::Expr& in) : of_(of) { in.accept(this); }
    bool found = false;

   private:
    using IRGraphVisitor::visit;
    void visit(const hi::Load* node) override {
      found |= of_.is_counted(node->name);
      IRGraphVisitor::visit(node);
    }
    void visit(const hi::Variable* node) override { found |= of_.loaded_.contains(node->name); }
    const CountSteps& of_;
  };

  hi::Stmt visit(const hi::For* node) override {
    const void* around = std::exchange(loop_, node);
    hi::Stmt made = IRMutator::visit(node);
    loop_ = around;
    return made;
  }

  hi::Stmt visit(const hi::LetStmt* node) override {
    if (FindLoads(*this, node->value).found) loaded_.insert(node->name);
    return IRMutator::visit(node);
  }

  hi::Stmt visit(const hi::Store* node) override {
    if (!is_counted(node->name) || (sums_ && !FindLoads(*this, node->value).found)) return node;
    std::ostringstream place;
    place << node->name << " " << node->index;
    const int site = static_cast<int>(sites.size());
    sites.push_back({loop_, place.str(), node->value.type().lanes()});
    return hi::Block::make(
        node, hi::Evaluate::make(hi::Call::make(Halide::Int(32), "count_step", {site}, hi::Call::Extern)));
  }

  std::set<std::string> stored_;
  bool sums_;
  const void* loop_ = nullptr;
  std::set<std::string> loaded_;
};

struct MadeLoops {
  double multiplied = 0;  ///< elements of all vectors of all steps
  int64_t tile = 0;       ///< of the body of the innermost loop that computes most of them
};

MadeLoops made_by_halide(LoweredKernel& kernel, std::set<std::string> stored, bool sums) {
  CountSteps count(std::move(stored), sums);
  const Halide::Callable callable = test::compile(kernel, [&](Halide::Pipeline& pipeline) {
    pipeline.add_custom_lowering_pass(&count, [] {});
    pipeline.set_jit_externs({{"count_step", Halide::JITExtern(count_step)}});
  });
  std::vector<Halide::Runtime::Buffer<float>> buffers;  // whose memory is aligned, as kernels take it to be
  const auto add = [&](const std::vector<int64_t>& shape) {
    buffers.emplace_back(std::vector<int>(shape.rbegin(), shape.rend()));
    buffers.back().fill(1);
  };
  for (const Halide::ImageParam& input : kernel.inputs) add(test::input_shape(input));
  add(kernel.outputs.front().shape());
  for (auto& each : executed_steps) each = 0;
  EXPECT_EQ(test::call(callable, buffers), 0);
  struct Body {
    std::map<std::string, int> lanes_of_places;  // a step may be unrolled, and stores to each place again
    double multiplied = 0;
  };
  std::map<const void*, Body> bodies;
  for (size_t i = 0; i < count.sites.size(); ++i) {
    Body& body = bodies[count.sites[i].loop];
    body.lanes_of_places.emplace(count.sites[i].place, count.sites[i].lanes);
    body.multiplied += static_cast<double>(executed_steps.at(i)) * count.sites[i].lanes;
  }
  MadeLoops made;
  double most = 0;
  for (const auto& [loop, body] : bodies) {
    made.multiplied += body.multiplied;
    if (body.multiplied <= most) continue;
    most = body.multiplied, made.tile = 0;
    for (const auto& [place, lanes] : body.lanes_of_places) made.tile += lanes;
  }
  return made;
}

struct LoopCase {
  const char* of_template;
  const char* text;               ///< <2> is twice the lanes of a vector
  const char* differs = nullptr;  ///< in what its counts are not Halide's
  /// Tiles of other parameters are cut to the length of a row, which is not counted.
  bool only_default = false;
};

// What trained predictors know of these was counted so: other counts need another version of the features.
constexpr const char* kOfChannels = "vectors are counted along channels, and run along the pixels of a row";
constexpr const char* kOfResults = "vectors are counted of results, and are of partial sums";
constexpr const char* kSkipped = "rows of taps that lie in the padding are counted, and skipped";
constexpr const char* kRows =
    "rows of results are counted, and the last rows of a task are those of another, too";
constexpr const char* kBatch = "tiles are counted over the rows of all batches, and end with each batch";
constexpr const char* kAfter =
    "the steps of a sum are counted by the operations of its kernel, with those that follow the product";
constexpr const char* kFlat =
    "a fallback without a register tile: results are counted, its stages are others";

const LoopCase kLoopCases[] = {
    {"conv_direct",
     "fn (%p0: Tensor[(1, 2, 14, 14, <1>), float32], %p1: Tensor[(4, 2, 3, 3, <1>, <1>), float32]) { "
     "nn.contrib_conv2d_NCHWc(%p0, %p1, padding=[1, 1, 1, 1], channels=<4>, kernel_size=[3, 3], "
     "data_layout=\"NCHW<1>c\", kernel_layout=\"OIHW<1>i<1>o\", out_layout=\"NCHW<1>c\") }"},
    {"conv_direct",
     "fn (%p0: Tensor[(2, 2, 13, 13, <1>), float32], %p1: Tensor[(3, 2, 3, 3, <1>, <1>), float32]) { "
     "nn.contrib_conv2d_NCHWc(%p0, %p1, strides=[2, 2], padding=[1, 1, 1, 1], channels=<3>, "
     "kernel_size=[3, 3], data_layout=\"NCHW<1>c\", kernel_layout=\"OIHW<1>i<1>o\", "
     "out_layout=\"NCHW<1>c\") }"},
    {"conv_depthwise",
     "fn (%p0: Tensor[(1, 4, 14, 14, <1>), float32], %p1: Tensor[(4, 1, 3, 3, 1, <1>), float32]) { "
     "nn.contrib_depthwise_conv2d_NCHWc(%p0, %p1, padding=[1, 1, 1, 1], groups=<4>, channels=<4>, "
     "kernel_size=[3, 3], data_layout=\"NCHW<1>c\", kernel_layout=\"OIHW1i<1>o\", "
     "out_layout=\"NCHW<1>c\") }",
     kSkipped},
    {"conv_depthwise",
     "fn (%p0: Tensor[(1, 2, 13, 29, <1>), float32], %p1: Tensor[(2, 1, 5, 5, 1, <1>), float32]) { "
     "nn.contrib_depthwise_conv2d_NCHWc(%p0, %p1, groups=<2>, channels=<2>, kernel_size=[5, 5], "
     "data_layout=\"NCHW<1>c\", kernel_layout=\"OIHW1i<1>o\", out_layout=\"NCHW<1>c\") }"},
    {"conv_winograd",
     "fn (%p0: Tensor[(1, 2, 14, 14, <1>), float32], %p1: Tensor[(6, 6, 4, 2, <1>, <1>), float32]) { "
     "nn.contrib_conv2d_winograd_without_weight_transform(%p0, %p1, tile_size=4, padding=[1, 1, 1, 1], "
     "channels=<4>, kernel_size=[3, 3], data_layout=\"NCHW<1>c\", kernel_layout=\"HWOI<1>i<1>o\", "
     "out_layout=\"NCHW<1>c\") }"},
    {"conv_winograd",
     "fn (%p0: Tensor[(2, 2, 13, 11, <1>), float32], %p1: Tensor[(4, 4, 3, 2, <1>, <1>), float32]) { "
     "nn.contrib_conv2d_winograd_without_weight_transform(%p0, %p1, tile_size=2, padding=[1, 1, 1, 1], "
     "channels=<3>, kernel_size=[3, 3], data_layout=\"NCHW<1>c\", kernel_layout=\"HWOI<1>i<1>o\", "
     "out_layout=\"NCHW<1>c\") }"},
    {"conv_plain",
     "fn (%p0: Tensor[(1, 12, 14, 14), float32], %p1: Tensor[(12, 1, 3, 3), float32]) { nn.conv2d(%p0, %p1, "
     "padding=[1, 1, 1, 1], groups=12, channels=12, kernel_size=[3, 3]) }",
     kOfChannels},
    {"conv_positions",
     "fn (%p0: Tensor[(1, 19, 24, 24), float32], %p1: Tensor[(28, 19, 3, 3), float32]) { nn.conv2d(%p0, %p1, "
     "padding=[1, 1, 1, 1], channels=28, kernel_size=[3, 3]) }"},
    {"conv_positions",
     "fn (%p0: Tensor[(2, 19, 23, 21), float32], %p1: Tensor[(27, 19, 3, 3), float32]) { nn.conv2d(%p0, %p1, "
     "padding=[1, 1, 1, 1], strides=[2, 2], channels=27, kernel_size=[3, 3]) }"},
    {"conv_positions",
     "fn (%p0: Tensor[(1, 16, 1, 169), float32], %p1: Tensor[(28, 16, 1, 1), float32]) { nn.conv2d(%p0, %p1, "
     "channels=28, kernel_size=[1, 1]) }"},
    {"conv_transpose",
     "fn (%p0: Tensor[(1, 16, 16, 16), float32], %p1: Tensor[(16, 12, 2, 2), float32]) { "
     "nn.conv2d_transpose(%p0, %p1, strides=[2, 2], channels=12, kernel_size=[2, 2], "
     "kernel_layout=\"IOHW\") }",
     nullptr, true},
    {"conv_transpose",
     "fn (%p0: Tensor[(2, 2, 8, 8, <1>), float32], %p1: Tensor[(3, 2, 2, <2>, <1>), float32]) { "
     "nn.conv2d_transpose(%p0, %p1, strides=[2, 2], channels=<3>, kernel_size=[2, 2], "
     "data_layout=\"NCHW<1>c\", kernel_layout=\"OHWI<1>o\", out_layout=\"NCHW<1>c\") }",
     nullptr, true},
    {"conv_transpose",
     "fn (%p0: Tensor[(2, 2, 9, 8, <1>), float32], %p1: Tensor[(3, 2, 2, <2>, <1>), float32]) { "
     "nn.conv2d_transpose(%p0, %p1, strides=[2, 2], channels=<3>, kernel_size=[2, 2], "
     "data_layout=\"NCHW<1>c\", kernel_layout=\"OHWI<1>o\", out_layout=\"NCHW<1>c\") }",
     kRows, true},
    {"gemm",
     "fn (%p0: Tensor[(12, 64), float32], %p1: Tensor[(4, 64, <1>), float32]) { "
     "nn.contrib_dense_pack(%p0, %p1, units=<4>, weight_layout=\"NK<1>n\") }"},
    {"gemm",
     "fn (%p0: Tensor[(13, 30), float32], %p1: Tensor[(7, 30, <1>), float32]) { "
     "nn.contrib_dense_pack(%p0, %p1, units=<7>, weight_layout=\"NK<1>n\") }"},
    {"matmul", "fn (%p0: Tensor[(24, 20), float32], %p1: Tensor[(20, 64), float32]) { nn.matmul(%p0, %p1) }"},
    {"matmul", "fn (%p0: Tensor[(25, 20), float32], %p1: Tensor[(20, 50), float32]) { nn.matmul(%p0, %p1) }"},
    {"matmul",
     "fn (%p0: Tensor[(3, 13, 20), float32], %p1: Tensor[(3, 50, 20), float32]) { "
     "nn.batch_matmul(%p0, %p1, transpose_b=True) }",
     kBatch},
    {"pool",
     "fn (%p0: Tensor[(1, 4, 14, 14, <1>), float32]) { nn.max_pool2d(%p0, pool_size=[2, 2], strides=[2, 2], "
     "layout=\"NCHW<1>c\") }"},
    {"pool",
     "fn (%p0: Tensor[(1, 4, 13, 13, <1>), float32]) { nn.avg_pool2d(%p0, pool_size=[3, 3], strides=[1, 1], "
     "padding=[1, 1, 1, 1], layout=\"NCHW<1>c\") }"},
    {"pool",
     "fn (%p0: Tensor[(1, 16, 13, 13, <1>), float32]) { nn.global_avg_pool2d(%p0, layout=\"NCHW<1>c\") }"},
    {"pool",
     "fn (%p0: Tensor[(1, 8, 40, 40), float32]) { nn.max_pool2d(%p0, pool_size=[2, 2], strides=[2, 2]) }",
     kOfChannels},
    {"reduce", "fn (%p0: Tensor[(12, 200), float32]) { sum(%p0, axis=[0]) }"},
    {"reduce", "fn (%p0: Tensor[(7, 5, 300), float32]) { mean(%p0, axis=[1]) }"},
    {"reduce", "fn (%p0: Tensor[(12, 200), float32]) { sum(%p0, axis=[1]) }", kOfResults},
    {"rows", "fn (%p0: Tensor[(12, 200), float32]) { nn.softmax(%p0) }", kOfResults},
    {"rows",
     "fn (%p0: Tensor[(1, 200), float32], %p1: Tensor[(30, 200), float32]) { nn.dense(%p0, %p1, units=30) }",
     kOfResults},
    {"pointwise", "fn (%p0: Tensor[(12, 192), float32]) { nn.relu(%p0) }"},
    {"pointwise", "fn (%p0: Tensor[(12, 203), float32]) { nn.relu(%p0) }"},
    {"parts",
     "fn (%p0: Tensor[(6, 20), float32], %p1: Tensor[(4, 20, <1>), float32], %p2: Tensor[(6, <4>), "
     "float32]) { %0 = split(add(nn.contrib_dense_pack(%p0, %p1, units=<4>, weight_layout=\"NK<1>n\"), "
     "%p2), indices_or_sections=2, axis=1); multiply(tanh(%0.0), %0.1) }",
     kAfter},
    {"trivial", "fn (%p0: Tensor[(2, 7, 9), float32]) { cumsum(%p0, axis=1) }", kFlat},
};

std::string with_lanes(const std::string& text, int lanes) {
  std::string made;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] == '<')
      made += std::to_string((text[i + 1] - '0') * lanes), i += 2;
    else
      made += text[i];
  return made;
}

/// By lanes of a vector.
class TemplateLoops : public testing::TestWithParam<int> {
 protected:
  static void SetUpTestSuite() { initialize(); }

  TemplateLoops() {
    sheet_.float_lanes = GetParam();
    sheet_.vector_registers = GetParam() == 16 ? 32 : 16;
  }

  /// Whether counts are those of Halide, which is expected of cases that do not differ.
  bool as_made(const LoopCase& each, const Function& function, const ScheduleTemplate& schedule,
               const ScheduleParams& params) {
    LoweredKernel kernel = lower(*function, {"loops", {}, false});
    std::set<std::string> stored;
    if (kernel.anchor >= 0)
      for (const Stage& stage : kernel.blocks[static_cast<size_t>(kernel.anchor)].stages)
        if (stage.func.has_update_definition()) stored.insert(stage.func.name());
    const bool sums = !stored.empty();
    if (!sums) stored.insert(kernel.outputs.front().func().name());
    schedule.apply(kernel, params, sheet_);
    const MadeLoops made = made_by_halide(kernel, stored, sums);

    KernelCase described;
    described.kernel = describe(*function);
    described.backend = "llvm", described.template_name = schedule.name, described.parameters = params;
    described.sheet = std::make_shared<const DeviceSheet>(sheet_);
    const LoopCounts loops = KernelFacts(described).loops;
    // Several tiles may be unrolled in one body.
    const auto tile = static_cast<int64_t>(loops.rows * loops.columns * loops.lanes);
    const bool same = loops.operations() / 2 == made.multiplied && made.tile % tile == 0;
    EXPECT_TRUE(same || each.differs)
        << each.of_template << " " << test::text(params) << "says " << loops.operations() / 2
        << " products in tiles of " << tile << ", Halide makes " << made.multiplied << " in tiles of "
        << made.tile << ": " << each.text;
    return same;
  }

  DeviceSheet sheet_ = DeviceSheet::host();
};

TEST_P(TemplateLoops, AreThoseThatHalideMakes) {
  std::set<std::string> tested;
  for (const LoopCase& each : kLoopCases) {
    const Function function = function_of_text(with_lanes(each.text, GetParam()));
    ASSERT_TRUE(function) << each.text;
    test::with_halide_errors([&] {
      const LoweredKernel probe = lower(*function, {"probe", {}, false});
      const ScheduleTemplate& schedule = find_template(probe, sheet_);
      EXPECT_STREQ(schedule.name, each.of_template) << each.text;
      tested.insert(schedule.name);
      const std::vector<ScheduleParams> all = schedule.candidates(probe, sheet_);
      bool same = as_made(each, function, schedule, schedule.default_params(probe, sheet_));
      if (all.size() > 1 && !each.only_default)
        same &= as_made(each, function, schedule, all[1 + 7919 % (all.size() - 1)]);
      // Who corrects the counts corrects the case.
      EXPECT_EQ(same, !each.differs) << each.of_template << ": " << (each.differs ? each.differs : each.text);
    });
  }
  for (const ScheduleTemplate* each : schedule_templates())
    EXPECT_TRUE(tested.contains(each->name)) << each->name;
}

INSTANTIATE_TEST_SUITE_P(Lanes, TemplateLoops, testing::Values(8, 16));

}  // namespace
}  // namespace baton
