package identity

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

const (
	// tokenMin is the least length of a token, in characters.
	tokenMin = 16
	// digestPrefix and certificatePrefix begin what stands in a token's place: its SHA-256, or a certificate's name.
	digestPrefix      = "sha256:"
	certificatePrefix = "cert:"
)

var (
	node  = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?$`)
	board = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$`)
)

// credential is a line of the file: what is shown, and who shows it.
type credential struct {
	caller Caller
	// digest is that of a token, unless the credential is a certificate of a name.
	digest      [sha256.Size]byte
	certificate string
}

// id names the credential to people, and is no secret.
func (c *credential) id() string {
	if c.certificate != "" {
		return certificatePrefix + c.certificate
	}
	return hex.EncodeToString(c.digest[:4])
}

// parseLine reads a line; nil if it says nothing.
//
//	ROLE TOKEN|sha256:DIGEST|cert:NAME [NODE|NODE/BOARD ...]
func parseLine(line string) (*credential, error) {
	fields := strings.Fields(line)
	if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
		return nil, nil
	}
	if len(fields) < 2 {
		return nil, fmt.Errorf("write a role and a token of at least %d characters, and for managers their node", tokenMin)
	}
	role, err := ParseRole(fields[0])
	if err != nil {
		return nil, err
	}
	found := &credential{}
	if err := found.parseShown(fields[1]); err != nil {
		return nil, err
	}
	found.caller, err = NewCaller(role, fields[2:])
	return found, err
}

// NewCaller checks what a manager is to speak for. Other roles speak for no boards.
func NewCaller(role Role, boards []string) (Caller, error) {
	if (role == Manager) != (len(boards) > 0) {
		return Caller{}, errors.New("a manager's credential names the nodes or boards that it speaks for, and no other's does: " +
			"write manager TOKEN NODE, or NODE/BOARD")
	}
	for _, part := range boards {
		nodeName, boardName, isBoard := strings.Cut(part, "/")
		if !node.MatchString(nodeName) || isBoard && !board.MatchString(boardName) {
			return Caller{}, fmt.Errorf("%.100q is neither a node nor a board; write NODE or NODE/BOARD", part)
		}
	}
	return Caller{Role: role, Boards: boards}, nil
}

func (c *credential) parseShown(text string) error {
	if name, is := strings.CutPrefix(text, certificatePrefix); is {
		if name == "" {
			return errors.New("cert: has no name; write cert:NAME with a name of the certificate")
		}
		c.certificate = name
		return nil
	}
	if digest, is := strings.CutPrefix(text, digestPrefix); is {
		sum, err := hex.DecodeString(digest)
		if err != nil || len(sum) != sha256.Size {
			return fmt.Errorf("%s is followed by no digest of %d hexadecimal digits", digestPrefix, 2*sha256.Size)
		}
		c.digest = [sha256.Size]byte(sum)
		return nil
	}
	if len(text) < tokenMin {
		return fmt.Errorf("write a role and a token of at least %d characters", tokenMin)
	}
	c.digest = sha256.Sum256([]byte(text))
	return nil
}

// Credentials are all of a registry.
type Credentials struct {
	all []*credential
}

// Parse reads lines. Empty ones and those that begin with `#` say nothing.
func Parse(text string) (*Credentials, error) {
	found := &Credentials{}
	number := 0
	for line := range strings.Lines(text) {
		number++
		one, err := parseLine(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if one == nil {
			continue
		}
		if slices.ContainsFunc(found.all, one.isShownAs) {
			return nil, fmt.Errorf("line %d: there is a line of %s already", number, one.id())
		}
		found.all = append(found.all, one)
	}
	if len(found.all) == 0 {
		return nil, errors.New("there is no token in it")
	}
	return found, nil
}

func (c *credential) isShownAs(other *credential) bool {
	return c.certificate == other.certificate && c.digest == other.digest
}

// ByToken finds who shows a token.
func (c *Credentials) ByToken(token string) (Caller, bool) {
	sum := sha256.Sum256([]byte(token))
	var found *credential
	for _, one := range c.all {
		// All are compared, in a time that says nothing of the token.
		if subtle.ConstantTimeCompare(sum[:], one.digest[:]) == 1 && one.certificate == "" {
			found = one
		}
	}
	if found == nil {
		return Caller{}, false
	}
	return found.caller, true
}

// ByCertificate finds who has a certificate of these names.
func (c *Credentials) ByCertificate(names []string) (Caller, bool) {
	for _, one := range c.all {
		if one.certificate != "" && slices.Contains(names, one.certificate) {
			return one.caller, true
		}
	}
	return Caller{}, false
}

// Len is how many there are.
func (c *Credentials) Len() int { return len(c.all) }
