#pragma once
// Reads object files and shared libraries (ELF, 64 bits, little endian): sections and symbols.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "baton/support/base/status.h"

namespace baton {

struct ElfSection {
  std::string name;
  uint64_t flags = 0, address = 0;
  std::string_view bytes;  ///< of the text given; empty for what is not in the file
};

struct ElfSymbol {
  std::string name;
  uint64_t value = 0;  ///< in an object file: from the beginning of its section
  uint64_t bytes = 0;
  int section = 0;  ///< index into sections; 0: defined elsewhere, or no section's
};

/// Views of a text that must outlive it.
struct ElfObject {
  std::vector<ElfSection> sections;
  std::vector<ElfSymbol> symbols;

  static Result<ElfObject> parse(std::string_view file);

  /// Null when there is none of that name.
  const ElfSymbol* symbol(std::string_view name) const;
  /// The bytes of a function; empty when they are not in the file.
  std::string_view code(const ElfSymbol& function) const;
};

}  // namespace baton
