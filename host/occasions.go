package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mulligan-run/mulligan/recovery"
)

// checkOccasions refuses a wanted occasion that the plugin does not offer. Every plugin takes
// run_error.
func checkOccasions(wanted, offered []string) error {
	offered = append([]string{recovery.HookRunError}, offered...)
	for _, occasion := range wanted {
		if !slices.Contains(offered, occasion) {
			return fmt.Errorf("it is to be asked about %s (occasions in mulligan.yaml), and takes only %s: add a function for that to the plugin, or take it out of its entry",
				occasion, printable(strings.Join(offered, ", "), maxVersion))
		}
	}
	return nil
}
