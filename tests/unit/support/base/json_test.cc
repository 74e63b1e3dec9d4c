#include "baton/support/base/json.h"

#include <gtest/gtest.h>

namespace baton {
namespace {

using Kind = JsonValue::Kind;

bool reads(std::string_view text) { return JsonDocument::parse(text).has_value(); }

/// Of a text that is one string; "refused" for what is none.
std::string string_of(std::string_view text) {
  const auto json = JsonDocument::parse(text);
  return json && json->root().string() ? std::string(*json->root().string()) : "refused";
}

std::optional<int64_t> integer_of(std::string_view text) {
  const auto json = JsonDocument::parse(text);
  return json ? json->root().integer() : std::nullopt;
}

TEST(JsonReader, GivesEveryKindOfValue) {
  const auto json = JsonDocument::parse(R"( [null, false, true, -7, 2.5e-3, "text", [], {}, [1, [2]]] )");
  ASSERT_TRUE(json);
  const JsonValue& list = json->root();
  const Kind kinds[] = {Kind::kNull,   Kind::kFalse, Kind::kTrue,   Kind::kInteger, Kind::kReal,
                        Kind::kString, Kind::kArray, Kind::kObject, Kind::kArray};
  ASSERT_EQ(list.size(), std::size(kinds));
  for (size_t i = 0; i < list.size(); ++i) EXPECT_EQ(list[i].kind(), kinds[i]) << i;
  EXPECT_EQ(list[3].integer(), -7);
  EXPECT_EQ(list[5].string(), "text");
  EXPECT_EQ(list[6].begin(), list[6].end());
  EXPECT_EQ(list[7].size(), 0u);
  EXPECT_EQ(list[8][1][0].integer(), 2);
}

TEST(JsonReader, AValueOfAnotherKindIsAnEmptyAnswer) {
  const auto json = JsonDocument::parse(R"(["1", 1, 1.0, null, [1], {"a": 1}])");
  ASSERT_TRUE(json);
  const JsonValue& list = json->root();
  for (const size_t i : {0, 2, 3, 4, 5}) EXPECT_FALSE(list[i].integer()) << i;
  for (const size_t i : {1, 2, 3, 4, 5}) EXPECT_FALSE(list[i].string()) << i;
  for (const size_t i : {0, 1, 2, 3, 4}) EXPECT_FALSE(list[i].member("a")) << i;
  for (const size_t i : {0, 1, 2, 3, 5}) EXPECT_EQ(list[i].begin(), list[i].end()) << i;
}

TEST(JsonReader, FindsMembersInAnyOrder) {
  const auto json = JsonDocument::parse(R"({"c": 3, "a": 1, "": 0, "b": {"a": 4}})");
  ASSERT_TRUE(json);
  const JsonValue& object = json->root();
  ASSERT_EQ(object.size(), 4u);
  EXPECT_EQ(object.member("a")->integer(), 1);
  EXPECT_EQ(object.member("c")->integer(), 3);
  EXPECT_EQ(object.member("")->integer(), 0);
  EXPECT_EQ(object.member("b")->member("a")->integer(), 4);
  EXPECT_EQ(object.member("d"), nullptr);
  EXPECT_EQ(object.name(1), "a");
  EXPECT_EQ(object.value(3).integer(), 3);
}

TEST(JsonReader, TheLastOfSeveralMembersOfOneNameCounts) {
  const auto json = JsonDocument::parse(R"({"a": 1, "b": 2, "a": 3, "a": [4]})");
  ASSERT_TRUE(json);
  ASSERT_EQ(json->root().size(), 2u);
  EXPECT_EQ((*json->root().member("a"))[0].integer(), 4);
  EXPECT_EQ(json->root().member("b")->integer(), 2);
}

TEST(JsonReader, DecodesEscapes) {
  EXPECT_EQ(string_of(R"("\"\\\/\b\f\n\r\t")"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(string_of(R"("\u0041\u00e9\u20AC\ud83d\ude00")"), "A\u00e9\u20ac\U0001F600");
  EXPECT_EQ(string_of(R"("\u0000")"), std::string(1, '\0'));
  EXPECT_EQ(string_of("\"\u00e9\u20ac\U0001F600\x7f\""), "\u00e9\u20ac\U0001F600\x7f");
  for (const char* wrong :
       {R"("\x")", R"("\u12")", R"("\u12G4")", R"("\u-123")", R"("\ud83d")", R"("\ud83dx")", R"("\ud83d\n")",
        R"("\ud83d\u0041")", R"("\ude00")", "\"\\", "\"\\\"", "\"a\nb\"", "\"\x1f\""})
    EXPECT_FALSE(reads(wrong)) << wrong;
}

TEST(JsonReader, TakesOnlyUtf8) {
  for (const char* wrong :
       {"\"\x80\"", "\"\xC0\xAF\"", "\"\xE0\x9F\xBF\"", "\"\xED\xA0\x80\"", "\"\xF0\x8F\xBF\xBF\"",
        "\"\xF4\x90\x80\x80\"", "\"\xF5\x80\x80\x80\"", "\"\xC3\"", "\"\xE2\x82\"", "\"\xE2\x82"})
    EXPECT_FALSE(reads(wrong)) << wrong;
  for (const char* right : {"\"\xED\x9F\xBF\"", "\"\xEE\x80\x80\"", "\"\xF4\x8F\xBF\xBF\""})
    EXPECT_TRUE(reads(right));
  EXPECT_TRUE(reads("\xEF\xBB\xBF[]"));  // a mark of the byte order, as some editors write it
}

TEST(JsonReader, NumbersEndWhereInt64Does) {
  EXPECT_EQ(integer_of("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(integer_of("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(integer_of("-0"), 0);
  for (const char* real : {"9223372036854775808", "-9223372036854775809", "18446744073709551615", "1e3",
                           "1.0", "0e0", "1E+999"}) {
    EXPECT_TRUE(reads(real)) << real;
    EXPECT_FALSE(integer_of(real)) << real;
  }
  for (const char* wrong :
       {"01", "-", "+1", ".5", "1.", "1e", "1e+", "0x10", "--1", "1 2", "Infinity", "NaN", "-01"})
    EXPECT_FALSE(reads(wrong)) << wrong;
}

TEST(JsonReader, EveryTruncationIsRefused) {
  const std::string_view text = R"({"a": [1, 2.5, "b\u00e9\n", {"c": null}], "d": true, "e": [[], {}]})";
  EXPECT_TRUE(reads(text));
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(reads(text.substr(0, length))) << length;
}

TEST(JsonReader, NothingMayFollow) {
  for (const char* wrong :
       {"",      " ",   "{} x", "[] []", "1,", "[1,]", "[,1]", "[1 2]", "{\"a\":1,}", "{\"a\"}",  "{\"a\" 1}",
        "{1:2}", "{,}", "[}",   "{]",    "]",  "nul",  "True", "nulll", "'a'",        "[1] // no"})
    EXPECT_FALSE(reads(wrong)) << wrong;
  EXPECT_FALSE(reads(std::string_view("[]\0", 3)));
  EXPECT_FALSE(reads(std::string_view("[\0]", 3)));
  EXPECT_FALSE(reads(std::string_view("\"\0\"", 3)));
  EXPECT_TRUE(reads(" \t\r\n{ \"a\" : [ 1 , 2 ] } \n"));
}

TEST(JsonReader, DepthIsNoLimit) {
  constexpr size_t kDepth = 1'000'000;
  const auto json = JsonDocument::parse(std::string(kDepth, '[') + std::string(kDepth, ']'));
  ASSERT_TRUE(json);
  size_t depth = 1;
  for (const JsonValue* value = &json->root(); value->size() == 1; value = value->begin()) ++depth;
  EXPECT_EQ(depth, kDepth);
  EXPECT_FALSE(reads(std::string(kDepth, '[')));
  EXPECT_FALSE(reads(std::string(kDepth, '{')));
}

TEST(JsonReader, ShowsAPartAsItStands) {
  const std::string_view text = R"({"a": [1 , "b \" c" ,
    {"d" : 1.50}]})";
  const auto json = JsonDocument::parse(text);
  ASSERT_TRUE(json);
  EXPECT_EQ(compact_json(*json->root().member("a"), text), R"([1,"b \" c",{"d":1.50}])");
  EXPECT_EQ(compact_json((*json->root().member("a"))[0], text), "1");
  EXPECT_EQ(compact_json(json->root(), text), R"({"a":[1,"b \" c",{"d":1.50}]})");
}

TEST(JsonReader, ADocumentCanMove) {
  auto json = JsonDocument::parse(R"({"a": "b"})");
  ASSERT_TRUE(json);
  const JsonDocument moved = std::move(*json);
  EXPECT_EQ(moved.root().member("a")->string(), "b");
}

}  // namespace
}  // namespace baton
