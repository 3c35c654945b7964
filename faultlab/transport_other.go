//go:build !linux

package faultlab

import (
	"errors"
	"net"
)

func shortestQueue(*net.TCPListener) error { return errors.ErrUnsupported }
