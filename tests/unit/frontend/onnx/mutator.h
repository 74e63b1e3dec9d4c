#pragma once
// Changes ONNX files by the messages they consist of: fields are left out, doubled, exchanged, or take the
// place of others of their kind; numbers and names become others. Lengths stay right, so that the changed
// files get past the wire format.
#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "baton/frontend/onnx/wire.h"
#include "baton/support/error.h"

namespace baton::onnx::mutation {

/// Kinds of messages of onnx-ml.proto, as far as they contain others.
enum class Kind : uint8_t {
  kText,
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kValue,
  kType,
  kTensorType,
  kShape,
  kDim,
  kSequence,
  kFunction,
  kOpset,
  kPair,
  kSparse
};

inline Kind kind_of(Kind message, uint32_t field) {
  struct Row {
    Kind message;
    uint32_t field;
    Kind kind;
  };
  static constexpr std::array kRows = {
      Row{Kind::kModel, 7, Kind::kGraph},         Row{Kind::kModel, 8, Kind::kOpset},
      Row{Kind::kModel, 25, Kind::kFunction},     Row{Kind::kModel, 14, Kind::kPair},
      Row{Kind::kGraph, 1, Kind::kNode},          Row{Kind::kGraph, 5, Kind::kTensor},
      Row{Kind::kGraph, 11, Kind::kValue},        Row{Kind::kGraph, 12, Kind::kValue},
      Row{Kind::kGraph, 13, Kind::kValue},        Row{Kind::kGraph, 15, Kind::kSparse},
      Row{Kind::kNode, 5, Kind::kAttribute},      Row{Kind::kNode, 9, Kind::kPair},
      Row{Kind::kAttribute, 5, Kind::kTensor},    Row{Kind::kAttribute, 6, Kind::kGraph},
      Row{Kind::kAttribute, 10, Kind::kTensor},   Row{Kind::kAttribute, 11, Kind::kGraph},
      Row{Kind::kAttribute, 14, Kind::kType},     Row{Kind::kAttribute, 22, Kind::kSparse},
      Row{Kind::kTensor, 13, Kind::kPair},        Row{Kind::kSparse, 1, Kind::kTensor},
      Row{Kind::kSparse, 2, Kind::kTensor},       Row{Kind::kValue, 2, Kind::kType},
      Row{Kind::kType, 1, Kind::kTensorType},     Row{Kind::kType, 4, Kind::kSequence},
      Row{Kind::kType, 9, Kind::kSequence},       Row{Kind::kSequence, 1, Kind::kType},
      Row{Kind::kTensorType, 2, Kind::kShape},    Row{Kind::kShape, 1, Kind::kDim},
      Row{Kind::kFunction, 7, Kind::kNode},       Row{Kind::kFunction, 9, Kind::kOpset},
      Row{Kind::kFunction, 11, Kind::kAttribute},
  };
  for (const Row& row : kRows)
    if (row.message == message && row.field == field) return row.kind;
  return Kind::kText;
}

struct Field {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  Kind kind = Kind::kText;    ///< of kBytes
  uint64_t value = 0;         ///< of numbers
  std::string text;           ///< of kText
  std::vector<Field> fields;  ///< of messages
};

inline std::vector<Field> parsed(std::string_view bytes, Kind message, int depth = 0) {
  std::vector<Field> fields;
  WireReader reader(bytes);
  for (WireField each; reader.next(each);) {
    Field field{each.number, each.type, Kind::kText, each.value, {}, {}};
    if (each.type == WireType::kBytes) {
      field.kind = depth < 100 ? kind_of(message, each.number) : Kind::kText;
      if (field.kind == Kind::kText)
        field.text = each.bytes;
      else
        field.fields = parsed(each.bytes, field.kind, depth + 1);
    }
    fields.push_back(std::move(field));
  }
  return fields;
}

inline std::string varint(uint64_t value) {
  std::string text;
  for (; value >= 0x80; value >>= 7) text += static_cast<char>(value | 0x80);
  return text + static_cast<char>(value);
}

inline std::string written(const std::vector<Field>& fields) {
  std::string text;
  for (const Field& field : fields) {
    text += varint(uint64_t{field.number} << 3 | static_cast<uint64_t>(field.type));
    if (field.type == WireType::kVarint) {
      text += varint(field.value);
    } else if (field.type == WireType::kBytes) {
      const std::string content = field.kind == Kind::kText ? field.text : written(field.fields);
      text += varint(content.size()) + content;
    } else {
      text.append(reinterpret_cast<const char*>(&field.value), field.type == WireType::kFixed32 ? 4 : 8);
    }
  }
  return text;
}

/// One or a few changes of `bytes`. What is no file is returned with a byte changed.
class Mutator {
 public:
  explicit Mutator(uint32_t seed) : random_(seed) {}

  std::string changed(const std::string& bytes) {
    std::vector<Field> model;
    try {
      model = parsed(bytes, Kind::kModel);
    } catch (const Error&) {
      std::string other = bytes;
      if (!other.empty()) other[below(other.size())] = static_cast<char>(below(256));
      return other;
    }
    for (size_t i = 0, count = 1 + below(3); i < count; ++i) change(model);
    return written(model);
  }

 private:
  size_t below(size_t most) { return std::uniform_int_distribution<size_t>(0, most - 1)(random_); }

  /// Every list of fields, and every field, of the file.
  struct All {
    std::vector<std::vector<Field>*> lists;
    std::vector<Field*> fields;
  };
  static void collect(std::vector<Field>& fields, All& all) {
    all.lists.push_back(&fields);
    for (Field& each : fields) {
      all.fields.push_back(&each);
      if (each.kind != Kind::kText) collect(each.fields, all);
    }
  }

  void change(std::vector<Field>& model) {
    All all;
    collect(model, all);
    if (all.fields.empty()) return;
    std::vector<Field>& list = *all.lists[below(all.lists.size())];
    Field& field = *all.fields[below(all.fields.size())];
    switch (below(6)) {
      case 0:
        if (!list.empty()) list.erase(list.begin() + static_cast<int64_t>(below(list.size())));
        return;
      case 1:
        if (!list.empty()) {
          const Field copy = list[below(list.size())];
          list.insert(list.begin() + static_cast<int64_t>(below(list.size() + 1)), copy);
        }
        return;
      case 2:
        if (!list.empty()) std::swap(list[below(list.size())], list[below(list.size())]);
        return;
      default:
        return field.type == WireType::kBytes ? replace(field, all) : renumber(field);
    }
  }

  /// By a copy of another field of its kind, or of another text.
  void replace(Field& field, const All& all) {
    std::vector<const Field*> alike;
    for (const Field* each : all.fields)
      if (each != &field && each->type == WireType::kBytes && each->kind == field.kind) alike.push_back(each);
    if (field.kind == Kind::kText && below(3) == 0) return change_text(field.text);
    if (alike.empty()) return;
    const Field other = *alike[below(alike.size())];  // a copy: it may contain `field`
    field.text = other.text;
    field.fields = other.fields;
  }

  void change_text(std::string& text) {
    if (text.empty() || below(4) == 0) {
      text += static_cast<char>(below(256));
    } else if (below(3) == 0) {
      text.pop_back();
    } else {
      text[below(text.size())] = static_cast<char>(below(256));
    }
  }

  void renumber(Field& field) {
    static constexpr std::array<int64_t, 18> kNumbers = {0,
                                                         1,
                                                         2,
                                                         3,
                                                         5,
                                                         7,
                                                         9,
                                                         10,
                                                         17,
                                                         -1,
                                                         -2,
                                                         64,
                                                         1000,
                                                         INT64_MAX,
                                                         INT64_MIN,
                                                         int64_t{1} << 31,
                                                         int64_t{1} << 40,
                                                         -1000};
    if (below(3) == 0)
      field.value ^= uint64_t{1} << below(8);
    else
      field.value = static_cast<uint64_t>(kNumbers[below(kNumbers.size())]);
    if (below(8) == 0) field.number = static_cast<uint32_t>(1 + below(25));
  }

  std::mt19937 random_;
};

}  // namespace baton::onnx::mutation
