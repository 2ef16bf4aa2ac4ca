"""Generate TypeScript declarations of the messages from the JSON Schemas, for programs checked by `tsc`.

``python -m tools.protocol_types`` writes `docs/schema/protocol.d.ts`. The same types always give the same file.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, get_args

from tictactoe_protocol.pushes import Push
from tictactoe_protocol.requests import Request
from tools.schemas import make_definitions

Schema = Mapping[str, Any]

PATH: Final = Path(__file__).parent.parent / "docs" / "schema" / "protocol.d.ts"
_HEAD: Final = "// The messages of docs/reference/protocol.md, made by `python -m tools.protocol_types`.\n"
_PLAIN: Final = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def render_declarations() -> str:
    """Return the declarations: a namespace with an interface for each object, and the unions `Request` and `Push`."""
    asked, said = get_args(Request), get_args(Push)
    definitions = make_definitions((*asked, *said), "#/$defs/{name}")
    parts = [_declare(name, schema) for name, schema in definitions.items()]
    for name, kinds in (("Request", asked), ("Push", said)):
        parts.append(f"  type {name} = {' | '.join(kind.__name__ for kind in kinds)};\n")
    return f"{_HEAD}declare namespace Protocol {{\n" + "\n".join(parts) + "}\n"


def main() -> None:
    """Write the declarations next to the schemas."""
    PATH.write_text(render_declarations(), encoding="utf-8", newline="\n")
    print(PATH)


def _declare(name: str, schema: Schema) -> str:
    """Return one interface, its description as a comment."""
    needed = schema.get("required", ())
    fields = [
        f"    {field}{'' if field in needed else '?'}: {_spell(value)};\n"
        for field, value in schema["properties"].items()
    ]
    told = "".join(f"  /** {line} */\n" for line in [" ".join(schema.get("description", "").split())] if line)
    return f"{told}  interface {name} {{\n{''.join(fields)}  }}\n"


def _spell(schema: Schema) -> str:
    """Return the TypeScript type of a schema."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(_spell(part) for part in schema["anyOf"])
    match schema.get("type"):
        case "array" if "prefixItems" in schema:
            return f"[{', '.join(map(_spell, schema['prefixItems']))}]"
        case "array":
            item = _spell(schema["items"])
            return f"({item})[]" if " " in item else f"{item}[]"
        case "object":
            values = schema["additionalProperties"]
            return f"{{ [key: string]: {'unknown' if values is True else _spell(values)} }}"
        case str(plain):
            return _PLAIN[plain]
    return "unknown"


if __name__ == "__main__":
    main()
