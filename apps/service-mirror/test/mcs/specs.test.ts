import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { deployedCrds, endpointSlice, service, type ServiceOptions, startCluster } from '@kube-semaphore/testkit';
import { describe, expect, test } from 'vitest';
import { type Member, openMember, reconciled } from './import-loop.ts';

/**
 * The specs of mcs-api's conformance suite that need API objects only: R is required, O optional, numbered in the suite's
 * order. They run on two API servers, from exports as users write them to imports as consumers read them.
 */

const NAMESPACE = '/api/v1/namespaces/default';
const GROUP = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/default';
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices';

const it = test
  .extend('definitions', { scope: 'file' }, () => deployedCrds('service-mirror/mcs'))
  .extend('clusters', { scope: 'file' }, async ({ definitions }, { onCleanup }) => {
    const clusters = await Promise.all(['c1', 'c2'].map((name) => startCluster({ name })));
    onCleanup(async () => void (await Promise.all(clusters.map((cluster) => cluster.stop()))));
    for (const cluster of clusters) for (const crd of definitions) await cluster.defineResource(crd);
    return clusters;
  })
  .extend('members', { scope: 'file' }, async ({ clusters }, { onCleanup }) => {
    const members = await Promise.all(clusters.map(openMember));
    onCleanup(async () => void (await Promise.all(members.map((member) => member.close()))));
    return members;
  })
  .extend('set', ({ members, task }) => new ServiceSet(members, task.id.replaceAll(/[^a-z0-9]/g, '')));

/** One Service name in both clusters. */
class ServiceSet {
  readonly #members: readonly Member[];
  readonly #name: string;

  constructor(members: readonly Member[], id: string) {
    this.#members = members;
    this.#name = `web-${id}`;
  }

  async createService(cluster: 'c1' | 'c2', options: Partial<ServiceOptions> = {}): Promise<void> {
    await this.#at(cluster).cluster.admin.create(`${NAMESPACE}/services`, service({ ...options, name: this.#name }));
  }

  /** Creates the Service of a cluster, with one slice, and its export. */
  async export(cluster: 'c1' | 'c2', options: Partial<ServiceOptions> = {}, spec?: object): Promise<void> {
    await this.createService(cluster, options);
    const { admin } = this.#at(cluster).cluster;
    const name = this.#name;
    const endpoints = [cluster === 'c1' ? '10.4.1.1' : '10.4.2.1'];
    await admin.create(SLICES, endpointSlice({ name: `${name}-1`, service: name, endpoints }));
    await admin.create(`${GROUP}/serviceexports`, {
      apiVersion: 'multicluster.x-k8s.io/v1beta1',
      kind: 'ServiceExport',
      metadata: { name },
      ...(spec && { spec }),
    });
  }

  async unexport(cluster: 'c1' | 'c2'): Promise<void> {
    await this.#at(cluster).cluster.admin.delete(`${GROUP}/serviceexports/${this.#name}`);
  }

  async deleteService(cluster: 'c1' | 'c2'): Promise<void> {
    await this.#at(cluster).cluster.admin.delete(`${NAMESPACE}/services/${this.#name}`);
  }

  /** Lets both clusters reconcile until both are at rest. @returns the writes of each */
  async settle(lost: readonly string[] = []): Promise<Readonly<Record<string, readonly string[]>>> {
    const writes: Record<string, readonly string[]> = {};
    const members = this.#members;
    for (const local of members.filter(({ cluster }) => !lost.includes(cluster.name)))
      writes[local.cluster.name] = await reconciled(this.#name, { local, members, lost });
    return writes;
  }

  /** The import in each cluster; undefined if there isn't one. */
  async imports(): Promise<readonly (Import | undefined)[]> {
    const answers = await Promise.all(
      this.#members.map(({ cluster }) => cluster.admin.request('GET', `${GROUP}/serviceimports/${this.#name}`)),
    );
    return answers.map(({ status, body }) => (status === 200 ? (body as unknown as Import) : undefined));
  }

  /** `Valid=True Valid` and so on, of an export. */
  async conditions(cluster: 'c1' | 'c2'): Promise<readonly string[]> {
    const { status } = await this.#at(cluster).cluster.admin.get(`${GROUP}/serviceexports/${this.#name}`);
    const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string; reason: string }[] };
    return conditions.map(({ type, status: is, reason }) => `${type}=${is} ${reason}`);
  }

  /** The slices of the import in a cluster. */
  async slices(cluster: 'c1' | 'c2'): Promise<KubeObject[]> {
    return this.#at(cluster).cluster.admin.list(
      `${SLICES}?labelSelector=multicluster.kubernetes.io/service-name%3D${this.#name}`,
    );
  }

  async derived(cluster: 'c1' | 'c2'): Promise<KubeObject | undefined> {
    const labelSelector = `multicluster.kubernetes.io/service-name%3D${this.#name}`;
    const [found] = await this.#at(cluster).cluster.admin.list(`${NAMESPACE}/services?labelSelector=${labelSelector}`);
    return found;
  }

  #at(cluster: string): Member {
    return this.#members.find((member) => member.cluster.name === cluster)!;
  }
}

type Import = {
  readonly metadata: { readonly labels?: object; readonly annotations?: object };
  readonly spec: Readonly<Record<string, unknown>> & { readonly ips?: readonly string[] };
  readonly status: Readonly<Record<string, unknown>>;
};

const http = { name: 'http', protocol: 'TCP', port: 80 };
const CONFLICT = (...reasons: string[]) => `Conflict=True ${reasons.join()}`;

describe('required specs', () => {
  it('R2: the import exists as long as one export does', async ({ set }) => {
    await set.export('c1');
    await set.settle();
    await set.export('c2');
    await set.settle();
    await set.unexport('c1');
    await set.settle();
    expect(await set.imports()).toMatchObject([{ spec: { type: 'ClusterSetIP' } }, { spec: { type: 'ClusterSetIP' } }]);
    await set.unexport('c2');
    await set.settle();
    expect(await set.imports()).toEqual([undefined, undefined]);
  });

  it('R3: an export is a ClusterSetIP in all clusters, and valid', async ({ set }) => {
    await set.export('c1');
    await set.settle();
    expect(await set.imports()).toMatchObject([
      { spec: { type: 'ClusterSetIP' }, status: { clusters: [{ cluster: 'c1' }] } },
      { spec: { type: 'ClusterSetIP' }, status: { clusters: [{ cluster: 'c1' }] } },
    ]);
    expect(await set.conditions('c1')).toEqual(['Valid=True Valid', 'Ready=True Ready', 'Conflict=False NoConflicts']);
    await set.unexport('c1');
    await set.settle();
    expect(await set.imports()).toEqual([undefined, undefined]);
  });

  it.for([
    {
      spec: 'R4: session affinity',
      fields: { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 10 } } },
    },
    { spec: 'R5: internal traffic policy', fields: { internalTrafficPolicy: 'Local' } },
    { spec: 'R6: traffic distribution', fields: { trafficDistribution: 'PreferClose' } },
  ])('$spec follows the Service', async ({ fields }, { set }) => {
    await set.export('c1', { spec: fields });
    await set.settle();
    expect(await set.imports()).toMatchObject([{ spec: fields }, { spec: fields }]);
  });

  it('R7: it has an IP for every family, in the order of ipFamilies', async ({ set }) => {
    await set.export('c1', { spec: { ipFamilyPolicy: 'PreferDualStack' } });
    await set.settle();
    for (const found of await set.imports()) {
      const { ips = [], ipFamilies } = found!.spec;
      expect(ips.map((ip) => (ip.includes(':') ? 'IPv6' : 'IPv4'))).toEqual(ipFamilies);
      expect(ips.length).toBe(2);
    }
  });

  it('R8: its ports are those of the Service', async ({ set }) => {
    const dns = { name: 'dns', protocol: 'UDP', port: 53 };
    await set.export('c1', { ports: [{ ...http, targetPort: 8080, appProtocol: 'kubernetes.io/h2c' }, dns] });
    await set.settle();
    const ports = [{ ...http, appProtocol: 'kubernetes.io/h2c' }, dns];
    expect((await set.imports()).map((found) => found?.spec['ports'])).toEqual([ports, ports]);
  });

  it('R9: different ports are a union, with a conflict on both exports', async ({ set }) => {
    const sctp = { name: 'stcp', protocol: 'SCTP', port: 142 };
    await set.export('c1', { ports: [http] });
    await set.export('c2', { ports: [http, sctp] });
    await set.settle();
    expect((await set.imports()).map((found) => found?.spec['ports'])).toEqual([
      [http, sctp],
      [http, sctp],
    ]);
    expect([(await set.conditions('c1'))[2], (await set.conditions('c2'))[2]]).toEqual([
      CONFLICT('PortConflict'),
      CONFLICT('PortConflict'),
    ]);
  });

  it('R10: of conflicting ports it has the one of the oldest export, with a conflict on both', async ({ set }) => {
    await set.export('c1', { ports: [http] });
    await set.export('c2', { ports: [{ ...http, port: 81 }] });
    await set.settle();
    expect((await set.imports()).map((found) => found?.spec['ports'])).toEqual([[http], [http]]);
    expect([(await set.conditions('c1'))[2], (await set.conditions('c2'))[2]]).toEqual([
      CONFLICT('PortConflict'),
      CONFLICT('PortConflict'),
    ]);
  });

  it('R11, R12: a headless Service is a Headless import without IPs', async ({ set }) => {
    await set.export('c1', { headless: true });
    await set.settle();
    expect((await set.imports()).map((found) => [found?.spec['type'], found?.spec.ips ?? []])).toEqual([
      ['Headless', []],
      ['Headless', []],
    ]);
    expect([await set.derived('c1'), await set.derived('c2')]).toEqual([undefined, undefined]);
  });

  it('R13: an ExternalName is not valid, and there is no import', async ({ set }) => {
    await set.export('c1', { ports: [], spec: { type: 'ExternalName', externalName: 'example.com' } });
    await set.settle();
    expect((await set.conditions('c1'))[0]).toBe('Valid=False InvalidServiceType');
    expect(await set.imports()).toEqual([undefined, undefined]);
  });

  it('R14: of headless and ClusterIP it has the type of the oldest, with a conflict on both', async ({ set }) => {
    await set.export('c1');
    await set.export('c2', { headless: true });
    await set.settle();
    expect((await set.imports()).map((found) => found?.spec['type'])).toEqual(['ClusterSetIP', 'ClusterSetIP']);
    expect([(await set.conditions('c1'))[2], (await set.conditions('c2'))[2]]).toEqual([
      CONFLICT('TypeConflict'),
      CONFLICT('TypeConflict'),
    ]);
  });
});

describe('optional specs', () => {
  it('O1: only exported labels and annotations reach the import', async ({ set }) => {
    const exported = { exportedLabels: { 'dummy-label': 'true' }, exportedAnnotations: { 'dummy-annotation': 'true' } };
    await set.export('c1', { labels: { own: 'x' }, annotations: { own: 'x' } }, exported);
    await set.settle();
    for (const found of await set.imports()) {
      expect(found?.metadata.labels).toMatchObject({ 'dummy-label': 'true' });
      expect(found?.metadata.annotations).toMatchObject({ 'dummy-annotation': 'true' });
      expect([found?.metadata.labels, found?.metadata.annotations].some((map) => 'own' in map!)).toBe(false);
    }
  });

  it('O2: of conflicting labels and annotations it has those of the oldest', async ({ set }) => {
    await set.export('c1', {}, { exportedLabels: { a: '1' }, exportedAnnotations: { a: '1' } });
    await set.export('c2', {}, { exportedLabels: { b: '1' }, exportedAnnotations: { b: '1' } });
    await set.settle();
    for (const found of await set.imports()) {
      expect(found?.metadata.labels).toMatchObject({ a: '1' });
      expect(found?.metadata.labels).not.toHaveProperty('b');
      expect(found?.metadata.annotations).not.toHaveProperty('b');
    }
    expect((await set.conditions('c2'))[2]).toBe(CONFLICT('AnnotationsConflict', 'LabelsConflict'));
  });

  it('O3: it has EndpointSlices with the labels of the API and real ports, gone after the unexport (cilium#36735)', async ({
    set,
  }) => {
    await set.export('c1');
    await set.settle();
    for (const cluster of ['c1', 'c2'] as const) {
      const [slice, ...others] = await set.slices(cluster);
      expect(others).toEqual([]);
      expect(slice?.metadata.labels).toMatchObject({
        'multicluster.kubernetes.io/source-cluster': 'c1',
        'endpointslice.kubernetes.io/managed-by': 'semaphore-service-mirror',
      });
      expect(slice).toMatchObject({ endpoints: [{ addresses: ['10.4.1.1'] }], ports: [{ port: 8080 }] });
    }
    await set.unexport('c1');
    await set.settle();
    expect([await set.slices('c1'), await set.slices('c2')]).toEqual([[], []]);
  });
});

describe('writes', () => {
  const FIRST = ['create-derived', 'create-slice', 'create-import', 'update-import-status'];

  it('are five in the exporting cluster for a first export, and four elsewhere', async ({ set }) => {
    await set.export('c1');
    const { c1 = [], c2 } = await set.settle();
    expect([c1.toSorted(), c2]).toEqual([[...FIRST, 'update-export-status'].toSorted(), FIRST]);
  });

  it('are none when nothing changes', async ({ set }) => {
    await set.export('c1', { spec: { ipFamilyPolicy: 'PreferDualStack', trafficDistribution: 'PreferClose' } });
    await set.export('c2', { headless: true });
    await set.settle();
    expect(await set.settle()).toEqual({ c1: [], c2: [] });
  });

  it('are the status alone when a second cluster exports other ports of one name', async ({ set }) => {
    await set.export('c1', { ports: [http] });
    await set.settle();
    await set.export('c2', { ports: [{ ...http, port: 81 }] });
    expect(await set.settle()).toEqual({
      c1: ['update-import-status', 'update-export-status'],
      c2: ['update-import-status', 'update-export-status'],
    });
  });

  it('are three deletions after the last unexport', async ({ set }) => {
    await set.export('c1');
    await set.settle();
    await set.unexport('c1');
    const gone = ['delete-import', 'delete-slice', 'delete-derived'];
    expect(await set.settle()).toEqual({ c1: gone, c2: gone });
  });
});

describe('a Service that is deleted under its export', () => {
  it('is reported, ends the import, and comes back with the Service (lighthouse#693)', async ({ set }) => {
    await set.export('c1');
    await set.settle();
    await set.deleteService('c1');
    await set.settle();
    expect((await set.conditions('c1'))[0]).toBe('Valid=False NoService');
    expect(await set.imports()).toEqual([undefined, undefined]);
    await set.createService('c1');
    await set.settle();
    expect((await set.conditions('c1'))[0]).toBe('Valid=True Valid');
    expect(await set.imports()).toMatchObject([{ spec: { ports: [http] } }, { spec: { ports: [http] } }]);
  });
});

describe('a type that changes with the oldest export', () => {
  it('keeps the slices, although their owner changes', async ({ set }) => {
    await set.export('c1');
    await set.export('c2', { headless: true });
    await set.settle();
    await set.unexport('c1');
    const flip = ['update-import', 'update-slice', 'update-import-status', 'delete-slice', 'delete-derived'];
    const { c1, c2 = [] } = await set.settle();
    expect(c1).toEqual(flip);
    expect(c2.toSorted()).toEqual([...flip, 'update-export-status'].toSorted());
    expect((await set.imports()).map((found) => [found?.spec['type'], found?.spec.ips ?? []])).toEqual([
      ['Headless', []],
      ['Headless', []],
    ]);
    for (const cluster of ['c1', 'c2'] as const) {
      expect(await set.derived(cluster)).toBeUndefined();
      expect(await set.slices(cluster)).toMatchObject([
        { metadata: { ownerReferences: [{ kind: 'ServiceImport' }] }, endpoints: [{ addresses: ['10.4.2.1'] }] },
      ]);
    }
  });
});

describe('a lost cluster', () => {
  it("keeps its exports, its status and its conflicts where it can't be read", async ({ set }) => {
    await set.export('c1', { ports: [http] });
    await set.export('c2', { ports: [{ ...http, port: 81 }] });
    await set.settle();
    expect(await set.settle(['c1'])).toEqual({ c2: ['update-export-status'] });
    expect((await set.imports())[1]).toMatchObject({
      spec: { ports: [http] },
      status: { clusters: [{ cluster: 'c1' }, { cluster: 'c2' }] },
    });
    expect((await set.conditions('c2'))[2]).toBe(CONFLICT('PortConflict'));
  });

  it('still counts when the others export no more', async ({ set }) => {
    await set.export('c1');
    await set.export('c2');
    await set.settle();
    await set.unexport('c2');
    await set.settle(['c1']);
    expect((await set.imports())[1]?.status['clusters']).toEqual([{ cluster: 'c1' }]);
    const sources = (await set.slices('c2')).map(
      ({ metadata }) => metadata.labels?.['multicluster.kubernetes.io/source-cluster'],
    );
    expect(sources).toEqual(['c1']);
  });
});
