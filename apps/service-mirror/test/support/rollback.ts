/** What an operator sets before the commands: the mirror namespace, and the prefix of the mirrors that are to go back. */
export const rollbackVariables = `namespace=sys-semaphore
prefix=c2
`;

/**
 * What leads back to the Go program once it runs again and ours doesn't: our slices of a Service go when Kubernetes has
 * made others of the Endpoints that the Go program wrote, or when it wrote that there are none. Bash, idempotent.
 */
export const rollbackCommands = `ours="mirrored-svc=true,mirror-svc-prefix-sync=$prefix,endpointslice.kubernetes.io/managed-by=semaphore-service-mirror"
derived="endpointslice.kubernetes.io/managed-by=endpointslicemirroring-controller.k8s.io"

services=$(kubectl -n "$namespace" get endpointslices -l "$ours" -o jsonpath='{.items[*].metadata.labels.kubernetes\\.io/service-name}' | tr ' ' '\\n' | sort -u)
for service in $services; do
  name="kubernetes.io/service-name=$service"
  until addresses=$(kubectl -n "$namespace" get endpoints "$service" -o jsonpath='{.subsets[*].addresses[*].ip}' 2>/dev/null) &&
    { [ -z "$addresses" ] || [ -n "$(kubectl -n "$namespace" get endpointslices -l "$derived,$name" -o name)" ]; }; do
    echo "waiting for the Endpoints of $service" >&2
    sleep 1
  done
  kubectl -n "$namespace" delete endpointslices -l "$ours,$name"
done
`;
