package door

import (
	"net"
	"testing"
	"time"
)

// pipe is a connection from an address.
type pipe struct {
	net.Conn
	from net.Addr
}

func (p pipe) RemoteAddr() net.Addr { return p.from }

// queue is a listener with the connections that a test puts in.
type queue struct {
	net.Listener
	waiting chan net.Conn
}

func (q queue) Accept() (net.Conn, error) { return <-q.waiting, nil }

// visit is a connection that has come in, and its far end.
type visit struct {
	near, far net.Conn
}

func (v visit) ended() bool {
	_ = v.far.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	_, err := v.far.Read(make([]byte, 1))
	timeout, is := err.(net.Error)
	return err != nil && !(is && timeout.Timeout())
}

type lab struct {
	t    *testing.T
	door *Door
	put  chan net.Conn
	port int
}

func newLab(t *testing.T, limits Limits) *lab {
	put := make(chan net.Conn, 1)
	return &lab{t: t, door: New(queue{waiting: put}, limits), put: put, port: 1000}
}

func (l *lab) comes(from byte) visit {
	l.t.Helper()
	l.port++
	near, far := net.Pipe()
	l.put <- pipe{Conn: near, from: &net.TCPAddr{IP: net.IPv4(10, 0, 0, from), Port: l.port}}
	accepted, err := l.door.Accept()
	if err != nil {
		l.t.Fatal(err)
	}
	return visit{near: accepted, far: far}
}

func (l *lab) expect(visits []visit, ended ...bool) {
	l.t.Helper()
	for i, v := range visits {
		if v.ended() != ended[i] {
			l.t.Errorf("connection %d: ended is %t", i, !ended[i])
		}
	}
}

func TestTheOldestOfTheGreediestGoes(t *testing.T) {
	l := newLab(t, Limits{Strangers: 4, Callers: 4})
	visits := []visit{l.comes(1), l.comes(2), l.comes(2), l.comes(2), l.comes(3)}
	l.expect(visits, false, true, false, false, false)
	visits = append(visits, l.comes(3))
	l.expect(visits, false, true, true, false, false, false)
}

func TestWhoMayCallStays(t *testing.T) {
	l := newLab(t, Limits{Strangers: 2, Callers: 1})
	caller := l.comes(1)
	l.door.Admit(caller.near.RemoteAddr())
	second := l.comes(1)
	l.door.Admit(second.near.RemoteAddr()) // One too many: it stays a stranger.
	visits := []visit{caller, second, l.comes(1), l.comes(1)}
	l.expect(visits, false, true, false, false)
	_ = caller.near.Close()
	l.door.Admit(visits[2].near.RemoteAddr())
	visits = append(visits, l.comes(1), l.comes(1))
	l.expect(visits[2:], false, true, false, false)
}

func TestWhatEndsIsForgotten(t *testing.T) {
	l := newLab(t, Limits{Strangers: 2, Callers: 2})
	for range 100 {
		v := l.comes(1)
		if l.port%2 == 0 {
			l.door.Admit(v.near.RemoteAddr())
		}
		_ = v.near.Close()
		_ = v.near.Close()
	}
	if n := l.door.strangers.Len() + len(l.door.waiting) + len(l.door.callers); n != 0 {
		t.Errorf("%d connections are remembered", n)
	}
	l.door.Admit(&net.TCPAddr{IP: net.IPv4(10, 0, 0, 9), Port: 9}) // Nobody's.
}
