// Pins what `npm run binaries` builds of corefile-migration, as kubeadm uses it. See main.go.
module kube-semaphore.invalid/binaries/corefile-migration

go 1.24.0

require github.com/coredns/corefile-migration v1.0.36

require github.com/coredns/caddy v1.1.1 // indirect
