#include "baton/pass/pass_args.h"

#include <functional>

#include <gtest/gtest.h>

#include "baton/support/error.h"

namespace baton {
namespace {

std::string message(const std::function<void()>& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(PassArgs, UnknownAndWrongOnesAreRefused) {
  const PassArgs args{{"levl", 3}};
  EXPECT_EQ(message([&] {
              PassArgReader reader("P", args);
              reader.integer("level", 0);
              reader.finish();
            }),
            "P has no argument `levl`; did you mean `level`?");
  const PassArgs wrong{{"level", "high"}};
  EXPECT_EQ(message([&] { PassArgReader("P", wrong).integer("level", 0); }),
            "P: argument `level` expects an integer, got \"high\"");
  const PassArgs twice{{"level", 1}, {"level", 2}};
  EXPECT_EQ(message([&] { PassArgReader("P", twice).integer("level", 0); }),
            "P: argument `level` is given twice");
}

}  // namespace
}  // namespace baton
