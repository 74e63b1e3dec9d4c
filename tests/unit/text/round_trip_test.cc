#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "baton/codegen/backend.h"
#include "baton/ir/structural.h"
#include "baton/ops/register.h"
#include "baton/pass/pass.h"
#include "baton/support/diagnostic.h"
#include "baton/text/parser.h"
#include "baton/text/printer.h"
#include "baton/transform/register.h"

#include "text/reference.h"

namespace baton::text {
namespace {

// The typed texts have comments in places that only inference fills; without them it is the same text.
std::string without_comments(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t open = text.find(" /* ", at);
    out.append(text, at, open - at);
    if (open == std::string::npos) break;
    at = text.find("*/", open) + 2;
  }
  return out;
}

std::string plain(const IRModule& module) {
  PrintOptions options;
  options.types = options.spans = false;
  options.metadata = PrintOptions::Metadata::kNone;
  return print(*module, options);
}

class RoundTrip : public testing::Test {
 protected:
  void SetUp() override { register_all_ops(); }
};

TEST_F(RoundTrip, ModelsComeOutAsTheyWentIn) {
  int seen = 0;
  for (const auto& each : reference("text.jsonl.gz")) {
    if (each["kind"] != "model") continue;
    const std::string id = each["id"].get<std::string>(), typed = each["typed"].get<std::string>();
    try {
      const IRModule module = parse_module(typed);
      EXPECT_EQ(plain(module), without_comments(typed)) << id;
      ++seen;
    } catch (const DiagnosticError& error) {
      ADD_FAILURE() << id << "\n" << error.what();
    }
  }
  EXPECT_GE(seen, 7);
}

// What TVM printed for small texts, read and printed again; and the texts themselves, which mean the same.
TEST_F(RoundTrip, HandWrittenTexts) {
  int seen = 0;
  for (const auto& each : reference("text.jsonl.gz")) {
    if (each["kind"] != "roundtrip") continue;
    const std::string id = each["id"].get<std::string>(), typed = each["typed"].get<std::string>(),
                      text = each["text"].get<std::string>();
    try {
      const IRModule module = parse_module(typed);
      EXPECT_EQ(plain(module), without_comments(typed)) << id;
      const IRModule again = parse_module(astext(module));
      EXPECT_TRUE(structural_equal(*module, *again)) << id;
      EXPECT_NO_THROW(parse_module(text)) << id;
      ++seen;
    } catch (const DiagnosticError& error) {
      ADD_FAILURE() << id << "\n" << error.what();
    }
  }
  EXPECT_GE(seen, 20);
}

// The results of a thousand pass runs: fused functions, A-normal forms, partitions.
TEST_F(RoundTrip, TextsOfThePassReference) {
  int seen = 0;
  for (const auto& each : reference("passes_inputs.jsonl")) {
    const std::string id = each["id"].get<std::string>(), text = each["text"].get<std::string>();
    try {
      parse_module(text);
      ++seen;
    } catch (const DiagnosticError& error) {
      ADD_FAILURE() << id << "\n" << error.what();
    }
  }
  EXPECT_GE(seen, 20);
  seen = 0;
  for (const auto& each : reference("passes.jsonl.gz")) {
    const std::string id = each["id"].get<std::string>(), text = each["output"].get<std::string>();
    if (text.find("meta[") != std::string::npos) continue;  // printed without its metadata
    if (id.starts_with("pass/Defunctionalization/"))
      continue;  // printed without the functions that main calls
    if (id.starts_with("pass/EtaExpand.gv/"))
      continue;  // functions that share a node: no text of its own for it
    try {
      EXPECT_EQ(plain(parse_module(text)), without_comments(text)) << id;
      ++seen;
    } catch (const DiagnosticError& error) {
      ADD_FAILURE() << id << "\n" << error.what();
    }
  }
  EXPECT_GE(seen, 100);
}

// ` span=...` out of the comments; a comment of nothing else goes with it.
std::string without_spans(std::string text) {
  for (size_t at = 0; (at = text.find(" span=", at)) != std::string::npos;)
    text.erase(at, std::min(text.find(' ', at + 1), text.size()) - at);
  for (const std::string_view empty : {" /* */", " /**/"})
    for (size_t at = 0; (at = text.find(empty, at)) != std::string::npos;) text.erase(at, empty.size());
  return text;
}

// After inference the text is TVM's, character for character: types, results, names, numbers.
TEST_F(RoundTrip, InferredTextsAreTvmsCharacterForCharacter) {
  register_all_passes();
  const Pass infer_type = make_pass("InferType");
  PrintOptions options;
  options.spans = false;
  int seen = 0;
  for (const auto& each : reference("text.jsonl.gz")) {
    const std::string kind = each["kind"].get<std::string>(), id = each["id"].get<std::string>();
    if (kind != "model" && kind != "roundtrip") continue;
    const std::string typed = each["typed"].get<std::string>();
    try {
      const IRModule module = (*infer_type)(
          parse_module(kind == "model" ? typed : each["text"].get<std::string>()), host_context());
      EXPECT_EQ(print(*module, options), without_spans(typed)) << id;
      if (kind == "model") {
        PrintOptions short_form = options;
        short_form.version = false;
        EXPECT_EQ(print(*module, short_form), each["str"].get<std::string>()) << id;
        EXPECT_EQ(print(Expr(module->find("main")), short_form), each["main"].get<std::string>()) << id;
      }
      ++seen;
    } catch (const DiagnosticError& error) {
      ADD_FAILURE() << id << "\n" << error.what();
    }
  }
  EXPECT_GE(seen, 30);
}

}  // namespace
}  // namespace baton::text
