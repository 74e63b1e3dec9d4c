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

/// Takes the pages of `bytes`, within the mapped file `mapped`, out of memory: they are read from the file
/// again when they are needed. Bytes that are not mapped, and parts of pages at the end, stay.
void give_back(std::string_view bytes, std::string_view mapped);

}  // namespace baton::onnx
