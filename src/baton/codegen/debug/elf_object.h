#pragma once
// Reads ELF object files and shared libraries (64-bit, little-endian): sections and symbols.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "baton/support/base/status.h"

namespace baton {

struct ElfSection {
  std::string name;
  uint64_t flags = 0, address = 0;
  std::string_view bytes;  ///< a view into the given text; empty for sections without file contents
};

struct ElfSymbol {
  std::string name;
  uint64_t value = 0;  ///< in an object file: relative to its section
  uint64_t bytes = 0;
  int section = 0;  ///< index into sections; 0: undefined, or not in a section
};

/// Views into a text that must outlive it.
struct ElfObject {
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;

  static Result<ElfObject> parse(std::string_view file);

  /// The symbol of that name, or null.
  const ElfSymbol* symbol(std::string_view name) const;
  /// The code bytes of a function; empty when not in the file.
  std::string_view code(const ElfSymbol& function) const;
};

}  // namespace baton
