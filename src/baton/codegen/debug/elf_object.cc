#include "baton/codegen/debug/elf_object.h"

#include <cstring>

#include <elf.h>

namespace baton {
namespace {

template <class T>
bool read_at(std::string_view file, uint64_t offset, T& value) {
  if (offset > file.size() || file.size() - offset < sizeof value) return false;
  std::memcpy(&value, file.data() + offset, sizeof value);
  return true;
}

std::string name_at(std::string_view names, uint64_t offset) {
  if (offset >= names.size()) return "";
  const std::string_view rest = names.substr(offset);
  return std::string(rest.substr(0, rest.find('\0')));
}

}  // namespace

Result<ElfObject> ElfObject::parse(std::string_view file) {
  const auto damaged = [](const char* what) {
    return Status::bad_data(std::string("this is no complete object file: ") + what);
  };
  Elf64_Ehdr header;
  if (!read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    return damaged("not ELF of 64 bits, little endian");
  std::vector<Elf64_Shdr> raw(header.e_shnum);
  for (size_t i = 0; i < raw.size(); ++i)
    if (!read_at(file, header.e_shoff + i * sizeof(Elf64_Shdr), raw[i]))
      return damaged("its sections are cut off");
  ElfObject object;
  for (const Elf64_Shdr& section : raw) {
    std::string_view bytes;
    if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL) {
      if (section.sh_offset > file.size() || section.sh_size > file.size() - section.sh_offset)
        return damaged("a section is cut off");
      bytes = file.substr(section.sh_offset, section.sh_size);
    }
    object.sections.push_back({"", section.sh_flags, section.sh_addr, bytes});
  }
  if (header.e_shstrndx < raw.size())
    for (size_t i = 0; i < raw.size(); ++i)
      object.sections[i].name = name_at(object.sections[header.e_shstrndx].bytes, raw[i].sh_name);
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i].sh_type != SHT_SYMTAB && raw[i].sh_type != SHT_DYNSYM) continue;
    if (raw[i].sh_link >= raw.size()) return damaged("symbols without names");
    const std::string_view bytes = object.sections[i].bytes, names = object.sections[raw[i].sh_link].bytes;
    for (size_t at = 0; at + sizeof(Elf64_Sym) <= bytes.size(); at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, bytes.data() + at, sizeof symbol);
      const bool defined = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx < raw.size();
      object.symbols.push_back(
          {name_at(names, symbol.st_name), symbol.st_value, symbol.st_size, defined ? symbol.st_shndx : 0});
    }
  }
  return object;
}

const ElfSymbol* ElfObject::symbol(std::string_view name) const {
  for (const ElfSymbol& each : symbols)
    if (each.name == name && each.section > 0) return &each;
  return nullptr;
}

std::string_view ElfObject::code(const ElfSymbol& function) const {
  const ElfSection& section = sections[static_cast<size_t>(function.section)];
  const uint64_t offset = function.value - section.address;
  if (function.section == 0 || offset > section.bytes.size() ||
      function.bytes > section.bytes.size() - offset)
    return {};
  return section.bytes.substr(offset, function.bytes);
}

}  // namespace baton
