package telemetry

import "go.opentelemetry.io/otel/attribute"

// Attributes of spans. The first ones are OpenTelemetry's semantic conventions, including
// those for generative AI, which have no Go package.
const (
	keyOperation    attribute.Key = "gen_ai.operation.name"
	keyProvider     attribute.Key = "gen_ai.provider.name" // the entry's name in the configuration
	keyRequestModel attribute.Key = "gen_ai.request.model" // without its provider
	keyMaxTokens    attribute.Key = "gen_ai.request.max_tokens"
	keyInput        attribute.Key = "gen_ai.usage.input_tokens" // tokens read from a cache included
	keyOutput       attribute.Key = "gen_ai.usage.output_tokens"
	keyCacheRead    attribute.Key = "gen_ai.usage.cache_read.input_tokens"
	keyCacheWrite   attribute.Key = "gen_ai.usage.cache_creation.input_tokens"
	keyFinish       attribute.Key = "gen_ai.response.finish_reasons"
	keyConversation attribute.Key = "gen_ai.conversation.id" // the session
	keyToolName     attribute.Key = "gen_ai.tool.name"
	keyErrorType    attribute.Key = "error.type" // Failure.ErrorType
	keyHTTPStatus   attribute.Key = "http.response.status_code"
	keyRoute        attribute.Key = "http.route"

	keyRun        attribute.Key = "mulligan.run.id"
	keySeq        attribute.Key = "mulligan.event.seq" // of the span's first event
	keyEpoch      attribute.Key = "mulligan.run.epoch"
	keyResumed    attribute.Key = "mulligan.run.resumed"
	keyAuto       attribute.Key = "mulligan.run.auto_recover"
	keyStatus     attribute.Key = "mulligan.run.status"
	keyStop       attribute.Key = "mulligan.run.stop_reason"
	keyRecovered  attribute.Key = "mulligan.run.recovered"
	keyFailures   attribute.Key = "mulligan.run.failed_attempts"
	keyRound      attribute.Key = "mulligan.round"
	keyAttempt    attribute.Key = "mulligan.attempt.id"
	keyTry        attribute.Key = "mulligan.attempt.try"
	keyRetry      attribute.Key = "mulligan.attempt.retry"
	keyOutcome    attribute.Key = "mulligan.outcome"
	keyFirstEvent attribute.Key = "mulligan.attempt.first_event_ms"
	keyCode       attribute.Key = "mulligan.failure.code"
	keyPhase      attribute.Key = "mulligan.failure.phase"
	keyTimer      attribute.Key = "mulligan.failure.timer"
	keyPlugin     attribute.Key = "mulligan.plugin.name"
	keyVersion    attribute.Key = "mulligan.plugin.version"
	keyShadow     attribute.Key = "mulligan.plugin.shadow"
	keyAction     attribute.Key = "mulligan.decision.action"
	keyDecidedBy  attribute.Key = "mulligan.decision.plugin"
	keyBlockedBy  attribute.Key = "mulligan.decision.blocked_by"
	keyWaitFor    attribute.Key = "mulligan.wait.for"
)

// The operations of the conventions that runs are made of.
const (
	operationAgent = "invoke_agent"
	operationChat  = "chat"
	operationTool  = "execute_tool"
)

// Labels of metrics.
const (
	labelProvider attribute.Key = "provider"
	labelModel    attribute.Key = "model"
	labelOutcome  attribute.Key = "outcome"
	labelKind     attribute.Key = "kind"
	labelPlugin   attribute.Key = "plugin"
	labelAction   attribute.Key = "action"
	labelStatus   attribute.Key = "status"
	labelStop     attribute.Key = "stop_reason"
	labelType     attribute.Key = "type"
	labelFor      attribute.Key = "for"
	labelState    attribute.Key = "state"
	labelReason   attribute.Key = "reason"
)

// Outcomes of an attempt, a vote and a wait, in addition to recovery's words.
const (
	outcomeAnswered  = "answered"
	outcomeFailed    = "failed"
	outcomeCancelled = "cancelled"
	outcomeLetGo     = "let_go" // this process handed it over, or did not see its end
	outcomeOver      = "over"
	outcomeNone      = "none"  // no opinion
	outcomeError     = "error" // no opinion, because the plugin failed
)
