// Runners and farms as workers, with scripts in their place: what crashes, hangs or lies costs one job.
#include <atomic>
#include <fstream>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "baton/farm/job/job_json.h"
#include "baton/farm/make_worker.h"
#include "baton/farm/runner_process.h"
#include "baton/support/base/files.h"
#include "baton/support/interrupt.h"

namespace baton {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// A shell script that greets, and does with each job what the job's id says.
class Workers : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(folder_.create("farm").ok());
    greeting_ = greeting_line({"m", DeviceSheet::host(), {}});
  }

  std::string script(const std::string& body) {
    const std::string path = folder_.path("runner.sh");
    // printf, as some shells' echo replaces \n in strings.
    std::ofstream(path) << "#!/bin/sh\nexec 4>&1\ngreeting='" << greeting_ << "'\n" << body;
    chmod(path.c_str(), 0700);
    return path;
  }

  std::string runner() {
    return script(R"sh(echo x >> "$0.starts"
printf '%s\n' "$greeting"
while read -r job; do
  id=${job#*'"id":"'}; id=${id%%'"'*}
  case $id in early) if [ ! -e "$0.early" ]; then touch "$0.early"; exit 3; fi;; esac
  echo '{"begun":true}'
  case $id in
    crash) kill -SEGV $$;;
    lost) kill -KILL $$;;
    quit) exit 7;;
    hang) sleep 100;;
    lie) echo 'not JSON'; continue;;
    other) id=another;;
  esac
  echo '{"id":"'$id'","machine":"m","rows":[{"node":"","cache":"hot","samples_us":[1,2],"disturbed":[]}]}'
done
)sh");
  }

  int starts() {
    std::ifstream file(folder_.path("runner.sh.starts"));
    int count = 0;
    for (std::string line; std::getline(file, line);) ++count;
    return count;
  }

  static Job job(const std::string& id) {
    Job job{id, "/nowhere", 1, {}};
    job.protocol.time_limit_s = 0.2;
    return job;
  }

  static std::map<std::string, JobResult> run(Worker& worker, const std::vector<std::string>& ids) {
    for (const std::string& id : ids) worker.submit(job(id));
    std::map<std::string, JobResult> results;
    while (results.size() < ids.size()) {
      std::optional<JobResult> result = worker.next(20);
      if (!result) break;
      results[result->id] = std::move(*result);
    }
    return results;
  }

  TemporaryFolder folder_;
  std::string greeting_;
};

TEST_F(Workers, OneProcessMeasuresManyJobs) {
  RunnerProcess worker({.program = runner()});
  auto results = run(worker, {"a", "b", "c"});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results["b"].rows.at(0).samples_us, (std::vector<double>{1, 2}));
  EXPECT_EQ(starts(), 1);
  EXPECT_EQ(worker.next(5), std::nullopt) << "there is nothing to wait for";
}

TEST_F(Workers, AProcessMeasuresSoManyProgramsOnly) {
  RunnerProcess worker({.program = runner(), .most_programs = 2});
  for (const char* bundle : {"/a", "/a", "/b", "/b", "/c", "/a", "/d"}) {
    Job one = job(std::string("of") + bundle[1]);
    one.bundle = bundle;
    worker.submit(one);
    const std::optional<JobResult> result = worker.next(20);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->error, "");
  }
  EXPECT_EQ(starts(), 3) << "of a and b, of c and a, of d";
}

TEST_F(Workers, WhatCrashesHangsOrLiesCostsOneJob) {
  RunnerProcess worker({.program = runner()});
  auto results = run(worker, {"a", "crash", "b", "hang", "c", "quit", "lie", "other", "lost", "d"});
  ASSERT_EQ(results.size(), 10u);
  for (const char* good : {"a", "b", "c", "d"}) EXPECT_EQ(results[good].error, "") << good;
  EXPECT_THAT(results["crash"].error, HasSubstr("killed by signal 11"));
  EXPECT_FALSE(results["crash"].retry);
  EXPECT_THAT(results["hang"].error, HasSubstr("no answer in 0.2 s"));
  EXPECT_THAT(results["quit"].error, HasSubstr("status 7"));
  EXPECT_THAT(results["lie"].error, HasSubstr("not a result"));
  EXPECT_THAT(results["other"].error, HasSubstr("another job"));
  EXPECT_TRUE(results["lost"].retry) << "killed from outside: not the job's fault";
  EXPECT_EQ(starts(), 7);
}

TEST_F(Workers, ARunnerThatEndsBeforeItMeasuresLosesNothing) {
  RunnerProcess worker({.program = runner()});
  auto results = run(worker, {"early", "a"});
  EXPECT_EQ(results["early"].error, "");
  EXPECT_EQ(results["a"].error, "");
  EXPECT_EQ(starts(), 2);
}

TEST_F(Workers, ARunnerThatNeverMeasuresIsAnError) {
  RunnerProcess worker({.program = script("printf '%s\\n' \"$greeting\"\nread -r job\nexit 5\n")});
  worker.submit(job("a"));
  EXPECT_THAT([&] { worker.next(20); }, ThrowsMessage<Error>(HasSubstr("3 times in a row")));
}

TEST_F(Workers, ARunnerThatIsKilledBeforeItGreetsIsStartedAgain) {
  RunnerProcess worker({.program = script("echo x >> \"$0.starts\"\n"
                                          "[ $(wc -l < \"$0.starts\") = 3 ] || kill -9 $$\n"
                                          "printf '%s\\n' \"$greeting\"\nread -r job\n")});
  EXPECT_EQ(starts(), 3);
}

TEST_F(Workers, WhatDoesNotGreetIsNoRunner) {
  EXPECT_THAT([&] { RunnerProcess({.program = "/nowhere/runner"}); },
              ThrowsMessage<Error>(HasSubstr("cannot be started")));
  EXPECT_THAT([&] { RunnerProcess({.program = script("exit 4\n")}); },
              ThrowsMessage<Error>(HasSubstr("status 4 before it greeted")));
  EXPECT_THAT([&] { RunnerProcess({.program = script("sleep 100\n"), .start_s = 0.2}); },
              ThrowsMessage<Error>(HasSubstr("said nothing for 0.2 s")));
  EXPECT_THAT([&] { RunnerProcess({.program = script("echo hello\n")}); },
              ThrowsMessage<Error>(HasSubstr("not the greeting")));
}

TEST_F(Workers, AFarmTellsItsMachinesAndWhyItEnded) {
  FarmOptions options{.on = "dask://127.0.0.1:1"};
  options.python = script(R"sh(printf '%s\n' '{"machines":['"$greeting"']}'
read -r job
printf '%s\n' '{"machines":['"$greeting,$greeting"']}'
echo '{"id":"a","rows":[],"error":"no machine of the farm can run it"}'
read -r job
echo '{"error":"the scheduler is gone"}'
sleep 100
)sh");
  const std::unique_ptr<Worker> farm = make_worker(options);
  EXPECT_EQ(farm->machines(), 1);
  farm->submit(job("a"));
  EXPECT_EQ(farm->next(20)->error, "no machine of the farm can run it");
  EXPECT_EQ(farm->machines(), 2);
  EXPECT_EQ(farm->places(), 4) << "one job is measured on each, and one waits there";
  EXPECT_EQ(farm->machine_list().at(0).sheet, DeviceSheet::host());
  EXPECT_EQ(farm->next(0.1), std::nullopt);
  farm->submit(job("b"));
  EXPECT_THAT([&] { farm->next(20); }, ThrowsMessage<Error>("the scheduler is gone"));
}

TEST_F(Workers, WhoeverWaitsForMachinesMayBeInterrupted) {
  std::atomic<bool> interrupt{true};
  FarmOptions options{.on = "slurm", .python = script("sleep 100\n"), .interrupt = &interrupt};
  EXPECT_THROW(make_worker(options), Interrupted);
}

TEST_F(Workers, AFarmThatCannotStartSaysSo) {
  FarmOptions options{.on = "slurm", .python = script("exit 1\n")};
  EXPECT_THAT([&] { make_worker(options); }, ThrowsMessage<Error>(HasSubstr("ended with status 1")));
  options.on = "cloud";
  EXPECT_THROW(make_worker(options), UsageError);
}

}  // namespace
}  // namespace baton
