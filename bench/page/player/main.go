package main

import (
	"fmt"
	"os"

	"github.com/mulligan-run/mulligan/provider/pi/pitest"
)

func main() {
	code, is := pitest.Main(os.Args)
	if !is {
		fmt.Fprintln(os.Stderr, "player is started by the tests of bench/page, with the arguments of pitest.Command")
		code = 2
	}
	os.Exit(code)
}
