import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { endpointSlice, service } from '@kube-semaphore/testkit';
import fc from 'fast-check';

/** For property tests: hostile Services and slices that an API server may return. */

const label = fc.stringMatching(/^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/);

const tooLong = ['x'.repeat(64), 'x'.repeat(254), `${'x'.repeat(63)}.${'y'.repeat(63)}`];
const unquoted = ['"', "'; flush ruleset", '\n', '\u0001', '../../x', 'Ä'];
const odd = ['', '..', 'a..b', 'a.b', '*', '-', '_', ...unquoted, ...tooLong];
/** Texts that an attacker might choose. */
const text = fc.oneof(label, fc.constantFrom(...odd), fc.string({ maxLength: 300 }));

/** Legal nine times out of ten: an API server refuses an object for one invalid field. */
const mostly = <T>(legal: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ weight: 9, arbitrary: legal }, { weight: 1, arbitrary: other });
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 3 });

function without<T extends object>(object: T): Partial<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<T>;
}

const limits = [-2_147_483_648, -1, 0, 1, 80, 8_080, 65_535, 65_536, 70_000, 2_147_483_647];
const number = fc.oneof(fc.constantFrom(...limits), fc.integer({ min: -1, max: 70_000 }));
const legalNumber = fc.integer({ min: 1, max: 65_535 });
const protocol = mostly(fc.constantFrom('TCP', 'UDP', 'SCTP'), fc.constantFrom('TCP', 'tcp', 'ICMP', ''));
/** Few, so that slices and Services share ports. */
const portName = mostly(fc.constantFrom('http', 'admin', 'p'.repeat(63), ''), fc.oneof(label, text));
const appProtocol = maybe(mostly(fc.constantFrom('http', 'kubernetes.io/h2c'), text));

const addressOf = (family: 'IPv4' | 'IPv6'): fc.Arbitrary<string> =>
  fc.integer({ min: 1, max: 250 }).map((n) => (family === 'IPv4' ? `10.4.9.${n}` : `fd04::9:${n}`));

const condition = maybe(fc.boolean());
const conditions = fc.record({ ready: condition, serving: condition, terminating: condition });
const targetRef = fc.record({ kind: fc.oneof(fc.constantFrom('Pod', 'Node', ''), text), namespace: text, name: text });

const endpoint = (family: 'IPv4' | 'IPv6') =>
  fc
    .record({
      addresses: fc.array(addressOf(family), { minLength: 1, maxLength: 3 }),
      conditions: conditions.map(without),
      hostname: maybe(mostly(label, text)),
      targetRef: maybe(targetRef),
      nodeName: maybe(label),
      zone: maybe(text),
    })
    .map((each) => ({ ...without(each), addresses: each.addresses }));

const slicePort = fc.record({ name: portName, protocol, port: maybe(number), appProtocol }).map(without);

/** A slice of one of these Services. */
export const hostileSlice = (services: readonly string[]): fc.Arbitrary<KubeObject> =>
  fc.constantFrom<'IPv4' | 'IPv6'>('IPv4', 'IPv6').chain((addressType) =>
    fc
      .record({
        name: fc.uuid(),
        service: fc.constantFrom(...services),
        endpoints: fc.array(endpoint(addressType), { maxLength: 3 }),
        ports: fc.array(slicePort, { maxLength: 4 }),
      })
      .map((parts) => endpointSlice({ ...parts, addressType, labels: { mirror: 'true' } })),
  );

const targetPort = maybe(mostly<number | string>(fc.oneof(legalNumber, fc.constant('web')), text));
const servicePort = fc
  .record({ name: portName, protocol, port: mostly(legalNumber, number), targetPort, appProtocol })
  .map(without);

/** A Service of this name, without a selector. */
export const hostileService = (name: string): fc.Arbitrary<KubeObject> =>
  fc
    .record({
      ports: fc.array(servicePort, { minLength: 1, maxLength: 4 }),
      headless: fc.boolean(),
      timeoutSeconds: maybe(mostly(legalNumber, number)),
      publishNotReadyAddresses: fc.boolean(),
    })
    .map(({ timeoutSeconds, publishNotReadyAddresses, ...parts }) => {
      const affinity = { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds } } };
      const spec = { publishNotReadyAddresses, ...(timeoutSeconds !== undefined && affinity) };
      return service({ ...parts, name, spec, labels: { mirror: 'true' }, selector: null });
    });
