"""Names with options of fixed types, such as `Executor("graph", {"link-params": True})`."""
from ..._load import core
from ..._wanted import mapped, wanted


class Registered:
    """A name and its options. TVMError for an unknown name or option, or a value of another type."""

    KINDS = {}  # name -> {option: (type as TVM calls it, default)}

    def __init__(self, name, options=None):
        known = self._known(wanted("name", name, str, "a str"))
        self.name, self.attrs = name, {key: default for key, (_, default) in known.items() if default is not None}
        for key, value in mapped("options", options or {}):
            if key not in known:
                raise core.TVMError(f'Attribute "{key}" is not available on this {type(self).__name__}')
            expected, found = known[key][0], "runtime.String" if isinstance(value, str) else "IntImm"
            if expected != found or not isinstance(value, (str, int)):
                raise core.TVMError(f'Attribute "{key}" should have type "{expected}" but instead found "{found}"')
            self.attrs[key] = value

    @classmethod
    def _known(cls, name):
        if name not in cls.KINDS:
            raise core.TVMError(f'{cls.__name__} "{name}" is not defined')
        return cls.KINDS[name]

    @classmethod
    def list_registered(cls):
        """All names."""
        return list(cls.KINDS)

    @classmethod
    def list_registered_options(cls, name):
        """{option: type} of a name."""
        return {key: kind for key, (kind, _) in cls._known(str(name)).items()}

    def __contains__(self, name):
        return name in self.attrs

    def __getitem__(self, name):
        return self.attrs[name]

    def __eq__(self, other):
        return type(self) is type(other) and (self.name, self.attrs) == (other.name, other.attrs)

    def __hash__(self):
        return hash((self.name, tuple(sorted(self.attrs.items()))))

    def __repr__(self):
        def shown(value):
            return f"(bool){int(value)}" if isinstance(value, bool) else f'"{value}"' if isinstance(value, str) else str(value)

        options = ", ".join(f'"{key}": {shown(value)}' for key, value in self.attrs.items())
        return self.name + ("{" + options + "}" if options else "")
