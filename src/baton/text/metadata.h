#pragma once
// The `#[metadata]` section: what has no text of its own, as TVM's JSON graph with base64 blobs.
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "baton/support/base/ndarray.h"

namespace baton::text {

/// The section of a text that is read.
class MetadataReader {
 public:
  /// Reads the JSON. Throws Error with what is wrong.
  explicit MetadataReader(std::string_view json);
  ~MetadataReader();
  MetadataReader(const MetadataReader&) = delete;
  MetadataReader& operator=(const MetadataReader&) = delete;

  /// How many objects of that type there are.
  size_t count(const std::string& type_key) const;
  /// The value of `meta[relay.Constant][index]`. Throws Error when the blob is damaged.
  NDArray constant(size_t index) const;

 private:
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

/// Collects what a printed text refers to by `meta[...]`.
class MetadataWriter {
 public:
  /// The index of a new relay.Constant.
  size_t add_constant(const NDArray& value);
  /// The index of a new IncompleteType.
  size_t add_incomplete_type() { return use("IncompleteType", NDArray()); }
  bool empty() const { return objects_.empty(); }
  /// The JSON text, without `#[metadata]`.
  std::string json() const;

 private:
  struct Objects {
    std::string type_key;
    std::vector<NDArray> values;
  };
  size_t use(std::string_view type_key, const NDArray& value);
  std::vector<Objects> objects_;
};

/// TVM's binary form of a tensor, which blobs hold.
std::string array_to_bytes(const NDArray& array);
/// Throws Error with what is wrong.
NDArray array_from_bytes(std::string_view bytes);

std::string base64_encode(std::string_view bytes);
/// Nothing when `text` is no base64.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace baton::text
