// Programs that are long: the passes of byoc/ are linear, on a stack of 8 MB.
#include <gtest/gtest.h>
#include <pthread.h>

#include <chrono>
#include <functional>

#include "baton/byoc/pattern_table.h"
#include "baton/byoc/target_rules.h"
#include "baton/driver/initialize.h"
#include "baton/ir/visit.h"
#include "baton/pass/pass.h"
#include "baton/pass/timing.h"

namespace baton {
namespace {

void on_8_mb_stack(std::function<void()> work) {
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

class ByocScale : public ::testing::Test {
 protected:
  void SetUp() override {
    initialize();
    for (const char* op : {"tanh", "add"}) register_target_rule(op, "long", [](const Expr&) { return true; });
    register_pattern_table("long", {{"long.add_exp", is_op("exp")->call({is_op("add")->call({wildcard(), wildcard()})}), {}}});
  }
  void TearDown() override {
    for (const char* op : {"tanh", "add"}) reset_target_rule(op, "long");
  }

  using Body = std::function<Expr(Expr at, const Expr& x, int i)>;
  static IRModule program(int length, const Body& body) {
    const Var x = var("x", scalar_type(DType::float_(32)));
    Expr at = Expr(x);
    for (int i = 0; i < length; ++i) at = body(at, Expr(x), i);
    const IRModule module = make_module();
    module->set("main", function({x}, at));
    return (*make_pass("InferType"))(module);
  }

  static IRModule timed(const char* what, const IRModule& module, const char* pass, PassArgs args, int length) {
    auto context = std::make_shared<PassContext>();
    context->opt_level = 3;
    if (std::getenv("BATON_TIMING")) context->instruments.push_back(std::make_shared<PassTimingInstrument>());
    const PassContextScope scope(context);
    const auto start = std::chrono::steady_clock::now();
    const IRModule result = (*make_pass(pass, args))(module);
    const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
    std::printf("%-28s %-22s %8d: %7.3f us per node, %9.1f ms\n", what, pass, length, us / length, us / 1000);
    if (std::getenv("BATON_TIMING")) std::printf("%s\n", PassTimingInstrument::render().c_str());
    return result;
  }

  static IRModule all(const char* what, int length, const Body& body) {
    IRModule module = program(length, body);
    module = timed(what, module, "MergeComposite", {{"pattern_table", "long"}}, length);
    module = timed(what, module, "AnnotateTarget", {{"targets", "long"}}, length);
    module = timed(what, module, "MergeCompilerRegions", {}, length);
    return timed(what, module, "PartitionGraph", {}, length);
  }
};

Expr chain(Expr at, const Expr&, int) { return call("tanh", {at}); }
Expr taking_turns(Expr at, const Expr&, int i) { return call(i % 2 ? "tanh" : "abs", {at}); }
Expr residual(Expr at, const Expr&, int) { return call("add", {at, call("abs", {call("tanh", {at})})}); }
Expr tied_to_the_start(Expr at, const Expr& x, int i) { return call("add", {x, call(i % 3 ? "abs" : "tanh", {at})}); }
Expr composites(Expr at, const Expr& x, int) { return call("exp", {call("add", {at, x})}); }

TEST_F(ByocScale, AllShapes) {
  for (const int length : {12'000, 100'000}) {
    all("chain", length, chain);
    all("taking turns", length, taking_turns);
    all("residual", length, residual);
    all("tied to the start", length, tied_to_the_start);
    all("composites", length, composites);
  }
}

TEST_F(ByocScale, SlowAMillionCalls) {
  on_8_mb_stack([] { all("chain", 1'000'000, chain); });
  on_8_mb_stack([] { all("taking turns", 1'000'000, taking_turns); });
}

}  // namespace
}  // namespace baton
