package killtest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"

	rackloomv1 "rackloom/cloud/api/rackloom/v1"
)

// certificate writes a certificate of this address and its key, and returns the options that name them, and how a
// caller trusts it.
func certificate(t *testing.T) ([]string, *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "registry"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	options := []string{"-tls-cert", write("cert", "CERTIFICATE", der), "-tls-key", write("key", "EC PRIVATE KEY", secret)}
	trusted, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(trusted)
	return options, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1", NextProtos: []string{http2.NextProtoTLS}}
}

// within shakes hands, and does something within TLS.
func within(config *tls.Config, does func(net.Conn)) func(net.Conn) {
	return func(c net.Conn) {
		secret := tls.Client(c, config)
		_ = secret.SetDeadline(time.Now().Add(5 * time.Second))
		if secret.Handshake() == nil { // Or it has been closed.
			does(secret)
		}
	}
}

// recorder keeps what a client says first, and says nothing to it.
type recorder struct {
	net.Conn
	said bytes.Buffer
}

func (r *recorder) Write(part []byte) (int, error)   { return r.said.Write(part) }
func (r *recorder) Read([]byte) (int, error)         { return 0, net.ErrClosed }
func (r *recorder) SetDeadline(time.Time) error      { return nil }
func (r *recorder) SetWriteDeadline(time.Time) error { return nil }

// hello is what a client says first.
func hello(config *tls.Config) string {
	r := &recorder{}
	_ = tls.Client(r, config).Handshake()
	return r.said.String()
}

// endlessHello says, a record after the other, that a hello of 16 MiB is coming.
func endlessHello(c net.Conn) {
	fragment := make([]byte, 16<<10)
	record := append([]byte{22, 3, 1, byte(len(fragment) >> 8), byte(len(fragment) & 0xff)}, fragment...)
	copy(record[5:], []byte{1, 0xff, 0xff, 0xff})
	for range 1000 {
		if _, err := c.Write(record); err != nil {
			return
		}
		copy(record[5:], []byte{0, 0, 0, 0})
	}
}

func TestStrangersKeepNobodyOutUnderTLS(t *testing.T) {
	options, config := certificate(t)
	f := startFlooded(t, options...)
	f.tls = config
	first := hello(config)
	if len(first) < 100 {
		t.Fatalf("a hello of %d bytes", len(first))
	}
	f.withstands(t, []attack{
		{"silence", f.grpc, 1000, says("")},
		{"a byte", f.grpc, 1000, says(first[:1])},
		{"half a hello", f.grpc, 1000, says(first[:len(first)/2])},
		{"a hello and nothing more", f.grpc, 1000, says(first)},
		{"a hello without end", f.grpc, 50, endlessHello},
		{"no TLS", f.grpc, 1000, says(http2.ClientPreface)},
		{"resets within a handshake", f.grpc, 1000, resets(first)},
		{"idle after the handshake", f.grpc, 1000, within(config, says(""))},
		{"a greeting and nothing more", f.grpc, 600, within(config, speaks(func(*http2.Framer) {}))},
		{"headers without end", f.grpc, 20, within(config, speaks(endlessHeaders))},
		{
			"half sent, without a token", f.grpc, 100,
			within(config, speaks(halfCalls(rackloomv1.DevicesService_ListDevices_FullMethodName))),
		},
	})
	t.Run("thousands of handshakes", f.shakesHands)
}

// shakesHands serves honest callers while strangers shake hands one after the other, as fast as they can.
func (f *flooded) shakesHands(t *testing.T) {
	const strangers, handshakes = 16, 3000
	turns := make(chan struct{})
	var all sync.WaitGroup
	for range strangers {
		all.Go(func() {
			for range turns {
				if c, err := net.DialTimeout("tcp", f.grpc, 5*time.Second); err == nil {
					within(f.tls, says(""))(c)
					_ = c.Close()
				}
			}
		})
	}
	for turn := range handshakes {
		turns <- struct{}{}
		if turn%300 == 299 {
			f.serves(t)
		}
	}
	close(turns)
	all.Wait()
	if grown := (f.status(t, "VmRSS") - f.resident) << 10; grown > grownMax {
		t.Errorf("it has grown by %d MiB", grown>>20)
	}
}
