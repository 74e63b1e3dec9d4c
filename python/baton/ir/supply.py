"""Names that are not taken yet, for functions that a pass makes."""
from .._wanted import wanted
from .expr import GlobalVar
from .module import IRModule


class NameSupply:
    """Hands out names, each once; `prefix` and "_" stand in front of those that ask for it."""

    def __init__(self, prefix=""):
        self.prefix, self._taken = wanted("prefix", prefix, str, "a str"), {}

    def _full(self, name, add_prefix):
        name = wanted("name", name, str, "a str")
        return f"{self.prefix}_{name}" if add_prefix and self.prefix else name

    def fresh_name(self, name, add_prefix=True):
        """`name`, or where it is taken the first of `name`_1, `name`_2, .. that is not. Dots become underscores."""
        name = self._full(name, add_prefix).replace(".", "_")
        fresh = name
        while fresh in self._taken:
            self._taken[name] = self._taken.get(name, 0) + 1
            fresh = f"{name}_{self._taken[name]}"
        self._taken[fresh] = 0
        return fresh

    def reserve_name(self, name, add_prefix=True):
        """Takes a name and returns it with its prefix."""
        name = self._full(name, add_prefix)
        self._taken.setdefault(name, 0)
        return name

    def contains_name(self, name, add_prefix=True):
        """Whether a name is taken."""
        return self._full(name, add_prefix) in self._taken


class GlobalVarSupply:
    """Hands out GlobalVars. `value`: the NameSupply of their names, or modules whose functions have theirs already."""

    def __init__(self, value=None):
        modules = [value] if isinstance(value, IRModule) else [] if value is None or isinstance(value, NameSupply) else list(value)
        self.name_supply, self._vars = value if isinstance(value, NameSupply) else NameSupply(""), {}
        for module in modules:
            for each in wanted("a module", module, IRModule, "an IRModule").get_global_vars():
                self.reserve_global(each, allow_conflict=True)

    def fresh_global(self, name, add_prefix=True):
        """A new GlobalVar, of a fresh name."""
        made = GlobalVar(self.name_supply.fresh_name(name, add_prefix))
        self._vars[made.name_hint] = made
        return made

    def unique_global_for(self, name, add_prefix=True):
        """The GlobalVar of this very name: always the same one."""
        name = self.name_supply.reserve_name(name, add_prefix)
        if name not in self._vars:
            self._vars[name] = GlobalVar(name)
        return self._vars[name]

    def reserve_global(self, global_var, allow_conflict=False):
        """Takes the name of a GlobalVar, for it. ValueError where another has it, unless allow_conflict."""
        name = self.name_supply.reserve_name(wanted("global_var", global_var, GlobalVar, "a GlobalVar").name_hint, False)
        if name in self._vars and not allow_conflict:
            raise ValueError(f"GlobalVar {name} already exists in this GlobalVarSupply")
        self._vars[name] = global_var
