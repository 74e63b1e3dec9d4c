#include "baton/frontend/variations/variations.h"

#include <set>

#include <gmock/gmock.h>

#include "baton/campaign/patterns/patterns.h"
#include "baton/campaign/subjects.h"
#include "baton/codegen/backend.h"
#include "baton/driver/build.h"
#include "baton/driver/cut/cut_values.h"
#include "baton/driver/initialize.h"
#include "baton/profile/record/work.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

void runs(const std::string& family, uint64_t number) {
  const IRModule module = variations::variation(family, number);
  const Subject subject{Subject::Kind::kModel, family, family, module, model_work(module)};
  BuildOptions options;
  options.params = weights_of(subject);
  options.context = host_context();
  const BuildResult built = build(module, options);
  const auto executor = make_executor(built);
  set_model_inputs(*executor, {});
  EXPECT_TRUE(executor->run().ok()) << family << " " << number;
}

TEST(Variations, AreDistinctTypedAndOfUsualSize) {
  initialize();
  for (const variations::Family& family : variations::families()) {
    std::set<std::string> texts;
    for (uint64_t number = 0; number < 40; ++number) {
      const IRModule module = variations::variation(family.name, number);
      EXPECT_TRUE(types_are_right(*module)) << family.name;
      const double us = variations::estimated_us(*module);
      EXPECT_GE(us, 300) << family.name;
      EXPECT_LE(us, 60e3) << family.name;
      texts.insert(canonical_text(module));
    }
    EXPECT_EQ(texts.size(), 40u) << family.name;
  }
}

TEST(Variations, AreTheSameEachTime) {
  initialize();
  EXPECT_EQ(canonical_text(variations::variation("inception", 3)),
            canonical_text(variations::variation("inception", 3)));
  EXPECT_THROW(variations::variation("resnt", 0), Error);
}

TEST(Variations, ARun) {
  initialize();
  for (const char* family : {"lstm", "mlp"}) runs(family, 1);
}

TEST(Variations, SlowAllRun) {
  initialize();
  for (const variations::Family& family : variations::families())
    for (uint64_t number = 0; number < 40; ++number) runs(family.name, number);
}

TEST(KernelPatterns, ComeFromModelsAndKeepTheirOperators) {
  initialize();
  const BuildContext context = host_context();
  const IRModule module = variations::variation("resnet-v1.5", 0, {.folded = true});
  const std::vector<KernelPattern> patterns = patterns_of(module, "resnet-v1.5", context);
  ASSERT_GT(patterns.size(), 3u);
  Choice choose(1, "test");
  int changed = 0;
  for (const KernelPattern& pattern : patterns) {
    for (int i = 0; i < 10; ++i) {
      const auto other = perturbed(pattern, choose);
      if (!other) continue;
      EXPECT_EQ(operators_text(*other), operators_text(pattern));
      EXPECT_TRUE(types_are_right(*program_of(*other)));
      changed += canonical_text(other->function) != canonical_text(pattern.function);
    }
  }
  EXPECT_GT(changed, 10);
}

TEST(KernelPatterns, EpiloguesFollowTheFirstProduct) {
  initialize();
  const IRModule module = variations::variation("vgg", 0, {.folded = true});
  Choice choose(2, "test");
  int made = 0;
  for (const KernelPattern& pattern : patterns_of(module, "vgg", host_context()))
    if (const auto other = with_epilogue(pattern, choose)) {
      ++made;
      EXPECT_TRUE(types_are_right(*program_of(*other)));
    }
  EXPECT_GT(made, 2);
}

}  // namespace
}  // namespace baton
