#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "baton/codegen/code_maps.h"
#include "baton/codegen/compile.h"
#include "baton/codegen/debug/assembly.h"
#include "baton/codegen/debug/code_map_json.h"
#include "baton/codegen/debug/elf_object.h"
#include "baton/codegen/debug/map_listing.h"
#include "baton/ir/op.h"
#include "baton/profile/report/asm_listing.h"

#include "changed_setting.h"
#include "codegen/kernels.h"
#include "codegen/relay_kernels.h"
#include "codegen/symbolic.h"

namespace baton {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::set<std::string> operators_at(const AsmListing& listing, const CodePlace& place) {
  std::set<std::string> names;
  for (const int block : place.blocks) names.insert(listing.operators.at(static_cast<size_t>(block)));
  return names;
}

AsmListing listing_of(const KernelRequest& request) {
  const Kernel& kernel = test::compiled(request);
  Result<AsmListing> listing = asm_listing(request, kernel, DeviceSheet::host());
  EXPECT_TRUE(listing.ok()) << listing.status().message;
  return listing.ok() ? *listing : AsmListing();
}

TEST(CodeMap, EveryByteOfEveryTemplatesKernelHasItsPlace) {
  std::set<std::string> seen;
  bool serial = false, parallel = false;
  for (const auto& [name, program] : test::template_programs()) {
    for (const KernelRequest& request : test::kernels_of(program)) {
      const Kernel& kernel = test::compiled(request);
      // This says, too, that `as` makes the shipped bytes of the text: anything else is an error.
      const Result<CodeMap> map = listed_as_shipped(request, kernel, DeviceSheet::host(), nullptr);
      ASSERT_TRUE(map.ok()) << name << ": " << map.status().message;
      seen.insert(kernel.template_name);
      (map->functions.size() > 2 ? parallel : serial) = true;
      const int blocks = static_cast<int>(kernel_blocks(*request.function).size());
      std::set<int> placed;
      for (const CodePlace& place : map->places) {
        placed.insert(place.blocks.begin(), place.blocks.end());
        for (const int block : place.blocks) EXPECT_TRUE(block >= 0 && block < blocks) << name;
        EXPECT_EQ(place.block < 0, place.blocks.empty()) << name;
      }
      EXPECT_EQ(static_cast<int>(placed.size()), blocks) << name << ": an operator without instructions";
      for (const CodeFunction& function : map->functions) {
        uint32_t at = 0;
        for (const CodeRange& range : function.ranges) {
          EXPECT_EQ(range.begin, at) << name;
          EXPECT_EQ(map->find(function.symbol, range.begin), &range);
          EXPECT_EQ(map->find(function.symbol, range.end - 1), &range);
          at = range.end;
        }
        EXPECT_EQ(at, function.bytes) << name;
        EXPECT_EQ(map->find(function.symbol, function.bytes), nullptr);
      }
      EXPECT_EQ(parse_code_map(code_map_text(*map)), *map);
    }
  }
  EXPECT_THAT(seen, ::testing::IsSupersetOf({"conv_direct", "conv_winograd", "conv_depthwise",
                                             "conv_transpose", "gemm", "pool", "rows", "pointwise"}));
  EXPECT_TRUE(serial && parallel);
}

TEST(CodeMap, AllCasesOfSymbolicExtentsHaveTheirOperators) {
  for (const char* text : {"%x: Tensor[(2, $N, 24), float32], %y: Tensor[(2, $N, 24), float32]) { "
                           "nn.relu(nn.batch_matmul(%x, %y, transpose_b=True))",
                           "%x: Tensor[(4, $N), float32]) { nn.softmax(nn.relu(%x))"}) {
    bool seen = false;
    for (const KernelRequest& request : test::symbolic_kernels(text)) {
      const Kernel& kernel = test::compiled(request);
      const Result<CodeMap> map = listed_as_shipped(request, kernel, DeviceSheet::host(), nullptr);
      ASSERT_TRUE(map.ok()) << text << ": " << map.status().message;
      if (kernel.cases.empty()) continue;
      seen = true;
      std::map<std::string, std::set<int>> placed;  // by case
      for (const CodeFunction& function : map->functions) {
        uint32_t at = 0;
        for (const CodeRange& range : function.ranges) {
          EXPECT_EQ(range.begin, at) << function.symbol;
          at = range.end;
          const size_t name = function.symbol.find("_case");
          if (name == std::string::npos) continue;
          std::string of_case = function.symbol.substr(name, function.symbol.find('_', name + 1) - name);
          const std::vector<int>& blocks = map->places[static_cast<size_t>(range.place)].blocks;
          placed[std::move(of_case)].insert(blocks.begin(), blocks.end());
        }
        EXPECT_EQ(at, function.bytes);
      }
      EXPECT_EQ(placed.size(), kernel.cases.size()) << text;
      for (const auto& [of_case, blocks] : placed)
        EXPECT_EQ(blocks.size(), kernel_blocks(*request.function).size()) << of_case << " of " << text;
    }
    EXPECT_TRUE(seen) << text;
  }
}

TEST(CodeMap, TilesThatAreWrittenOutHaveTheirOperators) {
  for (const KernelRequest& request :
       test::symbolic_kernels("%x: Tensor[($N, 64), float32], %w: Tensor[(32, 64), float32]) { "
                              "nn.relu(nn.dense(%x, %w, units=32))")) {
    const Kernel& kernel = test::compiled(request);
    EXPECT_TRUE(kernel.cases.empty());
    const Result<CodeMap> map = listed_as_shipped(request, kernel, DeviceSheet::host(), nullptr);
    ASSERT_TRUE(map.ok()) << map.status().message;
    std::set<int> placed;
    for (const CodeFunction& function : map->functions)
      for (const CodeRange& range : function.ranges) {
        const std::vector<int>& blocks = map->places[static_cast<size_t>(range.place)].blocks;
        placed.insert(blocks.begin(), blocks.end());
      }
    EXPECT_EQ(placed.size(), kernel_blocks(*request.function).size());
  }
}

TEST(CodeMap, TheMultiplyAddsAreTheConvolutionsAndTheMaximaAreRelus) {
  const AsmListing listing = listing_of(test::kernel_with("conv_direct", "conv_direct"));
  size_t products = 0, maxima = 0;
  for (const ListedFunction& function : listing.functions) {
    for (const ListedBlock& block : function.blocks) {
      for (const std::string& instruction : block.instructions) {
        if (instruction.starts_with("vfmadd")) {
          ++products;
          EXPECT_THAT(operators_at(listing, block.place), ElementsAre("nn.contrib_conv2d_NCHWc"))
              << block.label;
          EXPECT_EQ(block.place.stage, "conv2d");
        } else if (instruction.starts_with("vmaxps")) {
          ++maxima;
          EXPECT_EQ(block.place.stage, "relu");
          EXPECT_THAT(operators_at(listing, block.place), ElementsAre("add", "nn.relu"));
        }
      }
    }
  }
  EXPECT_GT(products, 0u);
  EXPECT_GT(maxima, 0u);
}

TEST(CodeMap, StagesOfOneOperatorStandUnderIt) {
  const AsmListing listing = listing_of(test::kernel_with("conv_winograd", "conv_winograd"));
  std::set<std::string> stages;
  for (const CodePlace& place : listing.places) {
    if (place.block == 0) stages.insert(place.stage);
    for (const HeldStage& held : place.holds) stages.insert(held.stage);
  }
  EXPECT_THAT(stages, ::testing::IsSupersetOf({"pad", "in_xf", "gemm"}));
  EXPECT_THAT(stages, Contains(HasSubstr("out_xf")));
  const AsmListing softmax = listing_of(test::kernel_with("rows", "rows"));
  std::set<std::string> rows;
  for (const CodePlace& place : softmax.places) rows.insert(place.stage);
  EXPECT_THAT(rows, ::testing::IsSupersetOf({"max", "exp", "sum", "softmax"}));
}

TEST(CodeMap, IsMadeOnceAndKept) {
  const test::Folder folder;
  KernelCache cache(folder.path());
  const KernelRequest request{test::relu_chain({40, 40}, 2), {}, "", {}};
  const Kernel& kernel = test::compiled(request);
  const Result<CodeMap> map = code_map(request, kernel, DeviceSheet::host(), &cache);
  ASSERT_TRUE(map.ok()) << map.status().message;
  const ChangedSetting none(&Environment::assembler, "/nowhere/as");
  const Result<CodeMap> again = code_map(request, kernel, DeviceSheet::host(), &cache);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *map);
  cache.store_bytes(kernel.key, "map", "{\"places\": [], \"functions\": 3}");
  EXPECT_EQ(code_map(request, kernel, DeviceSheet::host(), &cache).status().code, StatusCode::kUnavailable);
}

TEST(CodeMap, SaysWhatIsMissingOrDifferent) {
  KernelCache none("");
  const KernelRequest request{test::relu_chain({40}, 1), {}, "", {}},
      other{test::relu_chain({41, 3}, 2), {}, "", {}};
  const Kernel& kernel = test::compiled(request);
  {
    const ChangedSetting without(&Environment::assembler, "/nowhere/as");
    const Result<CodeMap> map = code_map(request, kernel, DeviceSheet::host(), &none);
    EXPECT_EQ(map.status().code, StatusCode::kUnavailable);
    EXPECT_THAT(map.status().message, HasSubstr("BATON_ASSEMBLER names `/nowhere/as`"));
  }
  {
    const ChangedSetting without(&Environment::path, "/nowhere");
    EXPECT_THAT(code_map(request, kernel, DeviceSheet::host(), &none).status().message,
                HasSubstr("install binutils"));
  }
  std::string object = kernel.object;
  const Result<ElfObject> elf = ElfObject::parse(object);
  ASSERT_TRUE(elf.ok());
  const std::string_view code = elf->code(*elf->symbol(kernel.symbol));
  object[static_cast<size_t>(code.data() - object.data())] ^= 1;
  const Result<CodeMap> changed = map_listing(kernel_listing(request, DeviceSheet::host()), object);
  EXPECT_EQ(changed.status().code, StatusCode::kUnavailable);
  EXPECT_THAT(changed.status().message,
              HasSubstr("makes other code than Halide of " + kernel.symbol + " (at byte 0)"));
  EXPECT_THAT(map_listing(kernel_listing(other, DeviceSheet::host()), kernel.object).status().message,
              HasSubstr("a function is missing"));
  EXPECT_EQ(map_listing(kernel_listing(request, DeviceSheet::host()), object.substr(0, 100)).status().code,
            StatusCode::kBadData);
}

TEST(ElfObject, RefusesWhatIsCutOff) {
  const Kernel& kernel = test::compiled({test::relu_chain({40}, 1), {}, "", {}});
  EXPECT_TRUE(ElfObject::parse(kernel.object).ok());
  for (size_t bytes = 0; bytes < kernel.object.size(); bytes += 7)
    EXPECT_FALSE(ElfObject::parse(std::string_view(kernel.object).substr(0, bytes)).ok()) << bytes;
  EXPECT_EQ(ElfObject::parse(std::string(4000, 'x')).status().code, StatusCode::kBadData);
}

TEST(Assembly, BlocksHaveNamesDepthsAndInstructions) {
  const Assembly assembly = parse_assembly(
      "\t.p2align\t4\n"
      "kernel:                # @kernel\n"
      "# %bb.0:                # %entry\n"
      "\tpushq\t%rbp   # save\n"
      "\t.p2align\t4\n"
      ".LBB0_1:                # %\"1_for_x$1.s0.y\"\n"
      "                        # =>This Loop Header: Depth=1\n"
      "                        #     Child Loop BB0_2 Depth 2\n"
      "\tvaddps\t%zmm0, %zmm1, %zmm2\n"
      "# %bb.2:                #   in Loop: Header=BB0_1 Depth=1\n"
      "\tretq\n"
      ".Lfunc_end0:\n"
      "\tnop\n");
  ASSERT_EQ(assembly.functions.size(), 1u);
  const AssemblyFunction& function = assembly.functions[0];
  EXPECT_EQ(function.symbol, "kernel");
  ASSERT_EQ(function.blocks.size(), 3u);
  EXPECT_EQ(function.blocks[0].name, "entry");
  EXPECT_EQ(function.blocks[1].name, "1_for_x$1.s0.y");
  EXPECT_EQ(function.blocks[1].depth, 1);
  EXPECT_EQ(function.blocks[2].name, "");
  EXPECT_EQ(function.blocks[2].depth, 1);
  EXPECT_THAT(function.paddings, ElementsAre(4u));
  EXPECT_EQ(instruction_of(assembly.lines[3]), "pushq\t%rbp");
  EXPECT_EQ(instruction_of(assembly.lines[4]), "");
  EXPECT_EQ(function.blocks[2].last, 11u);
}

}  // namespace
}  // namespace baton
