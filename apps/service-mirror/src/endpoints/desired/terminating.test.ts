import { describe, expect, it } from 'vitest';
import type { DesiredObjects } from './objects.ts';
import { inFormOf, terminating } from './terminating.ts';

describe('the reason of an object that was deleted and still exists', () => {
  const reasonOf = (finalizers: readonly string[], isTerminating = true) =>
    terminating('c2/ns/web', 'Service x', { isTerminating, finalizers });

  it('is missing without a deletion', () => {
    expect(reasonOf(['example.com/a'], false)).toEqual([]);
  });

  it('names the finalizers, sorted', () => {
    expect(reasonOf(['example.com/b', 'example.com/a'])).toEqual([
      {
        cluster: 'c2',
        kind: 'problem',
        reason: 'terminating',
        detail:
          'the Service x was deleted, and exists until its finalizers are removed: "example.com/a", "example.com/b"',
      },
    ]);
  });

  it.each([[['orphan']], [['foregroundDeletion']]])(
    'is expected if only the garbage collector waits: %s',
    (finalizers) => {
      expect(reasonOf(finalizers)).toMatchObject([{ kind: 'expected' }]);
      expect(reasonOf([...finalizers, 'example.com/a'])).toMatchObject([{ kind: 'problem' }]);
    },
  );

  it('is short and safe, whatever the finalizers are', () => {
    const [reason] = reasonOf(['\u001b[2J', ...Array.from({ length: 9_999 }, (_, i) => `${i}/`.padEnd(300, 'x'))]);
    const { detail } = reason!;
    expect(detail).toMatch(/removed: "\\u001b\[2J", .*, 9995 more$/);
    expect(detail.length).toBeLessThan(600);
  });
});

describe('what a Service can have while it is being deleted', () => {
  const definition = {
    headless: false,
    families: ['IPv4'],
    ports: [],
    affinitySeconds: undefined,
    publishNotReadyAddresses: false,
  } as const;
  const port = { name: 'http', protocol: 'TCP', port: 80, appProtocol: undefined } as const;
  const headless = { team: 'a', 'service.kubernetes.io/headless': '' };
  const wanted = (isHeadless: boolean, ports: DesiredObjects['slices'][number]['ports']): DesiredObjects => ({
    service: {
      name: 'x',
      labels: {},
      annotations: {},
      definition: { ...definition, headless: isHeadless, families: ['IPv6'], affinitySeconds: 60 },
    },
    slices: [
      {
        name: 'x-1',
        labels: isHeadless ? headless : { team: 'a' },
        annotations: {},
        family: 'IPv4',
        ports,
        endpoints: [],
      },
    ],
  });

  it('is what is wanted if it has the same form', () => {
    const same = wanted(false, [port]);
    expect(inFormOf({ definition }, same)).toBe(same);
  });

  it.each([true, false])('has its form otherwise (headless: %s)', (isHeadless) => {
    const { service, slices } = inFormOf(
      { definition: { ...definition, headless: isHeadless } },
      wanted(!isHeadless, [port]),
    );
    expect(service.definition).toEqual({ ...definition, headless: isHeadless, affinitySeconds: 60 });
    expect(slices).toMatchObject([{ labels: isHeadless ? headless : { team: 'a' }, ports: [port] }]);
    expect(Object.keys(slices[0]!.labels)).toHaveLength(isHeadless ? 2 : 1);
  });

  it('has no port without a number if it has an address', () => {
    const without = { ...port, name: 'any', port: undefined };
    expect(inFormOf({ definition }, wanted(true, [port, without])).slices).toMatchObject([{ ports: [port] }]);
    expect(inFormOf({ definition }, wanted(true, [without])).slices).toEqual([]);
  });
});
