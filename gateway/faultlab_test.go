package gateway_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/mulligan-run/mulligan/gateway"
)

// lab fails as it was told last.
type lab struct{ told []string }

func (l *lab) Faults() gateway.LabListed {
	return gateway.LabListed{Model: "fable/fable-1", Faults: []gateway.LabFault{{Name: "529"}, {Name: "broken"}}}
}

func (l *lab) Fail(name string) error {
	if name == "broken" {
		return errors.New("no port is free")
	}
	l.told = append(l.told, name)
	return nil
}

// TestFaultLab: only what is listed can be asked for, and nothing where there is no lab.
func TestFaultLab(t *testing.T) {
	l := &lab{}
	with := httptest.NewServer(gateway.New(gateway.Config{Lab: l}))
	t.Cleanup(with.Close)
	without := httptest.NewServer(gateway.New(gateway.Config{}))
	t.Cleanup(without.Close)
	var list gateway.LabListed
	if code := call(t, http.MethodGet, with.URL+"/v1/faultlab", "", nil, &list); code != http.StatusOK || list.Model != "fable/fable-1" || len(list.Faults) != 2 {
		t.Errorf("%d %+v", code, list)
	}
	var none map[string]any
	if code := call(t, http.MethodGet, without.URL+"/v1/faultlab", "", nil, &none); code != http.StatusOK || none["faults"] == nil || none["model"] != nil {
		t.Errorf("%d %+v", code, none)
	}
	for body, want := range map[string]int{
		`{"fault":"529"}`: http.StatusNoContent, `{"fault":""}`: http.StatusNoContent,
		`{"fault":"530"}`: http.StatusUnprocessableEntity, `{}`: http.StatusUnprocessableEntity, `{"fault":"broken"}`: http.StatusUnprocessableEntity,
	} {
		if code := call(t, http.MethodPut, with.URL+"/v1/faultlab", body, nil, nil); code != want {
			t.Errorf("%s: %d, want %d", body, code, want)
		}
	}
	if len(l.told) != 2 {
		t.Errorf("it was told %q", l.told)
	}
	if code := call(t, http.MethodPut, without.URL+"/v1/faultlab", `{"fault":""}`, nil, nil); code != http.StatusConflict {
		t.Errorf("without a lab: %d", code)
	}
}
