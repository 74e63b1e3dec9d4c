// Models that are no Relay text, as importers hand them on: with weights, without lines.
#include "baton/driver/load_model.h"

#include <gmock/gmock.h>

#include "baton/profile/report/report.h"
#include "baton/support/error.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

LoadedModel imported(NDArray weight) {
  LoadedModel model;
  model.name = "net.bin";
  model.module = infer_types(parse_module(R"(#[version = "0.0.5"]
def @main(%data: Tensor[(2, 3), float32], %w: Tensor[(3), float32], %b: Tensor[(3), float32]) {
  add(multiply(%data, %w), %b)
}
)"));
  model.params = {{"w", std::move(weight)}};
  return model;
}

NDArray numbers(std::vector<float> values) {
  NDArray array = NDArray::empty({static_cast<int64_t>(values.size())}, DType::float_(32));
  std::ranges::copy(values, array.as<float>().begin());
  return array;
}

TEST(LoadedModel, WeightsThatCameWithItAreItsParameters) {
  std::vector<std::string> by_rule;
  const NamedArrays params = load_params(imported(numbers({1, 2, 3})), "", {}, &by_rule);
  ASSERT_EQ(params.size(), 2u);
  EXPECT_EQ(params[0].first, "w");
  EXPECT_EQ(params[0].second.as<float>()[2], 3);
  EXPECT_THAT(by_rule, testing::ElementsAre("b"));
}

TEST(LoadedModel, AWeightOfAnotherShapeIsRefused) {
  try {
    load_params(imported(numbers({1, 2})), "");
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("net.bin: array \"w\""));
  }
}

TEST(LoadedModel, WithoutATextItsReportNamesIt) {
  const LoadedModel model = imported(numbers({1, 2, 3}));
  const ReportHead head = report_head(model, 2);
  EXPECT_EQ(head.model, "net.bin");
  EXPECT_EQ(head.source, "net.bin");
  EXPECT_TRUE(head.sources.empty());
  EXPECT_EQ(head.opt_level, 2);
}

}  // namespace
}  // namespace baton
