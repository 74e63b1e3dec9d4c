#pragma once
// Runs tests of deep programs on a limited stack, to detect recursion.
#include <functional>

#include <gtest/gtest.h>
#include <pthread.h>

namespace baton {

/// Runs `work` on a thread with a stack of 8 MB, the main thread's default.
inline void on_8_mb_stack(std::function<void()> work) {
  pthread_attr_t attr;
  ASSERT_EQ(pthread_attr_init(&attr), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attr, 8 << 20), 0);
  pthread_t thread;
  const auto run = [](void* given) -> void* {
    (*static_cast<std::function<void()>*>(given))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attr, run, &work), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  pthread_attr_destroy(&attr);
}

}  // namespace baton
