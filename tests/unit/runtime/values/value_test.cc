#include "baton/runtime/values/value.h"

#include <gtest/gtest.h>

#include "small_stack.h"

namespace baton::program {
namespace {

class Closure final : public FunctionValue {
 public:
  Closure(std::vector<Value> captured, int& alive) : captured_(std::move(captured)), alive_(alive) {
    ++alive_;
  }
  ~Closure() override { --alive_; }
  std::string name() const override { return "f"; }
  const std::vector<Value>& captured() const override { return captured_; }

 private:
  std::vector<Value> captured_;
  int& alive_;
};

TEST(Value, LongListsAreFreedWithoutRecursion) {
  constexpr int kLong = 300'000;
  int alive = 0;
  const auto cons = std::make_shared<const ConstructorInfo>(ConstructorInfo{"Cons", "List", 2});
  on_8_mb_stack([&] {
    Value list;
    for (int i = 0; i < kLong; ++i) {
      list = make_ref<const DataValue>(1, std::vector<Value>{tuple_value({}), list}, cons);
      list = make_ref<const CellValue>(tuple_value({make_ref<const Closure>(std::vector{list}, alive)}));
    }
    EXPECT_EQ(alive, kLong);
  });
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(cons.use_count(), 1);
}

TEST(Value, SaysWhatItIs) {
  int alive = 0;
  const auto cons = std::make_shared<const ConstructorInfo>(ConstructorInfo{"Cons", "List", 2});
  EXPECT_EQ(describe({}), "no value");
  EXPECT_EQ(describe(tensor_value(NDArray::zeros({2, 3}, DType::float_(32)))), "a tensor float32[2, 3]");
  EXPECT_EQ(describe(tuple_value({{}, {}})), "a tuple of 2");
  EXPECT_EQ(describe(make_ref<const DataValue>(7, std::vector<Value>(), nullptr)), "a value of tag 7");
  EXPECT_EQ(describe(make_ref<const DataValue>(1, std::vector<Value>(), cons)), "a value made by Cons");
  EXPECT_EQ(describe(make_ref<const CellValue>(Value())), "a reference");
  EXPECT_EQ(describe(make_ref<const Closure>(std::vector<Value>(), alive)), "the function f");
}

TEST(Value, IsReadAsItsKindOnly) {
  const Value tuple = tuple_value({tensor_value(NDArray::zeros({}, DType::int_(32)))});
  ASSERT_TRUE(as_value<TupleValue>(tuple));
  EXPECT_FALSE(as_value<TensorValue>(tuple));
  EXPECT_FALSE(as_value<TupleValue>(Value()));
  EXPECT_EQ(parts_of(tuple).at(0), as_value<TupleValue>(tuple)->fields()[0]);
  const auto cell = make_ref<const CellValue>(tuple);
  EXPECT_EQ(tuple->use_count(), 2u);
  cell->write({});
  EXPECT_EQ(tuple->use_count(), 1u);
  EXPECT_EQ(cell->value(), nullptr);
}

}  // namespace
}  // namespace baton::program
