// Lists of tensors of one element type, of rank 0 to 6; DTYPE is replaced by the element type. Semantically
// equal to Relay's standard library; order and layout differ.
#include "baton/text/std_library.h"

namespace baton::text {

// requires the prelude
const char* const kTensorArray = R"relay(#[version = "0.0.5"]
type tensor_DTYPE_t {
  tensor_nil_DTYPE,
  tensor0_DTYPE(DTYPE),
  tensor1_DTYPE(Tensor[(?), DTYPE]),
  tensor2_DTYPE(Tensor[(?, ?), DTYPE]),
  tensor3_DTYPE(Tensor[(?, ?, ?), DTYPE]),
  tensor4_DTYPE(Tensor[(?, ?, ?, ?), DTYPE]),
  tensor5_DTYPE(Tensor[(?, ?, ?, ?, ?), DTYPE]),
  tensor6_DTYPE(Tensor[(?, ?, ?, ?, ?, ?), DTYPE]),
}

def @ta_split_helper_DTYPE(%tensor_array: List[tensor_DTYPE_t[]], %value1: tensor_DTYPE_t[], %offset1: int32, %current1: int32, %limit1: int32, %lengths: Tensor[(?), int32]) -> List[tensor_DTYPE_t[]] {
  %0 = equal(%current1, %limit1);
  if (%0) {
    %tensor_array
  } else {
    %1 = take(%lengths, %current1);
    %2 = add(%offset1, %1);
    %3 = add(%current1, 1);
    %4 = take(%lengths, %current1);
    %5 = add(%4, %offset1);
    %6 = @ta_split_helper_DTYPE(%tensor_array, %value1, %2, %3, %limit1, %lengths);
    %7 = @tensor_take_DTYPE(%value1, %offset1, %5);
    @tensor_array_write_DTYPE(%6, %current1, %7)
  }
}

def @tensor_array_concat_DTYPE(%tensor_array: List[tensor_DTYPE_t[]]) -> tensor_DTYPE_t[] {
  match? (%tensor_array) {
    Nil => {
      tensor_nil_DTYPE
    },
    Cons(%hd, %tl) => {
      match? (%tl) {
        Nil => {
          %hd
        },
        _ => {
          %0 = @tensor_array_concat_DTYPE(%tl);
          @tensor_concatenate_DTYPE(%hd, %0)
        },
      }
    },
  }
}

def @tensor_array_DTYPE(%x: int32) -> List[tensor_DTYPE_t[]] {
  %0 = equal(%x, 0);
  if (%0) {
    Nil
  } else {
    %1 = subtract(%x, 1);
    %2 = tensor_nil_DTYPE;
    %3 = @tensor_array_DTYPE(%1);
    Cons(%2, %3)
  }
}

def @tensor_array_read_DTYPE(%tensor_array: List[tensor_DTYPE_t[]], %x: int32) -> tensor_DTYPE_t[] {
  @nth(%tensor_array, %x)
}

def @tensor_array_scatter_DTYPE(%tensor_array: List[tensor_DTYPE_t[]], %indices: Tensor[(?), int32], %values: List[tensor_DTYPE_t[]]) -> List[tensor_DTYPE_t[]] {
  %0 = shape_of(%indices, dtype="int32");
  %1 = take(%0, 0);
  @tensor_array_scatter_helper_DTYPE(%tensor_array, 0, %1, %indices, %values)
}

def @tensor_array_scatter_helper_DTYPE(%ta: List[tensor_DTYPE_t[]], %current: int32, %limit: int32, %indices_: Tensor[(?), int32], %values_: List[tensor_DTYPE_t[]]) -> List[tensor_DTYPE_t[]] {
  %0 = equal(%current, %limit);
  if (%0) {
    %ta
  } else {
    %1 = take(%indices_, %current);
    %2 = @tensor_array_read_DTYPE(%values_, %current);
    %3 = @tensor_array_write_DTYPE(%ta, %1, %2);
    %4 = add(%current, 1);
    @tensor_array_scatter_helper_DTYPE(%3, %4, %limit, %indices_, %values_)
  }
}

def @tensor_array_split_DTYPE(%tensor_array: List[tensor_DTYPE_t[]], %value: tensor_DTYPE_t[], %lengths: Tensor[(?), int32]) -> List[tensor_DTYPE_t[]] {
  %0 = shape_of(%lengths, dtype="int32");
  %1 = take(%0, 0);
  @ta_split_helper_DTYPE(%tensor_array, %value, 0, 0, %1, %lengths)
}

def @tensor_array_stack_DTYPE(%tensor_array: List[tensor_DTYPE_t[]]) -> tensor_DTYPE_t[] {
  let %x_0 = @map(@tensor_expand_dims_DTYPE, %tensor_array);
  let %x_1 = @hd(%x_0);
  let %x_2 = @tl(%x_0);
  let %x_3 = @foldl(@tensor_concatenate_DTYPE, %x_1, %x_2);
  %x_3
}

def @tensor_array_unstack_tensor1_DTYPE(%tensor: Tensor[(?), DTYPE]) -> List[tensor_DTYPE_t[]] {
  %0 = shape_of(%tensor, dtype="int32");
  %1 = take(%0, 0);
  @tensor_array_unstack_tensor1_helper_DTYPE(0, %1, %tensor)
}

def @tensor_array_unstack_tensor1_helper_DTYPE(%i: int32, %up: int32, %t: Tensor[(?), DTYPE]) -> List[tensor_DTYPE_t[]] {
  %0 = equal(%i, %up);
  if (%0) {
    Nil
  } else {
    %1 = take(%t, %i);
    %2 = add(%i, 1);
    %3 = tensor0_DTYPE(%1);
    %4 = @tensor_array_unstack_tensor1_helper_DTYPE(%2, %up, %t);
    Cons(%3, %4)
  }
}

def @tensor_array_unstack_tensor2_DTYPE(%tensor: Tensor[(?, ?), DTYPE]) -> List[tensor_DTYPE_t[]] {
  %0 = shape_of(%tensor, dtype="int32");
  %1 = take(%0, 0);
  @tensor_array_unstack_tensor2_helper_DTYPE(0, %1, %tensor)
}

def @tensor_array_unstack_tensor2_helper_DTYPE(%i: int32, %up: int32, %t: Tensor[(?, ?), DTYPE]) -> List[tensor_DTYPE_t[]] {
  %0 = equal(%i, %up);
  if (%0) {
    Nil
  } else {
    %1 = take(%t, %i, axis=0);
    %2 = add(%i, 1);
    %3 = tensor1_DTYPE(%1);
    %4 = @tensor_array_unstack_tensor2_helper_DTYPE(%2, %up, %t);
    Cons(%3, %4)
  }
}

def @tensor_array_unstack_tensor3_DTYPE(%tensor: Tensor[(?, ?, ?), DTYPE]) -> List[tensor_DTYPE_t[]] {
  %0 = shape_of(%tensor, dtype="int32");
  %1 = take(%0, 0);
  @tensor_array_unstack_tensor3_helper_DTYPE(0, %1, %tensor)
}

def @tensor_array_unstack_tensor3_helper_DTYPE(%i: int32, %up: int32, %t: Tensor[(?, ?, ?), DTYPE]) -> List[tensor_DTYPE_t[]] {
  %0 = equal(%i, %up);
  if (%0) {
    Nil
  } else {
    %1 = take(%t, %i, axis=0);
    %2 = add(%i, 1);
    %3 = tensor2_DTYPE(%1);
    %4 = @tensor_array_unstack_tensor3_helper_DTYPE(%2, %up, %t);
    Cons(%3, %4)
  }
}

def @tensor_array_unstack_tensor4_DTYPE(%tensor: Tensor[(?, ?, ?, ?), DTYPE]) -> List[tensor_DTYPE_t[]] {
  %0 = shape_of(%tensor, dtype="int32");
  %1 = take(%0, 0);
  @tensor_array_unstack_tensor4_helper_DTYPE(0, %1, %tensor)
}

def @tensor_array_unstack_tensor4_helper_DTYPE(%i: int32, %up: int32, %t: Tensor[(?, ?, ?, ?), DTYPE]) -> List[tensor_DTYPE_t[]] {
  %0 = equal(%i, %up);
  if (%0) {
    Nil
  } else {
    %1 = take(%t, %i, axis=0);
    %2 = add(%i, 1);
    %3 = tensor3_DTYPE(%1);
    %4 = @tensor_array_unstack_tensor4_helper_DTYPE(%2, %up, %t);
    Cons(%3, %4)
  }
}

def @tensor_array_unstack_tensor5_DTYPE(%tensor: Tensor[(?, ?, ?, ?, ?), DTYPE]) -> List[tensor_DTYPE_t[]] {
  %0 = shape_of(%tensor, dtype="int32");
  %1 = take(%0, 0);
  @tensor_array_unstack_tensor5_helper_DTYPE(0, %1, %tensor)
}

def @tensor_array_unstack_tensor5_helper_DTYPE(%i: int32, %up: int32, %t: Tensor[(?, ?, ?, ?, ?), DTYPE]) -> List[tensor_DTYPE_t[]] {
  %0 = equal(%i, %up);
  if (%0) {
    Nil
  } else {
    %1 = take(%t, %i, axis=0);
    %2 = add(%i, 1);
    %3 = tensor4_DTYPE(%1);
    %4 = @tensor_array_unstack_tensor5_helper_DTYPE(%2, %up, %t);
    Cons(%3, %4)
  }
}

def @tensor_array_unstack_tensor6_DTYPE(%tensor: Tensor[(?, ?, ?, ?, ?, ?), DTYPE]) -> List[tensor_DTYPE_t[]] {
  %0 = shape_of(%tensor, dtype="int32");
  %1 = take(%0, 0);
  @tensor_array_unstack_tensor6_helper_DTYPE(0, %1, %tensor)
}

def @tensor_array_unstack_tensor6_helper_DTYPE(%i: int32, %up: int32, %t: Tensor[(?, ?, ?, ?, ?, ?), DTYPE]) -> List[tensor_DTYPE_t[]] {
  %0 = equal(%i, %up);
  if (%0) {
    Nil
  } else {
    %1 = take(%t, %i, axis=0);
    %2 = add(%i, 1);
    %3 = tensor5_DTYPE(%1);
    %4 = @tensor_array_unstack_tensor6_helper_DTYPE(%2, %up, %t);
    Cons(%3, %4)
  }
}

def @tensor_array_write_DTYPE(%tensor_array: List[tensor_DTYPE_t[]], %x: int32, %v: tensor_DTYPE_t[]) -> List[tensor_DTYPE_t[]] {
  @update(%tensor_array, %x, %v)
}

def @tensor_concatenate_DTYPE(%x: tensor_DTYPE_t[], %y: tensor_DTYPE_t[]) -> tensor_DTYPE_t[] {
  match? (%x) {
    tensor1_DTYPE(%t11) => {
      match? (%y) {
        tensor1_DTYPE(%t12) => {
          %0 = (%t11, %t12);
          %1 = concatenate(%0);
          tensor1_DTYPE(%1)
        },
      }
    },
    tensor2_DTYPE(%t21) => {
      match? (%y) {
        tensor2_DTYPE(%t22) => {
          %2 = (%t21, %t22);
          %3 = concatenate(%2);
          tensor2_DTYPE(%3)
        },
      }
    },
    tensor3_DTYPE(%t31) => {
      match? (%y) {
        tensor3_DTYPE(%t32) => {
          %4 = (%t31, %t32);
          %5 = concatenate(%4);
          tensor3_DTYPE(%5)
        },
      }
    },
    tensor4_DTYPE(%t41) => {
      match? (%y) {
        tensor4_DTYPE(%t42) => {
          %6 = (%t41, %t42);
          %7 = concatenate(%6);
          tensor4_DTYPE(%7)
        },
      }
    },
  }
}

def @tensor_expand_dims_DTYPE(%x: tensor_DTYPE_t[]) -> tensor_DTYPE_t[] {
  match? (%x) {
    tensor0_DTYPE(%t0) => {
      %0 = expand_dims(%t0, axis=0);
      tensor1_DTYPE(%0)
    },
    tensor1_DTYPE(%t1) => {
      %1 = expand_dims(%t1, axis=0);
      tensor2_DTYPE(%1)
    },
    tensor2_DTYPE(%t2) => {
      %2 = expand_dims(%t2, axis=0);
      tensor3_DTYPE(%2)
    },
    tensor3_DTYPE(%t3) => {
      %3 = expand_dims(%t3, axis=0);
      tensor4_DTYPE(%3)
    },
    tensor4_DTYPE(%t4) => {
      %4 = expand_dims(%t4, axis=0);
      tensor5_DTYPE(%4)
    },
    tensor5_DTYPE(%t5) => {
      %5 = expand_dims(%t5, axis=0);
      tensor6_DTYPE(%5)
    },
  }
}

def @tensor_take_DTYPE(%tensor: tensor_DTYPE_t[], %lower: int32, %upper: int32) -> tensor_DTYPE_t[] {
  match? (%tensor) {
    tensor1_DTYPE(%t1) => {
      %0 = arange(%lower, %upper, 1, start=%lower, stop=%upper, step=1, dtype="int32");
      %1 = take(%t1, %0);
      tensor1_DTYPE(%1)
    },
    tensor2_DTYPE(%t2) => {
      %2 = arange(%lower, %upper, 1, start=%lower, stop=%upper, step=1, dtype="int32");
      %3 = take(%t2, %2, axis=0);
      tensor2_DTYPE(%3)
    },
    tensor3_DTYPE(%t3) => {
      %4 = arange(%lower, %upper, 1, start=%lower, stop=%upper, step=1, dtype="int32");
      %5 = take(%t3, %4, axis=0);
      tensor3_DTYPE(%5)
    },
    tensor4_DTYPE(%t4) => {
      %6 = arange(%lower, %upper, 1, start=%lower, stop=%upper, step=1, dtype="int32");
      %7 = take(%t4, %6, axis=0);
      tensor4_DTYPE(%7)
    },
    tensor5_DTYPE(%t5) => {
      %8 = arange(%lower, %upper, 1, start=%lower, stop=%upper, step=1, dtype="int32");
      %9 = take(%t5, %8, axis=0);
      tensor5_DTYPE(%9)
    },
    tensor6_DTYPE(%t6) => {
      %10 = arange(%lower, %upper, 1, start=%lower, stop=%upper, step=1, dtype="int32");
      %11 = take(%t6, %10, axis=0);
      tensor6_DTYPE(%11)
    },
  }
}
)relay";

}  // namespace baton::text
