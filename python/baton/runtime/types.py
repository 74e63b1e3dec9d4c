"""Names of types of numbers."""
import re


class DataTypeCode:
    """DLPack's codes of kinds of numbers."""

    INT, UINT, FLOAT, HANDLE, BFLOAT = 0, 1, 2, 3, 4


class DataType:
    """A dtype taken apart: `type_code` (see DataTypeCode), `bits`, `lanes`. Compares with its text."""

    CODE2STR = {0: "int", 1: "uint", 2: "float", 3: "handle", 4: "bfloat"}

    def __init__(self, type_str):
        text = str(type_str)
        if text == "bool":
            self.type_code, self.bits, self.lanes = 1, 1, 1
            return
        parts = re.fullmatch(r"(int|uint|float|bfloat|handle)(\d*)(?:x(\d+))?", text)
        if not parts:
            raise ValueError(f"Do not know how to handle type {text}")
        self.type_code = {name: code for code, name in self.CODE2STR.items()}[parts[1]]
        self.bits = int(parts[2] or (64 if parts[1] == "handle" else 32))
        self.lanes = int(parts[3] or 1)

    def __repr__(self):
        if (self.bits, self.type_code, self.lanes) == (1, 1, 1):
            return "bool"
        return f"{self.CODE2STR[self.type_code]}{self.bits}" + (f"x{self.lanes}" if self.lanes != 1 else "")

    def __eq__(self, other):
        return str(self) == str(other)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(str(self))
