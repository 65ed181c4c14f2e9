import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type App, workloads } from './manifests.ts';
import { SHOP } from './shop-manifests.ts';
import type { ClusterName } from './side.ts';
import type { System } from './system.ts';

type Act = (system: System) => Promise<unknown>;

/** A way to break the link between a caller in c1 and the shop in c2. */
export type Way = {
  readonly what: string;
  /** All that `semaphore check` finds then, in its order. */
  readonly checks: readonly string[];
  /** Default: packets still reach the shop. */
  readonly hop?: string;
  readonly breaks: Act;
  /** Default: `semaphore link` again. */
  readonly mends?: Act;
};

const kubectl =
  (cluster: ClusterName, ...commands: readonly string[]): Act =>
  async (system) => {
    for (const command of commands) await system.side(cluster).kubectl(command);
  };

const applied =
  (cluster: ClusterName, ...objects: readonly object[]): Act =>
  (system) =>
    system.side(cluster).apply(objects);

/** Runs a shell command on each node. */
const onNodes =
  (cluster: ClusterName, command: string): Act =>
  (system) =>
    Promise.all(system.side(cluster).nodes.map((node) => node.run('sh', ['-c', command])));

const inTurn =
  (...acts: readonly Act[]): Act =>
  async (system) => {
    for (const act of acts) await act(system);
  };

const of = (app: App): string => `-n ${workloads[app].namespace}`;
const restart = (app: App): string => `${of(app)} rollout restart ${workloads[app].workload}`;

type Remote = Readonly<Record<string, unknown>>;
type Config = Readonly<Record<string, unknown>> & Readonly<Partial<Record<'remotes' | 'remoteClusters', Remote[]>>>;

/** Another config of an app, in the overlay and applied; then the old one. */
export function edited(
  cluster: ClusterName,
  app: App,
  edit: (config: Config) => object,
): Required<Pick<Way, 'breaks' | 'mends'>> {
  let before = '';
  const fileIn = ({ overlays }: System): string => join(overlays, cluster, `${app}.json`);
  const write = async (system: System, text: string): Promise<void> => {
    await writeFile(fileIn(system), text);
    await system
      .side(cluster)
      .kubectl(
        `apply --server-side --force-conflicts --field-manager=semaphore-link -k ${join(system.overlays, cluster)}`,
      );
  };
  return {
    breaks: async (system) => {
      before = await readFile(fileIn(system), 'utf8');
      await write(system, JSON.stringify(edit(JSON.parse(before) as Config)));
    },
    mends: (system) => write(system, before),
  };
}

/** The same of its only remote. */
const remote = (cluster: ClusterName, app: App, fields: Remote) =>
  edited(cluster, app, ({ remotes, remoteClusters, ...config }) => ({
    ...config,
    ...(remotes && { remotes: remotes.map((each) => ({ ...each, ...fields })) }),
    ...(remoteClusters && { remoteClusters: remoteClusters.map((each) => ({ ...each, ...fields })) }),
  }));

/** A NetworkPolicy that allows nothing in a direction. */
const denyAll = (policyType: 'Ingress' | 'Egress'): object => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'deny', namespace: SHOP },
  spec: { podSelector: {}, policyTypes: [policyType] },
});

const allowAgain = (cluster: ClusterName): Act => kubectl(cluster, `-n ${SHOP} delete networkpolicy deny`);

const LABEL = 'mirror.semaphore.uw.io/mirror-service';
const LONG = 'a'.repeat(63);

const mirrored = (name: string): string =>
  `-n ${SHOP} create service clusterip ${name} --tcp=80 && kubectl -n ${SHOP} label service ${name} ${LABEL}=true`;

/** Another token of a remote, for each new Pod of an app in c1. */
const newToken = (app: App, token: string): Act =>
  kubectl(
    'c1',
    `${of(app)} patch secret semaphore-${app}-c2 -p '${JSON.stringify({ stringData: { token } })}'`,
    restart(app),
  );

/** Without this right, agents don't restore annotations. */
const readOnlyNodes = kubectl(
  'c2',
  `patch clusterrole semaphore-wireguard --type=json -p '[{"op":"replace","path":"/rules/0/verbs","value":["get","list","watch"]}]'`,
);

/** Patches where agents run. */
const selectNodes = (no: string): string =>
  `${of('wireguard')} patch daemonset semaphore-wireguard -p '{"spec":{"template":{"spec":{"nodeSelector":{"no":${no}}}}}}'`;

const announced = 'c1.wireguard.semaphore.uw.io/pubKey';

export const ways: readonly Way[] = [
  // Names
  {
    what: 'the rules of CoreDNS are removed',
    checks: ['dns-rules'],
    hop: 'dns',
    breaks: kubectl(
      'c1',
      `-n kube-system get configmap coredns -o yaml | sed '/semaphore link: begin/,/semaphore link: end/d' | kubectl replace -f -`,
    ),
  },
  {
    what: 'a rule of CoreDNS leads to another prefix',
    checks: ['dns-rules'],
    hop: 'dns',
    breaks: kubectl(
      'c1',
      `-n kube-system get configmap coredns -o yaml | sed 's/}c2-{2}/}x2-{2}/' | kubectl replace -f -`,
    ),
  },
  // Services
  {
    what: 'a Service loses its label',
    checks: [],
    hop: 'service',
    breaks: kubectl('c2', `-n ${SHOP} label service web ${LABEL}-`),
    mends: kubectl('c2', `-n ${SHOP} label service web ${LABEL}=true`),
  },
  {
    what: 'a Service gets another port',
    checks: [],
    hop: 'service',
    breaks: kubectl(
      'c2',
      `-n ${SHOP} patch service web --type=json -p '[{"op":"replace","path":"/spec/ports/0/port","value":81}]'`,
    ),
    mends: kubectl(
      'c2',
      `-n ${SHOP} patch service web --type=json -p '[{"op":"replace","path":"/spec/ports/0/port","value":80}]'`,
    ),
  },
  {
    what: 'an EndpointSlice is deleted while semaphore-service-mirror is stopped',
    checks: ['pods-complete', 'mirrors-ready'],
    hop: 'endpoints',
    breaks: kubectl(
      'c1',
      `${of('service-mirror')} scale deployment/semaphore-service-mirror --replicas=0`,
      `${of('service-mirror')} wait pod -l app=semaphore-service-mirror --for=delete --timeout=10m`,
      `${of('service-mirror')} delete endpointslices --all`,
    ),
  },
  {
    what: 'the addresses of Pods are not allowed',
    checks: ['pools-disabled', 'mirrors-ready', 'nothing-skipped'],
    hop: 'endpoints',
    ...remote('c1', 'service-mirror', { allowedPodCIDRs: ['10.5.0.0/16'] }),
  },
  {
    what: 'a Service has no Pod',
    checks: ['exports-answered', 'mirrors-ready'],
    breaks: kubectl('c2', mirrored('empty')),
    mends: kubectl('c2', `-n ${SHOP} delete service empty`),
  },
  {
    what: 'the name of a Service is too long for a mirror',
    // It has no Pod, either.
    checks: ['exports-answered', 'nothing-skipped'],
    breaks: kubectl('c2', mirrored(LONG)),
    mends: kubectl('c2', `-n ${SHOP} delete service ${LONG}`),
  },
  // Pods
  {
    what: 'the app has no Pods',
    checks: ['exports-answered', 'mirrors-ready'],
    hop: 'target',
    breaks: kubectl('c2', `-n ${SHOP} scale deployment/web --replicas=0`),
    mends: kubectl('c2', `-n ${SHOP} scale deployment/web --replicas=3`),
  },
  {
    what: 'the Pods of the app are not ready',
    checks: ['mirrors-ready'],
    hop: 'target',
    breaks: onNodes('c2', 'pkill -STOP -f [/]programs/web || true'),
    mends: onNodes('c2', 'pkill -CONT -f [/]programs/web || true'),
  },
  // Policies
  {
    what: 'a NetworkPolicy keeps packets from the app',
    checks: [],
    hop: 'ingress-policy',
    breaks: applied('c2', denyAll('Ingress')),
    mends: allowAgain('c2'),
  },
  {
    what: 'a NetworkPolicy keeps packets of the caller',
    checks: [],
    hop: 'egress-policy',
    breaks: applied('c1', denyAll('Egress')),
    mends: allowAgain('c1'),
  },
  {
    what: 'the pool for the other cluster is deleted',
    checks: ['pools-disabled'],
    hop: 'tunnel-out',
    breaks: kubectl('c1', 'delete ippools.crd.projectcalico.org remote-c2'),
  },
  {
    what: 'two clusters have the same pod addresses',
    checks: ['ranges-apart', 'subnets-agree'],
    breaks: applied('c1', {
      apiVersion: 'crd.projectcalico.org/v1',
      kind: 'IPPool',
      metadata: { name: 'same' },
      spec: { cidr: '10.4.1.0/24', nodeSelector: '!all()', ipipMode: 'Never', vxlanMode: 'Never', blockSize: 26 },
    }),
    mends: kubectl('c1', 'delete ippools.crd.projectcalico.org same'),
  },
  // Tunnels
  {
    what: 'a firewall drops the packets of tunnels',
    checks: ['handshakes'],
    hop: 'tunnel-out',
    breaks: inTurn(
      onNodes(
        'c1',
        `nft 'add table inet cut; add chain inet cut out { type filter hook output priority 0; }
        add rule inet cut out udp dport 51820 drop'`,
      ),
      // A new device has no handshake; an old one is silent for three minutes before it counts.
      kubectl('c1', restart('wireguard')),
    ),
    mends: onNodes('c1', 'nft delete table inet cut'),
  },
  {
    what: 'no agent runs in c2',
    // In three minutes, also "handshakes", as the last ones are old.
    checks: ['pods-complete', 'both-ways'],
    hop: 'tunnel-in',
    breaks: kubectl('c2', selectNodes('"node"')),
    mends: kubectl('c2', selectNodes('null')),
  },
  {
    what: 'a wrong key is announced, and the agent may not correct it',
    checks: ['local-reached', 'rights-granted', 'handshakes', 'keys-agree'],
    hop: 'tunnel-out',
    breaks: inTurn(readOnlyNodes, async ({ c2 }) => {
      for (const { name } of c2.nodes) {
        const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64');
        await c2.kubectl(`annotate node ${name} --overwrite ${announced}=${key}`);
      }
    }),
  },
  {
    what: 'the key is not announced, and the agent may not correct it',
    checks: ['local-reached', 'rights-granted', 'nothing-skipped'],
    hop: 'tunnel-out',
    breaks: inTurn(readOnlyNodes, kubectl('c2', `annotate node --all ${announced}-`)),
  },
  {
    what: 'the routes to a cluster are too few',
    checks: ['nothing-skipped', 'subnets-agree'],
    hop: 'tunnel-out',
    ...remote('c1', 'wireguard', { podSubnet: '10.4.128.0/17' }),
  },
  {
    what: 'the two sides have different MTUs',
    checks: ['mtu-agrees'],
    ...remote('c1', 'wireguard', { wgDeviceMTU: 1300 }),
  },
  {
    what: 'another program takes the devices of a cluster',
    checks: ['devices-set-up', 'keys-agree'],
    hop: 'tunnel-out',
    breaks: kubectl(
      'c1',
      `${of('wireguard')} get pods -l app=semaphore-wireguard -o name | xargs -I{} kubectl ${of('wireguard')} exec {} -- sh -c '
        wg genkey | wg set wireguard.c2 private-key /dev/stdin && ip link set wireguard.c2 alias other'`,
    ),
    // wireguard-go takes its device with it.
    mends: kubectl('c1', restart('wireguard')),
  },
  {
    what: 'a cluster calls itself otherwise',
    checks: ['both-ways'],
    hop: 'tunnel-in',
    ...edited('c2', 'wireguard', (config) => ({ ...config, local: { name: 'c9' } })),
  },
  // Credentials and rights
  {
    what: 'a token is wrong',
    checks: ['remotes-reached'],
    breaks: newToken('service-mirror', 'nonsense'),
  },
  {
    what: 'a token has ended',
    checks: ['remotes-reached'],
    breaks: async (system) => {
      const { c2 } = system;
      await c2.kubectl('-n kube-system create secret generic gone');
      const bound = '--bound-object-kind=Secret --bound-object-name=gone';
      const token = await c2.kubectl(`-n kube-system create token semaphore-policy-watcher ${bound}`);
      await c2.kubectl('-n kube-system delete secret gone');
      await newToken('policy', token.trim())(system);
    },
  },
  {
    what: 'the Secret of a remote is deleted',
    checks: ['pods-ready', 'status-served'],
    breaks: kubectl(
      'c1',
      `${of('service-mirror')} delete secret semaphore-service-mirror-c2`,
      restart('service-mirror'),
    ),
  },
  {
    what: 'the URL of a remote is wrong',
    checks: ['remotes-reached'],
    ...remote('c1', 'policy', { remoteAPIURL: 'https://172.31.0.1:1' }),
  },
  {
    what: 'an account loses its rights',
    checks: ['rights-granted'],
    breaks: kubectl('c2', 'delete clusterrolebinding semaphore-policy'),
  },
  {
    what: 'an app may not renew its Lease',
    checks: ['one-leader', 'rights-granted'],
    breaks: kubectl('c1', '-n semaphore-policy delete rolebinding semaphore-policy'),
  },
  {
    what: 'any address is allowed',
    checks: ['addresses-restricted'],
    ...remote('c1', 'policy', { allowedPodCIDRs: undefined }),
  },
  {
    what: 'the clock of this machine is wrong',
    checks: ['clocks-agree'],
    breaks: () => {
      const late = 'const { now } = Date; Date.now = () => now() - 60_000;';
      process.env['NODE_OPTIONS'] = `--import=data:text/javascript,${encodeURIComponent(late)}`;
      return Promise.resolve();
    },
    mends: () => Promise.resolve(delete process.env['NODE_OPTIONS']),
  },
  // Pods of the apps, nodes and API servers
  {
    what: 'a NetworkPolicy keeps API servers from an app',
    checks: ['status-served'],
    breaks: kubectl(
      'c1',
      `-n kube-system patch networkpolicy semaphore-policy --type=json -p '[{"op":"remove","path":"/spec/ingress/0/from/1"}]'`,
    ),
  },
  {
    what: 'an image does not exist',
    checks: ['pods-ready', 'status-served'],
    breaks: kubectl('c2', `${of('policy')} set image deployment/semaphore-policy '*=nowhere.example/none:1'`),
  },
  {
    what: 'a node is lost',
    checks: ['pods-ready', 'status-served'],
    breaks: ({ c2, network }) => c2.node('c2-n2').unplug(network.underlay),
    mends: async ({ c2, network }) => {
      await c2.node('c2-n2').plugIn(network.underlay);
      await c2.node('c2-n2').ready();
    },
  },
  {
    what: 'an API server is down',
    checks: ['clusters-reached', 'remotes-reached'],
    breaks: ({ c2 }) => c2.cluster.stopApiserver(),
    mends: ({ c2 }) => c2.cluster.restart(),
  },
];
