// Types of the operators of the groups annotation, dyn, tensor, memory and vm, beyond the goldens: every
// operator at least once, with what it refuses where it refuses something. The types are TVM 0.11.1's.
#include <gtest/gtest.h>

#include "baton/ops/register.h"
#include "baton/support/diagnostic.h"
#include "baton/text/parser.h"
#include "baton/types/infer_type.h"

namespace baton {
namespace {

struct Case {
  const char* params;  ///< "%x: Tensor[(2, 3), float32]"
  const char* body;
  const char* type;  ///< of the result; null: refused
};

class TensorTypes : public testing::Test {
 protected:
  void SetUp() override { register_all_ops(); }
};

// The type of main, or "refused".
std::string typed(const Case& each) {
  const std::string text =
      "#[version = \"0.0.5\"]\ndef @main(" + std::string(each.params) + ") {\n  " + each.body + "\n}\n";
  try {
    return type_text(infer_types(parse_module(text))->find("main")->ret_type());
  } catch (const DiagnosticError& error) {
    // Unknown operators and attributes are mistakes of this file.
    for (const Diagnostic& d : error.diagnostics())
      if (d.code.rfind("E01", 0) == 0) return error.what();
    return "refused";
  }
}

void check(const std::vector<Case>& cases) {
  for (const Case& each : cases)
    EXPECT_EQ(typed(each), each.type ? each.type : "refused") << each.params << "\n" << each.body;
}

TEST_F(TensorTypes, Annotations) {
  check({
      {"%x: Tensor[(2, 3), int8]", "annotation.bitpack_start(%x)", "Tensor[(2, 3), int8]"},
      {"%x: Tensor[(2, 3), int8]", "annotation.bitpack_end(%x)", "Tensor[(2, 3), int8]"},
      {"%x: Tensor[(2), float32]",
       "annotation.cast_hint(%x, dtype=\"int8\", attrs_type_key=\"relay.attrs.CastHintAttrs\")",
       "Tensor[(2), float32]"},
      {"%x: Tensor[(2), float32]", "annotation.checkpoint((%x, %x))",
       "(Tensor[(2), float32], Tensor[(2), float32])"},
      {"%x: Tensor[(2), float32]",
       "annotation.compiler_begin(%x, compiler=\"c\", attrs_type_key=\"relay.attrs.CompilerAttrs\")",
       "Tensor[(2), float32]"},
      {"%x: Tensor[(2), float32]",
       "annotation.compiler_end(%x, compiler=\"c\", attrs_type_key=\"relay.attrs.CompilerAttrs\")",
       "Tensor[(2), float32]"},
      {"%x: Tensor[(2), float32]", "annotation.with_funcid(%x)", "Tensor[(2), float32]"},
      {"%x: Tensor[(2), float32], %s: float32", "relay.op.annotation.simulated_quantize(%x, %s, -1f, 1f)",
       "Tensor[(2), float32]"},
      {"%x: Tensor[(2), float32], %s: int32", "relay.op.annotation.simulated_quantize(%x, %s, -1f, 1f)",
       nullptr},
  });
}

TEST_F(TensorTypes, DynamicShapes) {
  check({
      {"%x: Tensor[(2, 3), int8], %s: Tensor[(3), int32]", "dyn.broadcast_to(%x, %s, shape=None)",
       "Tensor[(?, ?, ?), int8]"},
      {"%x: Tensor[(2, 3), int8], %s: Tensor[(3, 1), int32]", "dyn.broadcast_to(%x, %s, shape=None)",
       nullptr},
      {"%x: Tensor[(2), int8], %a: int64",
       "dyn.expand_dims(%x, %a, num_newaxis=2, attrs_type_key=\"relay.attrs.DynExpandDimsAttrs\")",
       "Tensor[(?, ?, ?), int8]"},
      {"%s: Tensor[(1), int64]", "dyn.full(2f, %s, shape=None)", "Tensor[(?), float32]"},
      {"%s: Tensor[(1), int64]", "dyn.ones(%s, shape=None, dtype=\"int8\")", "Tensor[(?), int8]"},
      {"%s: int64", "dyn.ones(%s, shape=None, dtype=\"int8\")", nullptr},
      {"%s: Tensor[(3), int64]", "dyn.zeros(%s, shape=None, dtype=\"int8\")", "Tensor[(?, ?, ?), int8]"},
      {"%s: Tensor[(3), int64]", "dyn.zeros(%s, shape=None)", nullptr},
      {"%x: Tensor[(1, 4, 4, 2), float32], %s: Tensor[(2), int64], %r: Tensor[(4), float32]",
       "dyn.image.resize2d(%x, %s, %r, layout=\"NHWC\", out_dtype=\"int8\")", "Tensor[(1, ?, ?, 2), int8]"},
      {"%x: Tensor[(1, 4, 4), float32], %s: Tensor[(2), int64], %r: Tensor[(4), float32]",
       "dyn.image.resize2d(%x, %s, %r)", nullptr},
      {"%x: Tensor[(1, 4, 4, 2), float32], %s: Tensor[(2), int64], %r: Tensor[(4), float32]",
       "dyn.image.resize2d(%x, %s, %r, layout=\"NHC\")", nullptr},
      {"%x: Tensor[(2), float32], %w: Tensor[(1, 2), int64]", "dyn.nn.pad(%x, %w, 0f, pad_width=[])",
       "Tensor[(?), float32]"},
      {"%x: Tensor[(1, 2, 3, 4, 8), float32], %s: float32",
       "dyn.nn.upsampling(%x, %s, %s, scale_h=0f, scale_w=0f, layout=\"NCHW8c\")",
       "Tensor[(1, 2, ?, ?, 8), float32]"},
      {"%x: Tensor[(2, 3), float32], %s: float32", "dyn.nn.upsampling(%x, %s, %s, scale_h=0f, scale_w=0f)",
       nullptr},
      {"%x: Tensor[(1, 2, 3, 4, 5), float32], %s: float32",
       "dyn.nn.upsampling3d(%x, %s, %s, %s, scale_d=0f, scale_h=0f, scale_w=0f, layout=\"NDHWC\")",
       "Tensor[(1, ?, ?, ?, 5), float32]"},
      {"%i: Tensor[(2), int32], %d: int32", "dyn.one_hot(%i, 1f, 0f, %d, depth=0, axis=0, dtype=\"float32\")",
       "Tensor[(?, 2), float32]"},
      {"%x: Tensor[(6), float32], %s: Tensor[(2), int64]", "dyn.reshape(%x, %s, newshape=[])",
       "Tensor[(?, ?), float32]"},
      {"%i: Tensor[(2, 3), int32], %v: Tensor[(2), int8], %s: Tensor[(3), int32]",
       "dyn.sparse_to_dense(%i, %v, 0, %s)", "Tensor[(?, ?, ?), int8]"},
      {"%x: Tensor[(1, 3), float32], %a: Tensor[(1), int64]", "dyn.squeeze(%x, %a, axis=[])",
       "Tensor[(?), float32]"},
      {"%x: Tensor[(1), float32], %a: Tensor[(2), int64]", "dyn.squeeze(%x, %a, axis=[])", nullptr},
      {"%x: Tensor[(5, 6), float32], %b: Tensor[(1), int64]",
       "dyn.strided_slice(%x, %b, %b, %b, begin=None, end=None, strides=None, axes=None)",
       "Tensor[(?, 6), float32]"},
      {"%x: Tensor[(2), float32], %r: Tensor[(3), int64]", "dyn.tile(%x, %r, reps=[])",
       "Tensor[(?, ?, ?), float32]"},
      {"%x: Tensor[(2, 5), float32], %k: int64",
       "dyn.topk(%x, %k, k=None, axis=0, ret_type=\"indices\", dtype=\"int64\")", "Tensor[(?, 5), int64]"},
      {"%x: Tensor[(2, 5), float32], %k: int64", "dyn.topk(%x, %k, k=None, axis=2, dtype=\"int64\")",
       nullptr},
  });
}

TEST_F(TensorTypes, Indices) {
  check({
      {"%x: Tensor[(3, 4), float32], %i: Tensor[(2), int32]", "adv_index((%x, %i))",
       "Tensor[(2, 4), float32]"},
      {"%x: Tensor[(3), float32], %i: Tensor[(2), int32]", "adv_index((%x, %i, %i))", nullptr},
      {"%x: Tensor[(?, 3, 4), float32]", "argwhere(%x)", "Tensor[(?, 3), int32]"},
      {"%x: Tensor[(2, 3), float32], %i: Tensor[(2, 5), int32]", "gather(%x, %i, axis=1)",
       "Tensor[(2, 5), float32]"},
      {"%x: Tensor[(2, 3), float32], %i: Tensor[(5, 4), int32]", "gather(%x, %i, axis=0)", nullptr},
      {"%x: Tensor[(2, 3), float32], %i: Tensor[(2, 3), int32]", "gather(%x, %i, axis=-3)", nullptr},
      {"%x: Tensor[(2, 3), float32], %i: Tensor[(2, 3), int32]", "gather(%x, %i)", nullptr},
      {"%x: Tensor[(2, 3, 4), float32], %i: Tensor[(1, 5), int32]", "gather_nd(%x, %i)",
       "Tensor[(5, 3, 4), float32]"},
      {"%x: Tensor[(2, 3), float32], %i: Tensor[(3, 5), int32]", "gather_nd(%x, %i)", nullptr},
      {"%x: Tensor[(2, 3), float32], %i: Tensor[(1, 3), int32], %u: Tensor[(1, 3), float32]",
       "scatter(%x, %i, %u, axis=0, attrs_type_key=\"relay.attrs.ScatterAttrs\")", "Tensor[(2, 3), float32]"},
      {"%x: Tensor[(2, 3), float32], %i: Tensor[(3), int32], %u: Tensor[(1, 3), float32]",
       "scatter_add(%x, %i, %u, axis=0, attrs_type_key=\"relay.attrs.ScatterAddAttrs\")", nullptr},
      {"%x: Tensor[(2, 3), float32], %i: Tensor[(1, 4), int32], %u: Tensor[(4, 3), float32]",
       "scatter_nd(%x, %i, %u, mode=\"update\", attrs_type_key=\"relay.attrs.ScatterNDAttrs\")",
       "Tensor[(2, 3), float32]"},
      {"%x: Tensor[(3), int64]", "invert_permutation(%x)", "Tensor[(3), int64]"},
      {"%i: Tensor[(4), int32], %s: Tensor[(3), int32]", "unravel_index(%i, %s)", "Tensor[(3, 4), int32]"},
      {"%i: Tensor[(3, 2), int32], %v: Tensor[(3), float32]",
       "sparse_to_dense(%i, %v, 0f, output_shape=[4, 4])", "Tensor[(4, 4), float32]"},
      {"%i: Tensor[(3, 2), int64], %a: Tensor[(2), int64], %b: Tensor[(3), int64]",
       "sparse_reshape(%i, %a, %b)", "(Tensor[(3, 3), int64], Tensor[(3), int64])"},
      {"%i: Tensor[(3), int64], %a: Tensor[(2), int64]", "sparse_reshape(%i, %a, %a)", nullptr},
      {"%i: Tensor[(3, 2), int64], %v: Tensor[(3), float32], %s: Tensor[(2), int64]",
       "%0 = sparse_fill_empty_rows(%i, %v, %s, 0f);\n  %0.0", "Tensor[(?, 2), int64]"},
      {"%x: Tensor[(6), float32], %v: Tensor[(3), float32], %b: Tensor[(1), int64]",
       "strided_set(%x, %v, %b, %b, %b)", "Tensor[(6), float32]"},
  });
}

TEST_F(TensorTypes, RepeatedAndCut) {
  check({
      {"%a: int32", "arange(0, %a, 1, start=None, stop=None, step=None, dtype=\"int32\")",
       "Tensor[(?), int32]"},
      {"", "arange(0, 10, 3, start=None, stop=None, step=None, dtype=\"int32\")", "Tensor[(4), int32]"},
      {"", "arange(0, 10, 0, start=None, stop=None, step=None, dtype=\"int32\")", nullptr},
      {"", "arange(10, 0, 3, start=None, stop=None, step=None, dtype=\"int32\")", nullptr},
      {"%x: Tensor[(2, 3), float32]", "repeat(%x, repeats=2, axis=1)", "Tensor[(2, 6), float32]"},
      {"%x: Tensor[(2, 3), float32]", "repeat(%x, repeats=0, axis=1)", nullptr},
      {"%x: Tensor[(2, 3), float32]", "tile(%x, reps=[2, 1, 2])", "Tensor[(2, 2, 6), float32]"},
      {"%x: Tensor[(2, 3), float32]", "tile(%x, reps=[])", nullptr},
      {"%i: Tensor[(2, 3), int32]", "one_hot(%i, 1, 0, depth=5, axis=0, dtype=\"int8\")",
       "Tensor[(5, 2, 3), int8]"},
      {"%i: Tensor[(2, 3), int32]", "one_hot(%i, 1f, 0f, depth=0, dtype=\"float32\")", nullptr},
      {"%x: Tensor[(2, 3, 4), float32], %y: Tensor[(1, 2, 3), float32]", "slice_like(%x, %y, axes=None)",
       "Tensor[(1, 2, 3), float32]"},
      {"%x: Tensor[(2, 3, 4), float32], %y: Tensor[(1, 2, 3), float32]", "slice_like(%x, %y, axes=[1])",
       "Tensor[(2, 2, 4), float32]"},
      {"%x: Tensor[(2, 3), float32], %y: Tensor[(3, 3), float32]", "slice_like(%x, %y, axes=None)", nullptr},
      {"%x: Tensor[(2, 3, 8, 8), float32]", "sliding_window(%x, axis=2, window_shape=[3, 3], strides=[1, 1])",
       "Tensor[(2, 3, 6, 6, 3, 3), float32]"},
      {"%x: Tensor[(2, 3, 8, 8), float32]", "sliding_window(%x, axis=2, window_shape=[3, 3], strides=[1, 0])",
       nullptr},
      {"%x: Tensor[(2, 8), float32]", "sliding_window(%x, axis=1, window_shape=[9], strides=[1])", nullptr},
      {"%x: Tensor[(3), float32], %y: Tensor[(4), float32]", "meshgrid((%x, %y))",
       "(Tensor[(3, 4), float32], Tensor[(3, 4), float32])"},
      {"%x: Tensor[(3), float32], %y: Tensor[(4), int32]", "meshgrid((%x, %y))", nullptr},
      {"%x: Tensor[(2, 3), float32]", "reverse(%x, axis=1)", "Tensor[(2, 3), float32]"},
      {"%x: Tensor[(2, 3), float32]", "reverse(%x, axis=2)", nullptr},
      {"%x: Tensor[(2, 3), float32], %l: Tensor[(3), int32]", "reverse_sequence(%x, %l)", nullptr},
      {"%x: Tensor[(2, 3), float32], %l: Tensor[(2), int32]", "reverse_sequence(%x, %l)",
       "Tensor[(2, 3), float32]"},
      {"%x: Tensor[(10, 5, 4), float32]", "contrib_reverse_reshape(%x, newshape=[0, -1, 0])",
       "Tensor[(10, 5, 4), float32]"},
      {"%x: Tensor[(2, 3, 4), float32]", "contrib_reverse_reshape(%x, newshape=[-1, 0])",
       "Tensor[(6, 4), float32]"},
      {"%x: Tensor[(2, 3), float32]", "contrib_reverse_reshape(%x, newshape=[4])", nullptr},
      {"%x: Tensor[(1, 8), float32]",
       "auto_scheduler_layout_transform(%x, src_layout=\"1N8c\", dst_layout=\"1N2C4c\")",
       "Tensor[(1, 2, 4), float32]"},
      {"%x: Tensor[(1, 8), float32]",
       "auto_scheduler_layout_transform(%x, src_layout=\"1N8c\", dst_layout=\"\")", nullptr},
      {"%x: Tensor[(1, 8), float32]", "meta_schedule_layout_transform(%x, index_map=None)", nullptr},
  });
}

TEST_F(TensorTypes, SortedAndScanned) {
  check({
      {"%x: Tensor[(2, 5), float32]", "argsort(%x)", "Tensor[(2, 5), int32]"},
      {"%x: Tensor[(2, 5), float32]", "argsort(%x, axis=2)", nullptr},
      {"%x: Tensor[(2, 5), float32]", "sort(%x)", "Tensor[(2, 5), float32]"},
      {"%x: Tensor[(2, 5), float32]", "topk(%x, k=3, axis=0)",
       "(Tensor[(3, 5), float32], Tensor[(3, 5), int32])"},
      {"%x: Tensor[(2, 5), float32]", "topk(%x, k=0)", "(Tensor[(2, 5), float32], Tensor[(2, 5), int32])"},
      {"%x: Tensor[(2, 5), float32]", "topk(%x, k=1, ret_type=\"all\")", nullptr},
      {"%s: Tensor[(10), float32], %x: Tensor[(2, 3), float32]", "searchsorted(%s, %x, dtype=\"int64\")",
       "Tensor[(2, 3), int64]"},
      {"%s: float32, %x: Tensor[(2, 3), float32]", "searchsorted(%s, %x)", nullptr},
      {"%x: Tensor[(5), int32]", "unique(%x, return_counts=True, attrs_type_key=\"relay.attrs.UniqueAttrs\")",
       "(Tensor[(5), int32], Tensor[(5), int32], Tensor[(5), int32], Tensor[(1), int32], Tensor[(5), "
       "int32])"},
      {"%x: Tensor[(5, 1), int32]", "unique(%x, attrs_type_key=\"relay.attrs.UniqueAttrs\")", nullptr},
      {"%x: Tensor[(2, 3), float32]", "cumsum(%x, axis=1, attrs_type_key=\"relay.attrs.ScanopAttrs\")",
       "Tensor[(2, 3), float32]"},
      {"%x: Tensor[(2, ?), float32]",
       "cumprod(%x, dtype=\"int64\", attrs_type_key=\"relay.attrs.ScanopAttrs\")", "Tensor[(?), int64]"},
      {"%x: Tensor[(2, 3), float32]", "cumprod(%x, axis=2, attrs_type_key=\"relay.attrs.ScanopAttrs\")",
       nullptr},
  });
}

TEST_F(TensorTypes, ShapesMasksAndSums) {
  check({
      {"%x: Tensor[(2, 3), float32]", "shape_of(%x)", "Tensor[(2), int32]"},
      {"%x: Tensor[(2, 3), float32]", "ndarray_size(%x, dtype=\"int64\")", "int64"},
      {"%x: Tensor[(2, 3), float32], %y: Tensor[(3), float32]", "collapse_sum_like(%x, %y)",
       "Tensor[(3), float32]"},
      {"%x: Tensor[(2, 3), float32], %y: Tensor[(2), float32]", "collapse_sum_like(%x, %y)", nullptr},
      {"%x: Tensor[(2, 3), float32], %s: Tensor[(1), int64]",
       "collapse_sum_to(%x, %s, shape=[3], attrs_type_key=\"relay.attrs.InitOpAttrs\")",
       "Tensor[(3), float32]"},
      {"%x: Tensor[(3, 2), float32], %l: Tensor[(2), float32]", "sequence_mask(%x, %l)",
       "Tensor[(3, 2), float32]"},
      {"%x: Tensor[(3, 2), float32], %l: Tensor[(3), float32]", "sequence_mask(%x, %l)", nullptr},
      {"%x: Tensor[(3, 4), float32], %d: Tensor[(3), float32]", "matrix_set_diag(%x, %d)",
       "Tensor[(3, 4), float32]"},
      {"%x: Tensor[(3, 4), float32], %d: Tensor[(3), float32]", "matrix_set_diag(%x, %d, k1=1, k2=0)",
       nullptr},
      {"%x: Tensor[(3, 4), float32]", "trilu(%x, 0, upper=False, attrs_type_key=\"relay.attrs.TriluAttrs\")",
       "Tensor[(3, 4), float32]"},
      {"%x: Tensor[(3), float32]", "trilu(%x, 0, attrs_type_key=\"relay.attrs.TriluAttrs\")", nullptr},
      {"%x: Tensor[(2, 3, 4), float32], %m: Tensor[(2, 1, 4), float32]",
       "variance(%x, %m, axis=[1], keepdims=True)", "Tensor[(2, 1, 4), float32]"},
      {"%x: Tensor[(2, 3), float32], %m: Tensor[(2, 1), float32]", "variance(%x, %m, axis=[-3])", nullptr},
      {"%x: Tensor[(3), float32]", "reinterpret(%x, dtype=\"int32\")", "Tensor[(3), int32]"},
      {"%x: Tensor[(3), int32]", "fixed_point_multiply(%x, multiplier=1, shift=-2)", "Tensor[(3), int32]"},
      {"%x: Tensor[(3), int32], %m: Tensor[(3), int32]",
       "fixed_point_multiply_per_axis(%x, %m, %m, %m, axes=[0])", "Tensor[(3), int32]"},
      {"%x: Tensor[(3), float32]", "hardswish(%x)", nullptr},
      {"%x: Tensor[(2, 3), float32], %y: Tensor[(3, 4), float32]", "einsum((%x, %y), equation=\"ij,jk->ik\")",
       "Tensor[(2, 4), float32]"},
      {"%x: Tensor[(2, 3), float32]", "einsum((%x,), equation=\"ijk->i\")", nullptr},
      {"%x: Tensor[(2, 3), float32]", "einsum((%x,), equation=\"ij->z\")", nullptr},
      {"%x: Tensor[(1, 16), float32], %w: Tensor[(4), float32]",
       "stft(%x, %w, n_fft=4, hop_length=2, win_length=4, attrs_type_key=\"relay.attrs.StftAttrs\")",
       "Tensor[(1, 3, 7, 2), float32]"},
      {"%x: Tensor[(1, 16), float32], %w: Tensor[(4), float32]",
       "stft(%x, %w, n_fft=4, hop_length=0, attrs_type_key=\"relay.attrs.StftAttrs\")", nullptr},
  });
}

TEST_F(TensorTypes, MemoryAndVm) {
  check({
      {"%x: Tensor[(2, 3), float32]", "vm.shape_of(%x)", "Tensor[(2), int64]"},
      {"%x: Tensor[(6), float32], %s: Tensor[(2), int64]", "vm.reshape_tensor(%x, %s, newshape=[2, 3])",
       "Tensor[(2, 3), float32]"},
      {"%x: Tensor[(6), float32], %s: Tensor[(2), int64]", "vm.reshape_tensor(%x, %s, newshape=[-2, 3])",
       nullptr},
      {"%x: Tensor[(6), float32]", "memory.kill(%x)", "()"},
      {"%x: Tensor[(6), float32], %s: Tensor[(1), int64]",
       "memory.alloc_tensor(%x, 0i64, %s, const_shape=None, assert_shape=[6])", nullptr},
  });
}

TEST_F(TensorTypes, HugeExtentsAreNoCrash) {
  check({
      {"%x: Tensor[(4611686018427387904, 4), float32]", "ndarray_size(%x)", "int32"},
      {"%x: Tensor[(), float32]", "sort(%x)", nullptr},
      {"%x: float32", "sliding_window(%x, axis=0, window_shape=[], strides=[])", nullptr},
  });
  for (const char* body :
       {"tile(%x, reps=[9223372036854775807, 9223372036854775807])",
        "repeat(%x, repeats=9223372036854775807)", "cumsum(%x, attrs_type_key=\"relay.attrs.ScanopAttrs\")",
        "contrib_reverse_reshape(%x, newshape=[-3])"})
    EXPECT_NO_THROW(typed({"%x: Tensor[(4611686018427387904, 4), float32]", body, nullptr})) << body;
}

}  // namespace
}  // namespace baton
