// Predictors of a machine whose times are known: intervals, splits, determinism, files, and what is refused.
#include "baton/predict/predictor.h"

#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include <gmock/gmock.h>

#include "baton/driver/initialize.h"
#include "baton/predict/evaluation.h"
#include "baton/predict/least_squares.h"
#include "baton/predict/model/part_shares.h"
#include "baton/predict/predictor_file.h"
#include "baton/predict/term_base.h"
#include "baton/support/base/files.h"
#include "baton/support/base/statistics.h"
#include "baton/support/error.h"
#include "baton/types/function_text.h"

#include "predict/made_up_machine.h"

namespace baton {
namespace {

using made_up::campaign;
using made_up::Layer;
using made_up::Machine;
using testing::HasSubstr;
using testing::ThrowsMessage;

class PredictTimes : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    initialize();
    data_ = new Dataset(made_up::dataset(campaign(Machine(), 40)));
    predictor_ = std::make_shared<const Predictor>(train(*data_, small()));
  }
  static void TearDownTestSuite() {
    predictor_.reset();
    delete data_;
  }

  static TrainOptions small() {
    TrainOptions options;
    options.regressor.boost.rounds = 150;
    options.regressor.boost.eta = 0.1;
    options.regressor.boost.depth = 6;
    options.regressor.spread_rounds = 40;
    return options;
  }
  static KernelCase case_of_layer(const Layer& layer, const Machine& machine = {}) {
    std::mt19937 random(1);
    Measurement m = made_up::measured(machine, layer, random);
    m.cache = CacheState::kInModel;
    return case_of(m, describe(m.work), std::make_shared<const DeviceSheet>(machine.sheet()));
  }
  static TimePrediction predicted(const Layer& layer, double level = 0.9) {
    const KernelCase one = case_of_layer(layer);
    const KernelCase* all[] = {&one};
    return predictor_->predict(all, level).front();
  }

  static Dataset* data_;
  static std::shared_ptr<const Predictor> predictor_;
};
Dataset* PredictTimes::data_ = nullptr;
std::shared_ptr<const Predictor> PredictTimes::predictor_;

TEST_F(PredictTimes, NewKernelsArePredictedAndTheirIntervalsHold) {
  // Of the exact times, and of times with noise: the interval is for these.
  std::mt19937 random(99);
  const Machine machine;
  std::vector<double> errors;
  int hits = 0;
  constexpr int kTests = 300;
  for (int i = 0; i < kTests; ++i) {
    const auto any = [&](int64_t low, int64_t high) {
      return std::uniform_int_distribution<int64_t>(low, high)(random);
    };
    const Layer layer{any(8, 180),       any(8, 180),    any(6, 36),
                      any(0, 1) ? 3 : 1, any(0, 1) == 1, any(0, 2) == 0};
    const TimePrediction time = predicted(layer);
    errors.push_back(std::abs(time.us / made_up::exact_us(machine, layer) - 1));
    const double measured = made_up::measured(machine, layer, random).median_us;
    hits += measured >= time.low_us && measured <= time.high_us;
  }
  EXPECT_LT(median(errors), 0.06);
  EXPECT_GE(hits, 0.84 * kTests);
  EXPECT_LE(hits, 0.99 * kTests);
}

TEST_F(PredictTimes, IntervalsWidenWithTheLevel) {
  const Layer layer{64, 64, 20, 3, true};
  const TimePrediction half = predicted(layer, 0.5), most = predicted(layer, 0.95);
  EXPECT_EQ(half.us, most.us);
  EXPECT_LT(most.low_us, half.low_us);
  EXPECT_GT(most.high_us, half.high_us);
}

TEST_F(PredictTimes, MoreWorkTakesLonger) {
  double before = 0;
  for (const int64_t channels : {12, 24, 48, 96, 190}) {
    const double us = predicted({channels, 96, 24, 3, false}).us;
    EXPECT_GT(us, before) << channels;
    before = us;
  }
}

TEST_F(PredictTimes, ModelsArePredictedWithWhatLiesBetweenKernels) {
  const ModelTotal& total = predictor_->totals.at("llvm");
  EXPECT_EQ(total.trained_on, 120);
  EXPECT_NEAR(total.scale, 1, 0.1);
  EXPECT_NEAR(total.per_call_us + total.once_us / 6, Machine().per_call_us, 0.4);
  const Dataset fresh = made_up::dataset(campaign(Machine(), 20, 7));
  std::vector<PredictedTime> times;
  for (const ModelSample& model : fresh.models) {
    std::vector<const KernelCase*> cases;
    std::vector<ModelKernel> kernels;
    for (const auto& [kernel, calls] : model.kernels)
      cases.push_back(&fresh.kernels[static_cast<size_t>(kernel)].kernel);
    const std::vector<TimePrediction> each = predictor_->predict(cases);
    for (size_t i = 0; i < each.size(); ++i) kernels.push_back({each[i], model.kernels[i].second});
    times.push_back({model.name, model.family, model.us, predictor_->predict_model("llvm", kernels)});
  }
  const Accuracy accuracy = accuracy_of(times, true);
  EXPECT_EQ(accuracy.count, 60);
  EXPECT_LT(accuracy.median_error, 0.05);
  EXPECT_GT(accuracy.within_10, 0.9);
  EXPECT_GT(accuracy.kendall_tau, 0.95);
  EXPECT_GE(accuracy.coverage, 0.8);
}

TEST_F(PredictTimes, KernelsThatAreFarOffDoNotShiftAllModels) {
  Dataset data = *data_;
  std::vector<double> before;
  for (size_t i = 0; i < data.kernels.size(); ++i) {
    before.push_back(data.kernels[i].us);
    if (i % 8 == 0) data.kernels[i].us *= 0.2;  // what nothing in its description says
  }
  for (ModelSample& model : data.models)
    for (const auto& [kernel, calls] : model.kernels) {
      const auto k = static_cast<size_t>(kernel);
      model.us += calls * (data.kernels[k].us - before[k]);
    }
  EXPECT_NEAR(train(data, small()).totals.at("llvm").scale, predictor_->totals.at("llvm").scale, 0.02);
}

TEST_F(PredictTimes, NoFusedFunctionIsOnBothSidesOfASplit) {
  const std::vector<int> kernels = all_indices(data_->kernels.size()),
                         models = all_indices(data_->models.size());
  std::vector<Split> splits = model_splits(*data_, kernels, models, 5, 3);
  const std::vector<Split> families = family_splits(*data_, kernels, models);
  ASSERT_EQ(families.size(), 3u);
  Dataset versions = *data_;
  for (ModelSample& model : versions.models)
    if (model.family != "dense") model.family = model.id < "8" ? "net" : "net-v1.5";
  EXPECT_EQ(family_splits(versions, kernels, models).size(), 2u) << "versions are one family";
  splits.insert(splits.end(), families.begin(), families.end());
  std::vector<int> tested(data_->models.size());
  for (const Split& split : splits) {
    std::set<std::string> trained, held;
    for (const int i : split.train_kernels) trained.insert(data_->kernels[static_cast<size_t>(i)].work_id);
    for (const int model : split.test_models) held.merge(data_->works_of(model));
    for (const std::string& work : held) EXPECT_FALSE(trained.count(work));
    for (const int model : split.test_models) {
      ++tested[static_cast<size_t>(model)];
      EXPECT_FALSE(std::ranges::count(split.train_models, model));
    }
    EXPECT_EQ(split.train_kernels.size() + split.test_kernels.size(), kernels.size());
  }
  for (const int count : tested) EXPECT_EQ(count, 2);  // once by model, once by family
  const std::optional<Split> sizes = size_split(*data_, kernels, models);
  ASSERT_TRUE(sizes);
  EXPECT_EQ(sizes->test_models.size(), models.size() / 5);
  double longest = 0, shortest = 1e9;
  for (const int model : sizes->train_models)
    longest = std::max(longest, data_->models[static_cast<size_t>(model)].us);
  for (const int model : sizes->test_models)
    shortest = std::min(shortest, data_->models[static_cast<size_t>(model)].us);
  EXPECT_LE(longest, shortest);
  EXPECT_FALSE(size_split(*data_, kernels, std::span(models).first(9)));
  // A kernel that two models share is in training only where that is asked for.
  std::vector<Measurement> shared = campaign(Machine(), 4);
  const Measurement first = shared[0];
  std::vector<Measurement> twins;
  for (Measurement& model : shared) {
    if (model.work.kind != WorkKind::kModel) continue;
    model.median_us += first.median_us;
    twins.push_back(first);
    twins.back().model_id = model.work.id();
    twins.back().node = 50;
  }
  shared.insert(shared.end(), twins.begin(), twins.end());
  const Dataset both = made_up::dataset(shared);
  bool more = false;
  for (const Split& split :
       model_splits(both, all_indices(both.kernels.size()), all_indices(both.models.size()), 4, 1))
    more |= with_seen_kernels(both, split).train_kernels.size() > split.train_kernels.size();
  EXPECT_TRUE(more);
}

TEST_F(PredictTimes, BuildsOfOneProgramForTwoBackendsAreTwoModels) {
  // As campaigns store them: one program, one target, and regions whose rest another backend computes.
  std::vector<Measurement> twice;
  for (Measurement each : campaign(Machine(), 12)) {
    const bool whole = each.work.kind == WorkKind::kModel;
    each.configuration = "generated";
    twice.push_back(each);
    each.configuration = "library";
    if (whole || each.node % 2 == 0) each.build.backend = "dnnl";
    if (whole) each.median_us *= 1.3;
    twice.push_back(each);
    each.configuration = "library#2";  // a second visit is the same model, measured again
    if (whole) twice.push_back(each);
  }
  const Dataset both = made_up::dataset(twice);
  std::map<std::string, int> by_backend;
  for (const ModelSample& model : both.models) {
    ++by_backend[model.backend];
    EXPECT_EQ(model.again_us.size(), model.backend == "dnnl" ? 2U : 1U) << model.name;
    for (const double us : model.again_us) EXPECT_DOUBLE_EQ(us, model.us) << model.name << " mixes builds";
  }
  EXPECT_THAT(by_backend,
              testing::UnorderedElementsAre(testing::Pair("llvm", 36), testing::Pair("dnnl", 36)));
}

TEST_F(PredictTimes, OfSeveralVisitsTheShorterTimesCount) {
  std::vector<Measurement> visits;
  for (const Measurement& each : campaign(Machine(), 4))
    for (const double slower : {1.0, 1.4, 1.0}) {  // the second one met a busy neighbour
      visits.push_back(each);
      visits.back().median_us *= slower;
      visits.back().begun_s += static_cast<int64_t>(visits.size());
    }
  const Dataset once = made_up::dataset(campaign(Machine(), 4)), thrice = made_up::dataset(visits);
  ASSERT_EQ(once.models.size(), thrice.models.size());
  for (size_t i = 0; i < once.models.size(); ++i) EXPECT_DOUBLE_EQ(once.models[i].us, thrice.models[i].us);
  ASSERT_EQ(once.kernels.size(), thrice.kernels.size());
  for (size_t i = 0; i < once.kernels.size(); ++i) EXPECT_DOUBLE_EQ(once.kernels[i].us, thrice.kernels[i].us);
}

// Rows of campaigns were scaled to the usual clock, rows of profiles of the same kernels were not.
TEST_F(PredictTimes, OneThingsTimesAreOnOneClock) {
  const std::vector<Measurement> old = campaign(Machine(), 4);
  const Dataset without = made_up::dataset(old);
  const auto times_of = [](const Dataset& data) {
    std::vector<double> times;
    for (const KernelSample& each : data.kernels) times.push_back(each.us);
    return times;
  };
  EXPECT_GT(without.without_clock, 0);
  EXPECT_EQ(without.left_out.size(), 0U);
  std::vector<Measurement> both;
  for (Measurement m : old) {
    both.push_back(m);
    both.back().median_us *= 0.5;  // the shorter times count, but not these
    m.core_ns = 1700;
    both.push_back(m);
  }
  const Dataset mixed = made_up::dataset(both);
  EXPECT_EQ(mixed.without_clock, 0);
  EXPECT_THAT(mixed.left_out, testing::ElementsAre(testing::Pair(
                                  testing::HasSubstr("without the core's clock"), without.without_clock)));
  EXPECT_EQ(times_of(mixed), times_of(without));
  for (Measurement& m : both)
    if (m.core_ns == 0) m.simulated = "sim_npu";  // the clock does not matter there
  EXPECT_EQ(made_up::dataset(both).left_out.size(), 0U);
}

TEST_F(PredictTimes, TimesAreThoseAtTheUsualClock) {
  const std::vector<Measurement> at_usual_clock = campaign(Machine(), 4);
  std::vector<Measurement> visits;
  for (const double slower : {0.97, 1.0, 1.04})
    for (Measurement m : at_usual_clock) {
      m.median_us *= slower;
      m.core_ns = 1700 * slower;
      m.begun_s += static_cast<int64_t>(1000 * slower);
      visits.push_back(m);
      // Another machine has a clock of its own.
      m.machine = "another";
      m.core_ns *= 2;
      visits.push_back(m);
    }
  const Dataset expected = made_up::dataset(at_usual_clock), data = made_up::dataset(visits);
  ASSERT_EQ(data.models.size(), 2 * expected.models.size());
  std::vector<double> wanted, times;
  for (const ModelSample& each : expected.models) wanted.insert(wanted.end(), 2, each.us);
  for (const ModelSample& each : data.models) {
    times.push_back(each.us);
    ASSERT_EQ(each.again_us.size(), 3U);
    for (const double us : each.again_us) EXPECT_DOUBLE_EQ(us, each.us);
  }
  std::ranges::sort(wanted);
  std::ranges::sort(times);
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_DOUBLE_EQ(times[i], wanted[i]);
  ASSERT_EQ(data.kernels.size(), 2 * expected.kernels.size());
  for (const auto& [first, last] : data.repeats) EXPECT_DOUBLE_EQ(first, last);
}

TEST_F(PredictTimes, AKernelInASmallAndALargeModelIsTwoSamples) {
  std::mt19937 random(7);
  std::vector<Measurement> all;
  const Layer shared{.in = 256, .out = 256, .size = 1, .dense = true};
  const auto add_model = [&](const std::string& name, int64_t width, double us) {
    Measurement model;
    model.work.kind = WorkKind::kModel;
    model.work.text = name;
    model.device = Machine().sheet();
    model.machine = model.model = name;
    model.machine = "made up";
    const Layer own{.in = width, .out = width, .size = 1, .dense = true};
    for (uint32_t node = 0; node < 2; ++node) {
      Measurement kernel = made_up::measured(Machine(), node ? own : shared, random);
      kernel.cache = CacheState::kInModel;
      if (node == 0) kernel.median_us = us;
      kernel.model_id = model.work.id();
      kernel.node = node;
      model.median_us += kernel.median_us;
      all.push_back(kernel);
    }
    all.push_back(model);
  };
  add_model("small", 128, 5);
  add_model("small too", 130, 7);
  add_model("large", 4096, 40);
  std::map<double, double> us_by_bytes;
  for (const KernelSample& each : made_up::dataset(all).kernels)
    if (each.brief == made_up::work_of(shared).brief) us_by_bytes[each.kernel.model.working_set] = each.us;
  ASSERT_EQ(us_by_bytes.size(), 2U);
  EXPECT_NEAR(us_by_bytes.begin()->first, 4 * (256 * 256 + 128 * 128), 1e5);
  EXPECT_DOUBLE_EQ(us_by_bytes.begin()->second, 5.5);  // the lower quartile of 5 and 7
  EXPECT_DOUBLE_EQ(us_by_bytes.rbegin()->second, 40);
}

TEST_F(PredictTimes, WeightsComeFromWhereTheModelLeftThem) {
  KernelCase one = case_of_layer({.in = 512, .out = 512, .size = 1, .dense = true});
  const auto us = [&](double model_bytes) {
    one.model.working_set = model_bytes;
    return std::exp(log_roofline_us(one));
  };
  EXPECT_GT(us(1e9), 1.5 * us(4e6));  // memory and L3
  EXPECT_GT(us(1e9), us(0));
  EXPECT_EQ(one.kernel.weight_bytes(), 4.0 * 512 * 512);
}

// A term that next to no kernel has took any factor: models of real size were predicted ten times too long.
TEST(RelativeSquares, NoneIsAboveItsBoundAndTheOthersAreTheBestWithIt) {
  RelativeSquares squares(3);
  std::mt19937 random(5);
  std::uniform_real_distribution<double> any(1, 2);
  for (int i = 0; i < 200; ++i) {
    const double first = any(random), second = any(random), tail = i < 3 ? 1e-3 * any(random) : 0;
    const double terms[] = {first, second, tail};
    squares.add(terms, 2 * first + 3 * second + 50 * tail, 1);
  }
  const std::vector<double> open = squares.not_negative();
  EXPECT_NEAR(open[2], 50, 0.1);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double most[] = {kInfinity, kInfinity, 2};
  const std::vector<double> bounded = squares.not_negative(most);
  EXPECT_EQ(bounded[2], 2);
  EXPECT_NEAR(bounded[0], 2, 0.01);
  EXPECT_NEAR(bounded[1], 3, 0.01);
  const double low[] = {1, kInfinity, 2};
  const std::vector<double> both = squares.not_negative(low);
  EXPECT_EQ(both[0], 1);
  EXPECT_GT(both[1], 3.8);
  EXPECT_EQ(both[2], 2);
}

TEST(RelativeSquares, FactorsAreThoseOfTheTermsAndNeverNegative) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> size(0.1, 100);
  RelativeSquares known(4), opposed(3);
  for (int i = 0; i < 200; ++i) {
    const double a = size(random), b = size(random), c = a * size(random) / 100;
    // The third term is twice the first: they share what belongs to both. The last is never there.
    known.add(std::array{a, b, 2 * a, 0.0}, 3 * a + 0.5 * b, 1 + a);
    opposed.add(std::array{a, b, c}, 2 * a + b - 0.5 * c, 1);
  }
  const std::vector<double> x = known.not_negative();
  EXPECT_NEAR(x[0] + 2 * x[2], 3, 1e-4);
  EXPECT_NEAR(x[1], 0.5, 1e-4);
  EXPECT_EQ(x[3], 0);
  const std::vector<double> y = opposed.not_negative();
  EXPECT_GT(y[0], 1);
  EXPECT_EQ(y[2], 0) << "would be negative";
}

TEST_F(PredictTimes, TheBaseGoesOnBeyondTheSizesInTraining) {
  const KernelCase* largest = nullptr;
  for (const KernelSample& each : data_->kernels)
    if (!largest || each.kernel.kernel.flops > largest->kernel.flops) largest = &each.kernel;
  const Layer layer{.in = 640, .out = 640, .size = 54, .window = 3};
  const KernelCase one = case_of_layer(layer);
  ASSERT_GT(one.kernel.flops, 4 * largest->kernel.flops);
  const double us = made_up::exact_us(Machine(), layer);
  EXPECT_NEAR(predictor_->kernels.at("llvm").base.us(one) / us, 1, 0.1);
}

// Elementwise kernels with functions only of one column, which are ten times as slow there, and dense layers
// that tell what a function takes.
TEST_F(PredictTimes, ATermThatAKindCannotTellIsAsElsewhere) {
  constexpr double kElement = 1e-4, kFunction = 1e-3, kProduct = 1e-5;  // us
  std::vector<KernelCase> kernels;
  std::vector<double> us;
  const auto add = [&](const std::string& text, const char* of_template, double time) {
    KernelCase kernel;
    kernel.kernel = describe(*function_of_text(text));
    kernel.backend = "llvm", kernel.template_name = of_template, kernel.parameters = {{"unroll", 4}};
    kernel.sheet = std::make_shared<const DeviceSheet>(Machine().sheet());
    kernels.push_back(std::move(kernel)), us.push_back(time);
  };
  const auto column = [](int n, const std::string& wide, const std::string& call) {
    return "fn (%p0: Tensor[(" + std::to_string(n) + ", " + wide + "), float32]) { " + call + "(%p0) }";
  };
  for (int i = 1; i <= 80; ++i) {
    const int n = 500 * i;
    add(column(n, "64", "nn.relu"), "pointwise", n * 64 * kElement);
    for (const bool function : {false, true})
      add("fn (%p0: Tensor[(" + std::to_string(i) + ", 256), float32], %p1: Tensor[(512, 256), float32]) { " +
              "%0 = nn.dense(%p0, %p1, units=512); " + (function ? "sigmoid" : "nn.relu") + "(%0) }",
          "gemm", i * 512 * (256 * kProduct + (function ? kFunction : 0)));
  }
  add("fn (%p0: Tensor[(300, 1), float32], %p1: Tensor[(300, 64), float32]) { %0 = rsqrt(%p0); "
      "multiply(%p1, %0) }",
      "pointwise", 300 * 64 * kElement + 300 * 10 * kFunction);
  std::vector<const KernelCase*> cases;
  for (const KernelCase& each : kernels) cases.push_back(&each);
  const TermBase base = TermBase::fit(cases, us, std::vector<double>(us.size(), 1.0));
  add(column(20000, "64", "sigmoid"), "pointwise", 20000 * 64 * (kElement + kFunction));
  EXPECT_GT(base.us(kernels.back()) / us.back(), 0.5);
  EXPECT_LT(base.us(kernels.back()) / us.back(), 2);
}

TEST_F(PredictTimes, AScheduleThatTrainingHasNotHasTheBaseOfItsClass) {
  const TermBase& base = predictor_->kernels.at("llvm").base;
  for (const Layer& layer : {Layer{64, 64, 20, 3}, Layer{.in = 96, .out = 160, .size = 20, .dense = true}}) {
    KernelCase known = case_of_layer(layer), unseen = known;
    unseen.template_name = layer.dense ? "matmul" : "conv_plain";
    EXPECT_NEAR(base.us(unseen) / base.us(known), 1, 0.3);
    EXPECT_GT(std::abs(std::log(base.us(unseen)) - log_roofline_us(unseen)), 0.01);
  }
}

TEST_F(PredictTimes, MembersDisagreeAboutWhatTrainingHasNot) {
  const double usual = predicted({64, 64, 20, 3, true}).doubts.disagreement;
  EXPECT_GT(usual, 0);
  EXPECT_LT(usual, 0.1);
  const Predictor wide = train(made_up::dataset(campaign(Machine(), 40, 3, {"wide"})), small());
  double known = 0, unseen = 0;  // in the mean over some dense layers
  for (const int64_t size : {12, 20, 40})
    for (const int64_t channels : {24, 64, 150}) {
      const KernelCase dense = case_of_layer({channels, 90, size, 3, true, true});
      const KernelCase* all[] = {&dense};
      unseen += wide.kernels.at("llvm").log_times(all).front().doubts.disagreement;
      known += predictor_->kernels.at("llvm").log_times(all).front().doubts.disagreement;
    }
  EXPECT_GT(unseen, 1.5 * known);
}

TEST_F(PredictTimes, TheSameSeedGivesTheSameBytes) {
  TrainOptions options = small();
  options.regressor.boost.rounds = 20;
  const Dataset data = made_up::dataset(campaign(Machine(), 6));
  const std::string first = predictor_bytes(train(data, options));
  options.regressor.boost.threads = 1;
  EXPECT_EQ(predictor_bytes(train(data, options)), first);
  options.regressor.boost.seed = options.seed = 5;
  EXPECT_NE(predictor_bytes(train(data, options)), first);
}

TEST_F(PredictTimes, FilesKeepEverythingAndDamageIsSeen) {
  const std::string bytes = predictor_bytes(*predictor_);
  const Predictor again = parse_predictor(bytes, "p");
  const KernelCase one = case_of_layer({40, 50, 20, 3, true});
  const KernelCase* all[] = {&one};
  const TimePrediction before = predictor_->predict(all, 0.8).front(),
                       after = again.predict(all, 0.8).front();
  EXPECT_EQ(before.us, after.us);
  EXPECT_EQ(before.low_us, after.low_us);
  EXPECT_EQ(before.doubts.novelty, after.doubts.novelty);
  EXPECT_EQ(before.doubts.disagreement, after.doubts.disagreement);
  EXPECT_EQ(again.totals.at("llvm").range.limit, predictor_->totals.at("llvm").range.limit);
  EXPECT_EQ(again.totals.at("llvm").range.doubts, predictor_->totals.at("llvm").range.doubts);
  EXPECT_EQ(again.card.families.at("wide"), 40);
  ASSERT_EQ(again.machines.size(), 1);
  EXPECT_EQ(again.machines[0].sheets.at("llvm"), Machine().sheet());
  EXPECT_EQ(again.device_names(), std::vector<std::string>{"made up"});
  EXPECT_EQ(again.kernels.at("llvm").kinds.at("conv").kernels,
            predictor_->kernels.at("llvm").kinds.at("conv").kernels);
  EXPECT_EQ(again.card.held_out.at("models of llvm").median,
            predictor_->card.held_out.at("models of llvm").median);
  std::string damaged = bytes;
  damaged[damaged.size() / 2] ^= 1;
  EXPECT_THAT([&] { parse_predictor(damaged, "p"); }, ThrowsMessage<Error>(HasSubstr("p is damaged")));
  EXPECT_THAT([&] { parse_predictor(bytes.substr(0, bytes.size() / 3), "p"); },
              ThrowsMessage<Error>(HasSubstr("p is damaged")));
  EXPECT_THAT([&] { parse_predictor("what", "p"); }, ThrowsMessage<Error>(HasSubstr("p is no predictor")));
  std::string newer = bytes;
  const std::string format = "format " + std::to_string(kPredictorFormat);
  newer.replace(newer.find(format), format.size(), "format 17");
  EXPECT_THAT([&] { parse_predictor(newer, "p"); }, ThrowsMessage<Error>(HasSubstr("newer Baton")));
  EXPECT_THAT([] { load_predictor("/nowhere/p"); }, ThrowsMessage<Error>(HasSubstr("cannot be read")));
}

TEST_F(PredictTimes, WhatIsFarFromTrainingIsFlagged) {
  EXPECT_EQ(predicted({64, 64, 20, 3, true}).out_of_range, "");
  EXPECT_THAT(predicted({64, 4096, 200, 3, true}).out_of_range, HasSubstr("in training at most"));
  KernelCase other = case_of_layer({64, 64, 20, 3, true});
  other.kernel.operators[1].name = "tanh";
  const KernelCase* all[] = {&other};
  EXPECT_THAT(predictor_->predict(all).front().out_of_range,
              HasSubstr("never seen in training: operator tanh"));
  other.backend = "opencl";
  EXPECT_THAT([&] { predictor_->predict(all); },
              ThrowsMessage<Error>(HasSubstr("no kernels of backend opencl")));
}

TEST_F(PredictTimes, EveryMachineInTrainingHasItsSheet) {
  Machine other;
  other.name = "another";
  other.gflops = 160;
  std::vector<Measurement> rows = campaign(Machine(), 8);
  for (const Measurement& row : campaign(other, 4, 2)) rows.push_back(row);
  TrainOptions options = small();
  options.name = "both";
  const Predictor both = train(made_up::dataset(rows), options);
  ASSERT_EQ(both.machines.size(), 2);
  EXPECT_EQ(both.machines[0].name, "made up") << "of most kernels";
  EXPECT_EQ(both.machine_named("another")->sheets.at("llvm"), other.sheet());
  EXPECT_EQ(both.machine_named("both"), &both.machines[0]);
  EXPECT_EQ(both.machine_named("none"), nullptr);
  EXPECT_EQ(both.device_names(), (std::vector<std::string>{"both", "made up", "another"}));
}

TEST_F(PredictTimes, AKindThatTrainingHasTooFewOfHasItsRoofline) {
  const Predictor dense = train(made_up::dataset(campaign(Machine(), 30, 3, {"dense"})), small());
  const KernelCase one = case_of_layer({512, 512, 56, 3, false});
  const KernelCase* all[] = {&one};
  const TimePrediction time = dense.predict(all).front();
  EXPECT_EQ(time.too_few, "convolutions");
  EXPECT_THAT(time.out_of_range, HasSubstr("training has 0 convolutions, and needs 10"));
  EXPECT_LE(one.kernel.flops / time.us / 1e3, 80) << "billions of operations a second, of a peak of 80";
  EXPECT_LT(time.high_us, 25 * time.us) << "no interval without bounds";
}

TEST_F(PredictTimes, NoPredictionIsFasterThanThePeaks) {
  Predictor wrong = *predictor_;
  Regressor& llvm = wrong.kernels.at("llvm");
  llvm.centre -= 10;  // twenty thousand times as fast
  const KernelCase one = case_of_layer({128, 128, 28, 3, true});
  const KernelCase* all[] = {&one};
  const TimePrediction time = wrong.predict(all).front();
  EXPECT_LE(one.kernel.flops / time.us / 1e3, 1.11 * 80);
  EXPECT_LE(one.kernel.flops / time.low_us / 1e3, 1.11 * 80);
  const double slowest = std::exp(llvm.kinds.at("conv").high + log_roofline_us(one));
  llvm.centre += 20;
  EXPECT_LE(wrong.predict(all).front().us, 1.3 * slowest) << "nor slower than all of its kind";
}

TEST_F(PredictTimes, KernelsOfAModelThatWasDividedAreItsOwn) {
  // As in the data set: the row of the model says llvm, those of its kernels the backend of their part.
  std::vector<Measurement> rows = campaign(Machine(), 10);
  int models = 0;
  for (Measurement& row : rows) {
    if (row.work.kind == WorkKind::kModel) {
      row.build.backend = "dnnl";
      row.configuration = row.work.id() + "#0";
      ++models;
    } else {
      row.build.backend = row.build.target = "dnnl";
      row.configuration = row.model_id + (row.node % 2 ? "#1" : "");
    }
  }
  const Dataset data = made_up::dataset(rows);
  EXPECT_EQ(data.models.size(), static_cast<size_t>(models));
  EXPECT_TRUE(data.left_out.empty());
  EXPECT_EQ(data.models[0].backend, "dnnl");
  // The same of profiles, which have no configuration.
  for (Measurement& row : rows) row.configuration.clear();
  EXPECT_EQ(made_up::dataset(rows).models.size(), static_cast<size_t>(models));
  // Measured twice is one model, with two times.
  std::vector<Measurement> again = rows;
  for (Measurement& row : again) row.begun_s += 1000;
  again.insert(again.end(), rows.begin(), rows.end());
  const Dataset twice = made_up::dataset(again);
  ASSERT_EQ(twice.models.size(), static_cast<size_t>(models));
  EXPECT_EQ(twice.models[0].again_us.size(), 2);
}

TEST_F(PredictTimes, WholeModelsWithoutKernelsAreCounted) {
  std::vector<Measurement> rows = campaign(Machine(), 10);
  std::erase_if(rows, [](const Measurement& row) {
    return row.model == "wide-3" && row.work.kind == WorkKind::kKernel;
  });
  const Dataset data = made_up::dataset(rows);
  EXPECT_EQ(data.left_out.at("whole models none of whose kernels were measured"), 1);
  EXPECT_EQ(data.models.size(), 29);
}

TEST_F(PredictTimes, BadRowsAreLeftOutAndCounted) {
  std::vector<Measurement> rows = campaign(Machine(), 8);
  const size_t good = made_up::dataset(rows).kernels.size();
  Measurement wrong = rows[0];
  wrong.work.text += " nan";
  wrong.median_us = std::nan("");
  rows.push_back(wrong);
  wrong.median_us = -1;
  rows.push_back(wrong);
  wrong = rows[0];
  wrong.work.text += " type";
  wrong.work.operators[0].type = "Tensor[(what";
  rows.push_back(wrong);
  wrong = rows[0];
  wrong.work.text += " disturbed";
  wrong.unreliable = "others were busy";
  wrong.model_id.clear();
  rows.push_back(wrong);
  const Dataset data = made_up::dataset(rows);
  EXPECT_EQ(data.left_out.at("a time, operations or bytes that are no positive number"), 2);
  EXPECT_EQ(data.left_out.at("operators that cannot be read"), 1);
  EXPECT_EQ(data.left_out.at("disturbed while it was measured"), 1);
  EXPECT_EQ(data.kernels.size(), good + 1);  // the disturbed one, which is not trained with
  EXPECT_EQ(train(data, small()).kernels.at("llvm").trained_on, static_cast<int64_t>(good));
}

TEST_F(PredictTimes, EmptyConstantAndSmallDataAreRefused) {
  EXPECT_THAT([] { train(Dataset(), small()); }, ThrowsMessage<Error>(HasSubstr("no kernel to train with")));
  std::mt19937 random(1);
  std::vector<Measurement> same(50, made_up::measured(Machine(), {}, random));
  EXPECT_THAT([&] { train(made_up::dataset(same), small()); },
              ThrowsMessage<Error>(HasSubstr("at least 20")));
  TrainOptions other = small();
  other.only_backend = "dnnl";
  EXPECT_THAT([&] { train(*data_, other); },
              ThrowsMessage<Error>(HasSubstr("no kernel to train with on dnnl")));
  EXPECT_THAT([&] { evaluate(made_up::dataset(same), {small()}); },
              ThrowsMessage<Error>(HasSubstr("held out")));
  // Times that are all the same can be learned.
  std::vector<Measurement> constant = campaign(Machine(), 10);
  for (Measurement& each : constant) each.median_us = 10;
  const Predictor made = train(made_up::dataset(constant), small());
  const KernelCase one = case_of_layer({40, 50, 20, 3, true});
  const KernelCase* all[] = {&one};
  EXPECT_NEAR(made.predict(all).front().us, 10, 3);
}

TEST_F(PredictTimes, OneFamilyIsEnoughButNothingElseIsInItsRange) {
  const Predictor made = train(made_up::dataset(campaign(Machine(), 25, 3, {"wide"})), small());
  EXPECT_EQ(made.card.families.size(), 1u);
  const KernelCase dense = case_of_layer({64, 64, 20, 3, true, true});
  const KernelCase* all[] = {&dense};
  EXPECT_NE(made.predict(all).front().out_of_range, "");
}

TEST_F(PredictTimes, TransfersAreLatencyAndRate) {
  std::vector<Measurement> rows = campaign(Machine(), 6);
  for (const double bytes : {1e3, 1e4, 1e5, 1e6, 1e7}) {
    Measurement copy;
    copy.work.kind = WorkKind::kTransfer;
    copy.work.text = "copy " + std::to_string(static_cast<int64_t>(bytes)) + " from cpu to opencl";
    copy.work.bytes = bytes;
    copy.median_us = 5 + bytes / 8e3;
    copy.device = Machine().sheet();
    rows.push_back(copy);
  }
  const Predictor made = train(made_up::dataset(rows), small());
  EXPECT_NEAR(made.predict_transfer("cpu", "opencl", 1e6, {}).us, 130, 1);
  EXPECT_EQ(made.predict_transfer("cpu", "opencl", 1e6, {}).out_of_range, "");
  EXPECT_NE(made.predict_transfer("cpu", "opencl", 1e9, {}).out_of_range, "");
  DeviceSheet linked;
  linked.links = {{"cuda", 10, 20}};
  EXPECT_NEAR(made.predict_transfer("cpu", "cuda", 1e6, linked).us, 120, 1);
  EXPECT_THAT([&] { made.predict_transfer("cpu", "cuda", 1e6, {}); },
              ThrowsMessage<Error>(HasSubstr("no copy from")));
}

TEST_F(PredictTimes, PartsThatWereNotMeasuredAreSplitByTheirRooflines) {
  const auto shares_of = [](const std::string& text) {
    const Function function = function_of_text(text);
    KernelCase kernel;
    kernel.kernel = describe(*function);
    kernel.backend = "llvm";
    kernel.sheet = std::make_shared<const DeviceSheet>(Machine().sheet());
    const KernelCase* one[] = {&kernel};
    EXPECT_TRUE(predictor_->shares(one).empty()) << "no parts were measured";
    const std::vector<double> shares = roofline_shares(kernel, kernel_blocks(*function));
    EXPECT_NEAR(std::accumulate(shares.begin(), shares.end(), 0.0), 1, 1e-9);
    return shares;
  };
  const std::vector<double> conv = shares_of(
      "fn (%p0: Tensor[(1, 64, 28, 28), float32], %p1: Tensor[(64, 64, 3, 3), float32], "
      "%p2: Tensor[(64, 1, 1), float32]) {\n  %0 = nn.conv2d(%p0, %p1, padding=[1, 1, 1, 1], channels=64, "
      "kernel_size=[3, 3]);\n  %1 = add(%0, %p2);\n  nn.relu(%1)\n}");
  ASSERT_EQ(conv.size(), 3);
  EXPECT_GT(conv[0], 0.97);
  // A function is many operations; what is handed on inside is not moved.
  const std::vector<double> chain = shares_of(
      "fn (%p0: Tensor[(64, 1000), float32]) {\n  %0 = multiply(%p0, 2f);\n  %1 = sigmoid(%0);\n  "
      "add(%1, 1f)\n}");
  ASSERT_EQ(chain.size(), 3);
  EXPECT_GT(chain[1], 0.2);
  EXPECT_NEAR(chain[0], chain[2], 0.01);
}

TEST_F(PredictTimes, CarriedOverItNeedsFewerKernels) {
  Machine other;
  other.name = "another";
  other.gflops = 300;
  other.gbytes_per_s = 15;
  other.launch_us = 6;
  const Dataset fresh = made_up::dataset(campaign(other, 30, 11));
  constexpr int kSizes[] = {0, 50, 100};
  const std::vector<CarryRow> curve = carry_curve(fresh, "llvm", predictor_, kSizes, small());
  ASSERT_EQ(curve.size(), 3u);
  EXPECT_EQ(curve[0].scratch.count, 0);
  EXPECT_LT(curve[1].carried.median_error, curve[0].carried.median_error);
  EXPECT_LT(curve[1].carried.median_error, curve[1].scratch.median_error);
  EXPECT_LT(curve[2].carried.median_error, 1.1 * curve[2].scratch.median_error);  // enough for either
}

// Which predictor to carry over: the one whose errors on the new machine are nearly the same for all kernels.
TEST_F(PredictTimes, TheSpreadOfErrorsTellsWhichMachineIsNear) {
  Machine slower, other;
  slower.gflops /= 2, slower.gbytes_per_s /= 2, slower.launch_us *= 2, slower.name = "half as fast";
  other.gflops *= 4, other.gbytes_per_s /= 4, other.name = "another";
  const double near = error_spread(*predictor_, made_up::dataset(campaign(slower, 6, 3)), "llvm");
  EXPECT_LT(near, error_spread(*predictor_, made_up::dataset(campaign(other, 6, 3)), "llvm"));
  EXPECT_TRUE(std::isinf(error_spread(*predictor_, made_up::dataset(campaign(slower, 6, 3)), "dnnl")));
}

TEST_F(PredictTimes, EvaluationsHoldOutAndCompare) {
  EvaluateOptions options{small()};
  options.train.regressor.boost.rounds = 25;
  options.train.regressor.spread_rounds = 20;
  options.folds = 2;
  const Evaluation evaluation = evaluate(made_up::dataset(campaign(Machine(), 30)), options);
  const AccuracyRow* ours = evaluation.find("kernels", "llvm", "model", "baton");
  const AccuracyRow* operations = evaluation.find("kernels", "llvm", "model", "operations");
  const AccuracyRow* roofline = evaluation.find("kernels", "llvm", "model", "roofline");
  const AccuracyRow* forest = evaluation.find("kernels", "llvm", "model", "forest on shapes");
  ASSERT_TRUE(ours && operations && roofline && forest);
  for (const AccuracyRow* other : {operations, roofline, forest})
    EXPECT_LT(ours->accuracy.median_error, other->accuracy.median_error) << other->predictor;
  EXPECT_GE(ours->accuracy.coverage, 0.85);
  EXPECT_LE(ours->accuracy.coverage, 0.95);
  const AccuracyRow* models = evaluation.find("models", "llvm", "model", "baton");
  ASSERT_TRUE(models);
  EXPECT_EQ(models->accuracy.count, 90);
  EXPECT_LE(models->accuracy.flagged, 0.2);
  ASSERT_TRUE(evaluation.find("models", "llvm", "family", "baton"));
  const AccuracyRow* larger = evaluation.find("models", "llvm", "larger", "baton");
  ASSERT_TRUE(larger);
  EXPECT_EQ(larger->accuracy.count, 18);
  EXPECT_LT(larger->accuracy.median_error, 0.15);
  ASSERT_TRUE(evaluation.find("models", "llvm", "family dense", "baton"));
  const std::string page = evaluation_page(evaluation, *predictor_);
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_THAT(page, HasSubstr("forest on shapes"));
  std::ostringstream table;
  write_evaluation(table, evaluation);
  EXPECT_THAT(table.str(), HasSubstr("model, seen kernels allowed"));
}

TEST(PredictAccuracy, IsOfRelativeErrors) {
  std::vector<PredictedTime> times(4);
  for (size_t i = 0; i < 4; ++i) {
    times[i].measured_us = 100 * static_cast<double>(i + 1);
    times[i].predicted.us = times[i].measured_us * (1 + 0.08 * static_cast<double>(i));
    times[i].predicted.low_us = times[i].predicted.us * 0.9;
    times[i].predicted.high_us = times[i].predicted.us * 1.1;
  }
  times[3].predicted.out_of_range = "far";
  const Accuracy accuracy = accuracy_of(times, true);
  EXPECT_NEAR(accuracy.median_error, 0.12, 1e-9);
  EXPECT_EQ(accuracy.within_10, 0.5);
  EXPECT_EQ(accuracy.within_20, 0.75);
  EXPECT_EQ(accuracy.coverage, 0.5);
  EXPECT_NEAR(accuracy.width, 0.2, 1e-9);
  EXPECT_EQ(accuracy.kendall_tau, 1);
  EXPECT_EQ(accuracy.large, 1);
  EXPECT_EQ(accuracy.large_flagged, 1);
}

TEST(PredictAccuracy, ConformalScoresCoverNewOnes) {
  const std::vector<double> scores{1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_EQ(conformal_score(scores, 0.5), 5);
  EXPECT_EQ(conformal_score(scores, 0.9), 9);
  EXPECT_GT(conformal_score(scores, 0.99), 9);  // too few for the level
  EXPECT_EQ(conformal_score({}, 0.9), 0);
}

TEST(PredictTrees, AreWhatXGBoostTrained) {
  // y = step of x0, and unknown values go where most of their like went.
  FeatureRows rows{2, {}};
  std::vector<float> labels, weights(200, 1);
  for (int i = 0; i < 200; ++i) {
    const float x = static_cast<float>(i) / 100;
    rows.values.push_back(i % 10 == 0 ? std::nanf("") : x);
    rows.values.push_back(static_cast<float>(i % 7));
    labels.push_back(i % 10 == 0 ? 5.0F : x < 1 ? -1.0F : 1.0F);
  }
  BoostOptions options;
  options.rounds = 200;
  options.row_part = options.column_part = 1;
  const Trees trees = boost(rows, labels, weights, options);
  EXPECT_EQ(trees.count(), 200u);
  const std::vector<double> sums = trees.sums(rows);
  for (size_t i = 0; i < labels.size(); ++i) EXPECT_NEAR(sums[i], static_cast<double>(labels[i]), 0.1) << i;
  std::string bytes;
  trees.append_to(bytes);
  size_t at = 0;
  EXPECT_EQ(Trees::read(bytes, at, 2).sums(rows), sums);
  EXPECT_EQ(at, bytes.size());
  at = 0;
  EXPECT_THROW(Trees::read(bytes.substr(0, bytes.size() - 3), at, 2), Error);
  at = 0;
  EXPECT_THROW(Trees::read(bytes, at, 0), Error);  // of features that there are not
}

}  // namespace
}  // namespace baton
