// Command player plays what a Pi said once; pitest builds and starts it.
package main

import (
	"fmt"
	"os"

	"github.com/mulligan-run/mulligan/provider/pi/pitest"
)

func main() {
	code, is := pitest.Main(os.Args)
	if !is {
		fmt.Fprintln(os.Stderr, "player is started by tests: pitest.Build, pitest.Command")
		code = 2
	}
	os.Exit(code)
}
