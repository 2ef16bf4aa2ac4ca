import json
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from tests.protocol.strategies import PUSHES, REQUESTS
from tests.protocol.test_bad_messages import FIELDS_OF_TYPE, JSON_VALUES, VALID
from tests.rows import each
from tictactoe_protocol import BadMessage, decode_push, encode
from tictactoe_protocol.codec import decode_request
from tictactoe_protocol.pushes import Push
from tictactoe_protocol.requests import Request
from tools.examples import PUSH_EXAMPLES, REQUEST_EXAMPLES
from tools.schemas import render_files

DOCS = Path(__file__).parents[2] / "docs"
Document = dict[str, Any]


def find_drift(folder: Path) -> list[str]:
    return [
        path
        for path, text in render_files().items()
        if not (folder / path).is_file() or (folder / path).read_text(encoding="utf-8") != text
    ]


def load(path: str) -> Document:
    document: Document = json.loads((DOCS / path).read_text(encoding="utf-8"))
    return document


ASKED = Draft202012Validator(load("schema/requests.schema.json"))
SAID = Draft202012Validator(load("schema/pushes.schema.json"))


def is_valid(validator: Draft202012Validator, data: str | bytes) -> bool:
    return bool(validator.is_valid(json.loads(data)))


def is_request(data: str | bytes) -> bool:
    try:
        decode_request(data)
    except BadMessage:
        return False
    return True


def test_the_document_of_the_api_is_valid_openapi() -> None:
    public = pytest.importorskip("openapi_spec_validator", reason="it is in the extra dev since version 1.5")
    assert list(public.OpenAPIV31SpecValidator(load("openapi.json")).iter_errors()) == []


def test_the_generated_documents_are_up_to_date() -> None:
    assert find_drift(DOCS) == [], "python -m tools.schemas --out docs/"


@pytest.mark.parametrize("path", ["schema/requests.schema.json", "schema/pushes.schema.json"])
def test_a_schema_is_a_schema(path: str) -> None:
    Draft202012Validator.check_schema(load(path))


def test_every_message_is_described() -> None:
    for validator, union in ((ASKED, Request), (SAID, Push)):
        assert isinstance(validator.schema, dict)
        for kind in get_args(union):
            definition = validator.schema["$defs"][kind.__name__]
            assert definition["description"]
            assert definition["properties"]["type"] == {"const": kind.__struct_config__.tag}
        assert len(validator.schema["oneOf"]) == len(get_args(union))


@each("request_", [example for some in REQUEST_EXAMPLES.values() for example in some])
def test_an_example_of_a_request_is_one(request_: Request) -> None:
    ASKED.validate(json.loads(encode(request_)))
    assert decode_request(encode(request_)) == request_
    assert not ASKED.is_valid({**json.loads(encode(request_)), "surprise": 1})


@each("push", [example for some in PUSH_EXAMPLES.values() for example in some])
def test_an_example_of_a_push_is_one(push: Push) -> None:
    SAID.validate(json.loads(encode(push)))
    assert encode(decode_push(encode(push))) == encode(push)
    SAID.validate({**json.loads(encode(push)), "surprise": 1})


def test_there_is_an_example_of_every_message() -> None:
    for examples, union in ((REQUEST_EXAMPLES, Request), (PUSH_EXAMPLES, Push)):
        assert set(examples) == set(get_args(union))
        for kind, some in examples.items():
            assert some
            assert {type(example) for example in some} == {kind}


def test_the_examples_show_every_field_of_ok() -> None:
    (ok,) = (some for kind, some in PUSH_EXAMPLES.items() if kind.__name__ == "Ok")
    shown = {name for example in ok for name in msgspec.to_builtins(example)}
    assert shown == {"type", *ok[0].__struct_fields__}


@given(REQUESTS)
def test_every_request_fits_its_schema(request: Request) -> None:
    ASKED.validate(json.loads(encode(request)))


@given(PUSHES)
def test_every_push_fits_its_schema(push: Push) -> None:
    SAID.validate(json.loads(encode(push)))


@each("kind", FIELDS_OF_TYPE)
def test_schema_and_decoder_refuse_the_same_values(kind: str) -> None:
    valid = VALID.get(kind, {"type": kind})
    ASKED.validate(valid)
    for field, values in FIELDS_OF_TYPE[kind].items():
        for value in values:
            if not (isinstance(value, float) and value.is_integer()):  # to JSON Schema 1.0 is an integer
                assert not ASKED.is_valid({**valid, field: value}), (field, value)


def has_whole_floats(value: object) -> bool:
    """Return whether a value contains numbers like 1.0: integers for JSON Schema, but not for the decoder."""
    if isinstance(value, dict):
        return any(map(has_whole_floats, value.values()))
    if isinstance(value, list):
        return any(map(has_whole_floats, value))
    return isinstance(value, float)


@given(REQUESTS, st.data())
def test_schema_and_decoder_agree_on_a_request_with_one_foreign_value(request: Request, data: st.DataObject) -> None:
    fields = json.loads(encode(request))
    name = data.draw(st.sampled_from([*sorted(fields), "surprise", "rules", "clock"]))
    fields[name] = data.draw(JSON_VALUES | st.sampled_from([{"move_ms": 1}, {"move_ms": 1, "initial_ms": 1}, "X" * 65]))
    if has_whole_floats(fields):
        return
    text = json.dumps(fields)
    assert is_valid(ASKED, text) == is_request(text)
