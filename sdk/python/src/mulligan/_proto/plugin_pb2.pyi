import datetime

from google.protobuf import timestamp_pb2 as _timestamp_pb2
from . import decision_pb2 as _decision_pb2
from . import failure_pb2 as _failure_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class ReplaySafety(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REPLAY_SAFETY_UNSPECIFIED: _ClassVar[ReplaySafety]
    REPLAY_SAFETY_SAFE: _ClassVar[ReplaySafety]
    REPLAY_SAFETY_UNSAFE: _ClassVar[ReplaySafety]
    REPLAY_SAFETY_UNKNOWN: _ClassVar[ReplaySafety]

class Verdict(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    VERDICT_UNSPECIFIED: _ClassVar[Verdict]
    VERDICT_ALLOW: _ClassVar[Verdict]
    VERDICT_ROUTE: _ClassVar[Verdict]
    VERDICT_HOLD: _ClassVar[Verdict]
    VERDICT_REFUSE: _ClassVar[Verdict]

class ToolSafety(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_SAFETY_UNSPECIFIED: _ClassVar[ToolSafety]
    TOOL_SAFETY_UNSAFE: _ClassVar[ToolSafety]
    TOOL_SAFETY_IDEMPOTENT: _ClassVar[ToolSafety]
    TOOL_SAFETY_READ_ONLY: _ClassVar[ToolSafety]

class ToolAction(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    TOOL_ACTION_UNSPECIFIED: _ClassVar[ToolAction]
    TOOL_ACTION_RETRY: _ClassVar[ToolAction]
    TOOL_ACTION_TELL: _ClassVar[ToolAction]
    TOOL_ACTION_ASK: _ClassVar[ToolAction]
REPLAY_SAFETY_UNSPECIFIED: ReplaySafety
REPLAY_SAFETY_SAFE: ReplaySafety
REPLAY_SAFETY_UNSAFE: ReplaySafety
REPLAY_SAFETY_UNKNOWN: ReplaySafety
VERDICT_UNSPECIFIED: Verdict
VERDICT_ALLOW: Verdict
VERDICT_ROUTE: Verdict
VERDICT_HOLD: Verdict
VERDICT_REFUSE: Verdict
TOOL_SAFETY_UNSPECIFIED: ToolSafety
TOOL_SAFETY_UNSAFE: ToolSafety
TOOL_SAFETY_IDEMPOTENT: ToolSafety
TOOL_SAFETY_READ_ONLY: ToolSafety
TOOL_ACTION_UNSPECIFIED: ToolAction
TOOL_ACTION_RETRY: ToolAction
TOOL_ACTION_TELL: ToolAction
TOOL_ACTION_ASK: ToolAction

class DescribeRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class DescribeResponse(_message.Message):
    __slots__ = ("name", "version", "config_schema", "occasions")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VERSION_FIELD_NUMBER: _ClassVar[int]
    CONFIG_SCHEMA_FIELD_NUMBER: _ClassVar[int]
    OCCASIONS_FIELD_NUMBER: _ClassVar[int]
    name: str
    version: str
    config_schema: bytes
    occasions: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, name: _Optional[str] = ..., version: _Optional[str] = ..., config_schema: _Optional[bytes] = ..., occasions: _Optional[_Iterable[str]] = ...) -> None: ...

class ConfigureRequest(_message.Message):
    __slots__ = ("config",)
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    config: bytes
    def __init__(self, config: _Optional[bytes] = ...) -> None: ...

class ConfigureResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Budget(_message.Message):
    __slots__ = ("tokens", "microdollars")
    TOKENS_FIELD_NUMBER: _ClassVar[int]
    MICRODOLLARS_FIELD_NUMBER: _ClassVar[int]
    tokens: int
    microdollars: int
    def __init__(self, tokens: _Optional[int] = ..., microdollars: _Optional[int] = ...) -> None: ...

class RunErrorRequest(_message.Message):
    __slots__ = ("run", "session", "failure", "model", "attempt", "retries", "max_retries", "auto_recover", "elapsed_ms", "remaining", "remaining_attempts", "remaining_ms", "tried", "alternatives", "replay_safety", "unsafe_tools", "partial_shown", "idle_breaker", "idle_expiries", "transcript", "time", "dry_run", "pressed", "session_key", "agent_id", "aborted", "timed_out", "prompt_error", "labels", "spent", "input_tokens", "tools", "images", "schema", "about", "cooling", "failed_kinds", "recent_calls")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    RUN_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    RETRIES_FIELD_NUMBER: _ClassVar[int]
    MAX_RETRIES_FIELD_NUMBER: _ClassVar[int]
    AUTO_RECOVER_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MS_FIELD_NUMBER: _ClassVar[int]
    REMAINING_FIELD_NUMBER: _ClassVar[int]
    REMAINING_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    REMAINING_MS_FIELD_NUMBER: _ClassVar[int]
    TRIED_FIELD_NUMBER: _ClassVar[int]
    ALTERNATIVES_FIELD_NUMBER: _ClassVar[int]
    REPLAY_SAFETY_FIELD_NUMBER: _ClassVar[int]
    UNSAFE_TOOLS_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_SHOWN_FIELD_NUMBER: _ClassVar[int]
    IDLE_BREAKER_FIELD_NUMBER: _ClassVar[int]
    IDLE_EXPIRIES_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    PRESSED_FIELD_NUMBER: _ClassVar[int]
    SESSION_KEY_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    ABORTED_FIELD_NUMBER: _ClassVar[int]
    TIMED_OUT_FIELD_NUMBER: _ClassVar[int]
    PROMPT_ERROR_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    SPENT_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    IMAGES_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    ABOUT_FIELD_NUMBER: _ClassVar[int]
    COOLING_FIELD_NUMBER: _ClassVar[int]
    FAILED_KINDS_FIELD_NUMBER: _ClassVar[int]
    RECENT_CALLS_FIELD_NUMBER: _ClassVar[int]
    run: str
    session: str
    failure: _failure_pb2.Failure
    model: str
    attempt: int
    retries: int
    max_retries: int
    auto_recover: bool
    elapsed_ms: int
    remaining: Budget
    remaining_attempts: int
    remaining_ms: int
    tried: _containers.RepeatedCompositeFieldContainer[_decision_pb2.Tried]
    alternatives: _containers.RepeatedCompositeFieldContainer[_decision_pb2.Alternative]
    replay_safety: ReplaySafety
    unsafe_tools: _containers.RepeatedScalarFieldContainer[str]
    partial_shown: bool
    idle_breaker: bool
    idle_expiries: int
    transcript: bytes
    time: _timestamp_pb2.Timestamp
    dry_run: bool
    pressed: str
    session_key: str
    agent_id: str
    aborted: bool
    timed_out: bool
    prompt_error: str
    labels: _containers.ScalarMap[str, str]
    spent: Budget
    input_tokens: int
    tools: _containers.RepeatedScalarFieldContainer[str]
    images: bool
    schema: bool
    about: _decision_pb2.Alternative
    cooling: _containers.RepeatedCompositeFieldContainer[_decision_pb2.Alternative]
    failed_kinds: _containers.RepeatedScalarFieldContainer[str]
    recent_calls: _containers.RepeatedCompositeFieldContainer[RecentCall]
    def __init__(self, run: _Optional[str] = ..., session: _Optional[str] = ..., failure: _Optional[_Union[_failure_pb2.Failure, _Mapping]] = ..., model: _Optional[str] = ..., attempt: _Optional[int] = ..., retries: _Optional[int] = ..., max_retries: _Optional[int] = ..., auto_recover: bool = ..., elapsed_ms: _Optional[int] = ..., remaining: _Optional[_Union[Budget, _Mapping]] = ..., remaining_attempts: _Optional[int] = ..., remaining_ms: _Optional[int] = ..., tried: _Optional[_Iterable[_Union[_decision_pb2.Tried, _Mapping]]] = ..., alternatives: _Optional[_Iterable[_Union[_decision_pb2.Alternative, _Mapping]]] = ..., replay_safety: _Optional[_Union[ReplaySafety, str]] = ..., unsafe_tools: _Optional[_Iterable[str]] = ..., partial_shown: bool = ..., idle_breaker: bool = ..., idle_expiries: _Optional[int] = ..., transcript: _Optional[bytes] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., dry_run: bool = ..., pressed: _Optional[str] = ..., session_key: _Optional[str] = ..., agent_id: _Optional[str] = ..., aborted: bool = ..., timed_out: bool = ..., prompt_error: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., spent: _Optional[_Union[Budget, _Mapping]] = ..., input_tokens: _Optional[int] = ..., tools: _Optional[_Iterable[str]] = ..., images: bool = ..., schema: bool = ..., about: _Optional[_Union[_decision_pb2.Alternative, _Mapping]] = ..., cooling: _Optional[_Iterable[_Union[_decision_pb2.Alternative, _Mapping]]] = ..., failed_kinds: _Optional[_Iterable[str]] = ..., recent_calls: _Optional[_Iterable[_Union[RecentCall, _Mapping]]] = ...) -> None: ...

class RecentCall(_message.Message):
    __slots__ = ("model", "kind", "at")
    MODEL_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    AT_FIELD_NUMBER: _ClassVar[int]
    model: str
    kind: str
    at: _timestamp_pb2.Timestamp
    def __init__(self, model: _Optional[str] = ..., kind: _Optional[str] = ..., at: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ...) -> None: ...

class RunErrorResponse(_message.Message):
    __slots__ = ("action", "delay_ms", "new_model", "reason", "actions", "adjust", "restrict")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    DELAY_MS_FIELD_NUMBER: _ClassVar[int]
    NEW_MODEL_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    ACTIONS_FIELD_NUMBER: _ClassVar[int]
    ADJUST_FIELD_NUMBER: _ClassVar[int]
    RESTRICT_FIELD_NUMBER: _ClassVar[int]
    action: _decision_pb2.Action
    delay_ms: int
    new_model: str
    reason: str
    actions: _containers.RepeatedCompositeFieldContainer[_decision_pb2.Button]
    adjust: _decision_pb2.Adjust
    restrict: _decision_pb2.Restrict
    def __init__(self, action: _Optional[_Union[_decision_pb2.Action, str]] = ..., delay_ms: _Optional[int] = ..., new_model: _Optional[str] = ..., reason: _Optional[str] = ..., actions: _Optional[_Iterable[_Union[_decision_pb2.Button, _Mapping]]] = ..., adjust: _Optional[_Union[_decision_pb2.Adjust, _Mapping]] = ..., restrict: _Optional[_Union[_decision_pb2.Restrict, _Mapping]] = ...) -> None: ...

class BeforeCallRequest(_message.Message):
    __slots__ = ("run", "session", "session_key", "agent_id", "labels", "model", "alternatives", "round", "attempt", "tried", "summary", "input_tokens", "tools", "images", "holds", "auto_recover", "spent", "remaining", "elapsed_ms", "remaining_ms", "time", "dry_run", "transcript", "schema", "failed_kinds", "recent_calls")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    RUN_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SESSION_KEY_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    ALTERNATIVES_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    ATTEMPT_FIELD_NUMBER: _ClassVar[int]
    TRIED_FIELD_NUMBER: _ClassVar[int]
    SUMMARY_FIELD_NUMBER: _ClassVar[int]
    INPUT_TOKENS_FIELD_NUMBER: _ClassVar[int]
    TOOLS_FIELD_NUMBER: _ClassVar[int]
    IMAGES_FIELD_NUMBER: _ClassVar[int]
    HOLDS_FIELD_NUMBER: _ClassVar[int]
    AUTO_RECOVER_FIELD_NUMBER: _ClassVar[int]
    SPENT_FIELD_NUMBER: _ClassVar[int]
    REMAINING_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MS_FIELD_NUMBER: _ClassVar[int]
    REMAINING_MS_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_FIELD_NUMBER: _ClassVar[int]
    SCHEMA_FIELD_NUMBER: _ClassVar[int]
    FAILED_KINDS_FIELD_NUMBER: _ClassVar[int]
    RECENT_CALLS_FIELD_NUMBER: _ClassVar[int]
    run: str
    session: str
    session_key: str
    agent_id: str
    labels: _containers.ScalarMap[str, str]
    model: _decision_pb2.Alternative
    alternatives: _containers.RepeatedCompositeFieldContainer[_decision_pb2.Alternative]
    round: int
    attempt: int
    tried: _containers.RepeatedCompositeFieldContainer[_decision_pb2.Tried]
    summary: bool
    input_tokens: int
    tools: _containers.RepeatedScalarFieldContainer[str]
    images: bool
    holds: int
    auto_recover: bool
    spent: Budget
    remaining: Budget
    elapsed_ms: int
    remaining_ms: int
    time: _timestamp_pb2.Timestamp
    dry_run: bool
    transcript: bytes
    schema: bool
    failed_kinds: _containers.RepeatedScalarFieldContainer[str]
    recent_calls: _containers.RepeatedCompositeFieldContainer[RecentCall]
    def __init__(self, run: _Optional[str] = ..., session: _Optional[str] = ..., session_key: _Optional[str] = ..., agent_id: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., model: _Optional[_Union[_decision_pb2.Alternative, _Mapping]] = ..., alternatives: _Optional[_Iterable[_Union[_decision_pb2.Alternative, _Mapping]]] = ..., round: _Optional[int] = ..., attempt: _Optional[int] = ..., tried: _Optional[_Iterable[_Union[_decision_pb2.Tried, _Mapping]]] = ..., summary: bool = ..., input_tokens: _Optional[int] = ..., tools: _Optional[_Iterable[str]] = ..., images: bool = ..., holds: _Optional[int] = ..., auto_recover: bool = ..., spent: _Optional[_Union[Budget, _Mapping]] = ..., remaining: _Optional[_Union[Budget, _Mapping]] = ..., elapsed_ms: _Optional[int] = ..., remaining_ms: _Optional[int] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., dry_run: bool = ..., transcript: _Optional[bytes] = ..., schema: bool = ..., failed_kinds: _Optional[_Iterable[str]] = ..., recent_calls: _Optional[_Iterable[_Union[RecentCall, _Mapping]]] = ...) -> None: ...

class BeforeCallResponse(_message.Message):
    __slots__ = ("verdict", "model", "until", "reason")
    VERDICT_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    UNTIL_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    verdict: Verdict
    model: str
    until: _timestamp_pb2.Timestamp
    reason: str
    def __init__(self, verdict: _Optional[_Union[Verdict, str]] = ..., model: _Optional[str] = ..., until: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., reason: _Optional[str] = ...) -> None: ...

class ToolErrorRequest(_message.Message):
    __slots__ = ("run", "session", "session_key", "agent_id", "labels", "tool", "call_id", "safety", "tries", "remaining_tries", "failures", "timed_out", "took_ms", "error", "model", "round", "auto_recover", "spent", "remaining", "elapsed_ms", "remaining_ms", "time", "dry_run", "transcript")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    RUN_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SESSION_KEY_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    TOOL_FIELD_NUMBER: _ClassVar[int]
    CALL_ID_FIELD_NUMBER: _ClassVar[int]
    SAFETY_FIELD_NUMBER: _ClassVar[int]
    TRIES_FIELD_NUMBER: _ClassVar[int]
    REMAINING_TRIES_FIELD_NUMBER: _ClassVar[int]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    TIMED_OUT_FIELD_NUMBER: _ClassVar[int]
    TOOK_MS_FIELD_NUMBER: _ClassVar[int]
    ERROR_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    ROUND_FIELD_NUMBER: _ClassVar[int]
    AUTO_RECOVER_FIELD_NUMBER: _ClassVar[int]
    SPENT_FIELD_NUMBER: _ClassVar[int]
    REMAINING_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MS_FIELD_NUMBER: _ClassVar[int]
    REMAINING_MS_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    TRANSCRIPT_FIELD_NUMBER: _ClassVar[int]
    run: str
    session: str
    session_key: str
    agent_id: str
    labels: _containers.ScalarMap[str, str]
    tool: str
    call_id: str
    safety: ToolSafety
    tries: int
    remaining_tries: int
    failures: int
    timed_out: bool
    took_ms: int
    error: str
    model: str
    round: int
    auto_recover: bool
    spent: Budget
    remaining: Budget
    elapsed_ms: int
    remaining_ms: int
    time: _timestamp_pb2.Timestamp
    dry_run: bool
    transcript: bytes
    def __init__(self, run: _Optional[str] = ..., session: _Optional[str] = ..., session_key: _Optional[str] = ..., agent_id: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., tool: _Optional[str] = ..., call_id: _Optional[str] = ..., safety: _Optional[_Union[ToolSafety, str]] = ..., tries: _Optional[int] = ..., remaining_tries: _Optional[int] = ..., failures: _Optional[int] = ..., timed_out: bool = ..., took_ms: _Optional[int] = ..., error: _Optional[str] = ..., model: _Optional[str] = ..., round: _Optional[int] = ..., auto_recover: bool = ..., spent: _Optional[_Union[Budget, _Mapping]] = ..., remaining: _Optional[_Union[Budget, _Mapping]] = ..., elapsed_ms: _Optional[int] = ..., remaining_ms: _Optional[int] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., dry_run: bool = ..., transcript: _Optional[bytes] = ...) -> None: ...

class ToolErrorResponse(_message.Message):
    __slots__ = ("action", "delay_ms", "words", "reason")
    ACTION_FIELD_NUMBER: _ClassVar[int]
    DELAY_MS_FIELD_NUMBER: _ClassVar[int]
    WORDS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    action: ToolAction
    delay_ms: int
    words: str
    reason: str
    def __init__(self, action: _Optional[_Union[ToolAction, str]] = ..., delay_ms: _Optional[int] = ..., words: _Optional[str] = ..., reason: _Optional[str] = ...) -> None: ...

class RunEndedRequest(_message.Message):
    __slots__ = ("run", "session", "session_key", "agent_id", "labels", "status", "stop_reason", "chosen_model", "model", "recovered", "attempts", "failed_attempts", "switches", "kinds", "recovery_ms", "wasted", "spent", "elapsed_ms", "time", "failure", "dry_run")
    class LabelsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    RUN_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    SESSION_KEY_FIELD_NUMBER: _ClassVar[int]
    AGENT_ID_FIELD_NUMBER: _ClassVar[int]
    LABELS_FIELD_NUMBER: _ClassVar[int]
    STATUS_FIELD_NUMBER: _ClassVar[int]
    STOP_REASON_FIELD_NUMBER: _ClassVar[int]
    CHOSEN_MODEL_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    RECOVERED_FIELD_NUMBER: _ClassVar[int]
    ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    FAILED_ATTEMPTS_FIELD_NUMBER: _ClassVar[int]
    SWITCHES_FIELD_NUMBER: _ClassVar[int]
    KINDS_FIELD_NUMBER: _ClassVar[int]
    RECOVERY_MS_FIELD_NUMBER: _ClassVar[int]
    WASTED_FIELD_NUMBER: _ClassVar[int]
    SPENT_FIELD_NUMBER: _ClassVar[int]
    ELAPSED_MS_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    DRY_RUN_FIELD_NUMBER: _ClassVar[int]
    run: str
    session: str
    session_key: str
    agent_id: str
    labels: _containers.ScalarMap[str, str]
    status: str
    stop_reason: str
    chosen_model: str
    model: str
    recovered: bool
    attempts: int
    failed_attempts: int
    switches: int
    kinds: _containers.RepeatedScalarFieldContainer[str]
    recovery_ms: int
    wasted: Budget
    spent: Budget
    elapsed_ms: int
    time: _timestamp_pb2.Timestamp
    failure: _failure_pb2.Failure
    dry_run: bool
    def __init__(self, run: _Optional[str] = ..., session: _Optional[str] = ..., session_key: _Optional[str] = ..., agent_id: _Optional[str] = ..., labels: _Optional[_Mapping[str, str]] = ..., status: _Optional[str] = ..., stop_reason: _Optional[str] = ..., chosen_model: _Optional[str] = ..., model: _Optional[str] = ..., recovered: bool = ..., attempts: _Optional[int] = ..., failed_attempts: _Optional[int] = ..., switches: _Optional[int] = ..., kinds: _Optional[_Iterable[str]] = ..., recovery_ms: _Optional[int] = ..., wasted: _Optional[_Union[Budget, _Mapping]] = ..., spent: _Optional[_Union[Budget, _Mapping]] = ..., elapsed_ms: _Optional[int] = ..., time: _Optional[_Union[datetime.datetime, _timestamp_pb2.Timestamp, _Mapping]] = ..., failure: _Optional[_Union[_failure_pb2.Failure, _Mapping]] = ..., dry_run: bool = ...) -> None: ...

class RunEndedResponse(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...
