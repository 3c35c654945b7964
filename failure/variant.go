package failure

// The variants that the runner itself gives: finer words than the kind, for people alone.
// Nothing steers by them.
const (
	VariantDayTokens = "day_tokens" // of KindBudget: those of all runs of the day (spec §5); the run's own are "tokens"
	VariantDayMoney  = "day_money"  // the same of money; the run's own is "money"

	VariantLocal      = "local"       // of KindUnreachable: the provider is on this computer
	VariantKeyMissing = "key_missing" // of KindAuth: there was no key, so that nothing was sent
	VariantCutShort   = "cut_short"   // of KindTimeout: a person did not wait for the call

	VariantForbidden = "forbidden" // of KindPromptFailure: a plugin forbids the model that was to be asked

	VariantCooling = "cooling" // of whatever a model fails with: it does so no longer ago than its cooldown

	// A proxy on the way to the provider: it requires a login or cannot be reached; it lets nothing
	// through, or is none; it says that it cannot reach the provider.
	VariantProxy        = "proxy"         // of KindMisconfigured, KindUnreachable, KindTimeout, KindTLS
	VariantProxyRefused = "proxy_refused" // of KindMisconfigured
	VariantProxyGateway = "proxy_gateway" // of KindUnreachable

	VariantUnknownOutcome = "outcome_unknown" // of KindToolFailure: the call may have taken effect
)

// The words of an unknown outcome where the tool's own timer ended the call, and where the
// program stopped in the middle of it.
const (
	variantStopped = "outcome_unknown_stopped"
	variantLost    = "outcome_unknown_lost"
)

// The words of a budget that is not used up, and has no room for the next call.
const (
	variantTooSmall      = "too_small"
	variantTooSmallToday = "too_small_today"
)
