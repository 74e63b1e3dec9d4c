"""JSON of older versions."""
import json


def upgrade_json(json_str):
    """`json_str` as load_json reads it, which is how TVM 0.11 and Baton write it. ValueError for text of TVM before 0.6."""
    found = json.loads(json_str)
    version = str(found.get("attrs", {}).get("tvm_version", "")) if isinstance(found, dict) else ""
    if version.startswith("0.") and version.split(".")[1].isdigit() and int(version.split(".")[1]) < 6:
        raise ValueError(f"upgrade_json: text of TVM {version} cannot be read; 0.6 and later can")
    return json_str
