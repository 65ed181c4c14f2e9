import { describe, expect, it } from 'vitest';
import { withoutLongPortNames } from './port-names.ts';
import type { ServicePort, SourceService } from './source.ts';

const local = { namespace: 'sys-semaphore', name: 'c2-shop-73736d-web' };
/** `sys-semaphore/c2-shop-73736d-web:` has 33 characters. */
const most = 'p'.repeat(128 - 33);

const port = (name: string): ServicePort => ({
  name,
  protocol: 'TCP',
  port: 80,
  targetPort: undefined,
  appProtocol: undefined,
});
const source = (ports: readonly ServicePort[]): SourceService => ({
  uid: 'u',
  namespace: 'shop',
  name: 'web',
  createdAt: 0,
  hasSelector: true,
  localFirst: false,
  definition: {
    headless: false,
    families: ['IPv4'],
    ports,
    affinitySeconds: undefined,
    publishNotReadyAddresses: false,
  },
});
const read = (...names: readonly string[]) => {
  const { value, skipped } = withoutLongPortNames(source(names.map(port)), local);
  return { names: value?.definition.ports.map(({ name }) => name), skipped: skipped.map(({ reason }) => reason) };
};

describe('withoutLongPortNames', () => {
  it.each([
    {
      name: 'keeps a name that fits into a comment of nftables',
      names: [most],
      want: { names: [most], skipped: [] },
    },
    {
      name: 'skips a longer name, and keeps the other ports',
      names: ['http', `${most}p`],
      want: { names: ['http'], skipped: ['port-name-too-long'] },
    },
    {
      name: 'skips a Service without any other port',
      names: [`${most}p`],
      want: { names: undefined, skipped: ['port-name-too-long'] },
    },
    { name: 'keeps a Service that has no ports', names: [], want: { names: [], skipped: [] } },
  ])('$name', ({ names, want }) => {
    expect(read(...names)).toEqual(want);
  });
});
