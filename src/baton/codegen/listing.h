#pragma once
// What compiling with a listing needs beside compiling.
#include <cstdint>
#include <string>

#include "baton/codegen/kernel/code_shape.h"

namespace baton {

/// A file in memory, for what Halide writes to files only.
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

/// The symbol of the kernel with that key; when it was asked for before in this process, another one, as
/// long. Halide numbers names that it has seen, and code may depend on the names' order: so every compile of
/// a kernel gives the same code.
std::string unseen_symbol(uint64_t key);

/// Every `from` in the text as `to`, which is as long.
std::string renamed(std::string text, const std::string& from, const std::string& to);
void rename(KernelShape& shape, const std::string& from, const std::string& to);

}  // namespace baton
