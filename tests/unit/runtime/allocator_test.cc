#include "baton/runtime/system/allocator.h"

#include <atomic>
#include <cstring>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace baton {
namespace {

TEST(Scratch, BlocksAreAlignedLargeEnoughAndApart) {
  std::map<uintptr_t, size_t> blocks;
  for (size_t bytes = 0; bytes < 300000; bytes = bytes * 5 / 4 + 1) {
    void* block = scratch_allocate(bytes);
    ASSERT_NE(block, nullptr);
    const auto at = reinterpret_cast<uintptr_t>(block);
    EXPECT_EQ(at % 128, 0u);
    std::memset(block, 0x5a, bytes + 128);  // 128 bytes behind may be read, so they are ours
    blocks[at] = bytes + 128;
  }
  uintptr_t end = 0;
  for (const auto& [at, bytes] : blocks) {
    EXPECT_GE(at, end);
    end = at + bytes;
  }
  for (const auto& [at, bytes] : blocks) scratch_free(reinterpret_cast<void*>(at));
}

TEST(Scratch, TheVectorPastTheEndIsCleared) {
  for (int i = 0; i < 2; ++i) {
    auto* const block = static_cast<uint8_t*>(scratch_allocate(5000));
    for (size_t k = 5000; k < 5064; ++k) EXPECT_EQ(block[k], 0) << k;
    std::memset(block, 1, 5128);
    scratch_free(block);
  }
}

TEST(Scratch, KeepsWhatWasFreed) {
  scratch_free(scratch_allocate(1 << 20));
  const ScratchStats before = scratch_stats();
  for (int i = 0; i < 100; ++i) {
    void* block = scratch_allocate((1 << 20) - i);
    std::memset(block, i, 1000);
    scratch_free(block);
  }
  EXPECT_EQ(scratch_stats().system_allocations, before.system_allocations);
}

TEST(Scratch, TrimGivesBack) {
  std::vector<void*> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(scratch_allocate(3 << 20));
  for (void* block : blocks) scratch_free(block);
  EXPECT_GE(scratch_stats().idle_bytes, size_t{8} * (3 << 20));  // two stay with the thread
  EXPECT_GE(scratch_trim(), size_t{10} * (3 << 20));
  EXPECT_EQ(scratch_stats().idle_bytes, 0u);
}

TEST(Scratch, LargeBlocksStartAtDifferentPlacesOfAPage) {
  scratch_trim();
  std::set<uintptr_t> places;
  std::vector<void*> blocks;
  for (int i = 0; i < 8; ++i) blocks.push_back(scratch_allocate(100000));
  for (void* block : blocks) places.insert(reinterpret_cast<uintptr_t>(block) % 4096);
  EXPECT_EQ(places.size(), 8u);
  for (void* block : blocks) scratch_free(block);
}

TEST(Scratch, ManyThreads) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([t, &wrong] {
      std::vector<std::pair<uint8_t*, size_t>> held;
      uint32_t random = static_cast<uint32_t>(t) * 7919 + 1;
      for (int i = 0; i < 20000; ++i) {
        random = random * 1664525 + 1013904223;
        if (held.size() < 8) {
          const size_t bytes = (random >> 8) % 20000 + 1;
          auto* block = static_cast<uint8_t*>(scratch_allocate(bytes));
          block[0] = block[bytes - 1] = static_cast<uint8_t>(t);
          held.emplace_back(block, bytes);
        } else {
          const auto [block, bytes] = held[(random >> 8) % 8];
          held[(random >> 8) % 8] = held.back();
          held.pop_back();
          wrong += block[0] != t || block[bytes - 1] != t;
          scratch_free(block);
        }
      }
      for (const auto& [block, bytes] : held) scratch_free(block);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Scratch, ABlockMayBeFreedByAnotherThread) {
  void* block = scratch_allocate(12345);
  std::thread([block] { scratch_free(block); }).join();
  scratch_free(nullptr);
}

TEST(Scratch, ImpossibleSizes) {
  EXPECT_EQ(scratch_allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(scratch_allocate(size_t{1} << 60), nullptr);
}

}  // namespace
}  // namespace baton
