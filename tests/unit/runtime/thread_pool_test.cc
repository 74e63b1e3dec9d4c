#include "baton/runtime/thread_pool.h"

#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "baton/runtime/loop_recorder.h"
#include "baton/runtime/system/timers.h"

namespace baton {
namespace {

struct Visits {
  std::vector<std::atomic<int>> counts;
  int min = 0;
};

int visit(void* user, int index, uint8_t*) {
  auto* visits = static_cast<Visits*>(user);
  visits->counts[static_cast<size_t>(index - visits->min)].fetch_add(1);
  return 0;
}

TEST(ThreadPool, EveryIterationRunsOnce) {
  for (const int threads : {1, 2, 3, 7}) {
    const ThreadScope scope(threads);
    for (const int extent : {0, 1, 2, 5, 64, 1000}) {
      for (const int min : {0, -3, 17}) {
        Visits visits{std::vector<std::atomic<int>>(static_cast<size_t>(extent)), min};
        ASSERT_EQ(parallel_for(visit, &visits, min, extent, nullptr), 0);
        for (const auto& count : visits.counts) ASSERT_EQ(count.load(), 1);
      }
    }
  }
}

TEST(ThreadPool, ManyShortLoops) {
  const ThreadScope scope(3);
  std::atomic<int> sum{0};
  for (int i = 0; i < 20000; ++i) {
    parallel_for(
        [](void* user, int k, uint8_t*) {
          static_cast<std::atomic<int>*>(user)->fetch_add(k);
          return 0;
        },
        &sum, 0, 4, nullptr);
  }
  EXPECT_EQ(sum.load(), 20000 * 6);
}

TEST(ThreadPool, ARecorderSeesWhoRanWhatOfItsThreadsLoops) {
  const ThreadScope scope(3);
  Visits visits{std::vector<std::atomic<int>>(64), 0};
  ASSERT_EQ(parallel_for(visit, &visits, 0, 64, nullptr), 0);  // not recorded
  LoopRecorder recorder(100);
  const uint64_t begin = ticks();
  for (int loop = 0; loop < 5; ++loop) ASSERT_EQ(parallel_for(visit, &visits, 0, 64, nullptr), 0);
  std::thread([&] {
    const ThreadScope other(2);
    EXPECT_EQ(parallel_for(visit, &visits, 0, 64, nullptr), 0);  // another thread's: not recorded
  }).join();
  const uint64_t end = ticks();
  int iterations = 0;
  for (const LoopSpan& span : recorder.spans()) {
    EXPECT_GE(span.thread, 0);
    EXPECT_GT(span.iterations, 0);
    EXPECT_TRUE(begin <= span.begin && span.begin <= span.end && span.end <= end);
    iterations += span.iterations;
  }
  EXPECT_EQ(iterations, 5 * 64);
  EXPECT_EQ(recorder.lost(), 0u);
  {
    LoopRecorder small(1);
    for (int loop = 0; loop < 3; ++loop) parallel_for(visit, &visits, 0, 64, nullptr);
    EXPECT_EQ(small.spans().size(), 1u);
    EXPECT_GE(small.lost(), 2u);
  }
  EXPECT_EQ(LoopRecorder::current(), &recorder);
}

TEST(ThreadPool, OneThreadIsAPlainLoop) {
  const ThreadScope scope(1);
  std::vector<int> order;
  parallel_for(
      [](void* user, int i, uint8_t*) {
        static_cast<std::vector<int>*>(user)->push_back(i);
        return 0;
      },
      &order, 5, 4, nullptr);
  EXPECT_EQ(order, (std::vector<int>{5, 6, 7, 8}));
}

TEST(ThreadPool, LoopsInsideOfTasksRunAlone) {
  const ThreadScope scope(4);
  std::atomic<int> sum{0};
  parallel_for(
      [](void* user, int, uint8_t*) {
        EXPECT_EQ(current_threads(), 1);
        const auto here = std::this_thread::get_id();
        struct Inner {
          std::atomic<int>* sum;
          std::thread::id thread;
        } inner{static_cast<std::atomic<int>*>(user), here};
        return parallel_for(
            [](void* data, int, uint8_t*) {
              EXPECT_EQ(static_cast<Inner*>(data)->thread, std::this_thread::get_id());
              static_cast<Inner*>(data)->sum->fetch_add(1);
              return 0;
            },
            &inner, 0, 10, nullptr);
      },
      &sum, 0, 20, nullptr);
  EXPECT_EQ(sum.load(), 200);
  EXPECT_EQ(current_threads(), 4);
}

TEST(ThreadPool, AnErrorComesBack) {
  for (const int threads : {1, 3}) {
    const ThreadScope scope(threads);
    const auto fail_at_7 = [](void*, int i, uint8_t*) { return i == 7 ? -42 : 0; };
    EXPECT_EQ(parallel_for(fail_at_7, nullptr, 0, 100, nullptr), -42);
    EXPECT_EQ(parallel_for(fail_at_7, nullptr, 10, 100, nullptr), 0);
  }
}

TEST(ThreadPool, ManyCallersAtOnce) {
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int c = 0; c < 24; ++c) {  // more than the pool has places for
    callers.emplace_back([&wrong] {
      const ThreadScope scope(3);
      for (int k = 0; k < 200; ++k) {
        Visits visits{std::vector<std::atomic<int>>(50), 0};
        parallel_for(visit, &visits, 0, 50, nullptr);
        for (const auto& count : visits.counts) wrong += count.load() != 1;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(ThreadPool, UsesSeveralThreads) {
  const ThreadScope scope(2);
  // Both iterations wait for each other, so one thread alone would never finish.
  std::atomic<int> arrived{0};
  parallel_for(
      [](void* user, int, uint8_t*) {
        auto* count = static_cast<std::atomic<int>*>(user);
        count->fetch_add(1);
        while (count->load() < 2) std::this_thread::yield();
        return 0;
      },
      &arrived, 0, 2, nullptr);
  EXPECT_EQ(arrived.load(), 2);
  EXPECT_GE(pool_size(), 1);
}

TEST(ThreadPool, WorksInTheChildOfAFork) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer allows no threads in the child of a fork";
#endif
  const ThreadScope scope(3);
  Visits warm{std::vector<std::atomic<int>>(50), 0};
  parallel_for(visit, &warm, 0, 50, nullptr);
  ASSERT_GE(pool_size(), 1);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    const bool none = pool_size() == 0;
    Visits visits{std::vector<std::atomic<int>>(50), 0};
    parallel_for(visit, &visits, 0, 50, nullptr);
    int wrong = 0;
    for (const auto& count : visits.counts) wrong += count.load() != 1;
    _exit(none && wrong == 0 && pool_size() == 2 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  Visits after{std::vector<std::atomic<int>>(50), 0};
  EXPECT_EQ(parallel_for(visit, &after, 0, 50, nullptr), 0);
}

TEST(ThreadPool, ThreadsMeet) {
  {
    const ThreadScope scope(1);
    EXPECT_TRUE(gather_threads(0)) << "one is always there";
  }
  {
    const ThreadScope scope(kMaxThreads);
    const int64_t begin = monotonic_ns();
    EXPECT_FALSE(gather_threads(10'000'000'000)) << "there are not as many processors";
    EXPECT_LT(monotonic_ns() - begin, 5'000'000'000);
  }
  if (default_threads() < 2) GTEST_SKIP() << "one processor";
  const ThreadScope scope(2);
  EXPECT_TRUE(gather_threads(10'000'000'000)) << "within ten seconds, whatever else runs";
}

TEST(ThreadPool, ScopesNest) {
  const int before = current_threads();
  {
    const ThreadScope outer(5);
    EXPECT_EQ(current_threads(), 5);
    {
      const ThreadScope inner(2);
      EXPECT_EQ(current_threads(), 2);
    }
    EXPECT_EQ(current_threads(), 5);
    const ThreadScope too_many(100000);
    EXPECT_EQ(current_threads(), kMaxThreads);
  }
  EXPECT_EQ(current_threads(), before);
  EXPECT_EQ(before, default_threads());
}

}  // namespace
}  // namespace baton
