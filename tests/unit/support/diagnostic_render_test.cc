#include <gtest/gtest.h>

#include "baton/support/diagnostic.h"

namespace baton {
namespace {

Span at(const Ref<const Source>& source, uint32_t line, uint32_t column, uint32_t end_column) {
  return Span{source, line, column, line, end_column};
}

Diagnostic error_at(Span span) {
  Diagnostic diagnostic;
  diagnostic.code = "E0001";
  diagnostic.message = "wrong";
  diagnostic.span = std::move(span);
  return diagnostic;
}

TEST(DiagnosticRender, OfALongLineThePartAroundTheMistakeIsShown) {
  const auto source =
      make_ref<const Source>("a.relay", std::string(100000, 'x') + "HERE" + std::string(100000, 'y'));
  const std::string text = render(error_at(at(source, 1, 100001, 100005)));
  EXPECT_LT(text.size(), 600u);
  const size_t here = text.find("HERE"), caret = text.find("^^^^");
  ASSERT_NE(here, std::string::npos);
  EXPECT_EQ(here - text.rfind('\n', here), caret - text.rfind('\n', caret));
  EXPECT_NE(text.find(" ...xxx"), std::string::npos);
  EXPECT_NE(text.find("yyy...\n"), std::string::npos);
}

TEST(DiagnosticRender, CaretsCountCharactersNotBytes) {
  const auto source = make_ref<const Source>("a.relay", "\t/* \xC3\xA4\xE2\x82\xAC */ bad");
  EXPECT_EQ(render(error_at(at(source, 1, 14, 17))),
            "error[E0001]: wrong\n  --> a.relay:1:14\n   |\n 1 |  /* \xC3\xA4\xE2\x82\xAC */ bad\n   |       "
            "    ^^^\n");
}

TEST(DiagnosticRender, LabelsOnOtherLinesBringTheirLine) {
  const auto source = make_ref<const Source>("a.relay", "one\ntwo\r\nthree");
  Diagnostic diagnostic = error_at(at(source, 3, 1, 6));
  diagnostic.label(at(source, 2, 1, 4), "here");
  EXPECT_EQ(
      render(diagnostic),
      "error[E0001]: wrong\n  --> a.relay:3:1\n   |\n 3 | three\n   | ^^^^^\n 2 | two\n   | --- here\n");
}

TEST(DiagnosticRender, PlacesBehindTheLineAreAllowed) {
  const auto source = make_ref<const Source>("a.relay", "one");
  EXPECT_EQ(render(error_at(at(source, 1, 4, 5))),
            "error[E0001]: wrong\n  --> a.relay:1:4\n   |\n 1 | one\n   |    ^\n");
  EXPECT_EQ(render(error_at(at(source, 9, 1, 2))),
            "error[E0001]: wrong\n  --> a.relay:9:1\n   |\n 9 | \n   | ^\n");
}

}  // namespace
}  // namespace baton
