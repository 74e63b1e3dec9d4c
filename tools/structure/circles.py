"""Cycles: no file may depend on itself transitively. x.h and x.cc are one file here, and so is a Python module.

Imports inside functions count: a lazy import hides a cycle only from the interpreter. A module may
import the package it lies in, which may import its modules: those two are one thing.
"""
import ast
import re

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.M)


def check_includes(files):
    """Yields (file, line, message) for each circle of includes; `files`: path below src/ -> text."""
    needs = {}
    for name, text in files.items():
        here = needs.setdefault(_stem(name), {})
        for match in INCLUDE.finditer(text):
            if match[1] in files and _stem(match[1]) != _stem(name):
                here.setdefault(_stem(match[1]), (f"src/{name}", text.count("\n", 0, match.start(1)) + 1))
    yield from _circles(needs, "includes")


def check_imports(root):
    """Yields (file, line, message) for each circle of imports in python/."""
    top = root / "python"
    modules = {}
    for path in sorted(top.rglob("*.py")):
        parts = path.relative_to(top).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    needs = {}
    for module, path in modules.items():
        package = module if path.name == "__init__.py" else module.rpartition(".")[0]
        here = needs.setdefault(module, {})
        for name, line in _imports(ast.parse(path.read_text(encoding="utf-8")), package, modules):
            if name in modules and not f"{module}.".startswith(f"{name}."):
                here.setdefault(name, (path.relative_to(root).as_posix(), line))
    yield from _circles(needs, "imports")


def _stem(name):
    return name.rpartition(".")[0] if not name.endswith(".def") else name


def _imports(tree, package, modules):
    """Yields (full name of a module, line) for every import, also those in functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[:len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join(above + ([node.module] if node.module else []))
            for alias in node.names:
                inner = f"{source}.{alias.name}"
                yield (inner if inner in modules else source), node.lineno


def _circles(needs, verb):
    """One finding per strongly connected component: the shortest path from its first node back to it."""
    left = {node: set(used) for node, used in needs.items()}
    while True:  # nodes without dependencies or dependents are in no cycle
        needed = set().union(*left.values()) if left else set()
        ends = {node for node, used in left.items() if not used or node not in needed}
        if not ends:
            break
        left = {node: used - ends for node, used in left.items() if node not in ends}
    seen = set()
    for first in sorted(left):
        chain = None if first in seen else _way_back(first, left)
        if chain:
            seen.update(_reached(first, left) & {node for node in left if first in _reached(node, left)})
            steps = [(*needs[a][b], b) for a, b in zip(chain, chain[1:])]
            yield steps[0][0], steps[0][1], f"a circle of {len(steps)} files: " + "; ".join(
                f"{file}:{line} {verb} {used}" for file, line, used in steps)


def _reached(first, graph):
    reached, todo = set(), [first]
    while todo:
        for node in graph.get(todo.pop(), ()):
            if node not in reached:
                reached.add(node)
                todo.append(node)
    return reached


def _way_back(first, graph):
    before, todo = {}, [first]
    for node in todo:
        for used in sorted(graph.get(node, ())):
            if used == first:
                chain = [first, node]
                while chain[-1] != first:
                    chain.append(before[chain[-1]])
                return chain[::-1]
            if used not in before:
                before[used] = node
                todo.append(used)
    return None
