#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace baton::onnx {

/// Bytes of a file in memory, mapped and private; empty for an empty file. Throws Error (path, reason).
struct MappedFile {
  std::string_view bytes;
  std::shared_ptr<const void> owner;
};
MappedFile map_file(const std::string& path);

}  // namespace baton::onnx
