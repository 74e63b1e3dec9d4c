#include "baton/support/json.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace baton {
namespace {

std::string error_of(const auto& action) {
  try {
    action();
  } catch (const JsonError& error) {
    return error.what();
  }
  return "no error";
}
std::string parse_error(std::string_view text) {
  return error_of([&] { Json::parse(text); });
}

// What nlohmann-json 3.11.2 writes, which wrote Baton's files before.
TEST(Json, RealNumbersAreWrittenAsEver) {
  const std::pair<double, const char*> table[] = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1.0, "1.0"},
      {-1.5, "-1.5"},
      {0.1, "0.1"},
      {1e-4, "0.0001"},
      {0.00012345, "0.00012345"},
      {9.999e-5, "9.999e-05"},
      {1e-5, "1e-05"},
      {-2.5e-7, "-2.5e-07"},
      {100.0, "100.0"},
      {123456.789, "123456.789"},
      {1 / 3.0, "0.3333333333333333"},
      {1e14, "100000000000000.0"},
      {123456789012345.0, "123456789012345.0"},
      {999999999999999.0, "999999999999999.0"},
      {1e15, "1e+15"},
      {1.5e15, "1.5e+15"},
      {9007199254740993.0, "9.007199254740992e+15"},
      {1e100, "1e+100"},
      {std::numeric_limits<double>::max(), "1.7976931348623157e+308"},
      {std::numeric_limits<double>::min(), "2.2250738585072014e-308"},
      {std::numeric_limits<double>::denorm_min(), "5e-324"},
      {std::nan(""), "null"},
      {-std::numeric_limits<double>::infinity(), "null"},
  };
  for (const auto& [number, text] : table) {
    EXPECT_EQ(Json(number).dump(), text);
    EXPECT_TRUE(!std::isfinite(number) || Json::parse(text).get<double>() == number) << text;
  }
  EXPECT_EQ(Json(0.5f).dump(), "0.5");
}

TEST(Json, IntegersReachFromInt64ToUint64) {
  EXPECT_EQ(Json(INT64_MIN).dump(), "-9223372036854775808");
  EXPECT_EQ(Json(UINT64_MAX).dump(), "18446744073709551615");
  for (const char* text : {"-9223372036854775808", "9223372036854775808", "18446744073709551615", "0"}) {
    EXPECT_TRUE(Json::parse(text).is_number_integer()) << text;
    EXPECT_EQ(Json::parse(text).dump(), text);
  }
  EXPECT_EQ(Json::parse("18446744073709551615").get<uint64_t>(), UINT64_MAX);
  EXPECT_EQ(Json::parse("18446744073709551616").dump(), "1.8446744073709552e+19");
  EXPECT_EQ(Json::parse("-9223372036854775809").dump(), "-9.223372036854776e+18");
  EXPECT_EQ(Json::parse("-0").dump(), "0");
}

TEST(Json, ANumberThatDoesNotFitIsRefused) {
  EXPECT_EQ(error_of([] { Json(-1).get<uint32_t>(); }), "expected a number from 0 to 4294967295, found -1");
  EXPECT_EQ(error_of([] { Json(1e10).get<int>(); }),
            "expected a number from -2147483648 to 2147483647, found 10000000000.0");
  EXPECT_EQ(error_of([] { Json(UINT64_MAX).get<int64_t>(); }),
            "expected a number from -9223372036854775808 to 9223372036854775807, found 18446744073709551615");
  for (const double beyond : {9223372036854775808.0, -9223372036854777856.0, std::nan("")})
    EXPECT_NE(error_of([&] { Json(beyond).get<int64_t>(); }), "no error") << beyond;
  EXPECT_EQ(Json(-9223372036854775808.0).get<int64_t>(), INT64_MIN);
  EXPECT_EQ(Json(2.75).get<int>(), 2);
  EXPECT_EQ(Json(3).get<double>(), 3.0);
}

TEST(Json, BracesAreAnObjectOrAnArray) {
  const Json made{{"a", 1},
                  {"list", {1, "two", nullptr, true}},
                  {"pairs", Json::array({{"x", 1}})},
                  {"own", {{"b", {}}}},
                  {"words", std::vector<std::string>{"p", "q"}},
                  {"map", std::map<std::string, double>{{"k", 0.5}}},
                  {"a", 2}};
  EXPECT_EQ(made.dump(),
            R"({"a":1,"list":[1,"two",null,true],"pairs":[["x",1]],"own":{"b":null},"words":["p","q"],)"
            R"("map":{"k":0.5}})");
  EXPECT_EQ(Json::array().dump(), "[]");
  EXPECT_EQ(Json::array().dump(2), "[]");
  EXPECT_EQ(Json::object().dump(2), "{}");
  const Json one = {{"list", {1, 2}}, {"empty", Json::object()}};
  EXPECT_EQ(one.dump(1), "{\n \"list\": [\n  1,\n  2\n ],\n \"empty\": {}\n}");
}

TEST(Json, MembersKeepTheirOrder) {
  Json json;
  json["z"] = 1;
  json["a"] = {{"b", 2}};
  json["a"]["c"].push_back(3);
  json["z"] = "again";
  json.update({{"a", 0}, {"m", false}});
  EXPECT_EQ(json.dump(), R"({"z":"again","a":0,"m":false})");
  EXPECT_EQ(Json::parse(R"({"b": 1, "a": 2, "b": [3]})").dump(), R"({"b":[3],"a":2})");
  std::string names;
  for (const auto& [name, value] : json.items()) names += name + "=" + value.dump() + " ";
  EXPECT_EQ(names, "z=\"again\" a=0 m=false ");
}

TEST(Json, FindsAndReadsMembers) {
  const Json json = Json::parse(R"({"n": null, "i": 7, "list": [[1, 2], [3]], "map": {"x": 1.5}, "s": "t"})");
  EXPECT_EQ(json.find("none"), json.end());
  EXPECT_TRUE(json.contains("n") && json["n"].is_null() && json["n"].empty());
  EXPECT_EQ(json.value("i", 1), 7);
  EXPECT_EQ(json.value("none", 1), 1);
  EXPECT_EQ(json.value("s", ""), "t");
  EXPECT_EQ(json.at("list").get<std::vector<std::vector<int64_t>>>()[1][0], 3);
  EXPECT_EQ((json["map"].get<std::map<std::string, double>>().at("x")), 1.5);
  EXPECT_EQ(json.size(), 5u);
  EXPECT_EQ(json["i"].size(), 1u);
  EXPECT_FALSE(json["i"].contains("x"));
  EXPECT_EQ(error_of([&] { json.at("none"); }),
            R"(there is no `none` in {"n":null,"i":7,"list":[[1,2],[3]],"map"...)");
  EXPECT_EQ(error_of([&] { json["list"].at(2); }), "there is no element 2 in [[1,2],[3]]");
  EXPECT_EQ(error_of([&] { json["s"].at("x"); }), "expected an object with `x`, found \"t\"");
  EXPECT_EQ(error_of([&] { json["i"].get<std::string>(); }), "expected a text, found 7");
  EXPECT_EQ(error_of([&] { json["n"].get<std::vector<int>>(); }), "expected an array, found null");
  EXPECT_EQ(error_of([&] { json["s"].get<int>(); }), "expected a number, found \"t\"");
  EXPECT_EQ(error_of([&] { json["i"].get<bool>(); }), "expected true or false, found 7");
}

TEST(Json, ComparesByValue) {
  EXPECT_EQ(Json(1), Json(1.0));
  EXPECT_EQ(Json(UINT64_MAX), Json::parse("18446744073709551615"));
  EXPECT_NE(Json(-1), Json(UINT64_MAX));
  EXPECT_NE(Json(1), Json(true));
  EXPECT_NE(Json("1"), 1);
  EXPECT_EQ(Json::parse(R"({"a": [1, {}]})"), (Json{{"a", {1, Json::object()}}}));
  EXPECT_NE(Json::parse(R"({"a": 1, "b": 2})"), Json::parse(R"({"b": 2, "a": 1})"));
  EXPECT_NE(Json::parse_or_discard("{"), Json::parse_or_discard("{"));
}

TEST(Json, TextsAreEscapedAndUtf8) {
  EXPECT_EQ(Json("\"\\/\b\f\n\r\t\x01\x1f\x7f\u00e9").dump(),
            "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7f\u00e9\"");
  const Json wrong("a\x80\xE2\x82z\xED\xA0\x80\xF0\x9F");
  EXPECT_EQ(error_of([&] { wrong.dump(); }), "a text that is not UTF-8 cannot be JSON, from its byte 1 on");
  EXPECT_EQ(wrong.dump(-1, JsonUtf8::kReplace), "\"a\uFFFD\uFFFDz\uFFFD\uFFFD\uFFFD\uFFFD\"");
}

TEST(Json, ErrorsNameTheirPlace) {
  const std::pair<const char*, const char*> table[] = {
      {"", "line 1, column 1: expected a value, found the end"},
      {"{\n  \"a\": 1\n  \"b\"", "line 3, column 3: expected `,` or `}`, found `\"`"},
      {"[1 2]", "line 1, column 4: expected `,` or `]`, found `2`"},
      {"{a: 1}", "line 1, column 2: expected a name in quotes, found `a`"},
      {"{\"a\" 1}", "line 1, column 6: expected `:`, found `1`"},
      {"[1,]", "line 1, column 4: expected a value, found `]`"},
      {"1 x", "line 1, column 3: expected the end, found `x`"},
      {"[1.]", "line 1, column 4: expected a digit, found `]`"},
      {"\"abc", "line 1, column 5: a string does not end"},
      {"\"a\nb\"", "line 1, column 3: a control character in a string"},
      {"\"\\x\"", "line 1, column 3: there is no such escape in a string"},
      {"\"\\ud800\"", "line 1, column 8: half of a surrogate pair"},
      {"\"\xFF\"", "line 1, column 2: this is not UTF-8"},
      {"\xFF", "line 1, column 1: expected a value, found a byte that is no character"},
      {"[1e400]", "line 1, column 2: the number 1e400 is too large"},
  };
  for (const auto& [text, message] : table) {
    EXPECT_EQ(parse_error(text), message) << text;
    EXPECT_TRUE(Json::parse_or_discard(text).is_discarded());
    EXPECT_FALSE(Json::accept(text));
  }
  EXPECT_EQ(Json::parse("[1e-400, 0.0000001e-330, -1e-999999999999]").dump(), "[0.0,0.0,-0.0]");
}

TEST(Json, DepthIsBounded) {
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(Json::parse(nested(Json::kDeepest)).dump(), nested(Json::kDeepest));
  EXPECT_EQ(parse_error(nested(1'000'000)), "line 1, column 1001: nested more than 1000 deep");
}

TEST(Json, CanMoveAndBeAPartOfItself) {
  Json json = {{"a", {1, 2}}};
  Json moved = std::move(json);
  EXPECT_TRUE(json.is_null());  // NOLINT(bugprone-use-after-move)
  moved = moved["a"];
  EXPECT_EQ(moved.dump(), "[1,2]");
  moved.push_back(moved);
  EXPECT_EQ(moved.dump(), "[1,2,[1,2]]");
}

}  // namespace
}  // namespace baton
