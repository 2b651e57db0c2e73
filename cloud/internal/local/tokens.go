package local

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"rackloom/cloud/internal/identity"
)

func tokensFlag(flags *flag.FlagSet, o *options) {
	flags.StringVar(&o.tokens, "tokens", "", "the registry's `file` of tokens")
}

func issueFlags(flags *flag.FlagSet, o *options) {
	tokensFlag(flags, o)
	flags.StringVar(&o.certificate, "cert", "", "no token: trust clients' certificates of this `name`")
}

// edit changes the file of tokens.
func (c *call) edit(change func(*identity.File) error) error {
	if c.options.tokens == "" {
		return errors.New("name the registry's file of tokens with -tokens FILE")
	}
	file, err := identity.ReadFile(c.options.tokens)
	if err != nil {
		return fmt.Errorf("read the tokens: %w", err)
	}
	if err := change(file); err != nil {
		return err
	}
	if err := file.Write(); err != nil {
		return fmt.Errorf("write the tokens: %w", err)
	}
	return nil
}

func listTokens(c *call) error {
	if c.options.tokens == "" {
		return errors.New("name the registry's file of tokens with -tokens FILE")
	}
	file, err := identity.ReadFile(c.options.tokens)
	if err != nil {
		return fmt.Errorf("read the tokens: %w", err)
	}
	for _, entry := range file.Entries() {
		fmt.Fprintf(c.out, "%s\t%s\t%s\n", entry.ID, entry.Role, strings.Join(entry.Boards, " "))
	}
	return nil
}

func issue(c *call) error {
	role, err := identity.ParseRole(c.arguments[0])
	if err != nil {
		return err
	}
	caller, err := identity.NewCaller(role, c.arguments[1:])
	if err != nil {
		return err
	}
	if c.options.certificate != "" {
		return c.edit(func(file *identity.File) error { return file.Trust(caller, c.options.certificate) })
	}
	var token string
	if err := c.edit(func(file *identity.File) error {
		token = file.Issue(caller)
		return nil
	}); err != nil {
		return err
	}
	fmt.Fprintln(c.out, token) // To nobody before it is good.
	return nil
}

func rotate(c *call) error {
	var token string
	if err := c.edit(func(file *identity.File) (err error) {
		token, err = file.Rotate(c.arguments[0])
		return err
	}); err != nil {
		return err
	}
	fmt.Fprintln(c.out, token)
	fmt.Fprintf(c.notes, "%s is good until you revoke it\n", c.arguments[0])
	return nil
}

func revoke(c *call) error {
	if err := c.edit(func(file *identity.File) error { return file.Revoke(c.arguments[0]) }); err != nil {
		return err
	}
	fmt.Fprintf(c.notes, "%s is revoked\n", c.arguments[0])
	return nil
}
