//go:build tools

// Package tools names the program that `npm run binaries` builds, so that `go mod tidy` keeps what it needs.
package tools

import _ "sigs.k8s.io/kube-network-policies/cmd/kube-network-policies/standard"
