//go:build tools

// Package tools names the programs that `npm run binaries` builds, so that `go mod tidy` keeps what they need.
package tools

import _ "github.com/google/go-containerregistry/cmd/crane"
