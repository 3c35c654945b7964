import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    KIND_UNSPECIFIED: _ClassVar[Kind]
    KIND_TIMEOUT: _ClassVar[Kind]
    KIND_UNREACHABLE: _ClassVar[Kind]
    KIND_TLS: _ClassVar[Kind]
    KIND_AUTH: _ClassVar[Kind]
    KIND_BILLING: _ClassVar[Kind]
    KIND_RATE_LIMIT: _ClassVar[Kind]
    KIND_QUOTA: _ClassVar[Kind]
    KIND_OVERLOADED: _ClassVar[Kind]
    KIND_UNAVAILABLE: _ClassVar[Kind]
    KIND_STREAM_INTERRUPTED: _ClassVar[Kind]
    KIND_MALFORMED_RESPONSE: _ClassVar[Kind]
    KIND_EMPTY_RESPONSE: _ClassVar[Kind]
    KIND_CONTEXT_OVERFLOW: _ClassVar[Kind]
    KIND_INVALID_REQUEST: _ClassVar[Kind]
    KIND_CONTENT_FILTER: _ClassVar[Kind]
    KIND_MODEL_NOT_FOUND: _ClassVar[Kind]
    KIND_OUTPUT_TRUNCATED: _ClassVar[Kind]
    KIND_MISCONFIGURED: _ClassVar[Kind]
    KIND_TOOL_FAILURE: _ClassVar[Kind]
    KIND_STEP_TIMEOUT: _ClassVar[Kind]
    KIND_MAX_TURN_TIME: _ClassVar[Kind]
    KIND_RUN_TIMEOUT: _ClassVar[Kind]
    KIND_INTERRUPTED: _ClassVar[Kind]
    KIND_PROMPT_FAILURE: _ClassVar[Kind]
    KIND_INTERNAL: _ClassVar[Kind]
    KIND_BUDGET: _ClassVar[Kind]
    KIND_UNKNOWN: _ClassVar[Kind]
    KIND_ROUND_LIMIT: _ClassVar[Kind]

class Origin(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    ORIGIN_UNSPECIFIED: _ClassVar[Origin]
    ORIGIN_MODEL: _ClassVar[Origin]
    ORIGIN_TOOL: _ClassVar[Origin]
    ORIGIN_PROMPT: _ClassVar[Origin]
    ORIGIN_HOOK: _ClassVar[Origin]
    ORIGIN_RUNNER: _ClassVar[Origin]

class Phase(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    PHASE_UNSPECIFIED: _ClassVar[Phase]
    PHASE_PROMPT: _ClassVar[Phase]
    PHASE_BEFORE_CONNECT: _ClassVar[Phase]
    PHASE_BEFORE_FIRST_EVENT: _ClassVar[Phase]
    PHASE_MID_STREAM: _ClassVar[Phase]
    PHASE_END_OF_STREAM: _ClassVar[Phase]
    PHASE_TOOL: _ClassVar[Phase]

class Timer(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TIMER_UNSPECIFIED: _ClassVar[Timer]
    TIMER_CONNECT: _ClassVar[Timer]
    TIMER_FIRST_EVENT: _ClassVar[Timer]
    TIMER_BYTES: _ClassVar[Timer]
    TIMER_IDLE: _ClassVar[Timer]
    TIMER_STEP: _ClassVar[Timer]
    TIMER_MAX_TURN: _ClassVar[Timer]
    TIMER_RUN: _ClassVar[Timer]
    TIMER_TOOL: _ClassVar[Timer]
    TIMER_WAIT: _ClassVar[Timer]
    TIMER_EXPIRY: _ClassVar[Timer]
    TIMER_PROGRESS_AFTER: _ClassVar[Timer]
KIND_UNSPECIFIED: Kind
KIND_TIMEOUT: Kind
KIND_UNREACHABLE: Kind
KIND_TLS: Kind
KIND_AUTH: Kind
KIND_BILLING: Kind
KIND_RATE_LIMIT: Kind
KIND_QUOTA: Kind
KIND_OVERLOADED: Kind
KIND_UNAVAILABLE: Kind
KIND_STREAM_INTERRUPTED: Kind
KIND_MALFORMED_RESPONSE: Kind
KIND_EMPTY_RESPONSE: Kind
KIND_CONTEXT_OVERFLOW: Kind
KIND_INVALID_REQUEST: Kind
KIND_CONTENT_FILTER: Kind
KIND_MODEL_NOT_FOUND: Kind
KIND_OUTPUT_TRUNCATED: Kind
KIND_MISCONFIGURED: Kind
KIND_TOOL_FAILURE: Kind
KIND_STEP_TIMEOUT: Kind
KIND_MAX_TURN_TIME: Kind
KIND_RUN_TIMEOUT: Kind
KIND_INTERRUPTED: Kind
KIND_PROMPT_FAILURE: Kind
KIND_INTERNAL: Kind
KIND_BUDGET: Kind
KIND_UNKNOWN: Kind
KIND_ROUND_LIMIT: Kind
ORIGIN_UNSPECIFIED: Origin
ORIGIN_MODEL: Origin
ORIGIN_TOOL: Origin
ORIGIN_PROMPT: Origin
ORIGIN_HOOK: Origin
ORIGIN_RUNNER: Origin
PHASE_UNSPECIFIED: Phase
PHASE_PROMPT: Phase
PHASE_BEFORE_CONNECT: Phase
PHASE_BEFORE_FIRST_EVENT: Phase
PHASE_MID_STREAM: Phase
PHASE_END_OF_STREAM: Phase
PHASE_TOOL: Phase
TIMER_UNSPECIFIED: Timer
TIMER_CONNECT: Timer
TIMER_FIRST_EVENT: Timer
TIMER_BYTES: Timer
TIMER_IDLE: Timer
TIMER_STEP: Timer
TIMER_MAX_TURN: Timer
TIMER_RUN: Timer
TIMER_TOOL: Timer
TIMER_WAIT: Timer
TIMER_EXPIRY: Timer
TIMER_PROGRESS_AFTER: Timer

class Failure(_message.Message):
    __slots__ = ("kind", "kind_name", "code", "variant", "origin", "origin_name", "phase", "phase_name", "retryable", "provider", "model", "http_status", "provider_code", "request_id", "tool", "retry_after_ms", "resets_at", "timer", "timer_name", "limit_ms", "elapsed_ms", "last_step", "title", "message", "detail", "last_step_elapsed_ms")
    KIND_FIELD_NUMBER: _ClassVar[int]
    KIND_NAME_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    VARIANT_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_FIELD_NUMBER: _ClassVar[int]
    ORIGIN_NAME_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    PHASE_NAME_FIELD_NUMBER: _ClassVar[int]
    RETRYABLE_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    HTTP_STATUS_FIELD_NUMBER: _ClassVar[int]
    PROVIDER_CODE_FIELD_NUMBER: _ClassVar[int]
    REQUEST_ID_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    RETRY_AFTER_MS_FIELD_NUMBER: _ClassVar[int]
    RESETS_AT_FIELD_NUMBER: _ClassVar[int]
    TIMER_FIELD_NUMBER: _ClassVar[int]
    TIMER_NAME_FIELD_NUMBER: _ClassVar[int]
    LIMIT_MS_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MS_FIELD_NUMBER: _ClassVar[int]
    LAST_STEP_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    LAST_STEP_ELAPSED_MS_FIELD_NUMBER: _ClassVar[int]
    kind: Kind
    kind_name: str
    code: str
    variant: str
    origin: Origin
    origin_name: str
    phase: Phase
    phase_name: str
    retryable: bool
    provider: str
    model: str
    http_status: int
    provider_code: str
    request_id: str
    tool: str
    retry_after_ms: int
    resets_at: _timestamp_pb2.Timestamp
    timer: Timer
    timer_name: str
    limit_ms: int
    elapsed_ms: int
    last_step: str
    title: str
    message: str
    detail: str
    last_step_elapsed_ms: int
    def __init__(self, kind: _Optional[_Union[Kind, str]] = ..., kind_name: _Optional[str] = ..., code: _Optional[str] = ..., variant: _Optional[str] = ..., origin: _Optional[_Union[Origin, str]] = ..., origin_name: _Optional[str] = ..., phase: _Optional[_Union[Phase, str]] = ..., phase_name: _Optional[str] = ..., retryable: bool = ..., provider: _Optional[str] = ..., model: _Optional[str] = ..., http_status: _Optional[int] = ..., provider_code: _Optional[str] = ..., request_id: _Optional[str] = ..., tool: _Optional[str] = ..., retry_after_ms: _Optional[int] = ..., resets_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., timer: _Optional[_Union[Timer, str]] = ..., timer_name: _Optional[str] = ..., limit_ms: _Optional[int] = ..., elapsed_ms: _Optional[int] = ..., last_step: _Optional[str] = ..., title: _Optional[str] = ..., message: _Optional[str] = ..., detail: _Optional[str] = ..., last_step_elapsed_ms: _Optional[int] = ...) -> None: ...
