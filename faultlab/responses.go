package faultlab

import (
	"github.com/mulligan-run/mulligan/wire"
	"github.com/mulligan-run/mulligan/wire/responses"
)

// responsesAPI is the OpenAI Responses API (POST /v1/responses).
var responsesAPI = &service{
	name:         "responses",
	idHeader:     "X-Request-Id",
	keyed:        hasKey,
	keyless:      401,
	decode:       responses.Decode,
	check:        checkResponses,
	fault:        openaiFault,
	invalid:      openaiInvalid,
	unknownModel: openaiUnknownModel,
	overloaded:   503,
	errorBody:    openaiErrorBody,
	document:     responses.Document,
	speak:        func(_ ask, h wire.Head) wire.Voice { return responses.NewVoice(h) },
	overloadCode: "server_is_overloaded",
	id:           "resp_",
	callID:       func(string) string { return newID("call_") },
	thoughtSeal:  responsesSeal,
}

// responsesSeal is the seal of the reasoning, if the request asks for it.
func responsesSeal(a ask) string {
	if !a.sealed {
		return ""
	}
	return responses.Sign("", a.seal)
}
