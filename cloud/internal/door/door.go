// Package door is a listener that strangers cannot fill.
//
// A bound on connections alone lets whoever holds them all keep everybody else out. Here a new connection always comes
// in: when there are too many of strangers, the oldest one ends of the address that has most. A connection whose caller
// has shown a right to call is no stranger's any more, and none ends for a stranger's sake.
package door

import (
	"container/list"
	"net"
	"sync"
)

// Limits are how many connections there may be at a time.
type Limits struct {
	// Strangers bounds those whose callers have not shown yet that they may call.
	Strangers int
	// Callers bounds the others. Beyond it, callers are strangers.
	Callers int
}

// Door is a listener whose connections are counted.
type Door struct {
	net.Listener
	limits Limits

	mu sync.Mutex
	// strangers are in the order in which they came. Both maps have connections by their remote address, which is
	// another one for each connection of TCP.
	strangers *list.List
	waiting   map[string]*list.Element
	callers   map[string]*conn
}

// New is a door before a listener of TCP. What listens on a socket in a folder has the folder's and the socket's modes
// to keep strangers out, and needs none.
func New(listener net.Listener, limits Limits) *Door {
	return &Door{
		Listener: listener, limits: limits,
		strangers: list.New(), waiting: map[string]*list.Element{}, callers: map[string]*conn{},
	}
}

// Accept waits for a connection.
func (d *Door) Accept() (net.Conn, error) {
	accepted, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted, door: d, key: accepted.RemoteAddr().String(), host: host(accepted.RemoteAddr())}
	if displaced := d.enter(c); displaced != nil {
		displaced.Close() // Outside of the lock, which it takes.
	}
	return c, nil
}

// Admit takes note that the caller at the other end of a connection may call.
func (d *Door) Admit(remote net.Addr) {
	key := remote.String()
	d.mu.Lock()
	defer d.mu.Unlock()
	if element, is := d.waiting[key]; is && len(d.callers) < d.limits.Callers {
		d.callers[key] = d.forget(element)
	}
}

// enter adds a stranger, and returns the one that has to go for it, which may be itself.
func (d *Door) enter(c *conn) *conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting[c.key] = d.strangers.PushBack(c)
	if d.strangers.Len() <= d.limits.Strangers {
		return nil
	}
	counts, most := map[string]int{}, 0
	for element := d.strangers.Front(); element != nil; element = element.Next() {
		host := element.Value.(*conn).host
		counts[host]++
		most = max(most, counts[host])
	}
	for element := d.strangers.Front(); ; element = element.Next() {
		if counts[element.Value.(*conn).host] == most {
			return d.forget(element)
		}
	}
}

// forget takes a stranger from the list. The lock is held.
func (d *Door) forget(element *list.Element) *conn {
	c := d.strangers.Remove(element).(*conn)
	delete(d.waiting, c.key)
	return c
}

// leave forgets a connection that ends.
func (d *Door) leave(c *conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	// Its address may be another connection's by now.
	if element, is := d.waiting[c.key]; is && element.Value == c {
		d.forget(element)
	}
	if d.callers[c.key] == c {
		delete(d.callers, c.key)
	}
}

// host is the address without the port: who counts as one.
func host(address net.Addr) string {
	if tcp, is := address.(*net.TCPAddr); is {
		return tcp.IP.String()
	}
	return address.String()
}

type conn struct {
	net.Conn
	door      *Door
	key, host string
}

// Close ends the connection.
func (c *conn) Close() error {
	c.door.leave(c)
	return c.Conn.Close()
}
