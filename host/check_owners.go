package host

import "github.com/mulligan-run/mulligan/internal/procgroup"

// CheckOwners says who else could replace the program that a Spec starts, and how; nil if
// nobody can. A service has no program here, and a pinned plugin runs from a copy.
func CheckOwners(spec Spec) error {
	if spec.Address != "" || spec.Pin != "" {
		return nil
	}
	l := &launch{spec: spec, args: spec.Command[1:], dir: spec.Dir}
	var err error
	if l.path, err = procgroup.LookUp(spec.Command[0], spec.Dir); err != nil {
		return err
	}
	return l.checkOwners()
}
