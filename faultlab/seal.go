package faultlab

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
)

const sealNonce = 16 // bytes

// newSealKey returns the secret with which a lab recognises its own seals.
func newSealKey() []byte {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails
	return key
}

// seal returns a fresh token that stands for hidden reasoning: Anthropic's signature, the Responses
// API's encrypted_content, Gemini's thoughtSignature. It is valid for ever, but only in this lab,
// on this wire and for this model; nothing is stored for it.
func (l *Lab) seal(wire, model string) string {
	nonce := make([]byte, sealNonce)
	_, _ = rand.Read(nonce) // never fails
	return base64.StdEncoding.EncodeToString(slices.Concat(nonce, l.sealSum(wire, model, nonce)))
}

// issued reports whether a seal is one of ours for that wire and model.
func (l *Lab) issued(wire, model, seal string) bool {
	raw, err := base64.StdEncoding.DecodeString(seal)
	if err != nil || len(raw) != sealNonce+sha256.Size {
		return false
	}
	return hmac.Equal(raw[sealNonce:], l.sealSum(wire, model, raw[:sealNonce]))
}

func (l *Lab) sealSum(wire, model string, nonce []byte) []byte {
	sum := hmac.New(sha256.New, l.sealKey)
	sum.Write(nonce)
	sum.Write([]byte(wire + "\x00" + model))
	return sum.Sum(nil)
}
