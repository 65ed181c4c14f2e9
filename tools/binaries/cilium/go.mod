module kube-semaphore.invalid/binaries/cilium

go 1.25.0

require github.com/cilium/cilium v1.20.2
