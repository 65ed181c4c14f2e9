import { base32Hash10 } from '@kube-semaphore/naming';
import { type Cidr, parseCidr } from '@kube-semaphore/net';
import * as z from 'zod/mini';
import type { Cluster } from './findings.ts';

/** A file's text by its name in the folder of a cluster. */
export type Files = ReadonlyMap<string, string>;

/** A remote that the folder of a cluster has. */
export type KnownRemote = { readonly name: string; readonly podCidrs: readonly Cidr[] };

type Choices = {
  /** A folder of `deploy/`, as a kustomization names it. */
  readonly deploy: (folder: string) => string;
  /** Before the names of the images. */
  readonly registry: string | undefined;
  readonly version: string;
  readonly wireguard: boolean;
  /** Accounts get no Secret with a token that doesn't end. */
  readonly boundTokens: boolean;
};

/** Fields that a user adds stay. */
const entry = z.looseObject({
  name: z.string(),
  allowedPodCIDRs: z.optional(z.array(z.string())),
  wgListenPort: z.optional(z.number()),
  deviceName: z.optional(z.string()),
});
const configFile = z.looseObject({ remotes: z.optional(z.array(entry)), remoteClusters: z.optional(z.array(entry)) });

type Entry = z.infer<typeof entry>;
type ConfigFile = z.infer<typeof configFile>;
type App = 'policy' | 'service-mirror' | 'wireguard';

/** The default port of semaphore-wireguard. */
const FIRST_PORT = 51_820;

/** At most this many characters in the name of a network device. */
const MAX_DEVICE_NAME = 15;

/** The remotes in the files of a cluster. @throws {Error} if a file is not valid */
export function knownRemotes(files: Files): readonly KnownRemote[] {
  const [mirrors = []] = (['service-mirror', 'policy', 'wireguard'] as const).map((app) => entriesIn(files, app));
  return mirrors.map(({ name, allowedPodCIDRs = [] }) => ({
    name,
    podCidrs: allowedPodCIDRs.map(parseCidr).flatMap((cidr) => (cidr.ok ? [cidr.value] : [])),
  }));
}

/**
 * The files of a kustomize overlay for a cluster.
 *
 * @param remotes its remotes; those that `existing` has besides stay as they are
 * @param existing the files that its folder has
 */
export function overlayOf(
  cluster: Cluster,
  { remotes, existing, ...choices }: Choices & { readonly remotes: readonly Cluster[]; readonly existing: Files },
): Files {
  const { wireguard } = choices;
  const policy = cluster.calico !== undefined;
  const mirrors = merged(existing, 'service-mirror', remotes.map(mirrorEntry));
  const names = mirrors.map(({ name }) => name);
  return new Map([
    ['kustomization.yaml', kustomization(cluster, { ...choices, policy, names })],
    ...names.map((name) => [remoteFile(name), workloadsWith(name, { policy, wireguard })] as const),
    ...(policy
      ? [
          [
            'ip-pools.yaml',
            poolsFor(
              knownRemotes(new Map([['service-mirror.json', json({ remoteClusters: mirrors })]])),
              cluster.calico,
            ),
          ] as const,
          [
            'policy.json',
            json({ ...rest(existing, 'policy'), remotes: merged(existing, 'policy', remotes.map(policyEntry)) }),
          ] as const,
        ]
      : []),
    [
      'service-mirror.json',
      json({ ...serviceMirror(cluster), ...rest(existing, 'service-mirror'), remoteClusters: mirrors }),
    ],
    ...(wireguard
      ? [
          [
            'wireguard.json',
            json({
              local: { name: cluster.name },
              ...rest(existing, 'wireguard'),
              remotes: merged(existing, 'wireguard', wireguardEntries(cluster, remotes, existing)),
            }),
          ] as const,
        ]
      : []),
  ]);
}

function entriesIn(files: Files, app: App): readonly Entry[] {
  const { remotes, remoteClusters } = parsed(files, app);
  return remoteClusters ?? remotes ?? [];
}

/** The file of an app as it is: the schema would sort its keys. */
function parsed(files: Files, app: App): ConfigFile {
  const value: unknown = JSON.parse(files.get(`${app}.json`) ?? '{}');
  configFile.parse(value);
  return value as ConfigFile;
}

/** What a user changed in a file, except for the remotes. */
function rest(files: Files, app: App): object {
  const { remotes: _remotes, remoteClusters: _remoteClusters, ...others } = parsed(files, app);
  return others;
}

/** The entries of a file with those of `given`, sorted by name. */
function merged(files: Files, app: App, given: readonly Entry[]): readonly Entry[] {
  const all = new Map(entriesIn(files, app).map((each) => [each.name, each]));
  for (const each of given) all.set(each.name, { ...all.get(each.name), ...each });
  return [...all.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

const addressOf = ({ name, server }: Cluster) => ({
  remoteAPIURL: server,
  remoteCAURL: `file:///etc/kube-semaphore/remotes/${name}/ca.crt`,
  remoteSATokenPath: `/etc/kube-semaphore/remotes/${name}/token`,
});

const allowedOf = ({ podCidrs }: Cluster) => ({ allowedPodCIDRs: podCidrs.map(({ text }) => text) });

const policyEntry = (remote: Cluster): Entry => ({ name: remote.name, ...addressOf(remote), ...allowedOf(remote) });

const mirrorEntry = (remote: Cluster): Entry => ({
  name: remote.name,
  servicePrefix: remote.name,
  ...addressOf(remote),
  ...allowedOf(remote),
});

const serviceMirror = ({ name }: Cluster) => ({
  global: {
    mirrorSvcLabelSelector: 'mirror.semaphore.uw.io/mirror-service=true',
    globalSvcLabelSelector: 'mirror.semaphore.uw.io/global-service=true',
    globalSvcRoutingStrategyLabel: 'mirror.semaphore.uw.io/global-service-routing-strategy=local-first',
    globalSvcHints: 'labelled',
    mirrorNamespace: 'sys-semaphore',
    serviceSync: true,
    endpointSliceSync: true,
  },
  localCluster: { name },
});

/** A remote keeps its port and its device: a change would interrupt its tunnels. */
function wireguardEntries(
  { takenPorts }: Cluster,
  remotes: readonly Cluster[],
  existing: Files,
): readonly (Entry & { readonly wgListenPort: number })[] {
  const known = new Map(entriesIn(existing, 'wireguard').map((each) => [each.name, each]));
  const used = new Set([...takenPorts, ...[...known.values()].flatMap(({ wgListenPort }) => wgListenPort ?? [])]);
  const freePort = (): number => {
    let port = FIRST_PORT;
    while (used.has(port)) port++;
    used.add(port);
    return port;
  };
  return remotes
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((remote) => {
      const { name, podCidrs, ipam } = remote;
      const before = known.get(name);
      const port = before?.wgListenPort;
      const subnets = podCidrs.map(({ text }) => text);
      return {
        name,
        ...addressOf(remote),
        podSubnet: subnets.length === 1 ? subnets[0] : subnets,
        wgListenPort: port === undefined || takenPorts.includes(port) ? freePort() : port,
        deviceName: before?.deviceName ?? deviceNameOf(name),
        allowedIPsFrom: ipam === 'podCIDRs' ? undefined : ipam,
      };
    });
}

/** Undefined: the default, `wireguard.<name>`, is short enough. */
function deviceNameOf(name: string): string | undefined {
  if (`wireguard.${name}`.length <= MAX_DEVICE_NAME) return undefined;
  const short = `wg-${name}`;
  return short.length <= MAX_DEVICE_NAME ? short : `wg-${base32Hash10('', name)}`;
}

const remoteFile = (name: string): string => `remote-${name}.yaml`;

/** The only Secrets of deploy/ are those of the accounts. */
const WITHOUT_TOKENS = `  - target: { kind: Secret }
    patch: |-
      apiVersion: v1
      kind: Secret
      metadata:
        name: any
      $patch: delete
`;

function kustomization(
  { name, ipam, minor }: Cluster,
  {
    deploy,
    registry,
    version,
    wireguard,
    boundTokens,
    policy,
    names,
  }: Choices & { readonly policy: boolean; readonly names: readonly string[] },
): string {
  const apps = [...(policy ? ['policy'] : []), 'service-mirror', ...(wireguard ? ['wireguard'] : [])];
  // Others read a cluster without Calico, too.
  const sources = ['policy', 'service-mirror', ...(wireguard ? ['wireguard'] : [])];
  const resources = sources.flatMap((app) => [...(apps.includes(app) ? [`${app}/base`] : []), `${app}/remote`]);
  const components = [
    ...(policy ? ['policy/components/metrics-network-policy'] : []),
    'service-mirror/components/global',
    'service-mirror/components/metrics-network-policy',
    ...(wireguard && ipam === 'calico-blocks' ? ['wireguard/components/calico-blocks'] : []),
    ...(minor < 30 ? apps.map((app) => `${app}/components/before-1.30`) : []),
  ];
  const namespaceOf = (app: string): string => (app === 'service-mirror' ? 'sys-semaphore' : 'kube-system');
  const configMap = (app: string): string => (app === 'policy' ? 'semaphore-policy-config' : `semaphore-${app}`);
  return `# Written by "semaphore link" for the cluster ${name}. To change more, use this folder as a resource of your own overlay.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
${resources.map((folder) => `  - ${deploy(folder)}\n`).join('')}${policy ? '  - ip-pools.yaml\n' : ''}components:
${components.map((folder) => `  - ${deploy(folder)}\n`).join('')}patches:
${names.map((remote) => `  - path: ${remoteFile(remote)}\n`).join('')}${boundTokens ? WITHOUT_TOKENS : ''}configMapGenerator:
${apps
  .map(
    (app) => `  - name: ${configMap(app)}
    namespace: ${namespaceOf(app)}
    files: [config.json=${app}.json]
`,
  )
  .join('')}images:
${apps
  .map(
    (app) => `  - name: semaphore-${app}
${registry === undefined ? '' : `    newName: ${registry}/semaphore-${app}\n`}    newTag: ${version}
`,
  )
  .join('')}`;
}

/** Patches that mount the Secret of a remote into each workload. */
function workloadsWith(remote: string, { policy, wireguard }: { policy: boolean; wireguard: boolean }): string {
  const workloads = [
    ...(policy ? [['Deployment', 'semaphore-policy', 'kube-system'] as const] : []),
    ['Deployment', 'semaphore-service-mirror', 'sys-semaphore'] as const,
    ...(wireguard ? [['DaemonSet', 'semaphore-wireguard', 'kube-system'] as const] : []),
  ];
  return workloads
    .map(
      ([kind, name, namespace]) => `apiVersion: apps/v1
kind: ${kind}
metadata:
  name: ${name}
  namespace: ${namespace}
spec:
  template:
    spec:
      containers:
        - name: ${name}
          volumeMounts:
            - name: remote-${remote}
              mountPath: /etc/kube-semaphore/remotes/${remote}
              readOnly: true
      volumes:
        - name: remote-${remote}
          secret:
            secretName: ${name}-${remote}
`,
    )
    .join('---\n');
}

/** Calico keeps the addresses of Pods on the way to a disabled pool. */
function poolsFor(remotes: readonly KnownRemote[], calico: string): string {
  // Calico's API server would set these.
  const defaults = (family: 4 | 6): string =>
    calico.startsWith('crd.')
      ? `  blockSize: ${family === 4 ? 26 : 122}\n  ipipMode: Never\n  nodeSelector: all()\n  vxlanMode: Never\n`
      : '';
  return remotes
    .flatMap(({ name, podCidrs }) =>
      podCidrs.map(
        ({ text, family }, i) => `apiVersion: ${calico}
kind: IPPool
metadata:
  name: remote-${name}${i === 0 ? '' : `-${i + 1}`}
spec:
  cidr: ${text}
  disabled: true
  disableBGPExport: true
  natOutgoing: false
${defaults(family)}`,
      ),
    )
    .join('---\n');
}
