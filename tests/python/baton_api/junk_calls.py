"""Calls everything public with arguments that make no sense. Run by test_junk.py in a process of its own:

    python junk_calls.py SEED CALLS_EACH FIRST EVERY LOG

Each call is written to LOG before it is made, so that a crash says what crashed. Prints what was answered wrongly.
"""
import contextlib
import faulthandler
import importlib
import inspect
import io
import math
import os
import pkgutil
import random
import resource
import signal
import sys
import time
import types
import warnings

SECONDS_PER_CALL = 60  # a network with 138 million random parameters takes 20
# Of these only the modules' names are listed; what they import from elsewhere is called where it is at home.
PACKAGES = ("baton", "baton.relay", "baton.ir", "baton.runtime", "baton.target", "baton.parser", "baton.contrib.graph_executor",
            "baton.contrib.debugger", "baton.driver", "baton.registry", "baton.support", "baton.error", "baton.testing")
LEFT_OUT = {
    "baton.tvm": "runs scripts", "baton.testing.main": "runs the tests", "baton.testing.plugin": "belongs to pytest",
    "baton.testing.utils.main": "runs the tests", "baton.relay.testing.utils.main": "runs the tests"}


def modules():
    """Public modules, in the order of their names."""
    found = {}
    for name in PACKAGES:
        root = importlib.import_module(name)
        found[name] = root
        if name in ("baton", "baton.driver"):
            continue
        for each in pkgutil.walk_packages(getattr(root, "__path__", []), name + "."):
            if "._" not in each.name and each.name not in LEFT_OUT:
                with contextlib.suppress(ImportError, NotImplementedError):
                    found[each.name] = importlib.import_module(each.name)
    return found


def public_callables():
    """[(name, callable)]: functions and classes of the public modules, once each, and methods of what can be made."""
    found, seen = [], set()
    for module_name, module in modules().items():
        for name in sorted(set(dir(module))):
            if name.startswith("_"):
                continue
            try:
                value = getattr(module, name)
            except (AttributeError, NotImplementedError, ImportError):
                continue
            full = f"{module_name}.{name}"
            if isinstance(value, types.ModuleType) or not callable(value) or id(value) in seen or full in LEFT_OUT:
                continue
            home = getattr(value, "__module__", "") or ""
            if not home.startswith(("baton", "_baton")) and not type(value).__module__.startswith("nanobind"):
                continue
            if isinstance(value, type) and issubclass(value, BaseException):
                continue
            seen.add(id(value))
            found.append((full, value))
    return found


class Supply:
    """Values to call with: right ones by the parameter's name, and junk."""

    def __init__(self, chance):
        import numpy as np

        import baton
        from baton import relay

        self.chance = chance
        x, y = relay.var("x", shape=(2, 3)), relay.var("y", shape=(2, 3))
        function = relay.Function([x, y], relay.add(x, y))
        module = baton.IRModule.from_expr(function)
        prelude = relay.prelude.Prelude()
        cons = prelude.mod.get_type("List")[1]
        loop = []
        loop.append(loop)
        built = relay.build(module, "llvm")
        from baton.contrib.graph_executor import GraphModule

        graph = GraphModule(built["default"](baton.cpu()))
        pattern = relay.dataflow_pattern.is_op("add")(relay.dataflow_pattern.wildcard(), relay.dataflow_pattern.wildcard())
        self.right = {
            "data": x, "lhs": x, "rhs": y, "expr": function, "mod": module, "module": module, "ir_mod": module, "func": function,
            "params": {}, "target": "llvm", "device": baton.cpu(), "dev": baton.cpu(), "shape": (2, 3), "dtype": "float32",
            "axis": 0, "name": "x", "op_name": "add", "body": x, "fields": [x, y], "pattern": pattern, "source": "1", "value": x,
            "weight": y, "libmod": built.lib, "lib": built, "graph_json_str": built.get_graph_json(), "op": relay.op.get("add"),
            "args": [x, y], "var": x, "prelude": prelude, "constructor": cons, "type_annotation": x.type_annotation,
            "newshape": (3, 2), "axes": (1, 0)}
        attrs = relay.nn.conv2d(x, y, kernel_size=3, channels=4).attrs
        self.junk = [
            "\udc80", None, True, -1, 0, 1, 3, 2 ** 31, -2 ** 63, 2 ** 64, 2 ** 70, 1.5, math.nan, math.inf, "", "x", "float32", "add", "nn.conv2d",
            "ünï\0cödé", "llvm", "NCHW", b"", b"bytes", [], (), {}, set(), [None], [1, 2], [-1], [2 ** 40], ["x"], [1.5], [[]], [x],
            [x, None], loop, {"x": 1}, {1: 2}, {x: y}, object(), len, lambda *_: None, int, x, y, relay.const(1), relay.const([1.0, 2.0]),
            relay.const(np.zeros((0, 3), "int64")), function, function.body, module, module.get_global_var("main"),
            relay.Tuple([x, y]), relay.Tuple([]), relay.TensorType((2, 3)), relay.TensorType((relay.Any(),)), relay.TypeVar("t"),
            relay.TupleType([]), relay.GlobalTypeVar("g"), relay.TypeCall(relay.GlobalTypeVar("nothing"), []), relay.RefCreate(x),
            relay.IncompleteType(), relay.GlobalVar("main"), relay.GlobalVar("nothing"), relay.Let(x, y, x), relay.If(x, x, y),
            relay.Match(x, []), relay.PatternVar(x), relay.PatternWildcard(), relay.Clause(relay.PatternVar(x), x), cons, cons(x, x),
            prelude.mod, relay.op.get("add"), relay.Call(x, [y]), relay.Call(relay.op.get("add"), []), relay.TupleGetItem(x, 7),
            np.zeros((2, 3), "float32"), np.zeros((0,)), np.array("text"), np.array([None]), np.float16(1), np.int64(7),
            np.asfortranarray(np.ones((2, 3))), np.zeros((2, 3), "complex64"), baton.nd.array(np.ones((2, 3), "float32")),
            baton.cpu(), baton.cuda(3), baton.target.Target("llvm"), baton.target.Target("cuda"), graph, built, built.lib,
            relay.transform.InferType(), baton.transform.PassContext(opt_level=3), pattern, attrs, range(3), iter([1]), Ellipsis,
            relay.backend.interpreter.RefValue(1), relay.backend.interpreter.ConstructorValue(0, [], None)]
        self.graph, self.attrs, self.prelude, self.module, self.built, self.x, self.function = graph, attrs, prelude, module, built, x, function
        self.pattern, self.cons = pattern, cons

    def instances(self):
        """Objects whose methods are called too."""
        import baton
        from baton import relay

        made = {"graph": self.graph, "attrs": self.attrs, "prelude": self.prelude, "module": self.module, "built": self.built,
                "lib": self.built.lib, "var": self.x, "function": self.function, "call": self.function.body, "pattern": self.pattern,
                "constructor": self.cons, "array": baton.nd.array([1.0, 2.0]), "target": baton.target.Target("llvm"),
                "device": baton.cpu(), "type": relay.TensorType((2,)), "constant": relay.const(1), "op": relay.op.get("add"),
                "context": baton.transform.PassContext(), "pass": relay.transform.InferType(), "tuple": relay.Tuple([self.x]),
                "sequential": baton.transform.Sequential([]), "builder": relay.ScopeBuilder(), "executor": relay.create_executor("debug"),
                "wrapper": relay.split(self.x, 2), "result": baton.runtime.benchmark.BenchmarkResult([1.0]),
                "vm": relay.vm.compile(self.module, "llvm"), "compiler": relay.backend.vm.VMCompiler(),
                "visitor": relay.ExprVisitor(), "mutator": relay.ExprMutator(), "types": relay.TypeVisitor()}
        made["machine"] = baton.runtime.vm.VirtualMachine(made["vm"], baton.cpu())
        return made

    def argument(self, name):
        """Usually the right value for a parameter of that name, if there is one."""
        if name in self.right and self.chance.random() < 0.6:
            return self.right[name]
        return self.chance.choice(self.junk)

    def arguments(self, function):
        """Positional ones: as many as fit the signature, or not."""
        try:
            parameters = list(inspect.signature(function).parameters.values())
        except (TypeError, ValueError):
            return [self.chance.choice(self.junk) for _ in range(self.chance.randrange(6))]
        names = [each.name for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
        needed = sum(each.default is each.empty for each in parameters if each.name in names)
        count = self.chance.choice([needed, needed, needed, len(names), self.chance.randrange(len(names) + 2)])
        if count > 14:
            count = needed
        return [self.argument(names[i] if i < len(names) else "") for i in range(count)]


def shown(value):
    """A short text for the log; never fails."""
    try:
        return repr(value).replace("\n", " ")[:60]
    except BaseException:  # noqa: B902 -- whatever a repr raises
        return f"<{type(value).__name__}>"


def too_long(*_):
    raise TimeoutError("the call took too long")


# Numbers of runs: what is asked for is done, however long it takes.
UNBOUNDED = ("benchmark", "time_evaluator", "run_individual", "run_individual_node", "profile", "evaluator")


def main(seed, calls_each, first, every, log):
    """Calls every `every`-th callable from `first` on."""
    warnings.simplefilter("ignore")
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (24 << 30, 24 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGALRM, too_long)
    chance = random.Random(seed)
    supply = Supply(chance)
    from baton.error import InternalError

    named = public_callables()
    for name, instance in supply.instances().items():
        for method in sorted(set(dir(instance))):
            if method.startswith("_") and method not in ("__getitem__", "__setitem__", "__call__", "__eq__", "__add__", "__contains__"):
                continue
            with contextlib.suppress(Exception):
                if callable(getattr(instance, method)):
                    named.append((f"<{name}>.{method}", getattr(instance, method)))
    wrong, calls = [], 0
    with open(log, "w", encoding="utf-8", errors="replace") as file:
        for name, function in named[first::every]:
            if name.rsplit(".", 1)[-1] in UNBOUNDED:
                continue
            for _ in range(calls_each):
                args = supply.arguments(function)
                text = f"{name}({', '.join(shown(each) for each in args)})"
                file.seek(0)
                file.truncate()
                file.write(text)
                file.flush()
                start = time.monotonic()
                signal.alarm(SECONDS_PER_CALL)
                try:
                    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                        function(*args)
                except (InternalError, SystemError, TimeoutError, KeyboardInterrupt) as what:
                    wrong.append(f"{text}: {type(what).__name__}: {str(what)[:200]}")
                except SystemExit as what:
                    wrong.append(f"{text}: SystemExit {what}")
                except Exception as what:  # noqa: B902 -- any other says what is wrong with the argument
                    if not str(what) and not isinstance(what, (StopIteration, MemoryError, AssertionError)):
                        wrong.append(f"{text}: {type(what).__name__} without a text")
                finally:
                    signal.alarm(0)
                    calls += 1
                if time.monotonic() - start > SECONDS_PER_CALL:
                    wrong.append(f"{text}: took {time.monotonic() - start:.0f} s")
    print(f"{calls} calls")
    print("\n".join(wrong))


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main(*(int(each) for each in sys.argv[1:5]), sys.argv[5])
