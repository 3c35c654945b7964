package faultlab

import (
	"net"

	"golang.org/x/net/dns/dnsmessage"
)

// breakDNS is a name server that knows nothing; says tells whether it says so or stays silent.
func breakDNS(says bool) func(*Broken) error {
	return func(b *Broken) error {
		conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			return err
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			answerDNS(conn, says)
		}()
		b.closers = append(b.closers, func() error {
			err := conn.Close()
			<-done
			return err
		})
		b.Resolver, b.URL = conn.LocalAddr().String(), "https://"+nowhere
		return nil
	}
}

// answerDNS runs until conn is closed.
func answerDNS(conn *net.UDPConn, says bool) {
	buf := make([]byte, 4096)
	for {
		n, from, err := conn.ReadFromUDP(buf)
		if err != nil {
			return
		}
		if answer, ok := noSuchHost(buf[:n]); ok && says {
			_, _ = conn.WriteToUDP(answer, from)
		}
	}
}

// noSuchHost answers a query with NXDOMAIN; false if it is not a query.
func noSuchHost(query []byte) ([]byte, bool) {
	var p dnsmessage.Parser
	head, err := p.Start(query)
	if err != nil || head.Response {
		return nil, false
	}
	questions, err := p.AllQuestions()
	if err != nil {
		return nil, false
	}
	m := dnsmessage.Message{
		Header: dnsmessage.Header{
			ID: head.ID, Response: true, RCode: dnsmessage.RCodeNameError,
			RecursionDesired: head.RecursionDesired, RecursionAvailable: true,
		},
		Questions: questions,
	}
	answer, err := m.Pack()
	return answer, err == nil
}
