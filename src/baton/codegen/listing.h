#pragma once
// Helpers for compiling with a listing.
#include <string>

#include "baton/codegen/kernel/code_shape.h"
#include "baton/codegen/kernel/kernel.h"

namespace baton {

/// An in-memory file, for output that Halide writes to files only.
class MemoryFile {
 public:
  MemoryFile();
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  std::string path() const;
  std::string text() const;

 private:
  int descriptor_;
};

/// The symbol for the kernel with that key; on repeated requests in this process another one of equal length.
/// Halide numbers repeated names, and code may depend on their order; fresh names make every compilation
/// yield the same code.
std::string unseen_symbol(const KernelKey& key);

/// Replaces every `from` in the text by `to`, of equal length.
std::string renamed(std::string text, const std::string& from, const std::string& to);
void rename(KernelShape& shape, const std::string& from, const std::string& to);

}  // namespace baton
