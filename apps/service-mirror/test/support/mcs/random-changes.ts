import { Dice, faultKinds, randomSchedule } from '@kube-semaphore/fault-proxy';
import { endpointSlice, service } from '@kube-semaphore/testkit';
import type { SetMember, startSet } from './cluster-set.ts';

type ClusterSet = Awaited<ReturnType<typeof startSet>>;

const NAMES = ['a', 'b', 'c', 'd'];

/** Without empty lists, which only the deletion guard distinguishes from true ones. */
const kinds = faultKinds.filter((kind) => kind !== 'empty');

const [SERVICES, SLICES, GROUP] = [
  '/api/v1/namespaces/shop/services',
  '/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices',
  '/apis/multicluster.x-k8s.io/v1beta1/namespaces/shop',
];

const http = { name: 'http', port: 80 };
const PORTS = [
  [http],
  [http],
  [{ ...http, port: 81 }],
  [{ ...http, name: 'web' }],
  [{ ...http, appProtocol: 'kubernetes.io/h2c' }],
  [http, { name: 'dns', protocol: 'UDP', port: 53 }],
  [{ port: 80 }],
];

/** Each as often as it is here. */
const CHANGES = [
  ...(['define', 'define', 'remove', 'export', 'export', 'export', 'unexport', 'endpoints', 'endpoints'] as const),
  ...(['tamper', 'kill', 'kill', 'fault', 'fault', 'lose', 'forbid', 'find'] as const),
];

/** Random changes of exports, programs and connections in a set; the same for the same seed. */
export class RandomChanges {
  readonly #dice: Dice;
  readonly #faults: ReturnType<typeof randomSchedule>;
  readonly #set: ClusterSet;
  readonly #dead = new Set<SetMember>();
  readonly #flags: readonly string[];
  #addresses = 0;

  constructor(seed: number, set: ClusterSet, flags: readonly string[]) {
    this.#dice = new Dice(seed);
    this.#faults = randomSchedule(seed + 1, { kinds });
    this.#set = set;
    this.#flags = flags;
  }

  /** One change. @returns what it was */
  async next(): Promise<string> {
    const dice = this.#dice;
    const member = dice.pick(this.#set.members);
    const name = dice.pick(NAMES);
    const at = `${name} in ${member.cluster.name}`;
    const change = dice.pick(CHANGES);
    switch (change) {
      case 'define':
        await this.#remove(member, name);
        await this.#define(member, name);
        return `define ${at}`;
      case 'remove':
        await this.#remove(member, name);
        return `remove ${at}`;
      case 'export':
        await this.#export(member, name);
        return `export ${at}`;
      case 'unexport':
        await member.unexport(name);
        return `unexport ${at}`;
      case 'endpoints': {
        const endpoints = this.#endpoints(member).map((address) => ({ addresses: [address], conditions: {} }));
        await member.cluster.admin.request('PATCH', `${SLICES}/${name}-x1`, { endpoints });
        return `endpoints of ${at}`;
      }
      case 'tamper':
        return `tamper ${await this.#tamper(member, name)} ${at}`;
      case 'kill':
        await member.stop();
        this.#dead.add(member);
        if (dice.integer(0, 1) === 1) await this.#start(member);
        return `kill ${member.cluster.name}`;
      case 'fault':
      case 'lose':
      case 'forbid':
      case 'find':
        return this.#connection(change, member);
    }
  }

  /** Ends all faults, and starts what doesn't run. */
  async calm(): Promise<void> {
    const { members, path } = this.#set;
    for (const from of members) for (const to of members) await path(from.cluster.name, to.cluster.name).clear();
    for (const member of members) if (this.#dead.has(member) || !member.isRunning) await this.#start(member);
  }

  async #start(member: SetMember): Promise<void> {
    await member.start({ ready: false, flags: this.#flags });
    this.#dead.delete(member);
  }

  async #remove({ cluster: { admin } }: SetMember, name: string): Promise<void> {
    await admin.delete(`${SERVICES}/${name}`);
    await admin.delete(`${SLICES}/${name}-x1`);
  }

  async #define(member: SetMember, name: string): Promise<void> {
    const dice = this.#dice;
    const ports = dice.pick(PORTS);
    const kind = dice.pick(['address', 'address', 'address', 'headless', 'external'] as const);
    const policies = dice.pick([
      {},
      {},
      { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: dice.pick([10, 20]) } } },
      { internalTrafficPolicy: 'Local' },
      { trafficDistribution: 'PreferClose' },
      { ipFamilyPolicy: 'PreferDualStack' },
    ]);
    const spec = kind === 'external' ? { type: 'ExternalName', externalName: 'example.com' } : policies;
    const options = { namespace: 'shop', name, ports, headless: kind === 'headless', spec };
    const { admin } = member.cluster;
    await admin.create(SERVICES, service(options));
    // As Kubernetes' controller, which names the ports of slices as the Service does.
    const slice = { namespace: 'shop', name: `${name}-x1`, service: name, endpoints: this.#endpoints(member) };
    const targets = ports.map((port) => ({ protocol: 'TCP', ...port, port: 8000 + port.port }));
    await admin.create(SLICES, endpointSlice({ ...slice, ports: targets }));
  }

  async #export({ cluster: { admin } }: SetMember, name: string): Promise<void> {
    const dice = this.#dice;
    const keys = () => dice.pick([{}, {}, { a: '1' }, { b: dice.pick(['1', '2']) }]);
    const [apiVersion, kind] = ['multicluster.x-k8s.io/v1beta1', 'ServiceExport'];
    const spec = { exportedLabels: keys(), exportedAnnotations: keys() };
    const object = { apiVersion, kind, metadata: { name }, spec };
    const { status } = await admin.request('POST', `${GROUP}/serviceexports`, object);
    // Of an export that exists, only the labels change.
    if (status === 409)
      await admin.request('PATCH', `${GROUP}/serviceexports/${name}`, {
        spec: { exportedLabels: { a: null, b: null, ...spec.exportedLabels } },
      });
  }

  async #tamper({ cluster: { admin } }: SetMember, name: string): Promise<string> {
    const selector = encodeURIComponent(`multicluster.kubernetes.io/service-name=${name}`);
    const object = this.#dice.pick(['import', 'services', 'slices'] as const);
    if (object === 'import') await admin.delete(`${GROUP}/serviceimports/${name}`);
    else {
      const path = object === 'services' ? SERVICES : SLICES;
      for (const { metadata } of await admin.list(`${path}?labelSelector=${selector}`))
        await admin.delete(`${path}/${metadata.name}`);
    }
    return object;
  }

  /** Of a program to a cluster, its own too. */
  async #connection(
    change: 'fault' | 'lose' | 'forbid' | 'find',
    { cluster: { name: from } }: SetMember,
  ): Promise<string> {
    const to = this.#dice.pick(this.#set.members).cluster.name;
    const path = this.#set.path(from, to);
    if (change === 'find') {
      await path.clear();
      return `${from} finds ${to}`;
    }
    if (change === 'lose') {
      await this.#set.lose(from, to);
      return `${from} loses ${to}`;
    }
    const unavailable = { kind: 'answer', status: this.#dice.pick([403, 404]) } as const;
    const { fault, filter } =
      change === 'forbid'
        ? {
            fault: unavailable,
            filter: { target: /serviceexports/, verb: this.#dice.pick(['list', 'watch']) } as const,
          }
        : this.#faults.next().value;
    await path.set(fault, filter);
    await path.set({ kind: 'reset', connections: 'open' });
    return `${from} reads ${to} with ${JSON.stringify(fault)}`;
  }

  #endpoints({ cluster: { name } }: SetMember): readonly string[] {
    const count = this.#dice.integer(0, 2);
    return Array.from({ length: count }, () => `10.4.${name.slice(1)}.${(this.#addresses++ % 250) + 1}`);
  }
}
