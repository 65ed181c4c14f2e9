import { endpointSlice, type KubeObject, service } from '@kube-semaphore/testkit';
import fc from 'fast-check';

/** For property tests: Services and slices that no cluster of good will has, but that its API server may well show. */

const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/);
/** Texts that somebody might have chosen to do harm. */
const text = fc.oneof(
  label,
  fc.constantFrom('', '..', 'a..b', 'a.b', '*', '-', '_', '"', "'; flush ruleset", '\n', '\u0001', '../../x', 'Ä', 'x'.repeat(64), 'x'.repeat(254), `${'x'.repeat(63)}.${'y'.repeat(63)}`),
  fc.string({ maxLength: 300 }),
);
const number = fc.oneof(fc.constantFrom(-2_147_483_648, -1, 0, 1, 80, 8_080, 65_535, 65_536, 70_000, 2_147_483_647), fc.integer({ min: -1, max: 70_000 }));
const protocol = fc.oneof({ weight: 20, arbitrary: fc.constantFrom('TCP', 'UDP', 'SCTP') }, { weight: 1, arbitrary: fc.constantFrom('tcp', 'ICMP', '') });
/** Few, so that slices have the ports of their Services. */
const portName = fc.oneof({ weight: 12, arbitrary: fc.constantFrom('http', 'admin', 'p'.repeat(63)) }, { weight: 4, arbitrary: fc.constant('') }, { weight: 2, arbitrary: label }, { weight: 1, arbitrary: text });
const appProtocol = fc.oneof({ weight: 9, arbitrary: fc.constantFrom('http', 'kubernetes.io/h2c') }, { weight: 1, arbitrary: text });
const servicePort = fc.oneof({ weight: 9, arbitrary: fc.integer({ min: 1, max: 65_535 }) }, { weight: 1, arbitrary: number });
const hostname = fc.oneof({ weight: 5, arbitrary: label }, { weight: 1, arbitrary: text });
const without = <T extends object>(object: T): Partial<T> => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<T>;
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(arbitrary, { nil: undefined, freq: 3 });

const addressOf = (family: 'IPv4' | 'IPv6'): fc.Arbitrary<string> =>
  family === 'IPv4' ? fc.integer({ min: 1, max: 250 }).map((n) => `10.4.9.${n}`) : fc.integer({ min: 1, max: 250 }).map((n) => `fd04::9:${n}`);

const endpoint = (family: 'IPv4' | 'IPv6') =>
  fc
    .record({
      addresses: fc.array(addressOf(family), { minLength: 1, maxLength: 3 }),
      conditions: fc.record({ ready: maybe(fc.boolean()), serving: maybe(fc.boolean()), terminating: maybe(fc.boolean()) }).map(without),
      hostname: maybe(hostname),
      targetRef: maybe(fc.record({ kind: fc.oneof(fc.constantFrom('Pod', 'Node', ''), text), namespace: text, name: text })),
      nodeName: maybe(label),
      zone: maybe(text),
    })
    .map((each) => ({ ...without(each), addresses: each.addresses }));

/** A slice of one of these Services. */
export const hostileSlice = (services: readonly string[]): fc.Arbitrary<KubeObject> =>
  fc.constantFrom<'IPv4' | 'IPv6'>('IPv4', 'IPv6').chain((addressType) =>
    fc
      .record({
        name: fc.uuid(),
        service: fc.constantFrom(...services),
        endpoints: fc.array(endpoint(addressType), { maxLength: 3 }),
        ports: fc.array(fc.record({ name: portName, protocol, port: maybe(number), appProtocol: maybe(appProtocol) }).map(without), { maxLength: 4 }),
      })
      .map((parts) => endpointSlice({ ...parts, addressType, labels: { mirror: 'true' } })),
  );

/** A Service of this name, without a selector. */
export const hostileService = (name: string): fc.Arbitrary<KubeObject> =>
  fc
    .record({
      ports: fc.array(fc.record({ name: portName, protocol, port: servicePort, targetPort: maybe(fc.oneof({ weight: 9, arbitrary: servicePort }, { weight: 1, arbitrary: text })), appProtocol: maybe(appProtocol) }).map(without), { minLength: 1, maxLength: 4 }),
      headless: fc.boolean(),
      sessionAffinity: fc.constantFrom('None', 'ClientIP'),
      timeoutSeconds: servicePort,
      publishNotReadyAddresses: fc.boolean(),
    })
    .map(({ ports, headless, sessionAffinity, timeoutSeconds, publishNotReadyAddresses }) =>
      service({
        name,
        ports,
        headless,
        labels: { mirror: 'true' },
        selector: null,
        spec: { sessionAffinity, publishNotReadyAddresses, ...(sessionAffinity === 'ClientIP' && { sessionAffinityConfig: { clientIP: { timeoutSeconds } } }) },
      }),
    );
