"""Relay text (as `baton print` writes it) to an ONNX model, so that other engines can be timed side by side.

Straight-line functions of float32 tensors with static shapes, one output; operators: onnx_operators.py. Anything else
raises ValueError with the line.
"""
import ast
import re

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import onnx_operators

CALL = re.compile(r"^(?:(%[\w.]+) = )?([a-z_][\w.]*)\((.*)\);?$")
ITEM = re.compile(r"^(?:(%[\w.]+) = )?(%[\w.]+)\.(\d+);?$")
TUPLE = re.compile(r"^(%[\w.]+) = \((.*)\);?$")
TYPE = re.compile(r"Tensor\[\(([\d, ]*)\), float32\]")


class Call:
    """One call of the text: `op`, `args` (names), `attrs`, `out` (a name), `shape` of the result (None: not a tensor or
    without a type), `shapes` of the arguments, `line`."""

    def __init__(self, op, args, attrs, out, line, graph, types):
        self.op, self.args, self.attrs, self.out, self.line, self.graph = op, args, attrs, out, line, graph
        self.shape = types[0] if types else None
        self.result_shapes = types

    @property
    def shapes(self):
        return [self.graph.shapes.get(arg) if isinstance(arg, str) else None for arg in self.args]

    def get(self, name, default):
        """An attribute; lists of one number count for every axis."""
        value = self.attrs.get(name, default)
        return default if value is None else value

    def fail(self, why):
        raise ValueError(f"{why}: {self.line}")


class Graph:
    """The ONNX graph as it grows."""

    def __init__(self, params):
        self.params = params
        self.nodes, self.initializers, self.shapes, self.uses, self.made_by = [], {}, {}, {}, {}

    def node(self, kind, inputs, outputs, **attrs):
        made = helper.make_node(kind, inputs, outputs, **attrs)
        self.nodes.append(made)
        for name in outputs:
            self.made_by[name] = made
        return outputs[0]

    def constant(self, name, value):
        self.initializers[name] = np.ascontiguousarray(value)
        self.shapes[name] = list(np.shape(value))
        return name

    def used_once(self, name):
        return self.uses.get(name) == 1


def convert(text, params, opset=17):
    """The serialized ONNX model of `@main` in `text`; parameters in `params` become initializers."""
    graph, calls, names = parse(text, params)
    for call in calls:
        onnx_operators.lower(call)
    if "output" not in graph.made_by:
        raise ValueError("the result is not a call: " + calls[-1].line)

    needed = {name for node in graph.nodes for name in node.input}
    initializers = [numpy_helper.from_array(value, name) for name, value in graph.initializers.items() if name in needed]
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, graph.shapes[name]) for name in names]
    made = helper.make_graph(graph.nodes, "main", inputs, [helper.make_tensor_value_info("output", TensorProto.FLOAT, None)], initializers)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", opset)], ir_version=8).SerializeToString()


def only_call(text):
    """The Call of a function that has just one."""
    _, calls, _ = parse(text, {})
    if len(calls) != 1:
        raise ValueError(f"{len(calls)} calls where one is expected")
    return calls[0]


def parse(text, params):
    """The Graph with the parameters, the Calls in order, and the names of the inputs."""
    typed = [line.strip() for line in text.splitlines()]
    start = next(index for index, line in enumerate(typed) if line.startswith("def @main("))
    header, body = plain(typed[start]), typed[start + 1:typed.index("}", start)]
    types = {name: shape_of(dims) for name, dims in re.findall(r"%([\w.]+): Tensor\[\(([\d, ]*)\), float32\]", header)}
    params = {name: value for name, value in params.items() if name in types}
    graph = Graph(params)
    graph.shapes.update(types)
    for name, value in params.items():
        graph.constant(name, value)
    tuples = {}

    def resolve(word, line):
        """The name of an argument; numbers become constants."""
        if word.startswith("%"):
            return tuples.get(word, word.lstrip("%"))
        try:
            value = np.float32(re.sub("f$", "", word))
        except ValueError:
            raise ValueError("not a tensor of float32: " + line) from None
        return graph.constant(f"number_{len(graph.initializers)}", value)

    def used(words):
        for word in words:
            for name in [word] if isinstance(word, str) else word:
                graph.uses[name] = graph.uses.get(name, 0) + 1

    calls = []
    for line in body:
        results = [shape_of(dims) for dims in TYPE.findall(line[line.rindex("/* ty="):])] if "/* ty=" in line else []
        line = plain(line)
        group, item, call = TUPLE.match(line), ITEM.match(line), CALL.match(line)
        if group:
            tuples[group[1]] = [resolve(word, line) for word in split(group[2])]
        elif item:
            made = tuples.get(item[2], item[2].lstrip("%"))
            # Of batch_norm and dropout in inference, field 0 is the value itself.
            field = made[int(item[3])] if isinstance(made, list) else made if item[3] == "0" else None
            if field is None or not item[1]:
                raise ValueError("only field 0 of this tuple is converted, and not as the result: " + line)
            tuples[item[1]] = field
        elif call:
            words = split(call[3])
            attrs = dict(attribute(word, line) for word in words if "=" in word)
            args = [resolve(word, line) for word in words if "=" not in word]
            out = call[1].lstrip("%") if call[1] else "output"
            if call[2] == "split":  # its results have names of their own
                tuples[call[1]] = [f"{out}_{index}" for index in range(len(results))]
                graph.shapes.update(zip(tuples[call[1]], results))
            elif results:
                graph.shapes[out] = results[0]
            calls.append(Call(call[2], args, attrs, out, line, graph, results))
            used(args)
        else:
            raise ValueError("not a call: " + line)
    return graph, calls, [name for name in types if name not in params]


def plain(line):
    return re.sub(r" ?/\*.*?\*/", "", line).strip()


def shape_of(dims):
    return [int(each) for each in dims.split(",") if each.strip()]


def split(text):
    """'%0, %w, axis=1, k=[3, 3]' -> ['%0', '%w', 'axis=1', 'k=[3, 3]']"""
    parts, depth, quoted = [""], 0, False
    for char in text:
        quoted ^= char == '"'
        depth += 0 if quoted else (char in "([") - (char in ")]")
        if char == "," and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += char
    return [part.strip() for part in parts if part.strip()]


def attribute(word, line):
    name, text = word.split("=", 1)
    try:
        return name, ast.literal_eval(re.sub(r"(?<=[\d.])f\b", "", text))
    except (ValueError, SyntaxError):
        raise ValueError(f"the attribute {name} is not converted: {line}") from None
