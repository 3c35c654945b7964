package devtools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mulligan-run/mulligan"
)

// sdk is where a new plugin gets its SDK from: a release, a checkout, or this program.
type sdk struct {
	build    string // this program's version
	release  string // "v1.2.3", the same for all SDKs; "" = no registry has it
	checkout string // the root of a checkout, absolute; "" = none is asked for
}

// sdkFolder is where the SDK is in the plugin's folder: a copy, or a link to a checkout, so that
// no committed file contains a path of one computer.
const sdkFolder = ".mulligan"

// release is a version that has been published; a build from a commit has another form.
var release = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-(alpha|beta|rc)\.[0-9]+)?$`)

// findSDK decides where the SDK comes from. A named checkout comes first. A development
// build is in no registry, so it uses the SDK that this program carries.
func findSDK(named, build string) (sdk, error) {
	switch {
	case named != "":
		root, err := checkoutAround(named)
		if err != nil {
			return sdk{}, fmt.Errorf("--sdk: %w", err)
		}
		return sdk{build: build, checkout: root}, nil
	case release.MatchString(build):
		return sdk{build: build, release: build}, nil
	}
	return sdk{build: build}, nil
}

var errNoCheckout = errors.New("this is not a checkout of Mulligan")

var ourModule = regexp.MustCompile(`(?m)^module github\.com/mulligan-run/mulligan$`)

// checkoutAround returns the root of the checkout that contains a folder.
func checkoutAround(dir string) (string, error) {
	start, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(start); err != nil {
		return "", err
	} else if !info.IsDir() {
		return "", fmt.Errorf("%s is not a folder", dir)
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

// carried are the sources of a language's SDK that this program carries, without their tests,
// at their paths in a plugin's folder.
func (l language) carried() ([]scaffoldFile, error) {
	var files []scaffoldFile
	for _, part := range append([]string{"LICENSE"}, l.sdk...) {
		err := fs.WalkDir(mulligan.Source, part, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || strings.HasSuffix(name, "_test.go") {
				return err
			}
			content, err := mulligan.Source.ReadFile(name)
			files = append(files, scaffoldFile{path.Join(sdkFolder, name), content})
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("the SDKs of this program: %w", err)
		}
	}
	return files, nil
}
