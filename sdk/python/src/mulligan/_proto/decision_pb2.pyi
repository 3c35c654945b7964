import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from . import failure_pb2 as _failure_pb2
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
    compact: bool
    max_output_tokens: int
    reasoning_effort: str
    def __init__(self, compact: bool = ..., max_output_tokens: _Optional[int] = ..., reasoning_effort: _Optional[str] = ...) -> None: ...

class Button(_message.Message):
    __slots__ = ("id", "kind", "label", "effect", "model", "primary")
    ID_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    LABEL_FIELD_NUMBER: _ClassVar[int]
    EFFECT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    PRIMARY_FIELD_NUMBER: _ClassVar[int]
    id: str
    kind: str
    label: str
    effect: str
    model: str
    primary: bool
    def __init__(self, id: _Optional[str] = ..., kind: _Optional[str] = ..., label: _Optional[str] = ..., effect: _Optional[str] = ..., model: _Optional[str] = ..., primary: bool = ...) -> None: ...

class Alternative(_message.Message):
    __slots__ = ("model", "context_tokens")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    model: str
    context_tokens: int
    def __init__(self, model: _Optional[str] = ..., context_tokens: _Optional[int] = ...) -> None: ...

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

class Voter(_message.Message):
    __slots__ = ("plugin", "version", "hash", "reason", "ms", "rank")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    MS_FIELD_NUMBER: _ClassVar[int]
    RANK_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    version: str
    hash: str
    reason: str
    ms: int
    rank: int
    def __init__(self, plugin: _Optional[str] = ..., version: _Optional[str] = ..., hash: _Optional[str] = ..., reason: _Optional[str] = ..., ms: _Optional[int] = ..., rank: _Optional[int] = ...) -> None: ...

class Vote(_message.Message):
    __slots__ = ("plugin", "version", "hash", "pid", "latency_ms", "action", "action_name", "delay_ms", "new_model", "reason", "actions", "adjust", "error", "shadow")
    PLUGIN_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    HASH_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    LATENCY_MS_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    ACTION_NAME_FIELD_NUMBER: _ClassVar[int]
    DELAY_MS_FIELD_NUMBER: _ClassVar[int]
    NEW_MODEL_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    ADJUST_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    SHADOW_FIELD_NUMBER: _ClassVar[int]
    plugin: str
    version: str
    hash: str
    pid: int
    latency_ms: int
    action: Action
    action_name: str
    delay_ms: int
    new_model: str
    reason: str
    actions: _containers.RepeatedCompositeFieldContainer[Button]
    adjust: Adjust
    error: str
    shadow: bool
    def __init__(self, plugin: _Optional[str] = ..., version: _Optional[str] = ..., hash: _Optional[str] = ..., pid: _Optional[int] = ..., latency_ms: _Optional[int] = ..., action: _Optional[_Union[Action, str]] = ..., action_name: _Optional[str] = ..., delay_ms: _Optional[int] = ..., new_model: _Optional[str] = ..., reason: _Optional[str] = ..., actions: _Optional[_Iterable[_Union[Button, _Mapping]]] = ..., adjust: _Optional[_Union[Adjust, _Mapping]] = ..., error: _Optional[str] = ..., shadow: bool = ...) -> None: ...

class Decision(_message.Message):
    __slots__ = ("action", "action_name", "delay_ms", "new_model", "reason", "actions", "adjust", "by", "blocked_by", "ignored")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    ACTION_NAME_FIELD_NUMBER: _ClassVar[int]
    DELAY_MS_FIELD_NUMBER: _ClassVar[int]
    NEW_MODEL_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    ADJUST_FIELD_NUMBER: _ClassVar[int]
    BY_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_BY_FIELD_NUMBER: _ClassVar[int]
    IGNORED_FIELD_NUMBER: _ClassVar[int]
    action: Action
    action_name: str
    delay_ms: int
    new_model: str
    reason: str
    actions: _containers.RepeatedCompositeFieldContainer[Button]
    adjust: Adjust
    by: Voter
    blocked_by: str
    ignored: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, action: _Optional[_Union[Action, str]] = ..., action_name: _Optional[str] = ..., delay_ms: _Optional[int] = ..., new_model: _Optional[str] = ..., reason: _Optional[str] = ..., actions: _Optional[_Iterable[_Union[Button, _Mapping]]] = ..., adjust: _Optional[_Union[Adjust, _Mapping]] = ..., by: _Optional[_Union[Voter, _Mapping]] = ..., blocked_by: _Optional[str] = ..., ignored: _Optional[_Iterable[str]] = ...) -> None: ...

class Suggestion(_message.Message):
    __slots__ = ("suggested_action", "suggested_action_name", "new_model", "attempt", "id", "expires_at", "title", "message", "error", "retry_at", "resets_at", "blocked_by", "decided_by", "actions", "tried")
    SUGGESTED_ACTION_FIELD_NUMBER: _ClassVar[int]
    SUGGESTED_ACTION_NAME_FIELD_NUMBER: _ClassVar[int]
    NEW_MODEL_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    ID_FIELD_NUMBER: _ClassVar[int]
    EXPIRES_AT_FIELD_NUMBER: _ClassVar[int]
    TITLE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    RETRY_AT_FIELD_NUMBER: _ClassVar[int]
    RESETS_AT_FIELD_NUMBER: _ClassVar[int]
    BLOCKED_BY_FIELD_NUMBER: _ClassVar[int]
    DECIDED_BY_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    TRIED_FIELD_NUMBER: _ClassVar[int]
    suggested_action: Action
    suggested_action_name: str
    new_model: str
    attempt: int
    id: str
    expires_at: _timestamp_pb2.Timestamp
    title: str
    message: str
    error: _failure_pb2.Failure
    retry_at: _timestamp_pb2.Timestamp
    resets_at: _timestamp_pb2.Timestamp
    blocked_by: str
    decided_by: Voter
    actions: _containers.RepeatedCompositeFieldContainer[Button]
    tried: _containers.RepeatedCompositeFieldContainer[Tried]
    def __init__(self, suggested_action: _Optional[_Union[Action, str]] = ..., suggested_action_name: _Optional[str] = ..., new_model: _Optional[str] = ..., attempt: _Optional[int] = ..., id: _Optional[str] = ..., expires_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., title: _Optional[str] = ..., message: _Optional[str] = ..., error: _Optional[_Union[_failure_pb2.Failure, _Mapping]] = ..., retry_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., resets_at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., blocked_by: _Optional[str] = ..., decided_by: _Optional[_Union[Voter, _Mapping]] = ..., actions: _Optional[_Iterable[_Union[Button, _Mapping]]] = ..., tried: _Optional[_Iterable[_Union[Tried, _Mapping]]] = ...) -> None: ...
