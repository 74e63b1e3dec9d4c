#pragma once
// A small report that covers all cases: a split kernel, one of one operator, a compiler-added one, one that
// was not split, a folded and a retired operator.
#include "baton/profile/measure/measure.h"
#include "baton/profile/report/titles.h"

namespace baton::test {

inline OperatorRow operator_row(uint32_t id, std::string op, std::vector<uint32_t> inputs,
                                std::vector<uint32_t> nodes) {
  OperatorRow row;
  row.id = id;
  row.op = std::move(op);
  row.line = 3 + id;
  row.column = 8;
  row.type = "Tensor[(1, 8), float32]";
  row.inputs = std::move(inputs);
  row.nodes = std::move(nodes);
  return row;
}

inline KernelRow kernel_row(uint32_t node, std::string name, double us, std::vector<uint32_t> origins,
                            std::vector<uint32_t> inputs) {
  KernelRow row;
  row.node = node;
  row.name = row.func_name = "tvmgen_default_" + name;
  row.target = "llvm";
  row.median_us = us;
  for (int run = 0; run < 9; ++run) row.samples_us.push_back(us * (1 + 0.001 * (run - 4)));
  row.origins = std::move(origins);
  row.inputs = std::move(inputs);
  row.flops = us * 2000;
  row.bytes = us * 500;
  row.roofline = {"float32", 4, 2, 0.5, 0.25, "compute", false};
  row.cv = coefficient_of_variation(row.samples_us);
  return row;
}

/// Without titles.
inline ProfileReport untitled() {
  ProfileReport report;
  report.model = "net";
  report.target = "llvm";
  report.version = "0.0.0";
  report.operators = {operator_row(0, "nn.conv2d", {}, {2}), operator_row(1, "nn.bias_add", {0}, {2}),
                      operator_row(2, "nn.relu", {1}, {2}),  operator_row(3, "nn.dropout", {2}, {}),
                      operator_row(4, "exp", {}, {}),        operator_row(5, "nn.softmax", {2, 4}, {7}),
                      operator_row(6, "add", {5}, {8}),      operator_row(7, "tanh", {6}, {8})};
  report.operators[0].attrs = {{"strides", AttrList{2, 2}}, {"note", "a \"b\", c"}};
  report.operators[0].inside_us = 8;
  report.operators[1].inside_us = 0.5;
  report.operators[0].unfused_us = 9;
  report.operators[0].fused_with = {1, 2};
  report.operators[3].retired_by = "SimplifyInference";
  report.operators[3].retired_why = "dropout is the identity at inference";
  report.operators[4].folded_into = {7};
  report.kernels = {kernel_row(1, "layout_transform", 2, {}, {}),
                    kernel_row(2, "fused_conv2d_add_relu", 10, {0, 1, 2}, {1}),
                    kernel_row(7, "fused_softmax", 30, {5}, {2}),
                    kernel_row(8, "fused_add_tanh", 4, {6, 7}, {7})};
  report.kernels[0].made_for = {0};
  report.kernels[0].reason = "nn.conv2d computes in NCHW8c";
  report.kernels[1].inside = {{{0}, "nn.conv2d", false, "conv", 0.8, 8, InsideMethod::kMarkers, false},
                              {{1}, "add", false, "conv", 0.05, 0.5, InsideMethod::kAblation, false},
                              {{2}, "nn.relu", false, "conv", 0, 0, InsideMethod::kAblation, true},
                              {{}, "", true, "conv", 0.25, 2.5, InsideMethod::kMarkers, false}};
  report.kernels[1].stage_sum = 1.1;
  report.kernels[1].noise = 0.01;
  report.kernels[1].trusted = false;
  report.plain_us = {50, 49, 51, 50, 50, 50, 50};
  report.profiled_us = {51, 50, 52, 51, 51, 51, 51};
  report.end_to_end_us = 50;
  report.sum_us = 46;
  for (KernelRow& row : report.kernels) row.share = row.median_us / report.sum_us;
  report.unfused = {{"fused_conv2d", {0}, {}, 9, 100, 10}, {"fused_layout", {}, {0}, 1, 0, 10}};
  report.unfused_us = 70;
  return report;
}

inline ProfileReport made_up() {
  ProfileReport report = untitled();
  add_titles(report);
  return report;
}

}  // namespace baton::test
