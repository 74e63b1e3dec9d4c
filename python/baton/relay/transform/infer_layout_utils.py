"""How layouts pass through an operator, as relay.op.op.register_infer_correct_layout is told."""


class Layout(str):
    """A layout as text: "NCHW", "NCHW16c", or "__undef__" where it is not known."""

    __slots__ = ()

    @property
    def name(self):
        """The text."""
        return str(self)

    def __bool__(self):
        return str(self) not in ("", "__undef__")

    def index_of(self, axis):
        """The place of an axis, a letter; -1 where there is none."""
        return next((i for i, letter in enumerate(each for each in self if each.isalpha()) if letter == axis), -1)


class InferCorrectLayoutOutput:
    """Layouts that a call needs of its inputs and gives to its outputs, tuples flattened, and its attributes in these layouts.

    Layouts: str, "__undef__" or None for unknown ones. new_attrs: Attrs, None for unchanged ones.
    """

    def __init__(self, input_layouts, output_layouts, new_attrs):
        self.input_layouts = [_text(each) for each in input_layouts]
        self.output_layouts = [_text(each) for each in output_layouts]
        self.new_attrs = new_attrs

    def __repr__(self):
        return f"InferCorrectLayoutOutput({self.input_layouts}, {self.output_layouts}, {self.new_attrs})"


def _text(layout):
    return "__undef__" if layout is None else str(getattr(layout, "name", layout)) or "__undef__"
