package faultlab

import (
	"errors"
	"net"
	"syscall"
)

// shortestQueue makes the queue of connections that wait for Accept as short as possible.
func shortestQueue(ln *net.TCPListener) error {
	raw, err := ln.SyscallConn()
	if err != nil {
		return err
	}
	var listenErr error
	err = raw.Control(func(fd uintptr) { listenErr = syscall.Listen(int(fd), 0) })
	return errors.Join(err, listenErr)
}
