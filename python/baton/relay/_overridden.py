"""Methods that subclasses of functors override."""


def to_be_overridden(owner, methods):
    """Gives class `owner` a method that raises NotImplementedError for each of `methods`: names by kind of node."""
    for kind, name in methods.items():
        setattr(owner, name, _method(owner, kind, name))


def _method(owner, kind, name):
    def visit(self, _):
        raise NotImplementedError(f"{type(self).__name__} does not say what becomes of a {kind.__name__}: override {name}")

    visit.__name__, visit.__qualname__ = name, f"{owner.__name__}.{name}"
    visit.__doc__ = f"What becomes of a {kind.__name__}: to be overridden."
    return visit
