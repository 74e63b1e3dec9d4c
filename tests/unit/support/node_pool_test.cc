#include "baton/support/node_pool.h"

#include <cstdint>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "baton/support/node_list.h"
#include "baton/support/pointer_index.h"
#include "baton/support/ref.h"
#include "baton/support/sanitized.h"

namespace baton {
namespace {

// Each block is alone: filled with its own byte, and found so again.
TEST(NodePool, BlocksAreApart) {
  struct Taken {
    unsigned char* at;
    size_t bytes;
    unsigned char mark;
  };
  std::vector<Taken> taken;
  const int64_t before = node_pool::balance();
  for (int round = 0; round < 3; ++round) {
    for (size_t bytes = 1; bytes < 700; bytes += 3) {
      auto* at = static_cast<unsigned char*>(node_pool::take(bytes));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(at) % 16, 0u);
      const auto mark = static_cast<unsigned char>(bytes * 7 + static_cast<size_t>(round));
      std::memset(at, mark, bytes);
      taken.push_back({at, bytes, mark});
    }
    for (const Taken& each : taken)
      for (size_t i = 0; i < each.bytes; ++i) ASSERT_EQ(each.at[i], each.mark);
    // Every second one goes back, so that the next round finds holes.
    std::vector<Taken> kept;
    for (size_t i = 0; i < taken.size(); ++i) {
      if (i % 2)
        kept.push_back(taken[i]);
      else
        node_pool::give(taken[i].at, taken[i].bytes);
    }
    taken = std::move(kept);
  }
  for (const Taken& each : taken) node_pool::give(each.at, each.bytes);
  EXPECT_EQ(node_pool::balance(), before);
}

// What ended threads leave is used again: rounds of threads must not grow the process.
TEST(NodePool, ThreadsHandOnWhatTheyLeave) {
  if (kSanitized) GTEST_SKIP() << "sanitizers see every node by itself";
  // A size that no node has: what other tests of the process left lies scattered over many regions.
  constexpr size_t kBytes = 496, kBlocks = 1000;
  std::set<uintptr_t> regions;  // of 2 MB
  for (int round = 0; round < 20; ++round) {
    std::vector<void*> blocks(kBlocks);
    std::thread([&] {
      for (void*& block : blocks) block = node_pool::take(kBytes);
    }).join();
    for (void* block : blocks) regions.insert(reinterpret_cast<uintptr_t>(block) >> 21);
    std::thread([&] {  // another thread than the one that took them
      for (void* block : blocks) node_pool::give(block, kBytes);
    })
        .join();
  }
  EXPECT_LE(regions.size(), 4u);
}

struct Counted : RefCounted {
  explicit Counted(int& alive) : alive(alive) { ++alive; }
  ~Counted() override { --alive; }
  int& alive;
};

// Static and thread-local objects may hold nodes until after the thread's own lists are gone.
TEST(NodePool, NodesMayOutliveTheirThread) {
  int alive = 0;
  Ref<Counted> last;
  std::thread([&] {
    thread_local Ref<Counted> held;
    held = make_ref<Counted>(alive);
    last = make_ref<Counted>(alive);
  }).join();
  EXPECT_EQ(alive, 1);
  last = nullptr;
  EXPECT_EQ(alive, 0);
}

TEST(NodeList, HoldsCopiesMovesAndCompares) {
  int alive = 0;
  using Item = Ref<Counted>;
  {
    const Item a = make_ref<Counted>(alive), b = make_ref<Counted>(alive);
    NodeList<Item> list = std::vector<Item>{a, b};
    EXPECT_EQ(list.size(), 2u);
    EXPECT_EQ(a->use_count(), 2u);
    const NodeList<Item> copy = list, braces = {a, b};
    EXPECT_EQ(a->use_count(), 4u);
    EXPECT_TRUE(copy == list && braces == std::vector<Item>({a, b}));
    EXPECT_FALSE(copy == (NodeList<Item>{b, a}));
    EXPECT_FALSE(copy == (NodeList<Item>{a}));
    const NodeList<Item> moved = std::move(list);
    EXPECT_EQ(a->use_count(), 4u);
    EXPECT_EQ(moved.back(), b);
    EXPECT_THROW((void)moved.at(2), std::out_of_range);
    const std::vector<Item> vector = moved;
    EXPECT_EQ(vector.front(), a);
    list = {};
    EXPECT_TRUE(list.empty() && list.begin() == list.end());
  }
  EXPECT_EQ(alive, 0);
}

// Also addresses that are closer than allocations are.
TEST(PointerIndex, TellsNearAddressesApart) {
  std::vector<double> values(100'000);
  PointerIndex index;
  for (size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(index.add(&values[i]), std::make_pair(static_cast<uint32_t>(i), true));
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(index.find(&values[i]), i);
  EXPECT_FALSE(index.contains(values.data() + values.size()));
}

}  // namespace
}  // namespace baton
