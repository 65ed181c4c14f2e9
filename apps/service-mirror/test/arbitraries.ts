import fc from 'fast-check';
import type {
  Definition,
  Endpoint,
  Family,
  ServicePort,
  SlicePort,
  SourceService,
  SourceSlice,
} from '../src/endpoints/desired/source.ts';
import { isOwnKey } from '../src/endpoints/desired/diff/marks.ts';
import { managedByLabel } from '../src/names.ts';

/** For property tests: legal sources of all kinds, with so few names that they conflict. */

const protocol = fc.constantFrom('TCP', 'UDP', 'SCTP');
const number = fc.constantFrom(80, 443, 8080, 53);
const family = fc.constantFrom<Family>('IPv4', 'IPv6');

const servicePort: fc.Arbitrary<ServicePort> = fc.record({
  name: fc.constantFrom('http', 'https', 'dns', 'web'),
  protocol,
  port: number,
  targetPort: fc.option(fc.constantFrom<number | string>(8080, 'http'), { nil: undefined }),
  appProtocol: fc.option(fc.constant('h2c'), { nil: undefined }),
});

/** Unique by (protocol, number) and by name; one alone may be unnamed. */
const servicePorts = fc.oneof(
  servicePort.map((port): ServicePort[] => [{ ...port, name: '' }]),
  fc
    .uniqueArray(servicePort, { selector: ({ name }) => name, minLength: 1, maxLength: 4 })
    .map((ports) =>
      ports.filter(
        (port, i) => ports.findIndex((other) => other.protocol === port.protocol && other.port === port.port) === i,
      ),
    ),
);

export const definition: fc.Arbitrary<Definition> = fc.record({
  headless: fc.boolean(),
  families: fc.constantFrom<readonly Family[]>(['IPv4'], ['IPv6'], ['IPv4', 'IPv6'], ['IPv6', 'IPv4']),
  ports: servicePorts,
  affinitySeconds: fc.option(fc.constantFrom(60, 10_800), { nil: undefined }),
  publishNotReadyAddresses: fc.boolean(),
});

const endpointOf = (of: Family): fc.Arbitrary<Endpoint> => {
  const address = fc.integer({ min: 1, max: 9 }).map((n) => (of === 'IPv4' ? `10.4.0.${n}` : `fd00::${n}`));
  return fc.record({
    address,
    otherAddresses: fc.option(fc.array(address, { minLength: 1, maxLength: 2 }), { nil: undefined }),
    conditions: fc.record(
      { ready: fc.boolean(), serving: fc.boolean(), terminating: fc.boolean() },
      { noNullPrototype: true },
    ),
    hostname: fc.option(fc.constantFrom('web-0', 'web-1'), { nil: undefined }),
    nodeName: fc.constant(undefined),
    zone: fc.constant(undefined),
    zones: fc.constant(undefined),
  });
};

const slicePorts: fc.Arbitrary<SlicePort[]> = fc.uniqueArray(
  fc.record({
    name: fc.constantFrom('', 'http', 'https', 'dns', 'web'),
    protocol,
    port: fc.constantFrom(8080, 5353, undefined),
    appProtocol: fc.constant(undefined),
  }),
  { selector: ({ name }) => name, maxLength: 3 },
);

export const slice = ({ namespace, service }: { namespace: string; service: string }): fc.Arbitrary<SourceSlice> =>
  family.chain((of) =>
    fc.record({
      uid: fc.uuid(),
      namespace: fc.constant(namespace),
      name: fc.constantFrom('a', 'b', 'c', 'd').map((suffix) => `${service}-${suffix}`),
      service: fc.constant(service),
      family: fc.constant(of),
      ports: slicePorts,
      endpoints: fc.uniqueArray(endpointOf(of), { selector: ({ address }) => address, maxLength: 4 }),
      pods: fc.option(fc.constant(['web-2', '', 'web-3', 'web-4']), { nil: undefined }),
    }),
  );

export const service = ({ namespace, name }: { namespace: string; name: string }): fc.Arbitrary<SourceService> =>
  fc.record({
    uid: fc.uuid(),
    namespace: fc.constant(namespace),
    name: fc.constant(name),
    createdAt: fc.integer({ min: 0, max: 3 }),
    definition,
    hasSelector: fc.boolean(),
    localFirst: fc.boolean(),
  });

const foreignKey = fc
  .oneof(fc.string({ minLength: 1 }), fc.constantFrom('team', 'app.kubernetes.io/part-of', 'constructor', '__proto__'))
  .filter((key) => !isOwnKey(key) && key !== managedByLabel);
const foreignMap = fc.dictionary(foreignKey, fc.string());

/** Labels and annotations with which others mark an object. */
export const foreignMarks = fc.record({ labels: foreignMap, annotations: foreignMap });
