#pragma once
// The `#[metadata]` section: values without a literal form, as TVM's JSON graph with base64 blobs.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "baton/ir/attrs.h"
#include "baton/ir/extent.h"
#include "baton/support/base/ndarray.h"

namespace baton::text {

/// Reads the metadata section of a text.
class MetadataReader {
 public:
  /// Parses the JSON. Throws Error when it is malformed.
  explicit MetadataReader(std::string_view json);
  ~MetadataReader();
  MetadataReader(const MetadataReader&) = delete;
  MetadataReader& operator=(const MetadataReader&) = delete;

  /// The number of objects of that type.
  size_t count(const std::string& type_key) const;
  /// The value of `meta[relay.Constant][index]`. Throws Error when the blob is damaged.
  NDArray constant(size_t index) const;
  /// The value of `meta[type_key][index]` as an attribute. Throws Error for unsupported object types.
  AttrValue value(const std::string& type_key, size_t index) const;
  /// The extent `meta[tir.Var][index]`, or of another type of extents: every time the same. Throws Error for
  /// other types.
  Dim extent(const std::string& type_key, size_t index) const;
  /// A call's attributes stored in the section, converted by `schema`. Throws Error when they do not match
  /// it.
  Attrs attrs(const AttrSchema& schema, size_t index) const;

 private:
  struct Graph;
  std::unique_ptr<Graph> graph_;
};

/// Collects the objects that a printed text references by `meta[...]`. Each `add` returns the index among the
/// objects of its type.
class MetadataWriter {
 public:
  size_t add_constant(const NDArray& value) { return add("relay.Constant", {.value = value}); }
  size_t add_extent(Dim dim) { return add(extent_type_key(dim), {.extent = dim}); }
  size_t add_incomplete_type() { return add("IncompleteType", {}); }
  size_t add_attrs(const Attrs& attrs) { return add(attrs->schema().type_key, {.attrs = attrs}); }
  size_t add_object(const Ref<const AttrObject>& object) {
    return add(object->type_key(), {.object = object});
  }
  bool empty() const { return objects_.empty(); }
  /// The JSON text, without `#[metadata]`.
  std::string json() const;

 private:
  struct Object {
    NDArray value = {};
    Attrs attrs = {};
    Ref<const AttrObject> object = {};
    Dim extent = 0;
  };
  struct Objects {
    std::string type_key;
    std::vector<Object> objects;
  };
  friend class MetadataNodes;
  size_t add(const std::string& type_key, Object object);
  std::vector<Objects> objects_;
};

}  // namespace baton::text
