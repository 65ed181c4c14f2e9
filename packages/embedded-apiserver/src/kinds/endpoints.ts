import { invalidValue, required } from '../http/causes.ts';
import { endpointIpRules } from './endpoint-ips.ts';
import { isPortNumber } from './ports.ts';
import type { Cause } from '../http/status.ts';
import type { KubeObject } from '../test-cluster.ts';

type Address = { ip?: string };
type Port = { name?: string; port: number; protocol?: string };
type Subset = { addresses?: Address[]; notReadyAddresses?: Address[]; ports?: Port[] };

const subsetsOf = (endpoints: KubeObject) => (endpoints['subsets'] ?? []) as Subset[];

/** Sets the defaults of kube-apiserver. */
export function defaultEndpoints(endpoints: KubeObject): KubeObject {
  if (endpoints['subsets'] === undefined) return endpoints;
  const withProtocol = (port: Port) => ({ ...port, protocol: port.protocol || 'TCP' });
  return {
    ...endpoints,
    subsets: subsetsOf(endpoints).map((subset) => ({
      ...subset,
      ...(subset.ports && { ports: subset.ports.map(withProtocol) }),
    })),
  };
}

/** The rules that Endpoints in our tests could break. */
export function* endpointsRules(endpoints: KubeObject): Generator<Cause> {
  for (const [index, { addresses = [], notReadyAddresses = [], ports = [] }] of subsetsOf(endpoints).entries()) {
    const field = `subsets[${index}]`;
    if (addresses.length + notReadyAddresses.length === 0)
      yield required(field, 'must specify `addresses` or `notReadyAddresses`');
    for (const [list, of] of Object.entries({ addresses, notReadyAddresses })) {
      for (const [at, { ip = '' }] of of.entries()) yield* endpointIpRules(`${field}.${list}[${at}].ip`, ip);
    }
    for (const [at, { name, port }] of ports.entries()) {
      if (ports.length > 1 && !name) yield required(`${field}.ports[${at}].name`);
      if (!isPortNumber(port))
        yield invalidValue(`${field}.ports[${at}].port`, port, 'must be between 1 and 65535, inclusive');
    }
  }
}
