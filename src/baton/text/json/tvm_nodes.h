#pragma once
// The node graph of TVM 0.11.1's JSON: `save_json` (tvm_json.cc) and the `#[metadata]` of texts
// (metadata.cc).
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "baton/ir/attrs.h"
#include "baton/ir/extent.h"
#include "baton/support/base/ndarray.h"
#include "baton/text/json/json_tape.h"

namespace baton::text {

/// The nodes of a parsed text. Accessing a missing or malformed field throws Error.
class TvmNodes {
 public:
  using At = JsonTape::At;
  using Index = uint32_t;

  /// `values`: limits on the total members of all lists and the total attribute values: lists may be shared.
  TvmNodes(const JsonTape& tape, size_t values);
  virtual ~TvmNodes() = default;

  const JsonTape& tape() const { return tape_; }
  size_t size() const { return nodes_.size(); }
  At at(Index node) const { return nodes_[node]; }
  Index root() const { return index(member(JsonTape::kRoot, "root")); }

  // ---- Members of objects

  std::optional<At> find(At object, std::string_view name) const;
  At member(At object, std::string_view name) const;
  /// Numbers may be stored as numbers or strings.
  int64_t integer(At at) const;
  int small(At at) const;  ///< must fit an int
  Index index(At at) const;
  /// A string is a separate node, or inline in the field.
  std::string text(At at) const;

  // ---- Nodes

  std::string type_key(Index node) const;
  std::string repr(Index node) const;  ///< of a runtime.String
  std::optional<At> find_attr(Index node, std::string_view name) const;
  At attr(Index node, std::string_view name) const;
  std::string text(Index node, std::string_view name) const { return text(attr(node, name)); }
  /// The node referenced by a field; nullopt for null, which is node 0, and for an absent field.
  std::optional<Index> ref(Index node, std::string_view name) const;
  Index need(Index node, std::string_view name) const;

  // ---- Lists

  void spend(size_t values);
  std::vector<Index> items(Index node);  ///< of an Array or Map
  std::vector<Index> list(Index node);   ///< of an Array
  std::vector<Index> list(Index node, std::string_view name);
  /// Keys are strings in `keys`, or nodes before their values in `data`.
  std::vector<std::pair<std::string, Index>> map(Index node);

  // ---- Values

  /// The tensor of a relay.Constant.
  const NDArray& tensor(Index constant);
  AttrValue value(Index node) { return value(node, 0); }
  Attrs attrs(Index node, const AttrSchema& schema);
  /// A number, `?` or a symbolic extent; a node is every time the same extent. May be negative.
  Dim extent(Index node) { return extent(node, 0); }

 protected:
  /// The value of a node of any other kind; nullopt when unsupported.
  virtual std::optional<AttrValue> object(Index node) = 0;

 private:
  AttrValue value(Index node, int depth);
  Dim extent(Index node, int depth);
  AttrValue plain_value(At at, const AttrValue& form) const;

  const JsonTape& tape_;
  size_t values_left_;
  std::vector<At> nodes_, blobs_;
  std::unordered_map<size_t, NDArray> tensors_;  // by blob
  std::unordered_map<Index, Dim> extents_;       // symbolic ones
};

}  // namespace baton::text
