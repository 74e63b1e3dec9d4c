#include "baton/codegen/debug/debug_lines.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>

#include "baton/codegen/backend.h"
#include "baton/codegen/compile.h"
#include "baton/codegen/debug/elf_object.h"
#include "baton/ir/op.h"
#include "baton/support/error.h"

#include "changed_setting.h"
#include "codegen/kernels.h"
#include "codegen/relay_kernels.h"
#include "codegen/symbolic.h"

namespace baton {
namespace {

using ::testing::HasSubstr;

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Symbols with code, under names that do not hold the kernel's key.
std::map<std::string, std::string> code_by_name(const Kernel& kernel) {
  const Result<ElfObject> object = ElfObject::parse(kernel.object);
  EXPECT_TRUE(object.ok());
  std::map<std::string, std::string> code;
  for (const ElfSymbol& symbol : object->symbols) {
    if (symbol.section == 0 || symbol.bytes == 0 || !symbol.name.starts_with(kernel.symbol)) continue;
    std::string name = symbol.name;
    for (size_t at; (at = name.find(kernel.symbol)) != std::string::npos;)
      name.replace(at, kernel.symbol.size(), "K");
    code[name] = std::string(object->code(symbol));
  }
  return code;
}

TEST(DebugLines, InstructionsAreThoseOfTheKernelThatShips) {
  const test::Folder folder;
  for (const auto& [name, program] : test::template_programs()) {
    for (KernelRequest request : test::kernels_of(program)) {
      const Kernel plain = test::compiled(request);
      request.variant.debug_lines = folder.path();
      Kernel lined = compile_kernel(request, DeviceSheet::host());
      EXPECT_NE(plain.key, lined.key);
      auto code = code_by_name(plain);
      EXPECT_GE(code.size(), 2u);
      // Halide numbers temporaries through the life of the process, and the order of such names (t99, t100)
      // can change how LLVM schedules instructions: kernels compiled one after the other rarely differ in it.
      KernelRequest unlined = request;
      unlined.variant.debug_lines.clear();
      for (int again = 0; again < 2 && code != code_by_name(lined); ++again) {
        code = code_by_name(compile_kernel(unlined, DeviceSheet::host()));
        lined = compile_kernel(request, DeviceSheet::host());
      }
      EXPECT_TRUE(code == code_by_name(lined)) << name;
      EXPECT_EQ(plain.template_name, lined.template_name);
    }
  }
}

TEST(DebugLines, EachCaseOfSymbolicExtentsHasLines) {
  const test::Folder folder;
  for (KernelRequest request :
       test::symbolic_kernels("%x: Tensor[(2, $N, 24), float32], %y: Tensor[(2, $N, 24), float32]) {\n"
                              "  nn.relu(nn.batch_matmul(%x, %y, transpose_b=True))")) {
    request.variant.debug_lines = folder.path();
    const auto kernel = std::make_shared<const Kernel>(compile_kernel(request, DeviceSheet::host()));
    EXPECT_GT(kernel->cases.size(), 1u);
    const std::string library = link_library({{"one", kernel}});
    const Result<ElfObject> elf = ElfObject::parse(library);
    ASSERT_TRUE(elf.ok());
    std::string info;
    for (const ElfSection& section : elf->sections)
      if (section.name == ".debug_info") info = section.bytes;
    for (size_t i = 0; i < kernel->cases.size(); ++i)
      EXPECT_THAT(info, HasSubstr(kernel->symbol + "_case" + std::to_string(i)));
  }
}

TEST(DebugLines, TheSourceIsOneOperatorPerLineAndSaysWhoSharesInstructions) {
  const test::Folder folder;
  KernelRequest request = test::kernel_with("conv_direct", "conv_direct");
  request.variant.debug_lines = folder.path() + "/made/on demand";
  const Kernel kernel = compile_kernel(request, DeviceSheet::host());
  const std::string text = bytes_of(source_path(request.variant.debug_lines, kernel.symbol));
  const KernelSource source = kernel_source(*request.function, "", {});
  const std::vector<KernelBlock> blocks = kernel_blocks(*request.function);
  std::vector<std::string> lines = {""};
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    lines.push_back(text.substr(at, text.find('\n', at) - at));
  EXPECT_THAT(lines[1], HasSubstr(kernel.symbol));
  EXPECT_THAT(lines[source.header_line], ::testing::StartsWith("fn ("));
  for (size_t b = 0; b < blocks.size(); ++b)
    EXPECT_THAT(lines[source.lines[b]], HasSubstr(blocks[b].call->op()->name + "("));
  EXPECT_THAT(lines[source.lines[0]], HasSubstr("stages conv2d, pad"));
  EXPECT_THAT(lines[source.lines[1]],
              HasSubstr("computed in the instructions of line " + std::to_string(source.lines[2])));
  EXPECT_THAT(lines[source.lines[2]], HasSubstr("stage relu, some instructions shared with line "));
}

TEST(DebugLines, SurviveTheLinkAndNameTheFile) {
  const test::Folder folder;
  KernelRequest request{test::relu_chain({3000}, 2), {}, "", {}};
  request.variant.debug_lines = folder.path();
  const auto kernel = std::make_shared<const Kernel>(compile_kernel(request, DeviceSheet::host()));
  const std::string library = link_library({{"one", kernel}});
  const Result<ElfObject> elf = ElfObject::parse(library);
  ASSERT_TRUE(elf.ok());
  std::map<std::string, std::string_view> sections;
  for (const ElfSection& section : elf->sections) sections[section.name] = section.bytes;
  for (const char* name : {".debug_line", ".debug_info", ".debug_abbrev", ".debug_ranges", ".debug_aranges"})
    EXPECT_FALSE(sections[name].empty()) << name;
  EXPECT_THAT(std::string(sections[".debug_info"]), HasSubstr(kernel->symbol + "_argv"));
  EXPECT_THAT(std::string(sections[".debug_info"]), HasSubstr(folder.path()));
}

TEST(DebugLines, AKernelWhoseSourceIsGoneIsMadeAgain) {
  const test::Folder folder, lines;
  KernelCache cache(folder.path());
  BuildContext options = host_context();
  options.cache = &cache;
  KernelRequest request{test::relu_chain({3001}, 2), {}, "", {}};
  request.variant.debug_lines = lines.path();
  const KernelRef kernel = compile_kernels({&request, 1}, options)[0];
  const std::string path = source_path(lines.path(), kernel->symbol);
  ASSERT_TRUE(std::filesystem::remove(path));
  compile_kernels({&request, 1}, options);
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST(DebugLines, WithoutAnAssemblerSaysWhatToInstall) {
  KernelRequest request{test::relu_chain({3002}, 2), {}, "", {}};
  request.variant.debug_lines = "/tmp";
  try {
    const ChangedSetting without(&Environment::path, "/nowhere");
    compile_kernel(request, DeviceSheet::host());
    ADD_FAILURE() << "compiled";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("--debug-lines: no assembler was found (`as`): install binutils"));
  }
  request.variant.debug_lines = "/proc/nowhere";
  try {
    compile_kernel(request, DeviceSheet::host());
    ADD_FAILURE() << "compiled";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot write the source of a kernel, `/proc/nowhere/baton_k"));
  }
}

}  // namespace
}  // namespace baton
