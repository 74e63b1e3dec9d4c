#include <string>

#include "baton/target/processor_sheet.h"

namespace baton {

void set_vector_widths(DeviceSheet& sheet) {
  const std::string features = sheet.code_target + "-";
  const auto has = [&](const char* name) {
    return features.find(std::string("-") + name + "-") != std::string::npos;
  };
  if (has("avx")) sheet.float_lanes = 8;
  if (has("avx512_skylake")) sheet.float_lanes = 16, sheet.vector_registers = 32;
  sheet.halves_at_full_rate = sheet.float_lanes == 16 && has("tune_znver4");
  // Cores start two multiply-adds of 8 lanes per cycle, and often one of 16: 22 GB/s and 6.5 G/s on a Zen 3.
  if (sheet.float_lanes == 8) sheet.bytes_per_multiply_add = 3.5;
  if (!features.starts_with("x86-64")) sheet.vector_registers = 32;
}

}  // namespace baton
