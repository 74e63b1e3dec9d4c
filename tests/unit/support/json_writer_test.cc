#include "baton/support/json_writer.h"

#include <gtest/gtest.h>

namespace baton {
namespace {

TEST(JsonWriter, CompactTextBreaksWhereItIsTold) {
  JsonWriter json(JsonLayout::kCompact);
  json.begin_object();
  json.key("nodes");
  json.begin_array();
  for (const int64_t number : {1, 2}) {
    json.break_line();
    json.item();
    json.begin_object();
    json.key("id");
    json.value(number);
    json.end_object();
  }
  json.break_line();
  json.end_array();
  json.break_line();
  json.key("list");
  json.value(std::vector<int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  json.key("none");
  json.null();
  json.key("more");
  json.json("[true]");
  json.end_object();
  EXPECT_EQ(json.take(),
            "{\"nodes\":[\n{\"id\":1},\n{\"id\":2}\n],\n\"list\":[1,2,3,4,5,6,7,8,9,10,11],\"none\":null,"
            "\"more\":[true]}");
}

TEST(JsonWriter, RealNumbersStayReal) {
  const auto text = [](double number) {
    JsonWriter json;
    json.real(number);
    return json.take();
  };
  EXPECT_EQ(text(2), "2.0");
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(1e300), "1e+300");
  EXPECT_EQ(std::stod(text(1.0 / 3)), 1.0 / 3);
}

TEST(JsonWriter, TextIsEscapedAndIsUtf8) {
  const auto text = [](std::string_view given) {
    JsonWriter json;
    json.value(given);
    return json.take();
  };
  EXPECT_EQ(text("a\"b\\c\n\t\x01"), "\"a\\\"b\\\\c\\n\\t\\u0001\"");
  EXPECT_EQ(text("é"), "\"é\"");
  EXPECT_EQ(text("a\xff"), "\"a\xEF\xBF\xBD\"");
}

TEST(JsonWriter, AnIndentedObjectMayStandOnOneLine) {
  JsonWriter json;
  json.begin_object();
  json.key("attrs");
  json.begin_object(/*multi_line=*/false);
  json.key("a");
  json.boolean(false);
  json.end_object();
  json.end_object();
  EXPECT_EQ(json.take(), "{\n  \"attrs\": {\"a\": false}\n}");
}

}  // namespace
}  // namespace baton
