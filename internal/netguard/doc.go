// Package netguard decides where connections may lead that somebody configured: at each dial,
// by the address that was resolved.
package netguard
