//go:build tools

// Package tools names the programs that `npm run binaries` builds, so that `go mod tidy` keeps what they need.
package tools

import (
	_ "github.com/projectcalico/calico/cni-plugin/cmd/calico"
	_ "github.com/projectcalico/calico/felix/cmd/calico-felix"
)
