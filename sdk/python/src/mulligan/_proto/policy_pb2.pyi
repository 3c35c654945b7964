from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Policy(_message.Message):
    __slots__ = ("auto_recover", "models", "plugins", "max_retries", "timeouts", "budget", "prices", "suggestion_ttl_ms", "max_output_tokens", "model_timeouts", "compaction_model", "day_budget")
    class PricesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Price
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Price, _Mapping]] = ...) -> None: ...
    class ModelTimeoutsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: Timeouts
        def __init__(self, key: _Optional[str] = ..., value: _Optional[_Union[Timeouts, _Mapping]] = ...) -> None: ...
    AUTO_RECOVER_FIELD_NUMBER: _ClassVar[int]
    MODELS_FIELD_NUMBER: _ClassVar[int]
    PLUGINS_FIELD_NUMBER: _ClassVar[int]
    MAX_RETRIES_FIELD_NUMBER: _ClassVar[int]
    TIMEOUTS_FIELD_NUMBER: _ClassVar[int]
    BUDGET_FIELD_NUMBER: _ClassVar[int]
    PRICES_FIELD_NUMBER: _ClassVar[int]
    SUGGESTION_TTL_MS_FIELD_NUMBER: _ClassVar[int]
    MAX_OUTPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    MODEL_TIMEOUTS_FIELD_NUMBER: _ClassVar[int]
    COMPACTION_MODEL_FIELD_NUMBER: _ClassVar[int]
    DAY_BUDGET_FIELD_NUMBER: _ClassVar[int]
    auto_recover: bool
    models: _containers.RepeatedScalarFieldContainer[str]
    plugins: _containers.RepeatedScalarFieldContainer[str]
    max_retries: int
    timeouts: Timeouts
    budget: Budget
    prices: _containers.MessageMap[str, Price]
    suggestion_ttl_ms: int
    max_output_tokens: int
    model_timeouts: _containers.MessageMap[str, Timeouts]
    compaction_model: str
    day_budget: Budget
    def __init__(self, auto_recover: bool = ..., models: _Optional[_Iterable[str]] = ..., plugins: _Optional[_Iterable[str]] = ..., max_retries: _Optional[int] = ..., timeouts: _Optional[_Union[Timeouts, _Mapping]] = ..., budget: _Optional[_Union[Budget, _Mapping]] = ..., prices: _Optional[_Mapping[str, Price]] = ..., suggestion_ttl_ms: _Optional[int] = ..., max_output_tokens: _Optional[int] = ..., model_timeouts: _Optional[_Mapping[str, Timeouts]] = ..., compaction_model: _Optional[str] = ..., day_budget: _Optional[_Union[Budget, _Mapping]] = ...) -> None: ...

class Timeouts(_message.Message):
    __slots__ = ("connect_ms", "first_event_ms", "bytes_ms", "idle_ms", "step_ms", "max_turn_ms", "run_ms", "tool_ms", "progress_after_ms")
    CONNECT_MS_FIELD_NUMBER: _ClassVar[int]
    FIRST_EVENT_MS_FIELD_NUMBER: _ClassVar[int]
    BYTES_MS_FIELD_NUMBER: _ClassVar[int]
    IDLE_MS_FIELD_NUMBER: _ClassVar[int]
    STEP_MS_FIELD_NUMBER: _ClassVar[int]
    MAX_TURN_MS_FIELD_NUMBER: _ClassVar[int]
    RUN_MS_FIELD_NUMBER: _ClassVar[int]
    TOOL_MS_FIELD_NUMBER: _ClassVar[int]
    PROGRESS_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    connect_ms: int
    first_event_ms: int
    bytes_ms: int
    idle_ms: int
    step_ms: int
    max_turn_ms: int
    run_ms: int
    tool_ms: int
    progress_after_ms: int
    def __init__(self, connect_ms: _Optional[int] = ..., first_event_ms: _Optional[int] = ..., bytes_ms: _Optional[int] = ..., idle_ms: _Optional[int] = ..., step_ms: _Optional[int] = ..., max_turn_ms: _Optional[int] = ..., run_ms: _Optional[int] = ..., tool_ms: _Optional[int] = ..., progress_after_ms: _Optional[int] = ...) -> None: ...

class Budget(_message.Message):
    __slots__ = ("tokens", "microdollars")
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    MICRODOLLARS_FIELD_NUMBER: _ClassVar[int]
    tokens: int
    microdollars: int
    def __init__(self, tokens: _Optional[int] = ..., microdollars: _Optional[int] = ...) -> None: ...

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
