// Package local is the registry's commands upon its files, for whoever runs it: they call no registry, and need its
// user's rights instead of a token.
package local

import (
	"flag"
	"fmt"
	"io"
	"slices"

	"rackloom/cloud/internal/cluster"
	"rackloom/cloud/internal/config"
	"rackloom/cloud/internal/store"
)

// Command is one upon a file.
type Command struct {
	Name, Arguments, Usage string
	// least and most are the numbers of arguments it takes.
	least, most int
	flags       func(*flag.FlagSet, *options)
	run         func(*call) error
}

// Commands are all, in the order of the help.
func Commands() []Command {
	return []Command{
		{Name: "check", Usage: "read a store, and say what is lost", flags: storeFlag, run: check},
		{
			Name: "backup", Arguments: "FILE", Usage: "copy a store, also while it is served", least: 1, most: 1,
			flags: storeFlag, run: backup,
		},
		{
			Name: "restore", Arguments: "FILE", Usage: "make a store of a backup", least: 1, most: 1, flags: restoreFlags,
			run: restore,
		},
		{Name: "tokens", Usage: "list credentials and what they may", flags: tokensFlag, run: listTokens},
		{
			Name: "issue", Arguments: "ROLE [BOARD...]", Usage: "make a token and print it; BOARD is NODE[/BOARD]", least: 1,
			most: 1 + boardsMax, flags: issueFlags, run: issue,
		},
		{
			Name: "rotate", Arguments: "ID", Usage: "make another token that may do the same", least: 1, most: 1,
			flags: tokensFlag, run: rotate,
		},
		{
			Name: "revoke", Arguments: "ID", Usage: "take a credential away", least: 1, most: 1, flags: tokensFlag,
			run: revoke,
		},
	}
}

// boardsMax bounds what one credential speaks for by name.
const boardsMax = 64

// options are those of a command.
type options struct {
	store, tokens, certificate string
	replace                    bool
}

// call is a command under way.
type call struct {
	options   options
	arguments []string
	out       io.Writer
	notes     io.Writer
}

// Find is the command of a name.
func Find(name string) (Command, bool) {
	all := Commands()
	at := slices.IndexFunc(all, func(c Command) bool { return c.Name == name })
	if at < 0 {
		return Command{}, false
	}
	return all[at], true
}

// Run runs a command. Options may stand before, between and behind the arguments.
func Run(command Command, arguments []string, out, notes io.Writer) error {
	c := call{out: out, notes: notes}
	flags := flag.NewFlagSet(command.Name, flag.ContinueOnError)
	flags.SetOutput(notes)
	flags.Usage = func() {
		fmt.Fprintf(notes, "rackloom-registry %s [OPTIONS] %s\n\n%s\n\n", command.Name, command.Arguments, command.Usage)
		flags.PrintDefaults()
	}
	command.flags(flags, &c.options)
	for rest := arguments; ; rest = flags.Args()[1:] {
		if err := flags.Parse(rest); err != nil {
			return err
		}
		if flags.NArg() == 0 {
			break
		}
		c.arguments = append(c.arguments, flags.Arg(0))
	}
	if len(c.arguments) < command.least || len(c.arguments) > command.most {
		return fmt.Errorf("%s is given %d arguments; write %s %s", command.Name, len(c.arguments), command.Name,
			command.Arguments)
	}
	return command.run(&c)
}

func storeFlag(flags *flag.FlagSet, o *options) {
	flags.StringVar(&o.store, "store", config.Default().Store, "the store's `file`")
}

func restoreFlags(flags *flag.FlagSet, o *options) {
	storeFlag(flags, o)
	flags.BoolVar(&o.replace, "replace", false, "take the place of a store that is there, which stays under another name")
}

func holds(s store.Summary) string {
	return fmt.Sprintf("%d devices, %d functions, %d instances", s.Devices, s.Functions, s.Instances)
}

func check(c *call) error {
	found, err := store.Check(c.options.store)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "%s is whole: %s\n", c.options.store, holds(found))
	return nil
}

func backup(c *call) error {
	found, err := store.Backup(c.options.store, c.arguments[0])
	if err != nil {
		return err
	}
	fmt.Fprintf(c.notes, "%s has %s\n", c.arguments[0], holds(found))
	return nil
}

func restore(c *call) error {
	found, kept, err := store.Restore(c.arguments[0], c.options.store, c.options.replace, cluster.AfterRestore)
	if err != nil {
		return err
	}
	if kept != "" {
		fmt.Fprintf(c.notes, "what was there is %s\n", kept)
	}
	fmt.Fprintf(c.notes, "%s has %s\n", c.options.store, holds(found))
	return nil
}
