#include "baton/pass/pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/ops/register.h"
#include "baton/pass/timing.h"
#include "baton/support/log.h"

#include "pass/programs.h"

namespace baton {
namespace {

using ::testing::ElementsAre;
using Events = std::vector<std::string>;

class Recorder : public PassInstrument {
 public:
  Recorder(std::string name, Events& events) : name_(std::move(name)), events_(events) {}
  std::string name() const override { return name_; }
  void enter_pass_ctx() override { at("enter", ""); }
  void exit_pass_ctx() override { at("exit", ""); }
  bool should_run(const IRModule&, const PassInfo& info) override {
    at("should", info.name);
    return info.name != refuse;
  }
  void run_before_pass(const IRModule&, const PassInfo& info) override { at("before", info.name); }
  void run_after_pass(const IRModule&, const PassInfo& info) override { at("after", info.name); }

  std::string refuse, throw_in;

 private:
  void at(const std::string& what, const std::string& pass) {
    events_.push_back(name_ + " " + what + (pass.empty() ? "" : " " + pass));
    if (what == throw_in) throw Error("thrown in " + what);
  }
  std::string name_;
  Events& events_;
};

class Passes : public ::testing::Test {
 protected:
  Passes() {
    register_test_passes();
    old_sink_ = set_log_sink([this](const std::string& line) { logged.push_back(line); });
  }
  ~Passes() override { set_log_sink(old_sink_); }

  std::shared_ptr<Recorder> recorder(const std::string& name) {
    return std::make_shared<Recorder>(name, events);
  }
  PassContextRef context(int opt_level, std::vector<std::shared_ptr<PassInstrument>> instruments) {
    auto context = std::make_shared<PassContext>();
    context->opt_level = opt_level;
    context->instruments = std::move(instruments);
    return context;
  }
  static Pass nothing(const std::string& name, int level = 0, std::vector<std::string> required = {}) {
    return module_pass({level, name, std::move(required)},
                       [](IRModule module, const PassContext&) { return module; });
  }
  static Pass per_function(const std::string& name, int level = 0, std::vector<std::string> required = {}) {
    return function_pass({level, name, std::move(required)}, [](const Function& function, const IRModule&,
                                                                const PassContext&) { return function; });
  }

  Events events, logged;
  const IRModule module = relu_chain(3);

 private:
  LogSink old_sink_;
};

// The order of samples-passinfra.txt, "seq".
TEST_F(Passes, SequentialRunsRequiredPassesAndFunctionPassesInferTypes) {
  const auto t = recorder("t");
  {
    const BuildContext under = host_context().with_passes(context(3, {t}));
    const InstrumentScope scope(under.passes);
    (*sequential({per_function("FoldConstant", 2), per_function("FuseOps", 0, {"InferType"})}))(module,
                                                                                                under);
  }
  EXPECT_THAT(
      events,
      ElementsAre("t enter", "t should sequential", "t before sequential", "t should FoldConstant",
                  "t before FoldConstant", "t should InferType", "t before InferType", "t after InferType",
                  "t after FoldConstant", "t should InferType", "t before InferType", "t after InferType",
                  "t should FuseOps", "t before FuseOps", "t should InferType", "t before InferType",
                  "t after InferType", "t after FuseOps", "t after sequential", "t exit"));
}

TEST_F(Passes, ARequiredPassIsNotAskedAbout) {
  const auto t = recorder("t");
  t->refuse = "FoldConstant";
  const auto ctx = context(3, {t});
  ctx->required_pass = {"FoldConstant"};
  {
    const BuildContext under = host_context().with_passes(ctx);
    const InstrumentScope scope(under.passes);
    (*sequential({per_function("FoldConstant", 2)}))(module, under);
  }
  EXPECT_THAT(events,
              ElementsAre("t enter", "t should sequential", "t before sequential", "t before FoldConstant",
                          "t should InferType", "t before InferType", "t after InferType",
                          "t after FoldConstant", "t after sequential", "t exit"));
}

TEST_F(Passes, GatesHoldInSequentialOnly) {
  const auto ctx = context(1, {});
  ctx->disabled_pass = {"Off"};
  int runs = 0;
  const auto count = [&](const std::string& name, int level) {
    return module_pass({level, name, {}}, [&runs](IRModule module, const PassContext&) {
      ++runs;
      return module;
    });
  };
  const BuildContext under = host_context().with_passes(ctx);
  const InstrumentScope scope(under.passes);
  (*sequential({count("Off", 0), count("High", 2), count("On", 1)}))(module, under);
  EXPECT_EQ(runs, 1);
  (*count("Off", 0))(module, under);
  (*count("High", 2))(module, under);
  EXPECT_EQ(runs, 3);
  ctx->required_pass = {"High"};
  (*sequential({count("High", 2)}))(module, under);
  EXPECT_EQ(runs, 4);
}

TEST_F(Passes, EveryInstrumentIsAskedAndOneRefusalIsEnough) {
  const auto a = recorder("a"), b = recorder("b");
  a->refuse = "X";
  {
    const BuildContext under = host_context().with_passes(context(2, {a, b}));
    const InstrumentScope scope(under.passes);
    EXPECT_EQ((*nothing("X"))(module, under), module);
  }
  EXPECT_THAT(events, ElementsAre("a enter", "b enter", "a should X", "b should X", "a exit", "b exit"));
}

TEST_F(Passes, TheInnerContextReplacesTheOuter) {
  const BuildContext outer{.passes = context(2, {recorder("outer")})};
  const InstrumentScope scope(outer.passes);
  const BuildContext inner = outer.with_passes(context(3, {}));
  (*nothing("X"))(module, inner);
  EXPECT_THAT(events, ElementsAre("outer enter"));
  EXPECT_EQ(outer.at_level(1).passes->opt_level, 1);
  EXPECT_EQ(outer.passes->opt_level, 2) << "the level of the copy only";
}

TEST_F(Passes, ThrowingInEnterExitsThoseBefore) {
  const auto a = recorder("a"), b = recorder("b"), c = recorder("c");
  b->throw_in = "enter";
  const auto ctx = context(3, {a, b, c});
  EXPECT_THROW(ctx->enter_instruments(), Error);
  EXPECT_THAT(events, ElementsAre("a enter", "b enter", "a exit"));
  EXPECT_THAT(logged, ElementsAre("Pass instrumentation entering pass context failed.",
                                  "Disable pass instrumentation.", "a exiting PassContext ...",
                                  "a exited PassContext."));
  EXPECT_TRUE(ctx->instruments.empty());
}

TEST_F(Passes, ThrowingInExitLeavesTheRest) {
  const auto a = recorder("a"), b = recorder("b"), c = recorder("c");
  b->throw_in = "exit";
  const auto ctx = context(3, {a, b, c});
  ctx->enter_instruments();
  EXPECT_THROW(ctx->exit_instruments(), Error);
  EXPECT_THAT(events, ElementsAre("a enter", "b enter", "c enter", "a exit", "b exit"));
  EXPECT_THAT(logged, ElementsAre("Pass instrumentation exiting pass context failed.",
                                  "Disable pass instrumentation."));
  EXPECT_TRUE(ctx->instruments.empty());
}

TEST_F(Passes, ThrowingElsewhereKeepsInstrumentsAndScopesExitAll) {
  for (const char* where : {"should", "before", "after"}) {
    events.clear();
    const auto a = recorder("a"), b = recorder("b");
    a->throw_in = where;
    const auto ctx = context(3, {a, b});
    EXPECT_THROW(
        {
          const BuildContext under = host_context().with_passes(ctx);
          const InstrumentScope scope(under.passes);
          (*nothing("X"))(module, under);
        },
        Error);
    EXPECT_EQ(ctx->instruments.size(), 2u) << where;
    EXPECT_EQ(events[events.size() - 2], "a exit") << where;
    EXPECT_EQ(events.back(), "b exit") << where;
  }
}

TEST_F(Passes, OverrideExitsTheOldAndEntersTheNew) {
  const auto ctx = context(3, {recorder("a")});
  ctx->enter_instruments();
  ctx->override_instruments({recorder("b"), recorder("c")});
  (*nothing("X"))(module, {.passes = ctx});
  ctx->exit_instruments();
  EXPECT_THAT(events, ElementsAre("a enter", "a exit", "b enter", "c enter", "b should X", "c should X",
                                  "b before X", "c before X", "b after X", "c after X", "b exit", "c exit"));
}

TEST_F(Passes, FunctionPassesSkipWhatIsNotTheirs) {
  const IRModule many = relu_chain(1)->copy();
  const Function main = many->find("main");
  many->set("theirs", with_attr(main, "Compiler", "dnnl"));
  many->set("kept", with_attr(main, "SkipOptimization", 1));
  many->set("outside", with_attr(main, "Extern", 1));
  std::vector<std::string> seen;
  (*function_pass({0, "P", {}}, [&](const Function& function, const IRModule& module, const PassContext&) {
    for (const auto& [name, candidate] : module->functions())
      if (candidate == function) seen.push_back(name);
    return function;
  }))(many, host_context());
  EXPECT_THAT(seen, ElementsAre("main"));
}

TEST_F(Passes, Texts) {
  EXPECT_EQ(pass_text(*per_function("FuseOps")), "Run Function pass: FuseOps at the optimization level 0");
  EXPECT_EQ(pass_text(*nothing("InferType")), "Run Module pass: InferType at the optimization level 0");
  EXPECT_EQ(pass_text(*sequential({nothing("FuseOps")})),
            "Run Sequential pass: sequential at the optimization level 0. The passes will be executed are: "
            "[FuseOps ]");
  EXPECT_EQ(
      pass_info_text({0, "FuseOps", {"InferType"}}),
      "The meta data of the pass - pass name: FuseOps, opt_level: 0, required passes: [\nInferType, ]\n");
  EXPECT_EQ(pass_info_text({2, "mp", {}}),
            "The meta data of the pass - pass name: mp, opt_level: 2, required passes: []\n");
  PassContext context;
  context.opt_level = 3;
  context.required_pass = {"A"};
  context.disabled_pass = {"FoldConstant"};
  context.config.set("relay.FuseOps.max_depth", int64_t{10});
  EXPECT_EQ(pass_context_text(context),
            "Pass context information: \n\topt_level: 3\n\trequired passes: [\"A\"]\n\tdisabled passes: "
            "[\"FoldConstant\"]\n\tinstruments: []\n\tconfig: {\"relay.FuseOps.max_depth\": 10}");
}

TEST_F(Passes, UnknownPassesAreGuessed) {
  try {
    make_pass("InferTyp");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "no pass is called `InferTyp`; did you mean `InferType`?");
  }
}

TEST_F(Passes, TimingIsATreeInPreOrder) {
  const auto timing = std::make_shared<PassTimingInstrument>();
  std::string text;
  {
    const BuildContext under = host_context().with_passes(context(2, {timing}));
    const InstrumentScope scope(under.passes);
    (*nothing("First"))(module, under);
    (*sequential({per_function("Inner")}, "Outer"))(module, under);
    text = timing->render();
  }
  EXPECT_THAT(text,
              ::testing::MatchesRegex("First: [0-9]+us \\[[0-9]+us\\] \\([0-9.]+%; [0-9.]+%\\)\n"
                                      "Outer: [0-9]+us \\[[0-9]+us\\] \\([0-9.]+%; [0-9.]+%\\)\n"
                                      "\tInner: [0-9]+us \\[[0-9]+us\\] \\([0-9.]+%; [0-9.]+%\\)\n"
                                      "\t\tInferType: [0-9]+us \\[[0-9]+us\\] \\([0-9.]+%; [0-9.]+%\\)\n"));
  EXPECT_EQ(timing->render(), "");
  EXPECT_THAT(logged, ElementsAre("Warning: no passes have been profiled, did you enable pass profiling?"));
}

TEST_F(Passes, TimingCannotBePrintedInsideAPass) {
  const auto timing = std::make_shared<PassTimingInstrument>();
  const BuildContext under = host_context().with_passes(context(2, {timing}));
  const InstrumentScope scope(under.passes);
  EXPECT_THROW((*module_pass({0, "P", {}},
                             [&](IRModule module, const PassContext&) {
                               timing->render();
                               return module;
                             }))(module, under),
               Error);
}

}  // namespace
}  // namespace baton
