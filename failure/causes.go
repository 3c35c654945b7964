package failure

import "github.com/mulligan-run/mulligan/failure/words"

// cause is one way in which a clause explains a failed call: it names a subject and, at most
// nearWords words away, says what is wrong with it. There are countless sentences, but in every
// language only a few subjects and a few complaints.
type cause struct {
	kind    Kind
	variant string
	about   concept  // the clause names one of these
	says    concept  // and says one of these near it; none = the subject alone is enough
	unless  concept  // and none of these in the same clause
	over    statuses // the statuses that are weaker evidence than this cause
	follows bool     // the complaint follows the subject
	brief   bool     // the message mentions minutes or seconds
	passing Kind     // the kind if the message says that the problem will pass; "" = the same
	wire    bool     // on an open stream this means that the stream broke
}

// statuses is a set of families of HTTP statuses, each weaker evidence than words.
type statuses uint8

const (
	refused      statuses = 1 << iota // the request was refused, for no stated reason
	keyRefused                        // the key was refused, for no stated reason
	limited                           // some limit was reached
	serverFailed                      // something failed in the server or behind it
	serverFull                        // the server is full, or not there: 503
)

func familyOf(status int) statuses {
	switch status {
	case 400, 403, 409, 412, 422, 424:
		return refused
	case 401:
		return keyRefused
	case 429:
		return limited
	case 500, 502:
		return serverFailed
	case 503:
		return serverFailed | serverFull
	}
	return 0
}

// nearWords is how many words may stand between two that belong together.
const nearWords = 7

// causes is read from the top; the first one that a clause matches decides.
var causes = []cause{
	{kind: KindContentFilter, about: ofContent, says: isViolated | isDenied | isBlocked, unless: ofInput | ofLogin | ofData | ofPermission | ofNetwork, over: refused},
	{kind: KindContentFilter, about: ofContent, says: isViolated | isBlocked, unless: ofInput | ofLogin | ofData | ofPermission | ofNetwork | ofServer | ofAnswer | isMalformed | isFailed | isBroken | isGone | isLate, over: serverFailed},
	{kind: KindContentFilter, about: ofAnswer | ofOutput | ofText | ofContext, says: isViolated | isBlocked, unless: ofInput | ofServer | ofLogin | ofData, over: refused},
	{kind: KindContentFilter, about: ofRequest, says: isViolated, unless: ofInput | ofServer | ofLogin, over: refused},
	{kind: KindContentFilter, about: ofStop, says: isViolated | ofContent, unless: isLacking | isEmpty | isBroken, over: refused},
	{kind: KindContentFilter, about: ofModel | ofAnswer | ofText | ofContent, says: isRefusing, unless: ofNetwork | ofHost | ofLogin | ofCredential | ofPermission | ofAccount | ofRate | ofQuota | ofMoney | ofInput | ofImage | ofAbility, over: refused | serverFailed},
	{kind: KindContextOverflow, about: ofText | ofRequest, says: isLong, unless: ofImage | ofInput | isLate, over: refused | serverFailed},
	{kind: KindMalformedResponse, about: ofAnswer | ofOutput, says: isLong, unless: ofTokens | ofContext | ofInput | ofRate | isLate, follows: true},
	{kind: KindOutputTruncated, about: ofTokens | ofContext, says: isCut, unless: ofInput | ofText | ofRequest | ofNetwork},
	{kind: KindContextOverflow, about: ofContext, says: isLong | isExceeded, unless: perMinute | ofMoney | ofRate | ofOutput | ofImage | ofInput | perDay | ofQuota | isCut, over: refused},
	{kind: KindContextOverflow, about: ofTokens, says: isLong | isExceeded, unless: perMinute | ofMoney | ofRate | ofOutput | ofInput | perDay | ofQuota, over: refused},
	{kind: KindContextOverflow, about: ofContext, says: isLong, unless: ofImage | ofInput | ofOutput | ofRate | ofMoney | ofQuota | ofServer | perMinute | perDay | isFailed | isLate, over: serverFailed},
	{kind: KindAuth, variant: "permission", about: ofAccount, says: isGone | isDenied | isBlocked, unless: ofRate | ofQuota | ofMoney | isExceeded | aLimit | perMinute | perDay | isPassing | isBusy | ofModel, over: limited},
	{kind: KindAuth, variant: "permission", about: ofAccount, says: isBlocked, unless: ofRate | ofQuota | ofMoney | isExceeded | aLimit | perMinute | perDay | isPassing | isBusy | ofModel | ofInput | ofContent | isRule, over: refused},
	{kind: KindAuth, variant: "region", about: ofPlace, says: isUnsupported | isDenied | isBlocked | isGone | isRule | isViolated, over: refused},
	{kind: KindUnavailable, about: isAway, unless: ofAccount | ofMoney | isBusy, over: refused | serverFull},
	{kind: KindTimeout, about: isLate, unless: ofInput | isWrong | isRule | isUnsupported, over: refused | serverFailed},
	{kind: KindBilling, about: ofMoney, says: isLacking | isEmpty | isExceeded, unless: ofInput | perDay | ofRate, over: refused | keyRefused | limited},
	{kind: KindBilling, about: ofMoney, says: isLacking | isEmpty | isExceeded, unless: ofInput | perDay | ofRate | isFailed, over: serverFailed},
	{kind: KindBilling, about: ofMoney, says: isAsked, unless: ofInput | perDay | ofRate, over: refused | keyRefused | limited},
	{kind: KindRateLimit, about: ofQuota, says: isExceeded | isLacking | isGone | isFailed, unless: ofMoney | perDay | ofInput, over: refused | limited, brief: true},
	{kind: KindQuota, about: ofQuota, says: isExceeded | isLacking | isGone | isFailed, unless: ofInput | ofContext | ofRate, over: refused | keyRefused | limited},
	{kind: KindQuota, about: ofQuota, says: isExceeded | isLacking | isGone | isFailed, unless: ofInput | ofRate, over: refused},
	{kind: KindQuota, about: perDay, says: aLimit | isExceeded | isLacking, unless: ofMoney, over: refused | keyRefused | limited},
	{kind: KindQuota, about: ofQuota | perDay, says: isExceeded, unless: ofInput | ofRate | ofMoney | isFailed | isGone | isBroken, over: serverFailed},
	{kind: KindRateLimit, about: ofRate, says: isExceeded, unless: ofInput | isFailed | isGone | isBroken | isBusy, over: serverFailed},
	{kind: KindRateLimit, about: ofRate, says: isExceeded, unless: ofInput, over: refused},
	{kind: KindRateLimit, about: perMinute, says: aLimit | isExceeded, unless: ofInput | ofContext | ofMoney | ofImage | isLate, over: refused},
	{kind: KindBilling, about: ofMoney, says: isLacking | isExceeded | aLimit, unless: ofInput | ofRate},

	{kind: KindUnreachable, about: isDown, wire: true, over: serverFull},
	{kind: KindTimeout, about: isLate},
	{kind: KindTLS, about: ofTLS, says: isBad | isLacking | isBroken | isGone | isDenied, unless: isLate | ofPermission},
	{kind: KindBilling, about: ofMoney, says: isGone | isDenied | isBad, unless: ofPermission | ofInput},
	{kind: KindOverloaded, about: isBusy, over: refused | serverFull},
	{kind: KindOverloaded, about: ofCapacity, says: isLacking | isExceeded | isLong | isFailed | aLimit, unless: ofContext | isRule | ofPage},
	{kind: KindAuth, variant: "region", about: ofRegion, says: isUnsupported | isDenied | isBlocked | isGone, unless: ofModel, over: refused},
	{kind: KindModelNotFound, about: ofModel, says: isWrong, unless: ofAbility | ofInput | ofAnswer | ofOutput | ofData | ofImage | ofLogin | isBroken | ofConfig, over: serverFailed},
	{kind: KindModelNotFound, about: ofModel, says: isUnsupported | isGone, unless: ofAbility | isBroken | ofInput | ofImage | ofData, over: refused | keyRefused, follows: true, passing: KindUnavailable},
	{kind: KindAuth, variant: "permission", about: ofPermission, says: isDenied, unless: ofMachine, over: serverFailed},
	{kind: KindAuth, variant: "permission", about: ofPermission, says: isLacking | isBad | isGone, unless: ofMachine},
	{kind: KindAuth, about: ofCredential, says: isUnset | isLacking | isWrong | isDenied | isGone, unless: ofInput | isPassing | isBusy | isLate | isDown, over: refused},
	{kind: KindAuth, about: ofCredential, says: isMalformed, unless: ofInput | ofAnswer | ofOutput | ofData | ofModel, over: refused},
	{kind: KindAuth, about: ofCredential, says: isFailed, unless: ofInput | ofServer | isPassing | isBusy | isLate | isDown | ofNetwork, over: refused},
	{kind: KindAuth, about: ofLogin, says: isUnset | isLacking | isWrong | isDenied, unless: isPassing | isBusy | isLate | isDown | ofTokens | ofOutput, over: serverFailed},
	{kind: KindAuth, about: ofLogin, says: isLacking | isEmpty | isUnset | isDenied | isBlocked | isBad | isGone | isAsked, unless: ofOutput},
	{kind: KindMalformedResponse, about: ofStop | ofModel, says: isMalformed, unless: ofInput | ofConfig},
	{kind: KindStreamInterrupted, about: ofStop, says: isBroken | ofNetwork},
	{kind: KindUnavailable, about: ofStop, says: isFailed},
	{kind: KindOutputTruncated, about: ofAnswer | ofOutput, says: isCut, unless: ofNetwork | ofStream, over: serverFailed},
	{kind: KindEmptyResponse, about: ofOutput, says: isLacking | isEmpty, unless: isUnsupported | ofInput, over: serverFailed},
	{kind: KindMalformedResponse, about: ofOutput, says: isMalformed | isWrong, unless: ofInput | ofTokens | ofAbility | ofRequest | isRule, over: serverFailed},
	{kind: KindEmptyResponse, about: ofAnswer, says: isEmpty, unless: ofInput | isMalformed | ofData, over: serverFailed},
	{kind: KindMalformedResponse, about: ofAnswer, says: isLacking | isEmpty, unless: ofRequest | ofLogin | ofMoney | ofAbility | isRule, follows: true},
	{kind: KindMalformedResponse, about: ofAnswer, says: isMalformed, unless: ofInput, over: serverFailed},
	{kind: KindMalformedResponse, about: ofAnswer, says: isWrong, unless: ofInput},
	{kind: KindStreamInterrupted, about: ofStream, says: isBroken | isFailed | isCut | ofNetwork},
	{kind: KindStreamInterrupted, about: ofAnswer, says: isBroken, unless: ofInput | ofServer},
	{kind: KindMalformedResponse, about: ofData, says: isMalformed | isWrong | isFailed | isEmpty, unless: ofInput | ofImage | ofHost},
	{kind: KindMalformedResponse, about: ofData, says: isGone | isLacking, unless: ofInput | ofImage | ofHost | ofRequest | isRule},
	{kind: KindModelNotFound, about: ofModel, says: isGone | isWrong, unless: ofAbility | ofImage | ofOutput | ofData | isBroken, passing: KindUnavailable},
	{kind: KindUnreachable, about: ofHost, says: isGone | isFailed | isWrong | isLacking | isBroken | isDown, unless: ofModel},
	{kind: KindUnreachable, about: ofNetwork, says: isBroken | isBad | isGone | isLacking | isDenied | isAsked, unless: isRule, wire: true},
	{kind: KindMisconfigured, about: ofConfig, says: isWrong | isUnset | isLacking | isEmpty, unless: ofInput | ofAnswer},
	{kind: KindMisconfigured, variant: "no_api", about: ofPage, says: isGone, unless: ofModel | ofInput | ofMoney | isExceeded | ofAccount},
	{kind: KindInvalidRequest, about: ofInput, says: isLong},
	{kind: KindInvalidRequest, about: ofImage, says: isBad | isLong | isExceeded, unless: ofMachine},
	{kind: KindMisconfigured, variant: "no_api", about: ofURL, says: isWrong | isGone | isUnset | isLacking | isEmpty | isUnsupported, unless: ofRequest},
	{kind: KindBilling, about: ofUpgrade, says: isAsked, unless: ofRate | ofQuota},
	{kind: KindInvalidRequest, about: ofInput, says: isBad | isGone | isEmpty | isMalformed | isLacking},
	{kind: KindInvalidRequest, about: ofInput | ofAbility, says: isWrong | isRule | isUnsupported, unless: isFailed | isBroken | isPassing | ofServer | ofAnswer | ofStop | ofData, over: serverFailed},
	{kind: KindInvalidRequest, about: ofText | ofRequest, says: isMalformed | isWrong},
	{kind: KindInvalidRequest, about: ofInput | ofAbility | ofContext | ofText | ofModel, says: isRule, unless: ofStop | ofAnswer},
	{kind: KindInvalidRequest, about: ofAbility | ofStream, says: isUnsupported},
	{kind: KindAuth, variant: "permission", about: ofAccount, says: isWrong | isGone | isDenied | isBlocked, unless: ofContext | ofText | ofInput},
	{kind: KindAuth, variant: "permission", about: ofModel, says: isDenied, unless: ofContext | ofText | ofInput | ofNetwork},
	{kind: KindMisconfigured, about: isUnset, over: serverFailed},
	{kind: KindMisconfigured, about: ofServer, says: isUnsupported, unless: ofModel | ofInput | ofAbility | ofImage},
	{kind: KindUnavailable, about: ofServer | ofModel, says: isFailed | isBroken | isGone, unless: ofMachine, over: serverFull},
	{kind: KindUnavailable, about: ofServer, says: isLacking, unless: ofInput | ofMachine | isRule},
	{kind: KindRateLimit, about: aLimit, says: isExceeded, unless: ofInput | ofImage | ofAbility | isRule},
	{kind: KindUnavailable, about: ofRequest, says: isBroken, unless: ofInput | ofLogin | ofMoney | isRule},
	{kind: KindInvalidRequest, about: isUnsupported, says: isRule},
	{kind: KindContentFilter, about: ofAnswer | ofOutput, says: isBlocked, unless: ofInput | ofLogin | ofData | ofNetwork | ofHost | ofURL | isFailed, follows: true},
	{kind: KindMalformedResponse, about: ofAnswer | ofOutput, says: ofData, unless: ofInput | ofImage | ofRequest | ofText | ofContext | ofLogin | isRule | isBusy | isLate, over: serverFailed},
	{kind: KindQuota, about: ofQuota, says: isAsked, unless: ofInput | ofRate},
	{kind: KindBilling, about: ofMoney, says: isAsked, unless: ofInput | ofRate}, // advice counts only if nothing else does
}

// byCodeWords reads the words in a code that is in no table: BILLING_PAUSED.
func (c *reading) byCodeWords() (verdict, bool) {
	family := familyOf(c.status)
	if family == 0 && c.status != 0 && c.status/100 != 2 {
		return verdict{}, false
	}
	for _, code := range c.codes {
		if codeKinds()[code.flat] != "" || len(code.written) > maxLikeCode {
			continue
		}
		if v, ok := c.byCauses(clausesOf(code.written), family); ok && (v.kind != KindUnavailable || family != 0) {
			v.code, v.by = code.lower, Clue{Source: ClueCode, Where: code.where, Value: code.written}
			return v, true
		}
	}
	return verdict{}, false
}

// byRefusal reads the words of a failure whose status or code is weaker evidence than words: a
// family of statuses, or a code that says no more than a 400 or a 500 does. A status that the
// message names counts like one, where there is none.
func (c *reading) byRefusal() (verdict, bool) {
	family := familyOf(c.status)
	_, invalid := c.codeOf(invalidCodes)
	if c.status == 0 && invalid {
		family = refused
	} else if c.status == 0 && familyOf(c.spoken) != 0 {
		family = familyOf(c.spoken)
	} else if _, failed := c.byServerCode(); failed && family == 0 {
		family = serverFailed | serverFull
	}
	if family == 0 {
		return verdict{}, false
	}
	v, ok := c.byClauses(family)
	if spoken, known := c.bySpokenStatus(); known && c.status == 0 && !invalid && spoken.kind == v.kind {
		return verdict{}, false // the number says it
	}
	return v, ok
}

// ofLimit is the verdict for a limit that a general code or a name tells of: a quota if the words tell
// of a day or a month, about which such a code says nothing.
func (c *reading) ofLimit(v verdict) verdict {
	if v.kind != KindRateLimit {
		return v
	}
	said, ok := c.byClauses(limited)
	if !ok || said.kind != KindQuota || c.parted.concepts()&perDay == 0 {
		return v
	}
	said.code = v.code
	return said
}

// byCause reads the words of a failure about which nothing else is known.
func (c *reading) byCause() (verdict, bool) { return c.byClauses(0) }

// byClauses reads the words that are not those of a frame and, if they say nothing and there is no
// status that would, all of them. They are cut into clauses once.
func (c *reading) byClauses(over statuses) (verdict, bool) {
	if over == 0 || over&(refused|serverFailed) != 0 {
		if v, ok := c.bySizes(); ok {
			return v, true
		}
	}
	own := unframed(c.bare)
	if c.parted == nil {
		c.parted = clausesOf(clipped(own))
	}
	v, ok := c.byCauses(c.parted, over)
	if ok || over != 0 || len(own) == len(c.bare) {
		return v, ok
	}
	if c.framed == nil {
		c.framed = clausesOf(clipped(c.bare))
	}
	return c.byCauses(c.framed, over)
}

// clipped is as much of a message as is read for its causes.
func clipped(text string) string {
	if len(text) <= maxCause {
		return text
	}
	return words.Beginning(text, maxCause-len("…")) // what words.Clip leaves of it
}

// byCauses gives the first cause that a clause matches. If over is not 0, only causes that may
// overrule a status of that family count.
func (c *reading) byCauses(clauses clauses, over statuses) (verdict, bool) {
	all := clauses.concepts()
	if _, minutes := c.saysAny(minutely); minutes {
		all |= perMinute
	}
	for i := range causes {
		k := &causes[i]
		if over != 0 && k.over&over == 0 || all&k.about == 0 || k.says != 0 && all&k.says == 0 {
			continue
		}
		for _, clause := range clauses {
			v, ok := k.of(clause, all)
			if !ok {
				continue
			}
			v.by = c.words(v.by.Value)
			if k.wire && c.streaming() {
				v.kind = KindStreamInterrupted
			}
			return v, true
		}
	}
	return verdict{}, false
}

// of reports whether the clause matches this cause; all are the concepts of the whole message.
func (k *cause) of(c clause, all concept) (verdict, bool) {
	if c.is&k.about == 0 || k.says != 0 && c.is&k.says == 0 || c.is&k.unless != 0 || k.brief && all&perMinute == 0 {
		return verdict{}, false
	}
	about, says, words := -1, -1, c.words
	for i, w := range words {
		if w.is&k.about != 0 {
			about = i
		}
		if w.is&k.says != 0 {
			says = i
		}
		if about >= 0 && (k.says == 0 || says >= 0 && apart(words[about], words[says]) <= nearWords && (!k.follows || about < says)) {
			v := verdict{kind: k.kind, variant: k.variant, by: Clue{Value: k.phrase(words, about, says)}}
			if k.passing != "" && all&isPassing != 0 {
				v.kind, v.variant = k.passing, ""
			}
			return v, true
		}
	}
	return verdict{}, false
}

func apart(a, b tagged) int { return max(a.at-b.at, b.at-a.at) }

func (k *cause) phrase(words []tagged, about, says int) string {
	switch {
	case says < 0:
		return words[about].text
	case says < about:
		about, says = says, about
	}
	return joinPhrases(words[about].text, words[says].text)
}
