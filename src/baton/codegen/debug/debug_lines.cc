#include "baton/codegen/debug/debug_lines.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "baton/codegen/debug/assembly.h"
#include "baton/codegen/debug/elf_object.h"
#include "baton/codegen/debug/map_listing.h"
#include "baton/codegen/debug/place_of.h"
#include "baton/codegen/kernel/kernel_cache.h"
#include "baton/support/base/environment.h"
#include "baton/support/base/files.h"
#include "baton/support/error.h"
#include "baton/text/printer.h"

namespace baton {
namespace {

std::string listed(const std::set<int>& numbers, const char* what) {
  std::string text = std::string(what) + (numbers.size() > 1 ? "s " : " ");
  size_t i = 0;
  for (const int number : numbers)
    text += (i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ") + std::to_string(number), ++i;
  return text;
}

/// Describes how an operator shares its code: "stage relu, with lines 3 and 4", "in the instructions of line
/// 5".
std::string sharing(int block, const std::vector<int>& lines, const std::vector<CodePlace>& places) {
  std::set<std::string> stages;
  std::set<int> with, in;
  for (const CodePlace& place : places) {
    if (std::find(place.blocks.begin(), place.blocks.end(), block) == place.blocks.end()) continue;
    if (place.block == block) {
      stages.insert(place.stage);
      for (const int other : place.blocks)
        if (other != block) with.insert(lines[static_cast<size_t>(other)]);
    } else if (place.block >= 0) {
      in.insert(lines[static_cast<size_t>(place.block)]);
    }
  }
  std::string text;
  for (const std::string& stage : stages) text += (text.empty() ? "stages " : ", ") + stage;
  if (stages.size() == 1) text.erase(5, 1);
  if (!with.empty()) text += ", some instructions shared with " + listed(with, "line");
  if (!in.empty())
    text += (text.empty() ? "" : "; ") + std::string(stages.empty() ? "computed in" : "also in") +
            " the instructions of " + listed(in, "line");
  return text;
}

/// Quotes a string in assembler syntax.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

/// Debug sections that map addresses to the line table: one compilation unit with a subprogram per function.
std::string debug_sections(const Assembly& assembly, const std::string& file, int header_line) {
  const std::filesystem::path path(file);
  std::string info, ranges, aranges;
  for (size_t f = 0; f < assembly.functions.size(); ++f) {
    const std::string name = quoted(assembly.functions[f].symbol), end = ".Lbaton_end" + std::to_string(f);
    info += "\t.uleb128 2\n\t.asciz " + name + "\n\t.byte 1\n\t.uleb128 " + std::to_string(header_line) +
            "\n\t.quad " + name + "\n\t.long " + end + "-" + name + "\n";
    ranges += "\t.quad " + name + "\n\t.quad " + end + "\n";
    aranges += "\t.quad " + name + "\n\t.quad " + end + "-" + name + "\n";
  }
  return "\t.section .debug_line,\"\",@progbits\n.Lbaton_lines:\n"
         "\t.section .debug_abbrev,\"\",@progbits\n.Lbaton_abbrev:\n"
         "\t.uleb128 1, 0x11\n\t.byte 1\n\t.uleb128 0x25, 8, 0x13, 5, 3, 8, 0x1b, 8, 0x10, 0x17, 0x11, 1, "
         "0x55, 0x17, 0, 0\n"
         "\t.uleb128 2, 0x2e\n\t.byte 0\n\t.uleb128 3, 8, 0x3a, 11, 0x3b, 15, 0x11, 1, 0x12, 6, 0, "
         "0\n\t.byte 0\n"
         "\t.section .debug_info,\"\",@progbits\n.Lbaton_info:\n\t.long "
         ".Lbaton_info_end-.Lbaton_unit\n.Lbaton_unit:\n"
         "\t.value 4\n\t.long .Lbaton_abbrev\n\t.byte 8\n\t.uleb128 1\n\t.asciz \"Baton\"\n\t.value "
         "0xc\n\t.asciz " +
         quoted(path.filename().string()) + "\n\t.asciz " + quoted(path.parent_path().string()) +
         "\n\t.long .Lbaton_lines\n\t.quad 0\n\t.long .Lbaton_ranges\n" + info +
         "\t.byte 0\n.Lbaton_info_end:\n" + "\t.section .debug_ranges,\"\",@progbits\n.Lbaton_ranges:\n" +
         ranges + "\t.quad 0, 0\n" +
         "\t.section .debug_aranges,\"\",@progbits\n\t.long "
         ".Lbaton_aranges_end-.Lbaton_aranges\n.Lbaton_aranges:\n"
         "\t.value 2\n\t.long .Lbaton_info\n\t.byte 8, 0\n\t.long 0\n" +
         aranges + "\t.quad 0, 0\n.Lbaton_aranges_end:\n";
}

std::string with_lines(const Assembly& assembly, const KernelShape& shape, const KernelSource& source,
                       const std::string& file) {
  std::map<size_t, std::string> before;
  before[0] = "\t.file 1 " + quoted(file) + "\n";
  for (size_t f = 0; f < assembly.functions.size(); ++f) {
    const AssemblyFunction& function = assembly.functions[f];
    const std::vector<CodePlace> places = places_of(function, shape);
    for (size_t b = 0; b < function.blocks.size(); ++b)
      before[function.blocks[b].first + 1] +=
          "\t.loc 1 " + std::to_string(line_of(places[b], source)) + " 0\n";
    before[function.blocks.back().last] += ".Lbaton_end" + std::to_string(f) + ":\n";
  }
  return with_inserted(assembly, before) + debug_sections(assembly, file, source.header_line);
}

void write_source(const std::string& path, const std::string& text) {
  std::error_code failed;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  const Status status = replace_file(path, {text});
  if (status.ok()) return;
  throw Error("cannot write the source of a kernel, `" + path + "`: " + status.message +
              "; --debug-dir names another folder");
}

}  // namespace

KernelSource kernel_source(const FunctionNode& function, const std::string& title,
                           const std::vector<CodePlace>& places) {
  KernelSource source;
  const std::vector<KernelBlock> blocks = kernel_blocks(function);
  std::map<const CallNode*, int> index;
  for (size_t b = 0; b < blocks.size(); ++b) index[blocks[b].call.get()] = static_cast<int>(b);
  const std::string heading = "// " + title + "\n";
  std::vector<CallPosition> positions;
  PrintOptions options;
  options.version = options.spans = false;
  options.metadata = PrintOptions::Metadata::kNone;
  options.positions = &positions;
  const Expr whole(&function);
  print(whole, options);  // to get positions: comments follow the operators and do not change them
  source.header_line = 2;
  source.lines.assign(blocks.size(), source.header_line);
  for (const CallPosition& position : positions)
    if (const auto at = index.find(position.call); at != index.end())
      source.lines[static_cast<size_t>(at->second)] = static_cast<int>(position.line) + 1;
  options.positions = nullptr;
  options.annotate = [&](const Expr& expr) -> std::string {
    const auto* call = as<CallNode>(expr);
    const auto at = call ? index.find(call) : index.end();
    if (at == index.end()) return "";
    const std::string shares = sharing(at->second, source.lines, places);
    return " /* ty=" + str(call->checked_type()) + (shares.empty() ? "" : "; " + shares) + " */";
  };
  source.text = heading + print(whole, options);
  if (source.text.back() != '\n') source.text += '\n';
  return source;
}

int line_of(const CodePlace& place, const KernelSource& source) {
  return place.block < 0 ? source.header_line : source.lines.at(static_cast<size_t>(place.block));
}

std::string source_path(const std::string& folder, const std::string& symbol) {
  return folder + "/" + symbol + ".relay";
}

std::string object_with_lines(const KernelListing& listing, const FunctionNode& function,
                              const std::string& folder) {
  const Assembly assembly = parse_assembly(listing.assembly);
  const Result<LabelledCode> code = label_code(assembly, listing.object);
  if (!code.ok()) throw Error("--debug-lines: " + code.status().message);
  const std::string file = source_path(folder, listing.symbol);
  const KernelSource source = kernel_source(function, listing.symbol + ": line = operator of the kernel",
                                            map_of(assembly, *code, listing).places);
  Result<std::string> object = assemble(with_lines(assembly, listing.shape, source, file));
  if (!object.ok()) throw Error("--debug-lines: " + object.status().message);
  const Result<ElfObject> plain = ElfObject::parse(listing.object), lined = ElfObject::parse(*object);
  BATON_CHECK(plain.ok() && lined.ok(), "an object that cannot be read");
  for (size_t f = 0; f < assembly.functions.size(); ++f) {
    const std::string& symbol = assembly.functions[f].symbol;
    const ElfSymbol *a = plain->symbol(symbol), *b = lined->symbol(symbol);
    BATON_CHECK(a && b, "a function is missing: " + symbol);
    // Not in the text: with bytes instead of alignments, the assembler chooses other lengths for jumps.
    const auto begin = static_cast<size_t>(lined->code(*b).data() - object->data());
    for (const Padding& padding : code->functions[f].paddings)
      object->replace(begin + padding.offset, padding.bytes.size(), padding.bytes);
    BATON_CHECK(plain->code(*a) == lined->code(*b), "lines changed the code of " + symbol);
  }
  write_source(file, source.text);
  return *object;
}

std::string default_debug_folder() {
  std::string base = KernelCache::default_directory();
  if (base.empty()) base = temporary_folder() + "/baton-" + std::to_string(getuid());
  return std::filesystem::absolute(base + "/debug").lexically_normal().string();
}

}  // namespace baton
