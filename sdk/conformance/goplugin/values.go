package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/mulligan-run/mulligan/sdk/go/plugin"
)

// playValues has the host keep something under a key, and says what came of each step.
func playValues(ctx context.Context, key string) (plugin.Decision, error) {
	v, err := plugin.HostValues()
	if err != nil {
		return plugin.None, err
	}
	first, err := v.Add(ctx, key, 2)
	if err != nil {
		return plugin.None, err
	}
	value, version, err := v.Get(ctx, key)
	if err != nil {
		return plugin.None, err
	}
	done, err := v.CompareAndSet(ctx, key, version, append(value, '5'))
	if err != nil {
		return plugin.None, err
	}
	late, err := v.CompareAndSet(ctx, key, version, nil)
	if err != nil {
		return plugin.None, err
	}
	if err := v.Set(ctx, key+"/x", nil); err != nil {
		return plugin.None, err
	}
	keys, err := v.Keys(ctx, key)
	if err != nil {
		return plugin.None, err
	}
	_, wrong := v.Add(ctx, key+"/x", 1)
	if err := v.Delete(ctx, key+"/x"); err != nil {
		return plugin.None, err
	}
	sum, err := v.Add(ctx, key, -1)
	return plugin.Fail(fmt.Sprintf("%d %t %t %s %t %d", first, done, late, strings.Join(keys, ","), wrong != nil, sum)), err
}
