#include "baton/codegen/kernel/split_object.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include <elf.h>

namespace baton {
namespace {

/// Raised where an object is not as expected, and caught in split_object().
struct NotSplit {};
void expect(bool condition) {
  if (!condition) throw NotSplit();
}

/// The largest alignment of a section; padding to what damaged headers ask for might take all memory.
constexpr uint64_t kLargestAlignment = 4096;

/// Headers, symbols and relocations of an object file.
class WholeObject {
 public:
  explicit WholeObject(std::string_view file) : file_(file) {
    header_ = read<Elf64_Ehdr>(0);
    expect(std::memcmp(header_.e_ident, ELFMAG, SELFMAG) == 0 && header_.e_ident[EI_CLASS] == ELFCLASS64 &&
           header_.e_ident[EI_DATA] == ELFDATA2LSB && header_.e_machine == EM_X86_64 &&
           header_.e_type == ET_REL && header_.e_shentsize == sizeof(Elf64_Shdr));
    for (size_t i = 0; i < header_.e_shnum; ++i)
      sections.push_back(read<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr)));
    for (const Elf64_Shdr& section : sections) expect(section.sh_addralign <= kLargestAlignment);
    relocations.resize(sections.size());
    for (const Elf64_Shdr& section : sections) {
      if (section.sh_type == SHT_SYMTAB) {
        symbols = table<Elf64_Sym>(section);
        expect(section.sh_link < sections.size());
        names_ = bytes(sections[section.sh_link]);
      }
      expect(section.sh_type != SHT_REL && section.sh_type != SHT_SYMTAB_SHNDX);
      if (section.sh_type != SHT_RELA) continue;
      expect(section.sh_info < sections.size());
      relocations[section.sh_info] = table<Elf64_Rela>(section);
    }
  }

  const Elf64_Ehdr& header() const { return header_; }
  std::string_view bytes(const Elf64_Shdr& section) const {
    if (section.sh_type == SHT_NOBITS) return {};
    expect(section.sh_offset <= file_.size() && section.sh_size <= file_.size() - section.sh_offset);
    return file_.substr(section.sh_offset, section.sh_size);
  }
  std::string_view name(uint32_t offset) const {
    expect(offset < names_.size());
    const std::string_view rest = names_.substr(offset);
    return rest.substr(0, rest.find('\0'));
  }
  std::string_view section_name(const Elf64_Shdr& section) const {
    expect(header_.e_shstrndx < sections.size());
    const std::string_view all = bytes(sections[header_.e_shstrndx]);
    expect(section.sh_name < all.size());
    const std::string_view rest = all.substr(section.sh_name);
    return rest.substr(0, rest.find('\0'));
  }

  std::vector<Elf64_Shdr> sections;
  std::vector<Elf64_Sym> symbols;
  std::vector<std::vector<Elf64_Rela>> relocations;  ///< per section that they apply to

 private:
  template <class Record>
  Record read(uint64_t offset) const {
    expect(offset <= file_.size() && sizeof(Record) <= file_.size() - offset);
    Record record;
    std::memcpy(&record, file_.data() + offset, sizeof record);
    return record;
  }
  template <class Record>
  std::vector<Record> table(const Elf64_Shdr& section) const {
    const std::string_view all = bytes(section);
    std::vector<Record> records(all.size() / sizeof(Record));
    if (!records.empty()) std::memcpy(records.data(), all.data(), records.size() * sizeof(Record));
    return records;
  }

  std::string_view file_, names_;
  Elf64_Ehdr header_{};
};

/// A section of the new object.
struct NewSection {
  std::string name;
  Elf64_Shdr header{};
  std::string bytes;
  std::vector<Elf64_Rela> relocations;  ///< their symbols are indices into NewObject::symbols
};

struct NewSymbol {
  std::string name;
  Elf64_Sym entry{};
};

void pad_to(std::string& bytes, uint64_t alignment) {
  while (alignment > 1 && bytes.size() % alignment) bytes += '\0';
}

template <class Record>
void append_record(std::string& bytes, const Record& record) {
  bytes.append(reinterpret_cast<const char*>(&record), sizeof record);
}

Elf64_Shdr section_header(uint32_t type, uint64_t flags, uint64_t alignment, uint64_t entry_size = 0,
                          uint32_t link = 0, uint32_t info = 0) {
  Elf64_Shdr header{};
  header.sh_type = type;
  header.sh_flags = flags;
  header.sh_addralign = alignment;
  header.sh_entsize = entry_size;
  header.sh_link = link;
  header.sh_info = info;
  return header;
}

/// The parts of one kernel, gathered by following relocations.
class KernelParts {
 public:
  KernelParts(const WholeObject& whole, std::string_view symbol) : whole_(whole), symbol_(symbol) {
    sections_.emplace_back();
    for (const auto& [section, function] : functions()) add_function(section, function);
    for (size_t i = 0; i < added_.size(); ++i) {  // relocations add parts
      const auto [from, to] = added_[i];
      add_relocations(from, to);
    }
  }

  std::string file() {
    // Symbols: none, local ones, global ones; relocations refer to them by position.
    std::vector<uint32_t> order;
    for (const bool global : {false, true})
      for (uint32_t i = 0; i < symbols_.size(); ++i)
        if ((ELF64_ST_BIND(symbols_[i].entry.st_info) != STB_LOCAL) == global) order.push_back(i);
    std::vector<uint32_t> position(symbols_.size());
    std::string table(sizeof(Elf64_Sym), '\0'), names(1, '\0');
    uint32_t locals = 1;
    for (uint32_t i = 0; i < order.size(); ++i) {
      NewSymbol& symbol = symbols_[order[i]];
      position[order[i]] = i + 1;
      locals += ELF64_ST_BIND(symbol.entry.st_info) == STB_LOCAL;
      symbol.entry.st_name = static_cast<uint32_t>(names.size());
      names += symbol.name + '\0';
      append_record(table, symbol.entry);
    }
    const auto contents = static_cast<uint32_t>(sections_.size());
    const auto with_relocations =
        static_cast<uint32_t>(std::count_if(sections_.begin(), sections_.end(), [](const NewSection& each) {
          return !each.relocations.empty();
        }));
    const uint32_t table_index = contents + with_relocations + 1, names_index = table_index + 1;
    for (uint32_t i = 1; i < contents; ++i) {
      if (sections_[i].relocations.empty()) continue;
      std::string entries;
      for (Elf64_Rela entry : sections_[i].relocations) {
        entry.r_info = ELF64_R_INFO(position[ELF64_R_SYM(entry.r_info)], ELF64_R_TYPE(entry.r_info));
        append_record(entries, entry);
      }
      add_section(".rela" + sections_[i].name, std::move(entries),
                  section_header(SHT_RELA, SHF_INFO_LINK, 8, sizeof(Elf64_Rela), table_index, i));
    }
    add_section(".note.GNU-stack", "", section_header(SHT_PROGBITS, 0, 1));
    add_section(".symtab", std::move(table),
                section_header(SHT_SYMTAB, 0, 8, sizeof(Elf64_Sym), names_index, locals));
    add_section(".strtab", std::move(names), section_header(SHT_STRTAB, 0, 1));
    return written(names_index);
  }

 private:
  struct Part {
    uint32_t section;
    uint64_t begin, end;
  };

  bool owns(const Elf64_Sym& symbol) const {
    return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
           whole_.name(symbol.st_name).starts_with(symbol_);
  }

  /// Section and symbol of each function, in the order of the sections.
  std::map<uint32_t, uint32_t> functions() const {
    std::map<uint32_t, uint32_t> found;
    for (uint32_t i = 0; i < whole_.symbols.size(); ++i) {
      const Elf64_Sym& symbol = whole_.symbols[i];
      if (!owns(symbol)) continue;
      expect(symbol.st_shndx < whole_.sections.size() && symbol.st_value == 0);
      expect(found.emplace(symbol.st_shndx, i).second);
    }
    expect(!found.empty());
    // No other function may be in one of these sections.
    for (const Elf64_Sym& symbol : whole_.symbols)
      expect(ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || owns(symbol) || !found.contains(symbol.st_shndx));
    return found;
  }

  uint32_t add_section(std::string name, std::string bytes, const Elf64_Shdr& header) {
    sections_.push_back({std::move(name), header, std::move(bytes), {}});
    return static_cast<uint32_t>(sections_.size() - 1);
  }

  void add_function(uint32_t section, uint32_t function) {
    const Elf64_Shdr& from = whole_.sections[section];
    expect(from.sh_type == SHT_PROGBITS && (from.sh_flags & SHF_EXECINSTR));
    const uint32_t index = add_section(".text", std::string(whole_.bytes(from)),
                                       section_header(SHT_PROGBITS, from.sh_flags, from.sh_addralign));
    added_.push_back({{section, 0, from.sh_size}, {index, 0}});
    add_symbol(function, index, 0);
  }

  uint32_t add_symbol(uint32_t old, uint32_t section, uint64_t value) {
    const Elf64_Sym& from = whole_.symbols[old];
    NewSymbol symbol{std::string(whole_.name(from.st_name)), from};
    // Labels of constants have numbers that count the functions of the whole object.
    if (symbol.name.starts_with(".L")) symbol.name = ".LC" + std::to_string(constants_++);
    symbol.entry.st_shndx = static_cast<uint16_t>(section);
    symbol.entry.st_value = value;
    symbols_.push_back(std::move(symbol));
    return symbol_at_[old] = static_cast<uint32_t>(symbols_.size() - 1);
  }

  /// The symbol of the new object for symbol `old`, whose data is copied at the first call.
  uint32_t symbol_for(uint32_t old) {
    if (const auto at = symbol_at_.find(old); at != symbol_at_.end()) return at->second;
    expect(old != 0 && old < whole_.symbols.size());
    const Elf64_Sym& symbol = whole_.symbols[old];
    if (symbol.st_shndx == SHN_UNDEF) return add_symbol(old, SHN_UNDEF, 0);
    expect(symbol.st_shndx < whole_.sections.size());
    const Elf64_Shdr& from = whole_.sections[symbol.st_shndx];
    const int type = ELF64_ST_TYPE(symbol.st_info);
    expect(from.sh_type == SHT_PROGBITS && !(from.sh_flags & (SHF_EXECINSTR | SHF_GROUP | SHF_TLS)));
    expect(type == STT_NOTYPE || type == STT_OBJECT);
    const bool constant = (from.sh_flags & SHF_MERGE) && !(from.sh_flags & SHF_STRINGS) && from.sh_entsize;
    const uint64_t size = symbol.st_size ? symbol.st_size : constant ? from.sh_entsize : 0;
    const std::string_view bytes = whole_.bytes(from);
    expect(size > 0 && symbol.st_value <= bytes.size() && size <= bytes.size() - symbol.st_value);
    const uint32_t section = data_section(symbol.st_shndx);
    std::string& to = sections_[section].bytes;
    pad_to(to, from.sh_addralign);
    const uint64_t begin = to.size();
    to += bytes.substr(symbol.st_value, size);
    added_.push_back({{symbol.st_shndx, symbol.st_value, symbol.st_value + size}, {section, begin}});
    return add_symbol(old, section, begin);
  }

  uint32_t data_section(uint32_t old) {
    const auto [at, fresh] = section_at_.emplace(old, 0);
    if (fresh) {
      const Elf64_Shdr& from = whole_.sections[old];
      at->second =
          add_section(std::string(whole_.section_name(from)), "",
                      section_header(SHT_PROGBITS, from.sh_flags, from.sh_addralign, from.sh_entsize));
    }
    return at->second;
  }

  /// The relocations within a part that was copied to `to`: a section of the new object, and an offset.
  void add_relocations(const Part& from, const std::pair<uint32_t, uint64_t>& to) {
    for (Elf64_Rela entry : whole_.relocations[from.section]) {
      if (entry.r_offset < from.begin || entry.r_offset >= from.end) continue;
      entry.r_offset += to.second - from.begin;
      entry.r_info = ELF64_R_INFO(symbol_for(ELF64_R_SYM(entry.r_info)), ELF64_R_TYPE(entry.r_info));
      sections_[to.first].relocations.push_back(entry);
    }
  }

  std::string written(uint32_t names_index) {
    std::string& names = sections_[names_index].bytes;
    for (NewSection& section : sections_) {
      section.header.sh_name = section.name.empty() ? 0 : static_cast<uint32_t>(names.size());
      if (!section.name.empty()) names += section.name + '\0';
    }
    std::string file(sizeof(Elf64_Ehdr), '\0');
    for (NewSection& section : sections_) {
      pad_to(file, section.header.sh_addralign);
      section.header.sh_offset = section.name.empty() ? 0 : file.size();
      section.header.sh_size = section.bytes.size();
      file += section.bytes;
    }
    pad_to(file, 8);
    Elf64_Ehdr header = whole_.header();
    header.e_shoff = file.size();
    header.e_shnum = static_cast<uint16_t>(sections_.size());
    header.e_shstrndx = static_cast<uint16_t>(names_index);
    std::memcpy(file.data(), &header, sizeof header);
    for (const NewSection& section : sections_) append_record(file, section.header);
    return file;
  }

  const WholeObject& whole_;
  const std::string_view symbol_;
  std::vector<NewSection> sections_;
  std::vector<NewSymbol> symbols_;
  std::unordered_map<uint32_t, uint32_t> symbol_at_;   ///< of the whole object -> of the new one
  std::unordered_map<uint32_t, uint32_t> section_at_;  ///< the same for sections of data
  std::vector<std::pair<Part, std::pair<uint32_t, uint64_t>>> added_;
  int constants_ = 0;
};

}  // namespace

std::optional<std::string> split_object(std::string_view object, std::string_view symbol) {
  try {
    return KernelParts(WholeObject(object), symbol).file();
  } catch (const NotSplit&) {
    return std::nullopt;
  }
}

}  // namespace baton
