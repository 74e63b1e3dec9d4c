// Where marks stand, and what cannot be marked. That a marked program computes what it did is the property of
// tests/unit/properties/random_cuts_test.cc.
#include "baton/driver/cut/mark_region.h"

#include <gmock/gmock.h>

#include "baton/codegen/backend.h"
#include "baton/pass/origin_verifier.h"
#include "baton/pass/pass.h"
#include "baton/text/printer.h"

#include "driver/cut_programs.h"

namespace baton {
namespace {

using namespace cut_programs;
using ::testing::HasSubstr;

class MarkTest : public ::testing::Test {
 protected:
  static std::string marked(const std::string& body, const std::string& operators, bool partitioned = false) {
    const auto program = program_of(body);
    auto context = std::make_shared<PassContext>();
    context->instruments = {std::make_shared<OriginVerifier>()};
    const BuildContext under = host_context().with_passes(context);
    const InstrumentScope scope(under.passes);
    IRModule module = mark_region(program->graph(), by_operators(*program, operators), "mine", under).module;
    if (partitioned) module = partition_marked(module, under);
    PrintOptions options;
    options.version = options.types = options.spans = false;
    options.metadata = PrintOptions::Metadata::kNone;
    return print(*module, options);
  }
};

TEST_F(MarkTest, MarksStandWhereValuesEnterAndLeave) {
  EXPECT_EQ(marked(R"(
def @main(%x: Tensor[(4), float32], %w: Tensor[(4), float32]) {
  %0 = tanh(%x);
  %1 = add(%0, %w);
  %2 = exp(%1);
  subtract(%2, %1)
}
)",
                   "add,exp"),
            R"(def @main(%x: Tensor[(4), float32], %w: Tensor[(4), float32]) -> Tensor[(4), float32] {
  %0 = tanh(%x);
  %1 = annotation.compiler_begin(%0, compiler="mine");
  %2 = annotation.compiler_begin(%w, compiler="mine");
  %3 = add(%1, %2);
  %4 = exp(%3);
  %5 = annotation.compiler_end(%4, compiler="mine");
  %6 = annotation.compiler_end(%3, compiler="mine");
  subtract(%5, %6)
}
)");
}

TEST_F(MarkTest, TuplesAreTakenApart) {
  const std::string text = marked(kSplit, "%0,%1");
  EXPECT_THAT(text, HasSubstr("%0 = annotation.compiler_begin(%x, compiler=\"mine\");\n  %1 = split(%0, "
                              "indices_or_sections=3, axis=1);"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("compiler_end(%1,")));
}

TEST_F(MarkTest, RegionsBecomeFunctions) {
  const std::string text = marked(kBlock, "%1,%2,%3", true);
  EXPECT_THAT(text, HasSubstr("@tvmgen_default_mine_main_0(%0, %w1, %g, %b, %m, %v)"));
  EXPECT_THAT(text, HasSubstr("Compiler=\"mine\""));
}

TEST_F(MarkTest, WhatReadsNothingStaysOutside) {
  const char* const text =
      "def @main(%x: Tensor[(4), float32]) {\n  %0 = zeros(shape=[4], dtype=\"float32\");\n  add(%x, "
      "%0)\n}\n";
  EXPECT_THAT(marked(text, "zeros,add"), HasSubstr("%0 = zeros(shape=[4], dtype=\"float32\");\n"));
  EXPECT_EQ(message_of([&] { marked(text, "zeros"); }),
            "nothing is left to mark for `mine`: what was chosen reads no value");
}

TEST_F(MarkTest, FunctionsThatUseWhatIsAroundThemAreRefused) {
  EXPECT_EQ(message_of([] {
              marked(R"(
def @main(%x: Tensor[(4), float32]) {
  %0 = tanh(%x);
  %1 = fn (%a: Tensor[(4), float32]) { add(%a, %0) };
  %2 = exp(%0);
  %1(%2)
}
)",
                     "add");
            }),
            "a region for `mine` cannot hold the function that is called at 7:3: it uses values that are not "
            "its arguments");
}

TEST_F(MarkTest, BranchesAreRefused) {
  EXPECT_EQ(message_of([] { marked(kBranch, "exp,sqrt"); }),
            "a region for `mine` cannot hold the `if` at 5:8: choose what is before or behind it");
}

}  // namespace
}  // namespace baton
