"""What is said of an operator stands in its block: rules are carried by one, and passes do not ask for names."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[3]
OPS = ROOT / "src" / "baton" / "ops"
# A rule's maker: a function at the left margin of a header whose type ends so, or what such rules are made from.
MAKER = re.compile(r"^(?:\w*(?:Rule|Result)|CostFacts) (\w+)\(", re.M)
COMMENT = re.compile(r"//[^\n]*")


def sources(folder, pattern="*.cc"):
    return {path: COMMENT.sub("", path.read_text()) for path in sorted(folder.rglob(pattern))}


def not_carried(headers, files):
    """Makers declared in `headers` that no file names but the one that defines them."""
    words = [(set(re.findall(r"\w+", text)), set(re.findall(r"^[\w:<>]+ (\w+)\(", text, re.M))) for text in files.values()]
    return [f"{header.name}: {name}" for header, text in headers.items() for name in MAKER.findall(text)
            if not any(name in named and name not in defined for named, defined in words)]


def test_every_rule_is_carried_by_an_operator():
    headers = {**sources(OPS / "rules", "*.h"), **sources(OPS / "qnn", "*_rules.h"), **sources(ROOT / "src/baton/ir/rules", "*.h")}
    makers = [name for text in headers.values() for name in MAKER.findall(text)]
    assert len(makers) > 30, "the makers of rules are found by the text of their declarations"
    helpers = {"unary", "cost_of_call", "cost_of_function"}  # parts of makers, and those who read the rules
    missing = [each for each in not_carried(headers, sources(OPS)) if each.split()[1] not in helpers]
    assert not missing, missing


def test_a_rule_that_nobody_carries_is_found():
    header = {pathlib.Path("rules.h"): "ScaleRule used_rule();\nScaleRule lost_rule();\n"}
    files = {1: "ScaleRule used_rule() { return {}; }\nScaleRule lost_rule() { return {}; }\n", 2: ".rules = op_rules(used_rule()),\n"}
    assert not_carried(header, files) == ["rules.h: lost_rule"]


def test_an_operators_name_stands_in_few_files():
    files = {**sources(ROOT / "src"), **sources(ROOT / "src", "*.h")}
    for name in ("nn.conv2d", "nn.dense", "nn.softmax", "nn.batch_matmul", "nn.contrib_conv2d_NCHWc"):
        found = [str(path.relative_to(ROOT)) for path, text in files.items() if f'"{name}"' in text]
        assert 1 <= len(found) <= 5, f"{name}: {found}"


def test_each_operator_has_one_line_and_one_function():
    listed = re.findall(r"^BATON_OP\((\w+)\)$", (OPS / "ops.def").read_text(), re.M)
    assert listed == sorted(listed) and len(listed) == len(set(listed))
    text = "\n".join(sources(OPS).values())
    for function in listed:
        assert len(re.findall(rf"^const OpDef& {function}\(\) {{", text, re.M)) == 1, function
