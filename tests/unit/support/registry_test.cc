#include "baton/support/registry.h"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>

namespace baton {
namespace {

TEST(Registry, AddSetAndRemove) {
  Registry<int> table;
  EXPECT_TRUE(table.empty());
  EXPECT_TRUE(table.add("b", 1));
  EXPECT_FALSE(table.add("b", 2));
  EXPECT_EQ(*table.find("b"), 1);
  table.set("b", 3);
  table.set("a", 4);
  EXPECT_EQ(*table.find("b"), 3);
  EXPECT_EQ(table.keys(), (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(table.set_if("a", 5, [](int there) { return there > 4; }));
  EXPECT_TRUE(table.set_if("a", 5, [](int there) { return there == 4; }));
  EXPECT_EQ(*table.find("a"), 5);
  table.remove("a");
  table.remove("never there");
  EXPECT_EQ(table.find("a"), nullptr);
  EXPECT_FALSE(table.empty());
}

TEST(Registry, WhatWasFoundOutlivesItsPlace) {
  Registry<std::string> table;
  table.set("a", "first");
  const auto found = table.find("a");
  table.set("a", "second");
  EXPECT_EQ(*found, "first");
  table.remove("a");
  EXPECT_EQ(*found, "first");
}

// The end of a value may run Python, which may register something in turn.
TEST(Registry, ValuesEndWithoutTheLock) {
  struct Registers {
    explicit Registers(Registry<std::shared_ptr<Registers>>* table) : table(table) {}
    ~Registers() { table->find("a"); }
    Registry<std::shared_ptr<Registers>>* table;
  };
  Registry<std::shared_ptr<Registers>> table;
  table.set("a", std::make_shared<Registers>(&table));
  table.set("a", std::make_shared<Registers>(&table));
  EXPECT_FALSE(table.add("a", std::make_shared<Registers>(&table)));
  table.remove("a");
  EXPECT_TRUE(table.empty());
}

TEST(Registry, OneThreadFillsWhileOthersLookUp) {
  Registry<std::string> table;
  constexpr int kNames = 500;
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0}, found{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; ++i)
    readers.emplace_back([&] {
      do {
        for (int name = 0; name < kNames; ++name)
          if (const auto value = table.find(std::to_string(name))) {
            ++found;
            wrong += !value->starts_with("value of " + std::to_string(name));
          }
        table.keys();
      } while (!stop);
    });
  for (int round = 0; round < 5; ++round) {
    for (int name = 0; name < kNames; ++name)
      table.set(std::to_string(name),
                "value of " + std::to_string(name) + ", round " + std::to_string(round));
    for (int name = round; name < kNames; name += 7) table.remove(std::to_string(name));
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(found, 0);
}

}  // namespace
}  // namespace baton
