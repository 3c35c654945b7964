package host

import "github.com/mulligan-run/mulligan/internal/procgroup"

// CheckOwners reports how another user could replace the program that a Spec starts; nil
// if nobody can. It does not check a service, which has no program here, or a pinned
// plugin, which runs from a copy.
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
