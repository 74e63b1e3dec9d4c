"""ONNX files field by field: the wheel `onnx` is not needed."""


def varint(value):
    parts = []
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def integer(number, value):
    return varint(number << 3) + varint(value)


def field(number, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def node(op, inputs, outputs, name="", metadata=()):
    """`metadata`: pairs of texts."""
    return field(1, b"".join(field(1, each) for each in inputs) + b"".join(field(2, each) for each in outputs) + field(4, op) + field(3, name)
                 + b"".join(field(9, field(1, key) + field(2, text)) for key, text in metadata))


def tensor(name, array):
    return field(5, b"".join(integer(1, extent) for extent in array.shape) + integer(2, 1) + field(8, name) + field(9, array.tobytes()))


def value(number, name, dims):
    shape = b"".join(field(1, field(2, dim) if isinstance(dim, str) else integer(1, dim)) for dim in dims)
    return field(number, field(1, name) + field(2, field(1, integer(1, 1) + field(2, shape))))
