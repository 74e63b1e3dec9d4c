#include "baton/campaign/campaign.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "baton/campaign/reference.h"
#include "baton/campaign/rows.h"
#include "baton/codegen/backend.h"
#include "baton/driver/build.h"
#include "baton/driver/initialize.h"
#include "baton/driver/load_model.h"
#include "baton/farm/measure/measure_job.h"
#include "baton/profile/record/record.h"
#include "baton/profile/record/work.h"
#include "baton/profile/report/profile.h"
#include "baton/store/columns.h"
#include "baton/support/base/files.h"
#include "baton/support/error.h"
#include "baton/support/interrupt.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// What a worker reports, without running anything.
class Recorded final : public Worker {
 public:
  std::function<JobResult(const Job&)> answer;
  int machines() const override { return 1; }
  void submit(const Job& job) override { jobs.push_back(job); }
  std::optional<JobResult> next(double) override {
    if (answered == jobs.size()) return std::nullopt;
    return answer(jobs[answered++]);
  }
  std::vector<WorkerMachine> machine_list() const override { return list; }
  std::vector<Job> jobs;
  size_t answered = 0;
  std::vector<WorkerMachine> list = {{"", DeviceSheet::host(), {}}};
};

class Campaigns : public testing::Test {
 protected:
  void SetUp() override {
    initialize();
    ASSERT_TRUE(folder_.create("campaign").ok());
    design_.patterns = 5;
    design_.seed = 3;
    options_.context = host_context();
    options_.wait_s = 0;
    auto worker = std::make_unique<Recorded>();
    recorded_ = worker.get();
    worker_.worker = std::move(worker);
    worker_.add = [this](const std::string& name, std::shared_ptr<const BuildResult> program,
                         const std::vector<NDArray>&) {
      programs_[name] = std::move(program);
      return name;
    };
    worker_.remove = [this](const std::string& name) { programs_.erase(name); };
    recorded_->answer = [this](const Job& job) { return steady(job, 100); };
  }

  JobResult steady(const Job& job, double us) const {
    JobResult result;
    result.id = job.id;
    result.machine = "test";
    result.device = DeviceSheet::host();
    const auto add = [&](const std::string& node, double node_us) {
      JobRow row;
      row.node = node;
      for (int i = 0; i < 30; ++i) row.samples_us.push_back(node_us + 0.01 * i);
      result.rows.push_back(std::move(row));
    };
    std::vector<std::string> kernels;
    for (const PlanNode& node : programs_.at(job.bundle)->plan.graph->nodes)
      if (node.kind == PlanNode::Kind::kKernel) kernels.push_back(node.name);
    // The whole takes what its kernels take.
    if (!job.protocol.alone) add("", us * static_cast<double>(std::max<size_t>(1, kernels.size())));
    if (!job.protocol.nodes) return result;
    for (const std::string& kernel : kernels) add(kernel, us);
    return result;
  }

  Store store() const { return Store::open(folder_.path("store.db"), Store::Mode::kWrite); }

  TemporaryFolder folder_;
  Design design_;
  CampaignOptions options_;
  CampaignWorker worker_;
  Recorded* recorded_ = nullptr;
  std::map<std::string, std::shared_ptr<const BuildResult>> programs_;
};

TEST_F(Campaigns, GoOnWhereTheyEnded) {
  Store kept = store();
  int left = 3;  // the reference is the first
  recorded_->answer = [&](const Job& job) -> JobResult {
    if (left-- == 0) throw Interrupted("killed");
    return steady(job, 100);
  };
  const CampaignReport first = run_campaign(kept, design_, worker_, options_);
  EXPECT_EQ(first.partial, "interrupted");
  EXPECT_EQ(first.measured, 2);
  EXPECT_TRUE(programs_.empty());
  recorded_->jobs.clear();
  recorded_->answered = 0;
  recorded_->answer = [this](const Job& job) { return steady(job, 100); };
  const CampaignReport second = run_campaign(kept, design_, worker_, options_);
  EXPECT_EQ(second.finished_before, 2);
  EXPECT_EQ(second.measured, 3);
  std::set<std::string> keys;
  int64_t kernels = 0;
  StoreQuery query;
  query.kind = WorkKind::kKernel;
  kept.each(query, [&](const Measurement& row) {
    kernels += keys.insert(row.configuration + std::to_string(row.node)).second;
    EXPECT_GT(row.reference_us, 0);
    return true;
  });
  EXPECT_EQ(kernels, kept.count(query));
  EXPECT_EQ(run_campaign(kept, design_, worker_, options_).measured, 0);
}

TEST_F(Campaigns, AFailedJobCostsOneRow) {
  Store kept = store();
  int count = 0;
  recorded_->answer = [&](const Job& job) {
    JobResult result = steady(job, 100);
    if (count++ == 2) result.error = "killed by signal 11";
    return result;
  };
  const CampaignReport report = run_campaign(kept, design_, worker_, options_);
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(report.measured, 4);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].why, "killed by signal 11");
  EXPECT_EQ(campaign_status(kept, options_.name).failed, 1);
  EXPECT_EQ(run_campaign(kept, design_, worker_, options_).finished_before, 5);
}

/// Samples so many times as long.
JobResult scaled(double factor, JobResult result) {
  for (JobRow& row : result.rows)
    for (double& us : row.samples_us) us *= factor;
  return result;
}

TEST_F(Campaigns, WhatCannotBeCostsOneRowThatSaysWhy) {
  Store kept = store();
  int count = 0;
  recorded_->answer = [&](const Job& job) { return scaled(count++ == 2 ? 0 : 1, steady(job, 100)); };
  const CampaignReport report = run_campaign(kept, design_, worker_, options_);
  EXPECT_EQ(report.failed, 1);
  EXPECT_EQ(report.measured, 4);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_THAT(report.failures[0].why, testing::MatchesRegex("not believed: .*: a sample of 0 us"));
}

// Its results were refused as those of no machine.
TEST_F(Campaigns, BelieveAMachineThatCameAfterTheJobWasSubmitted) {
  Store kept = store();
  recorded_->list = {{"first", DeviceSheet::host(), {}}};
  recorded_->answer = [&](const Job& job) {
    recorded_->list.push_back({"test", DeviceSheet::host(), {}});
    JobResult result = steady(job, 100);
    if (!job.machine.empty()) result.machine = job.machine;
    return result;
  };
  EXPECT_EQ(run_campaign(kept, design_, worker_, options_).failed, 0);
}

TEST_F(Campaigns, LookTwiceAtWhatIsOff) {
  for (const bool is_slow : {false, true}) {
    options_.name = is_slow ? "slow" : "glitch";
    Store kept = store();
    std::string odd;
    recorded_->answer = [&](const Job& job) {
      if (odd.empty() && !job.id.starts_with("reference")) {
        odd = job.id;
        return scaled(50, steady(job, 100));
      }
      return scaled(is_slow && job.id == odd ? 45 : 1, steady(job, 100));
    };
    const CampaignReport report = run_campaign(kept, design_, worker_, options_);
    EXPECT_EQ(report.measured, 5);
    EXPECT_EQ(report.failed, 0);
    StoreQuery query;
    query.kind = WorkKind::kKernel;
    query.campaign = options_.name;
    int slow = 0;
    kept.each(query, [&](const Measurement& row) { return slow += row.median_us > 1000, true; });
    EXPECT_EQ(slow > 0, is_slow) << "two looks that agree are believed";
    if (is_slow) continue;
    ASSERT_EQ(report.notes.size(), 1u);
    EXPECT_THAT(report.notes[0], HasSubstr(" was measured again: test said "));
  }
}

TEST_F(Campaigns, TwoLooksThatDifferCostOneRow) {
  Store kept = store();
  double factor = 20;
  std::string odd;
  recorded_->answer = [&](const Job& job) {
    if (odd.empty() && !job.id.starts_with("reference")) odd = job.id;
    return scaled(job.id == odd ? factor *= 2 : 1, steady(job, 100));
  };
  const CampaignReport report = run_campaign(kept, design_, worker_, options_);
  EXPECT_EQ(report.failed, 1);
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_THAT(report.failures[0].why,
              testing::MatchesRegex("not believed: .*; measured again: not believed: .*"));
}

TEST_F(Campaigns, MarkRowsOfAMachineWhoseReferenceIsNotBelieved) {
  Store kept = store();
  recorded_->answer = [&](const Job& job) {
    return scaled(job.id == "reference" ? 100 : 1, steady(job, 100));
  };
  const CampaignReport report = run_campaign(kept, design_, worker_, options_);
  EXPECT_THAT(report.notes,
              testing::Contains(HasSubstr("the reference kernel's time on test is not believed")));
  EXPECT_EQ(report.timed_rows, 0);
  kept.each({}, [&](const Measurement& row) {
    EXPECT_NE(row.unreliable, "") << row.work.brief;
    return true;
  });
}

TEST_F(Campaigns, MarkRowsWhenTheReferenceDrifts) {
  Store kept = store();
  options_.reference_s = 0;
  int references = 0;
  recorded_->answer = [&](const Job& job) {
    return steady(job, job.id == "reference" && references++ > 1 ? 120 : 100);
  };
  const CampaignReport report = run_campaign(kept, design_, worker_, options_);
  EXPECT_NEAR(report.drift, 0.2, 0.01);
  int64_t marked = 0;
  kept.each({}, [&](const Measurement& row) {
    return marked += row.unreliable.find("drifted") != std::string::npos, true;
  });
  EXPECT_GT(marked, 0);
  EXPECT_FALSE(report.notes.empty());
}

TEST(ReferenceTimes, KnowWhatIsUsual) {
  ReferenceTimes quiet, noisy;
  for (int i = 0; i < 7; ++i) noisy.add(100 + 10 * (i % 3), true);
  EXPECT_EQ(noisy.usual_drift(), 0) << "too few";
  for (int i = 0; i < 20; ++i) {
    quiet.add(100 + 0.1 * (i % 3), true);
    noisy.add(100 + 10 * (i % 3), true);
  }
  EXPECT_LT(quiet.usual_drift(), 0.01);
  EXPECT_GT(noisy.usual_drift(), 0.2);
  EXPECT_LT(noisy.usual_drift(), 0.6);
  noisy.add(200, true);
  EXPECT_GT(noisy.drift(), noisy.usual_drift());
}

TEST_F(Campaigns, JudgeEachMachineByItsOwnReference) {
  Store kept = store();
  recorded_->list = {{"slow", DeviceSheet::host(), {}}, {"fast", DeviceSheet::host(), {}}};
  options_.reference_s = 0;
  int jobs = 0;
  recorded_->answer = [&](const Job& job) {
    const bool slow = job.machine.empty() ? jobs++ % 2 == 0 : job.machine == "slow";
    JobResult result = steady(job, slow ? 60 : 20);
    result.machine = slow ? "slow" : "fast";
    if (job.machine == "fast" && jobs == 1) {
      result.rows.clear();
      result.error = "its disk is full";
    }
    return result;
  };
  const CampaignReport report = run_campaign(kept, design_, worker_, options_);
  EXPECT_EQ(report.measured, 5);
  EXPECT_LT(report.drift, 0.01);
  EXPECT_THAT(report.notes,
              ElementsAre("the reference kernel could not be measured on fast: its disk is full"));
  kept.each({}, [&](const Measurement& row) {
    EXPECT_EQ(row.unreliable, "");
    EXPECT_NEAR(row.reference_us, row.machine == "slow" ? 60 : 20, 1);
    if (row.work.kind != WorkKind::kModel) {
      EXPECT_NEAR(row.median_us, row.reference_us, 1);
    }
    return true;
  });
}

TEST_F(Campaigns, RetryWhatHasFailedWhenTold) {
  Store kept = store();
  int count = 0;
  recorded_->answer = [&](const Job& job) {
    JobResult result = steady(job, 100);
    result.machine = "other";
    if (const int i = count++; i == 2 || i == 4) {
      result.rows.clear();
      result.error = "killed by signal 11";
    }
    return result;
  };
  EXPECT_EQ(run_campaign(kept, design_, worker_, options_).failed, 2);
  int failures = 0;
  kept.each({}, [&](const Measurement& row) {
    if (row.unreliable != "failed: killed by signal 11") return true;
    EXPECT_EQ(row.machine, "other") << "where it failed";
    return ++failures, true;
  });
  EXPECT_EQ(failures, 2);
  options_.retry_failed = true;
  recorded_->answer = [&](const Job& job) {
    JobResult result = steady(job, 100);
    if (count++ == 7) {  // after six answers before, and the reference
      result.rows.clear();
      result.error = "killed by signal 11 again";
    }
    return result;
  };
  const CampaignReport again = run_campaign(kept, design_, worker_, options_);
  EXPECT_EQ(again.finished_before, 3);
  EXPECT_EQ(again.retried, 2);
  EXPECT_EQ(again.measured, 1);
  EXPECT_EQ(again.failed, 1);
  const CampaignStatus status = campaign_status(kept, options_.name);
  EXPECT_EQ(status.configurations, 4u);
  EXPECT_EQ(status.failed, 1u);
  recorded_->answer = [&](const Job& job) { return steady(job, 100); };
  EXPECT_EQ(run_campaign(kept, design_, worker_, options_).retried, 1);
  EXPECT_EQ(run_campaign(kept, design_, worker_, options_).retried, 0);
  EXPECT_EQ(campaign_status(kept, options_.name).failed, 0u);
}

TEST_F(Campaigns, AnInterruptDuringABuildIsAnInterrupt) {
  Store kept = store();
  std::atomic<bool> interrupt{false};
  options_.context.interrupt = &interrupt;
  options_.progress = [&](const CampaignProgress& now) { interrupt = now.phase == "building"; };
  const CampaignReport report = run_campaign(kept, design_, worker_, options_);
  EXPECT_EQ(report.partial, "interrupted");
  EXPECT_EQ(report.failed, 0) << "a build that was interrupted has not failed";
  EXPECT_EQ(campaign_status(kept, options_.name).failed, 0u);
}

TEST_F(Campaigns, ALostWorkerIsNotTheJobsFault) {
  Store kept = store();
  int count = 0;
  recorded_->answer = [&](const Job& job) {
    JobResult result = steady(job, 100);
    if (count++ == 1) {
      result.error = "the worker is gone";
      result.retry = true;
    }
    return result;
  };
  const CampaignReport report = run_campaign(kept, design_, worker_, options_);
  EXPECT_EQ(report.failed, 0);
  EXPECT_EQ(report.measured, 5);
}

TEST_F(Campaigns, UnsteadyAndDisturbedConfigurationsAreVisitedAgain) {
  const std::function<void(JobRow&)> changes[] = {[](JobRow& row) {
                                                    for (size_t i = 0; i < row.samples_us.size(); i += 2)
                                                      row.samples_us[i] *= 2;
                                                  },
                                                  [](JobRow& row) {
                                                    row.under_load = row.interrupted = true;
                                                    for (size_t i = 1; i < row.samples_us.size(); ++i)
                                                      row.samples_us[i] *= 1.5;
                                                  }};
  for (const auto& change : changes) {
    options_.name += "again";
    Store kept = store();
    std::set<std::string> seen;
    recorded_->answer = [&](const Job& job) {
      JobResult result = steady(job, 40);
      if (seen.insert(job.id).second && seen.size() == 2)
        for (JobRow& row : result.rows) change(row);
      return result;
    };
    std::vector<std::string> shown;
    options_.progress = [&](const CampaignProgress& now) {
      shown.push_back(now.phase + " " + std::to_string(now.done) + "/" + std::to_string(now.total));
    };
    EXPECT_EQ(run_campaign(kept, design_, worker_, options_).revisited, 1);
    EXPECT_THAT(shown, testing::IsSupersetOf({"measuring 5/5", "building again 0/1", "measuring again 1/1"}));
    EXPECT_EQ(campaign_status(kept, options_.name).configurations, 5u);
  }
}

TEST_F(Campaigns, SecondVisitsGoOnWhereTheyEnded) {
  Store kept = store();
  std::map<std::string, int> asked;
  int left = 2;
  recorded_->answer = [&](const Job& job) {
    if (!job.id.starts_with("reference") && ++asked[job.id] == 2 && left-- == 0) throw Interrupted("killed");
    JobResult result = steady(job, 40);
    for (JobRow& row : result.rows)
      for (size_t i = 0; i < row.samples_us.size(); i += 2) row.samples_us[i] *= 2;
    return result;
  };
  const auto run = [&] {
    recorded_->answered = recorded_->jobs.size();
    return run_campaign(kept, design_, worker_, options_);
  };
  const CampaignReport first = run();
  EXPECT_EQ(first.partial, "interrupted");
  EXPECT_EQ(first.measured, 5);
  EXPECT_EQ(first.revisited, 2);
  const CampaignReport second = run();
  EXPECT_EQ(second.partial, "");
  EXPECT_EQ(second.finished_before, 5);
  EXPECT_EQ(second.measured, 0);
  EXPECT_EQ(second.revisited, 3);
  EXPECT_EQ(run().revisited, 0);
  design_.visits = 4;
  EXPECT_EQ(run().revisited, 10);
  EXPECT_EQ(campaign_status(kept, options_.name).configurations, 5u);
  std::set<std::string> rows;
  kept.each({}, [&](const Measurement& row) {
    if (row.work.kind == WorkKind::kReference) return true;
    EXPECT_TRUE(rows.insert(row.configuration + " " + std::to_string(row.node)).second) << row.configuration;
    return true;
  });
}

/// Names of the columns that have a value.
std::set<std::string> filled(const Measurement& row) {
  std::set<std::string> names;
  for_each_column(row, [&](const MeasurementColumn& column, const auto& value) {
    if (value != std::remove_cvref_t<decltype(value)>()) names.insert(column.name);
  });
  // Whether a sample was disturbed or lies outside is up to the machine, where a row is from to its protocol.
  for (const char* name : {"disturbed", "outliers", "load", "others_busy", "unreliable", "reference_us",
                           "campaign", "configuration", "cv", "cache"})
    names.erase(name);
  return names;
}

// Profiles had no clock and no disturbed samples, campaigns no +-, and each its own rule for outliers.
TEST_F(Campaigns, AndProfilesOfTheSameKernelsFillTheSameColumns) {
  const IRModule module = infer_types(parse_module(R"(#[version = "0.0.5"]
def @main(%data: Tensor[(1, 16, 28, 28), float32], %w: Tensor[(32, 16, 3, 3), float32]) {
  %0 = nn.conv2d(%data, %w, padding=[1, 1, 1, 1]);
  nn.softmax(nn.batch_flatten(nn.relu(%0)))
}
)"));
  LoadedModel model{"small", module, {}};
  BuildOptions build_options{.context = host_context()};
  build_options.params = load_params(model, "");
  const BuildResult built = build(module, build_options);
  const std::unique_ptr<Executor> executor = make_executor(built);
  executor->set_threads(1);

  ProfileOptions how;
  how.context = build_options.context;
  how.unfused = how.peaks = false;
  how.max_seconds = 3;
  ProfileReport report = profile(built, *executor, how);
  report.model = "small";
  report.opt_level = how.context.passes->opt_level;
  const RecordSource record{&built, nullptr, module, &how.context, true, "here", "tiny", 1'700'000'000};
  std::map<std::pair<std::string, uint32_t>, Measurement> by_profile;
  for (Measurement& row : measurements_of(report, record))
    if (row.work.kind != WorkKind::kPart) by_profile[{row.work.id(), row.node}] = row;

  Protocol protocol;
  protocol.nodes = true;
  CorePace pace;
  JobResult result;
  result.machine = "here";
  result.device = how.context.host();
  result.rows = measure_job(*executor, protocol, {.core = [&] { return pace.look(); }}).rows;
  Subject subject{Subject::Kind::kModel, "small", "tiny", module, model_work(module)};
  subject.work.brief = "small";
  const Configuration configuration{"key", 0, "llvm", 1};
  RowSource source{&subject, &built, &configuration, &how.context, "first", "", 100, "", 1'700'000'001};
  std::vector<Measurement> by_campaign = measurements_of_job(result, source);
  ASSERT_EQ(by_campaign.size(), by_profile.size());
  int agree = 0, compared = 0;
  for (const Measurement& row : by_campaign) {
    const Measurement& other = by_profile.at({row.work.id(), row.node});
    EXPECT_EQ(filled(row), filled(other)) << row.work.brief;
    EXPECT_EQ(row.protocol, "campaign");
    EXPECT_EQ(other.protocol, "profile");
    EXPECT_EQ(row.build, other.build) << row.work.brief;
    EXPECT_EQ(row.origins, other.origins) << row.work.brief;
    EXPECT_GT(row.core_ns, 0);
    EXPECT_GT(other.core_ns, 0);
    const double apart = std::abs(row.median_us - other.median_us);
    agree += apart <= std::hypot(row.plus_minus_us.value(), other.plus_minus_us.value());
    ++compared;
  }
  RecordProperty("agree", std::to_string(agree) + " of " + std::to_string(compared));
}

TEST_F(Campaigns, MeasureInARunnerProcess) {
  Store kept = store();
  design_.caches = {CacheState::kHot, CacheState::kFlushed};
  design_.protocol.max_seconds = 0.2;
  design_.visits = 1;
  const CampaignWorker here = campaign_worker({.on = "local"});
  const CampaignReport report = run_campaign(kept, design_, here, options_);
  EXPECT_EQ(report.measured, 5) << campaign_json(report);
  StoreQuery query;
  for (const CacheState cache : {CacheState::kHot, CacheState::kFlushed}) {
    query.cache = cache;
    query.kind = WorkKind::kKernel;
    EXPECT_GE(kept.count(query), 5);
  }
  kept.each(query, [](const Measurement& row) {
    EXPECT_GT(row.median_us, 0);
    EXPECT_FALSE(row.work.operators.empty());
    return true;
  });
}

TEST(CampaignWorkers, SayWhereTheyAreNot) {
  try {
    campaign_worker({.on = "moon"});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("moon"));
  }
}

// Beside other programs every row was marked, and no predictor could be trained with them.
TEST(CampaignRows, BesideOtherProgramsWhatNothingInterruptedCounts) {
  RoundSamples samples;
  for (int i = 0; i < 640; ++i) {
    const bool held = i % 3 == 0;
    samples.add((held ? 3000 : 100) + i % 7, held);
  }
  samples.disturbed.assign(samples.us.size(), true);
  const JobRow row = summed_up(samples, Protocol(), 2);
  EXPECT_TRUE(row.under_load);
  EXPECT_FALSE(row.interrupted);
  EXPECT_THAT(row.disturbed, ElementsAre());
  EXPECT_LE(row.samples_us.size(), 64u);
  EXPECT_NEAR(least_disturbed_us(row.samples_us), 102, 2);
  EXPECT_LT(row.samples_us.back(), 200);
  EXPECT_EQ(row.calls_per_sample, 2);
}

TEST(CampaignRows, ManySamplesBecomeMediansOfGroups) {
  RoundSamples samples;
  for (int i = 0; i < 640; ++i) samples.add(i % 10 == 0 ? 200 : 100, i == 5);
  const JobRow row = summed_up(samples, Protocol(), 2);
  EXPECT_LE(row.samples_us.size(), 72u);
  EXPECT_THAT(row.disturbed, ElementsAre(row.samples_us.size() - 1));
  EXPECT_GT(row.calls_per_sample, 10);
  EXPECT_EQ(row.samples_us[0], 100);
}

}  // namespace
}  // namespace baton
