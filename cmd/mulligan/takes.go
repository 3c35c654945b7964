package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mulligan-run/mulligan/internal/exit"
)

// anyNumber is the most arguments of a verb that takes as many as there are.
const anyNumber = -1

// takes holds the arguments of a verb to a number, and says otherwise how the verb is used.
func takes(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		path := cmd.CommandPath()
		_, verb, _ := strings.Cut(path, " ")
		_, operands, _ := strings.Cut(cmd.Use, " ")
		usage := path + " " + operands
		got, hint := fmt.Sprint(len(args)), ""
		switch {
		case len(args) == 0 && least > 0:
			got = "none"
		case len(args) < least:
		case most != anyNumber && len(args) > most:
			hint = " (words that belong together need quotes)"
		default:
			return nil
		}
		return exit.Usagef("%s takes %s and got %s%s: %s (%s --help has examples)", verb, number(least, most), got, hint, usage, path)
	}
}

// number is how many arguments a verb takes, in words.
func number(least, most int) string {
	switch {
	case most == anyNumber:
		return "at least " + arguments(least)
	case least == most:
		return arguments(most)
	case least == 0:
		return "at most " + arguments(most)
	}
	return fmt.Sprintf("%d to %s", least, arguments(most))
}

func arguments(n int) string {
	if n == 1 {
		return "one argument"
	}
	return fmt.Sprintf("%d arguments", n)
}
