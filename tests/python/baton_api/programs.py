"""Small programs that these tests share."""

DENSE = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {
  %0 = nn.dense(%x, %w, units=4);
  nn.relu(add(%0, -1f))
}
"""

CONV = """#[version = "0.0.5"]
def @main(%data: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32]) {
  nn.relu(nn.conv2d(%data, %w, padding=[1, 1, 1, 1], channels=4, kernel_size=[3, 3]))
}
"""

PAIR = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) {
  let %y = nn.relu(%x);
  (%y, add(%y, %y))
}
"""

TWO_RESULTS = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = nn.relu(%x);
  %1 = (add(%0, %0), %x);
  (%0, %1)
}
"""
