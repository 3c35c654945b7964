import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Action(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ACTION_UNSPECIFIED: _ClassVar[Action]
    ACTION_RETRY: _ClassVar[Action]
    ACTION_SWITCH_MODEL: _ClassVar[Action]
    ACTION_FAIL: _ClassVar[Action]
ACTION_UNSPECIFIED: Action
ACTION_RETRY: Action
ACTION_SWITCH_MODEL: Action
ACTION_FAIL: Action

class Adjust(_message.Message):
    __slots__ = ("compact", "max_output_tokens", "reasoning_effort")
    COMPACT_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    REASONING_EFFORT_FIELD_NUMBER: _ClassVar[int]
    CONTINUE_FIELD_NUMBER: _ClassVar[int]
    compact: bool
    max_output_tokens: int
    reasoning_effort: str
    def __init__(self, compact: bool = ..., max_output_tokens: _Optional[int] = ..., reasoning_effort: _Optional[str] = ..., **kwargs) -> None: ...

class Restrict(_message.Message):
    __slots__ = ("never", "max_output_price", "local")
    NEVER_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_PRICE_FIELD_NUMBER: _ClassVar[int]
    LOCAL_FIELD_NUMBER: _ClassVar[int]
    never: _containers.RepeatedScalarFieldContainer[str]
    max_output_price: int
    local: bool
    def __init__(self, never: _Optional[_Iterable[str]] = ..., max_output_price: _Optional[int] = ..., local: bool = ...) -> None: ...

class Price(_message.Message):
    __slots__ = ("input", "output", "cache_read", "cache_write")
    INPUT_FIELD_NUMBER: _ClassVar[int]
    OUTPUT_FIELD_NUMBER: _ClassVar[int]
    CACHE_READ_FIELD_NUMBER: _ClassVar[int]
    CACHE_WRITE_FIELD_NUMBER: _ClassVar[int]
    input: int
    output: int
    cache_read: int
    cache_write: int
    def __init__(self, input: _Optional[int] = ..., output: _Optional[int] = ..., cache_read: _Optional[int] = ..., cache_write: _Optional[int] = ...) -> None: ...

class Button(_message.Message):
    __slots__ = ("id", "kind", "label", "effect", "model", "primary", "url")
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PRIMARY_FIELD_NUMBER: _ClassVar[int]
    URL_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: str
    label: str
    effect: str
    model: str
    primary: bool
    url: str
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[str] = ..., label: _Optional[str] = ..., effect: _Optional[str] = ..., model: _Optional[str] = ..., primary: bool = ..., url: _Optional[str] = ...) -> None: ...

class Alternative(_message.Message):
    __slots__ = ("model", "context_tokens", "price", "local", "lacks", "cools_until", "cooling_kind", "health")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    PRICE_FIELD_NUMBER: _ClassVar[int]
    LOCAL_FIELD_NUMBER: _ClassVar[int]
    LACKS_FIELD_NUMBER: _ClassVar[int]
    COOLS_UNTIL_FIELD_NUMBER: _ClassVar[int]
    COOLING_KIND_FIELD_NUMBER: _ClassVar[int]
    HEALTH_FIELD_NUMBER: _ClassVar[int]
    model: str
    context_tokens: int
    price: Price
    local: bool
    lacks: _containers.RepeatedScalarFieldContainer[str]
    cools_until: _timestamp_pb2.Timestamp
    cooling_kind: str
    health: str
    def __init__(self, model: _Optional[str] = ..., context_tokens: _Optional[int] = ..., price: _Optional[_Union[Price, _Mapping]] = ..., local: bool = ..., lacks: _Optional[_Iterable[str]] = ..., cools_until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., cooling_kind: _Optional[str] = ..., health: _Optional[str] = ...) -> None: ...

class Tried(_message.Message):
    __slots__ = ("attempt", "model", "code", "at", "ms")
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    MS_FIELD_NUMBER: _ClassVar[int]
    attempt: int
    model: str
    code: str
    at: _timestamp_pb2.Timestamp
    ms: int
    def __init__(self, attempt: _Optional[int] = ..., model: _Optional[str] = ..., code: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., ms: _Optional[int] = ...) -> None: ...
