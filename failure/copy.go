package failure

// wording is the text for one kind of failure, or for one variant of it. An empty field of a
// variant is taken from its kind. A message is a list of sentences, and each sentence a list of
// versions: the first version with all {placeholders} known is used, and a sentence without one is
// left out. The words are those of ui/copy.en.json.
type wording struct {
	short   string
	title   string
	message []sentence
	variant map[string]wording
}

type sentence []string

func say(ways ...string) sentence { return ways }

var lastStepKept = say("Last action: {lastStep}. The work so far is kept.", "No action had finished.")

// noKey is for a missing key, whoever noticed it.
var noKey = wording{
	title:   "No API key for {provider}",
	message: []sentence{say("{setKey}", "Set {envVar} or add a key in settings, then retry.", "Add a key in settings, then retry.")},
}

var limitWording = wording{
	short: "{Provider} asked to slow down",
	title: "{Provider} asked to slow down",
	message: []sentence{
		say("This key has sent too many requests."),
		say("{Provider} accepts more at {resetsAt} (in {resetsIn}).", "{Provider} accepts more at {resetsAt}.",
			"{Provider} accepts more in {resetsIn}.", "{Provider} did not say when it accepts more."),
	},
	variant: map[string]wording{
		"too_big": {
			title:   "The request is larger than the limit per minute",
			message: []sentence{say("{Provider} will not take it later either."), say("Shorten the conversation, or use another model.")},
		},
	},
}

var stalledWording = wording{message: []sentence{
	say("{Provider} stopped sending for {limit} after {partialWords}. {theyAre} kept until the next attempt.",
		"{Provider} stopped sending for {limit}.", "{Provider} stopped sending."),
}}

var dayWording = wording{
	short: "Today's budget is used up",
	title: "Today's budget is used up",
	message: []sentence{
		say("Today's runs have used {spent} of {budget}."), say("It renews at {resetsAt}."), say("The work so far is kept."),
	},
}

var wordings = map[Kind]wording{
	KindTimeout: {
		short: "{Provider} is not answering",
		title: "{Provider} is not answering",
		message: []sentence{
			say("No answer within {limit}."), say("It may be slow or down."), say("Your message is kept."),
		},
		variant: map[string]wording{
			"stalled": stalledWording,
			VariantProxy: {
				title:   "{Proxy} is not answering",
				message: []sentence{say("{Provider} was not reached through it within {limit}.", "{Provider} was not reached through it."), checkProxy},
			},
			VariantCutShort: {
				short: "{Provider} was slow", title: "{Provider} was slow",
				message: []sentence{say("You did not wait any longer for its answer.")},
			},
		},
	},
	KindUnreachable: {
		short:   "Could not reach {provider}",
		title:   "Could not reach {provider}",
		message: []sentence{say("Check your Internet connection or {status}.", "Check your Internet connection.")},
		variant: map[string]wording{
			VariantLocal: {message: []sentence{say("It is on this computer: is it running?")}},
			VariantProxy: {
				title:   "Could not reach {proxy}",
				message: []sentence{say("Requests to {provider} go through it: is it running?"), checkProxy},
			},
			VariantProxyGateway: {
				title: "{Proxy} could not reach {provider}",
				message: []sentence{
					say("It answered: {reason}."),
					say("Check whether it can reach the Internet, and {status}.", "Check whether it can reach the Internet."),
				},
			},
			"page": {message: []sentence{
				say("A web page answered in its place."), say("A network with a login page can be the cause."),
				say("Check your Internet connection or {status}.", "Check your Internet connection."),
			}},
			"bot_check": {message: []sentence{
				say("A bot check stopped the request; the key is not the cause."), say("Check your network or proxy."),
			}},
		},
	},
	KindTLS: {
		short: "The connection to {provider} is not secure",
		title: "The connection to {provider} is not secure",
		message: []sentence{
			say("Its certificate was not accepted ({reason}).", "Its certificate was not accepted."),
			say("A company proxy or a wrong system clock can be the cause."),
		},
		variant: map[string]wording{
			VariantProxy: {
				title:   "The connection to {proxy} is not secure",
				message: []sentence{say("Requests to {provider} go through it, and its certificate was not accepted."), checkProxy},
			},
		},
	},
	KindAuth: {
		short: "{Provider} rejected the API key",
		title: "{Provider} rejected the API key",
		message: []sentence{
			say("Update the key ending in {keyHint}, then retry.", "Update the key, then retry."),
			say("Retrying with the same key will not help."),
		},
		variant: map[string]wording{
			"missing":         noKey,
			VariantKeyMissing: noKey,
			"expired_login": {
				title:   "Your {providerName} sign-in has expired",
				message: []sentence{say("Sign in again, then retry."), say("The conversation is kept.")},
			},
			"region": {
				short:   "{Provider} does not serve this region",
				title:   "{Provider} does not serve this region",
				message: []sentence{say("It refuses requests from this country or network."), say("Use another provider.")},
			},
			"permission": {
				short:   "{Provider} refused access",
				title:   "{Provider} refused access",
				message: []sentence{say("This key may not use {model}.", "This key may not do this."), say("Change its permissions, or use another key or model.")},
			},
			"clock": {
				short:   "{Provider} rejected the signature",
				title:   "{Provider} rejected the signature",
				message: []sentence{say("This computer's clock may be wrong."), say("Check it, then retry.")},
			},
		},
	},
	KindBilling: {
		short:   "{providerName} account has no credit",
		title:   "Your {providerName} account has no credit left",
		message: []sentence{say("Add credit, or use another provider.")},
	},
	KindRateLimit: limitWording,
	KindQuota: {
		short: "Usage limit reached for {model}",
		title: "Usage limit reached for {model}",
		message: []sentence{
			say("It resets at {resetsAt} (in {resetsIn}).", "It resets at {resetsAt}.", "It resets in {resetsIn}.",
				"{Provider} did not say when it resets."),
		},
	},
	KindOverloaded: {
		short:   "{Provider} is overloaded",
		title:   "{Provider} is overloaded",
		message: []sentence{say("Its servers are full ({httpStatus}); this is not your usage limit.", "Its servers are full; this is not your usage limit.")},
	},
	KindUnavailable: {
		short: "{Provider} is having problems",
		title: "{Provider} is having problems",
		message: []sentence{
			say("It answered with an error on its side ({httpStatus}).", "It answered with an error on its side."), say("See {status}."),
		},
	},
	KindStreamInterrupted: {
		short: "The answer was cut off",
		title: "The answer was cut off",
		message: []sentence{
			say("The connection to {provider} broke after {partialWords}. {theyAre} kept until the next attempt.", "The connection to {provider} broke."),
		},
		variant: map[string]wording{
			"stalled": stalledWording,
			"slept":   {message: []sentence{say("This computer went to sleep while {provider} was answering.")}},
		},
	},
	KindMalformedResponse: {
		short: "{Provider} sent an answer that cannot be read",
		title: "{Provider} sent an answer that cannot be read",
		message: []sentence{
			say("What arrived of it ({partialWords}) is kept until the next attempt.", "It is withdrawn."), say("Trying again usually helps."),
		},
	},
	KindEmptyResponse: {
		short:   "{Provider} sent an empty answer",
		title:   "{Provider} sent an empty answer",
		message: []sentence{say("The call succeeded but contained no text.")},
	},
	KindContextOverflow: {
		short: "Too long for {model}",
		title: "This conversation is too long for {model}",
		message: []sentence{
			say("It has about {contextTokens} tokens and {model} takes {contextLimit}.", "It has about {contextTokens} tokens.",
				"The model takes {contextLimit} tokens."),
			say("Retrying unchanged will not help."),
		},
	},
	KindInvalidRequest: {
		short:   "{Provider} did not accept the request",
		title:   "{Provider} did not accept the request",
		message: []sentence{say("It said: “{providerMessage}”"), say("Retrying unchanged will not help.")},
	},
	KindContentFilter: {
		short:   "{Provider} blocked this",
		title:   "{Provider} blocked this request",
		message: []sentence{say("Its content filter stopped the request ({reason}).", "Its content filter stopped the request."), say("Rephrase the message, or try another model.")},
		variant: map[string]wording{
			"output": {
				title:   "{Provider} blocked this answer",
				message: []sentence{say("Its content filter stopped the answer part way ({reason}).", "Its content filter stopped the answer part way."), say("The text above is kept.")},
			},
		},
	},
	KindModelNotFound: {
		short:   "{Model} is not available",
		title:   "{Model} is not available",
		message: []sentence{say("{Provider} does not offer it to this account: the name may be wrong, or the model retired or not enabled.")},
	},
	KindOutputTruncated: {
		short:   "The answer hit its length limit",
		title:   "The answer hit its length limit",
		message: []sentence{say("{Model} stopped at {tokenLimit} tokens before it had finished.", "{Model} stopped before it had finished.")},
	},
	KindMisconfigured: {
		short: "{Provider} is not set up correctly",
		title: "{Provider} is not set up correctly",
		message: []sentence{
			say("{Reason}"), say("Check the base URL and the proxy settings; `mulligan doctor` can help."),
		},
		variant: map[string]wording{
			VariantProxy: {
				title: "{Proxy} requires a login",
				message: []sentence{
					say("Requests to {provider} go through it."),
					say("Check the user name and the password in {proxySetting}, as in http://USER:PASSWORD@HOST:PORT.", "Check the user name and the password in its address."),
				},
			},
			VariantProxyRefused: {
				title:   "{Proxy} does not let requests through to {provider}",
				message: []sentence{say("It answered: {reason}."), say("Ask who runs it."), checkProxy},
			},
		},
	},
	KindToolFailure: {
		short:   "{Tool} failed",
		title:   "{Tool} failed",
		message: []sentence{say("{Reason}", "The model is told, and may go another way.")},
		variant: map[string]wording{
			"outcome_unknown": {
				title: "{Tool} may or may not have worked",
				message: []sentence{
					say("The connection broke after {tool} was sent."),
					say("It may already have taken effect; check before running it again."),
				},
			},
			variantLost: {
				title: "{Tool} may or may not have worked",
				message: []sentence{
					say("The program stopped while {tool} was running."),
					say("It may already have taken effect; check before running it again."),
				},
			},
			variantUnanswered: {
				title: "{Tool} may or may not have worked",
				message: []sentence{
					say("The program that runs it gave no result within {limit}.", "The program that runs it gave no result in time."),
					say("It may already have taken effect; check before running it again."),
				},
			},
			variantStopped: {
				title: "{Tool} may or may not have worked",
				message: []sentence{
					say("It did not end within {limit} and was stopped.", "It did not end in time and was stopped."),
					say("It may already have taken effect; check before running it again."),
				},
			},
		},
	},
	KindStepTimeout: {
		short: "No progress for {limit}",
		title: "No progress for {limit}",
		message: []sentence{
			say("Last action: {lastStep}.", "No action had finished."), say("The task may be stuck."), say("Retry, or ask for a simpler approach."),
		},
	},
	KindMaxTurnTime: {
		short: "Time limit reached",
		title: "This turn reached its limit of {limitElapsed}",
		message: []sentence{
			lastStepKept, say("Continue, or ask for a simpler approach."),
		},
	},
	KindRunTimeout: {
		short:   "The run timed out",
		title:   "This run timed out after {elapsed}",
		message: []sentence{lastStepKept},
	},
	KindInterrupted: {
		short:   "The run was interrupted",
		title:   "The run was interrupted",
		message: []sentence{say("The program stopped while {provider} was answering."), say("Everything finished before is kept.")},
		variant: map[string]wording{
			VariantHandedOver: {
				short: "The run was handed over", title: "The run was handed over",
				message: []sentence{say("The program was told to stop, as at a restart, while {provider} was answering."), say("Everything finished before is kept.")},
			},
		},
	},
	KindPromptFailure: {
		short:   "The message could not be sent",
		title:   "The message could not be sent",
		message: []sentence{say("{Reason}"), say("Nothing was sent to {provider}.")},
		variant: map[string]wording{VariantForbidden: {title: "The model is not allowed"}},
	},
	KindInternal: {
		short:   "Something broke in Mulligan",
		title:   "Something broke in Mulligan",
		message: []sentence{say("{Reason}"), say("The work so far is kept."), say("The details help us to fix it.")},
	},
	KindBudget: {
		short:   "The budget is used up",
		title:   "The budget of this run is used up",
		message: []sentence{say("It has used {spent} of {budget}."), say("The work so far is kept.")},
		variant: map[string]wording{
			VariantDayTokens: dayWording, VariantDayMoney: dayWording,
			variantTooSmall: {
				short:   "The budget is too small for the next call",
				title:   "The budget of this run is too small for the next call",
				message: []sentence{say("It needs about {needs}, with {left} of {budget} left.", "It needs about {needs}, and the budget is {budget}."), say("The work so far is kept.")},
			},
			variantTooSmallToday: {
				short:   "Today's budget is too small for the next call",
				title:   "Today's budget is too small for the next call",
				message: []sentence{say("It needs about {needs}, with {left} of {budget} left.", "It needs about {needs}, and the budget is {budget}."), say("It renews at {resetsAt}."), say("The work so far is kept.")},
			},
		},
	},
	KindRoundLimit: {
		short: "Round limit reached",
		title: "This run reached its limit of {rounds}",
		message: []sentence{
			say("A round is one answer of the model and the tools it asked for."), say("The work so far is kept."),
			say("Continue, or ask for a simpler approach."),
		},
	},
	KindUnknown: {
		short:   "{Provider} returned an error",
		title:   "{Provider} returned an error",
		message: []sentence{say("This version does not know the error ({httpStatus}).", "This version does not know the error."), say("The details may say more.")},
	},
}

// coolingWording is for a model that is cooling down; last is the short text of its last failure.
func coolingWording(last string) wording {
	return wording{
		short: "{Model} is cooling down",
		title: "{Model} is cooling down",
		message: []sentence{
			say("Last problem: " + last + "."), say("It is left alone until {resetsLater}.", "It is left alone for {resetsIn}."), say("Your message has not been sent yet."),
		},
	}
}

// checkProxy says what to do about a proxy that does not work.
var checkProxy = say("Check its address in {proxySetting}; `mulligan doctor` tries it.", "Check its address; `mulligan doctor` tries it.")

// plainTitles replace titles with unknown placeholders.
var plainTitles = map[Kind]string{
	KindAuth:        "Your sign-in has expired",
	KindBilling:     "Your account has no credit left",
	KindStepTimeout: "No progress",
	KindMaxTurnTime: "This turn reached its time limit",
	KindRunTimeout:  "The run timed out",
	KindRoundLimit:  "This run reached its limit of rounds",
}

// reasons describe a variant, in a sentence or in brackets, where no {reason} was given.
var reasons = map[Kind]map[string]string{
	KindTLS: {
		"clock": "it has expired, or is not valid yet", "host": "it belongs to another host", "authority": "its issuer is not known here",
	},
	KindMisconfigured: {
		"redirect":  "It redirects to another address, which is not followed.",
		"no_api":    "There is no such API at this address.",
		"not_https": "It does not speak HTTPS at this address.",
		"not_http":  "It does not speak HTTP at this address.",
	},
}
