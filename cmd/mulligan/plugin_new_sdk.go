package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// sdk is where a new plugin takes its SDK from: a release, or else a checkout.
type sdk struct {
	build    string // this program's version
	release  string // "v1.2.3", the same for all SDKs; "" = the checkout
	checkout string // the root of a checkout, absolute
}

// sdkLink is the name of the link to the checkout in the plugin's folder: nothing of
// what is committed there names a place on one computer.
const sdkLink = ".mulligan"

// release is a version that has been published; a build from a commit has another form.
var release = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-(alpha|beta|rc)\.[0-9]+)?$`)

// findSDK settles where the SDK comes from. A folder that is named goes before all; a
// development build looks around the current folder, and then around itself, which was
// built in a checkout.
func findSDK(named, build, self string) (sdk, error) {
	if named != "" {
		root, err := checkoutAround(named)
		if err != nil {
			return sdk{}, fmt.Errorf("--sdk: %w", err)
		}
		return sdk{build: build, checkout: root}, nil
	}
	if release.MatchString(build) {
		return sdk{build: build, release: build}, nil
	}
	root, err := checkoutAround(".")
	if errors.Is(err, errNoCheckout) && self != "" {
		root, err = checkoutAround(filepath.Dir(self))
	}
	if errors.Is(err, errNoCheckout) {
		err = fmt.Errorf("this mulligan is a development build (%s), and no registry has SDKs of its version: "+
			"say where a checkout of Mulligan is, --sdk DIR, or run this inside one", build)
	}
	return sdk{build: build, checkout: root}, err
}

var errNoCheckout = errors.New("this is no checkout of Mulligan")

var ourModule = regexp.MustCompile(`(?m)^module github\.com/mulligan-run/mulligan$`)

// checkoutAround gives the root of the checkout that a folder is in.
func checkoutAround(dir string) (string, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(start); err != nil {
		return "", err
	} else if !info.IsDir() {
		return "", fmt.Errorf("%s is no folder", dir)
	}
	for at := start; ; at = filepath.Dir(at) {
		if source, err := os.ReadFile(filepath.Join(at, "go.mod")); err == nil && ourModule.Match(source) {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", fmt.Errorf("%s: %w", start, errNoCheckout)
		}
	}
}
