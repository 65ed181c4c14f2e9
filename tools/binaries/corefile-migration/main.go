// What kubeadm upgrade does to a Corefile: it reads one, and writes what CoreDNS of another version needs.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/coredns/corefile-migration/migration"
)

// Arguments: the version of CoreDNS before, and after.
func main() {
	corefile, err := io.ReadAll(os.Stdin)
	if err == nil {
		var migrated string
		migrated, err = migration.Migrate(os.Args[1], os.Args[2], string(corefile), false)
		fmt.Print(migrated)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
