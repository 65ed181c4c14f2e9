import { describe, expect, it } from 'vitest';
import { mergePorts, placePorts } from './merge-ports.ts';
import type { ServicePort } from '../source.ts';

/** Ports of a text such as `http:80 dns:53/UDP :443`. */
function ports(text: string): readonly ServicePort[] {
  return text.split(' ').map((each) => {
    const [name = '', where = ''] = each.split(':');
    const [port, protocol = 'TCP'] = where.split('/');
    return {
      name,
      protocol: protocol as ServicePort['protocol'],
      port: Number(port),
      targetPort: undefined,
      appProtocol: undefined,
    };
  });
}

const text = (merged: readonly ServicePort[]) =>
  merged.map(({ name, protocol, port }) => `${name}:${port}${protocol === 'TCP' ? '' : `/${protocol}`}`).join(' ');

describe('ports of several clusters', () => {
  type Row = {
    name: string;
    clusters: readonly string[];
    want: string;
    names: Record<string, string | undefined>;
    details: readonly string[];
  };

  /** `names` and `details` are of the last, and youngest, cluster. */
  it.each<Row>([
    {
      name: 'are those of a single cluster',
      clusters: ['http:80 admin:81'],
      want: 'http:80 admin:81',
      names: { http: 'http', admin: 'admin' },
      details: [],
    },
    { name: 'may be one without a name', clusters: [':80', ':80'], want: ':80', names: { '': '' }, details: [] },
    {
      name: 'are added if name and number are free',
      clusters: ['http:80', 'admin:81 dns:80/UDP'],
      want: 'http:80 admin:81 dns:80/UDP',
      names: { admin: 'admin', dns: 'dns' },
      details: [],
    },
    {
      name: 'have the name of the oldest',
      clusters: ['http:80', 'web:80 admin:81'],
      want: 'http:80 admin:81',
      names: { web: 'http', admin: 'admin' },
      details: ['its port "web" (TCP 80) has the name "http", as in c1'],
    },
    {
      name: 'lose their name to an unnamed one',
      clusters: [':80', 'http:80 admin:81'],
      want: ':80',
      names: { http: '', admin: undefined },
      details: [
        'its port "http" (TCP 80) has no name, as in c1',
        `its port "admin" (TCP 81) is skipped: it excludes TCP 80 of c1, unless both have names`,
      ],
    },
    {
      name: 'take a name if they have none',
      clusters: ['http:80 admin:81', ':80'],
      want: 'http:80 admin:81',
      names: { '': 'http' },
      details: ['its port TCP 80 has the name "http", as in c1'],
    },
    {
      name: 'are skipped without a name beside others',
      clusters: ['http:80', ':81'],
      want: 'http:80',
      names: { '': undefined },
      details: [`its port TCP 81 is skipped: it excludes TCP 80 of c1, unless both have names`],
    },
    {
      name: 'are skipped if two have no name',
      clusters: [':80', ':81'],
      want: ':80',
      names: { '': undefined },
      details: [`its port TCP 81 is skipped: it excludes TCP 80 of c1, unless both have names`],
    },
    {
      name: 'are skipped if the name belongs to another number',
      clusters: ['http:80', 'http:8080'],
      want: 'http:80',
      names: { http: undefined },
      details: ['its port "http" (TCP 8080) is skipped: its name belongs to TCP 80 of c1'],
    },
    {
      name: 'may swap names',
      clusters: ['a:1 b:2', 'a:2 b:1'],
      want: 'a:1 b:2',
      names: { a: 'b', b: 'a' },
      details: ['its port "a" (TCP 2) has the name "b", as in c1', 'its port "b" (TCP 1) has the name "a", as in c1'],
    },
    {
      name: 'may share a number with another protocol',
      clusters: ['dns:53', 'dns-udp:53/UDP'],
      want: 'dns:53 dns-udp:53/UDP',
      names: { 'dns-udp': 'dns-udp' },
      details: [],
    },
    {
      name: 'go by age among added ports',
      clusters: ['http:80', 'admin:81', 'debug:81 admin:82'],
      want: 'http:80 admin:81',
      names: { debug: 'admin', admin: undefined },
      details: [
        'its port "debug" (TCP 81) has the name "admin", as in c2',
        'its port "admin" (TCP 82) is skipped: its name belongs to TCP 81 of c2',
      ],
    },
  ])('$name', ({ clusters, want, names, details }) => {
    const sources = clusters.map((each, i) => ({ cluster: `c${i + 1}`, ports: ports(each) }));
    const merged = mergePorts(sources);
    expect(text(merged.map(({ port }) => port))).toBe(want);
    const placed = placePorts(sources.at(-1)!, merged);
    expect(Object.fromEntries(placed.names)).toEqual(names);
    expect(placed.diagnostics).toEqual(
      details.map((detail) => ({ cluster: `c${clusters.length}`, kind: 'problem', reason: 'port-conflict', detail })),
    );
  });

  it('have the appProtocol of the oldest, and any target', () => {
    const [http] = ports('http:80');
    const sources = [
      { cluster: 'c1', ports: [{ ...http!, targetPort: 'web' }] },
      { cluster: 'c2', ports: [{ ...http!, targetPort: 8080 }] },
      { cluster: 'c3', ports: [{ ...http!, appProtocol: 'h2c' }] },
    ];
    const merged = mergePorts(sources);
    expect(merged).toEqual([{ holder: 'c1', port: { ...http, targetPort: 'web' } }]);
    expect(sources.flatMap((source) => placePorts(source, merged).diagnostics)).toEqual([
      {
        cluster: 'c3',
        kind: 'problem',
        reason: 'port-conflict',
        detail: 'the appProtocol of its port "http" (TCP 80) is as in c1',
      },
    ]);
  });

  describe('that are too many for one Service', () => {
    const range = (cluster: string, from: number) => ({
      cluster,
      ports: Array.from({ length: 1_000 }, (_, i) => ports(`${cluster}-${i}:${from + i}`)[0]!),
    });

    it('are the first ones of each cluster', () => {
      const small = { cluster: 'c4', ports: ports('http:80 admin:81') };
      const sources = [range('c1', 1_000), range('c2', 2_000), range('c3', 3_000), small];
      const merged = mergePorts(sources);
      const counts = Array.from(
        Map.groupBy(merged, ({ holder }) => holder),
        ([holder, { length }]) => [holder, length],
      );
      expect(counts).toEqual([
        ['c1', 500],
        ['c2', 500],
        ['c3', 500],
        ['c4', 2],
      ]);
      const placed = sources.map((source) => placePorts(source, merged, 500));
      const why = 'the clusters have more than 2000 together, and each may add 500';
      const notice = { kind: 'problem', reason: 'port-conflict', detail: `500 of its 1000 ports are skipped: ${why}` };
      const diagnostics = ['c1', 'c2', 'c3'].map((cluster) => ({ cluster, ...notice }));
      expect(placed.flatMap((each) => each.diagnostics)).toEqual(diagnostics);
      const unplaced = placed.map(({ names }) => [...names.values()].filter((name) => name === undefined).length);
      expect(unplaced).toEqual([500, 500, 500, 0]);
    });

    it('are complete if the clusters have the same ones', () => {
      const sources = ['c1', 'c2', 'c3'].map((cluster) => ({ ...range('c1', 1_000), cluster }));
      expect(mergePorts(sources)).toHaveLength(1_000);
    });
  });

  it('wait while the Service stays as it is', () => {
    const merged = ports('http:80').map((port) => ({ port, holder: 'the existing Service' }));
    const { names, diagnostics } = placePorts({ cluster: 'c2', ports: ports('http:80 admin:81') }, merged);
    expect(Object.fromEntries(names)).toEqual({ http: 'http', admin: undefined });
    expect(diagnostics).toEqual([
      {
        cluster: 'c2',
        kind: 'problem',
        reason: 'port-waits',
        detail: 'its port "admin" (TCP 81) is skipped while a cluster of the Service is unknown',
      },
    ]);
  });
});
