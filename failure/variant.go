package failure

// The variants that the runner itself sets: finer than the kind, and for people only. No decision
// depends on them.
const (
	VariantDayTokens = "day_tokens" // of KindBudget: the day's tokens, shared by all runs (spec §5); the run's own are "tokens"
	VariantDayMoney  = "day_money"  // likewise, the day's money; the run's own is "money"

	VariantLocal      = "local"       // of KindUnreachable: the provider is on this computer
	VariantKeyMissing = "key_missing" // of KindAuth: there was no key, so nothing was sent
	VariantCutShort   = "cut_short"   // of KindTimeout: a person cut the call short
	VariantHandedOver = "handed_over" // of KindInterrupted: its process was told to stop

	VariantForbidden = "forbidden" // of KindPromptFailure: a plugin forbids the model

	VariantCooling = "cooling" // of any kind: the model failed this way a short time ago and still cools down

	// Variants for a proxy on the way to the provider. VariantProxy: it requires a login, or
	// cannot be reached. VariantProxyRefused: it lets nothing through, or is no proxy.
	// VariantProxyGateway: it reports that it cannot reach the provider.
	VariantProxy        = "proxy"         // of KindMisconfigured, KindUnreachable, KindTimeout, KindTLS
	VariantProxyRefused = "proxy_refused" // of KindMisconfigured
	VariantProxyGateway = "proxy_gateway" // of KindUnreachable

	VariantUnknownOutcome = "outcome_unknown" // of KindToolFailure: the call may have taken effect
)

// The reasons for an unknown outcome: the tool's own timer ended the call, the process stopped in
// the middle of it, or another program was to make it and gave no result in time.
const (
	variantStopped    = "outcome_unknown_stopped"
	variantLost       = "outcome_unknown_lost"
	variantUnanswered = "outcome_unknown_unanswered"
)

// The messages about a budget that is not used up but has no room for the next call.
const (
	variantTooSmall      = "too_small"
	variantTooSmallToday = "too_small_today"
)
