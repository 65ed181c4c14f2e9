import { base32Hash16 } from '@kube-semaphore/naming';
import { choicesIn, type Limits, writtenIn } from '../choices.ts';
import { type App, type Entry, entriesIn, type LocalSection, podsOf, rest } from './config-files.ts';
import type { UsedRemote } from '../findings/families.ts';
import type { Cluster } from '../findings/findings.ts';
import { COPIES, type FileChanges, type Files } from './folder.ts';
import { dnsFile, DNS_FILE } from './dns-file.ts';
import {
  hasOwnDns,
  kustomization,
  type OverlayOptions,
  partsOf,
  poolsFor,
  remoteFile,
  sidecarFor,
  WITHOUT_KINDS,
  workloadsWith,
} from './kustomize.ts';
import { helmValues, VALUES_FILE } from './helm-values.ts';
import { limitOf, limitsOf } from '../findings/limits.ts';

/** The default port of semaphore-wireguard. */
const FIRST_PORT = 51_820;

/** At most this many characters in the name of a network device. */
const MAX_DEVICE_NAME = 15;

/**
 * The files of a kustomize overlay for a cluster.
 *
 * @param remotes its remotes; those that `existing` has besides stay as they are
 * @param existing the files that its folder has
 */
export function overlayOf(
  cluster: Cluster,
  {
    remotes,
    existing,
    manifests = new Map(),
    ...options
  }: OverlayOptions & { readonly remotes: readonly UsedRemote[]; readonly existing: Files },
): Map<string, string> {
  const { wireguard = true, userspace = false, networkPolicies = false, mcs } = options.choices;
  const { calico } = cluster;
  const policy = calico !== undefined || networkPolicies;
  const mirrors = merged(existing, 'service-mirror', remotes.map(mirrorEntry));
  const names = mirrors.map(({ name }) => name);
  const limits = limitsOf(cluster, remotes);
  const tunnels = wireguard
    ? merged(existing, 'wireguard', wireguardEntries(cluster, { remotes, existing, limits }))
    : [];
  const cidrsIn = (app: App, section: LocalSection) =>
    limitOf({
      existing: section?.cidrs,
      written: existing.has(`${app}.json`) ? writtenIn(existing).localCIDRs : undefined,
      found: limits.localCIDRs,
    });
  const ofPolicy = rest(existing, 'policy');
  const ofMirrors = rest(existing, 'service-mirror');
  const { localCluster = { name: cluster.name } } = ofMirrors;
  const sidecars = new Map(
    (userspace ? tunnels : []).map(({ name, deviceName }) => [name, sidecarFor(name, deviceName ?? deviceOf(name))]),
  );
  // Kinds that an earlier run brought are there now, too.
  const withKinds =
    choicesIn(existing).mcs === true ? !existing.get('kustomization.yaml')?.includes(WITHOUT_KINDS) : !cluster.hasMcs;
  const parts = partsOf(cluster, { policy, choices: options.choices });
  const withDns = hasOwnDns(cluster, options.choices);
  const files = new Map([
    ...copiesOf(manifests, [...parts.resources, ...parts.components]),
    ['kustomization.yaml', kustomization(cluster, { ...options, parts, withKinds, names })],
    ...names.map(
      (name) => [remoteFile(name), workloadsWith(name, { policy, wireguard, sidecars: sidecars.get(name) })] as const,
    ),
    ...(calico === undefined ? [] : [['ip-pools.yaml', poolsFor(mirrors.map(podsOf), calico)] as const]),
    ...(withDns ? [[DNS_FILE, dnsFile({ remotes: names, mcs }, cluster.dns.domain)] as const] : []),
    ...configFile(
      'policy',
      policy && {
        ...ofPolicy,
        local: { ...ofPolicy.local, cidrs: cidrsIn('policy', ofPolicy.local) },
        remotes: merged(existing, 'policy', remotes.map(policyEntry)),
      },
    ),
    ...configFile('service-mirror', {
      ...serviceMirror(cluster, { mcs, withDns }),
      ...ofMirrors,
      localCluster: { ...localCluster, cidrs: cidrsIn('service-mirror', localCluster) },
      ...(mcs === false && { mcs: undefined }),
      remoteClusters: mirrors,
    }),
    ...configFile(
      'wireguard',
      wireguard && { local: { name: cluster.name }, ...rest(existing, 'wireguard'), remotes: tunnels },
    ),
  ]);
  if (options.choices.helm === true)
    files.set(VALUES_FILE, helmValues(files, { cluster, choices: options.choices, parts, withKinds }));
  return files;
}

/** The manifests in some folders of `deploy/`, which refer to no other one. */
const copiesOf = (manifests: Files, folders: readonly string[]): readonly (readonly [string, string])[] =>
  [...manifests]
    .filter(([path]) => folders.some((folder) => path.startsWith(`${folder}/`)))
    .map(([path, text]) => [`${COPIES}/${path}`, text]);

/** The same files; those that an earlier run wrote, and that aren't needed any more, go. */
export const withoutOld = (existing: Files, after: Files, isOld: (path: string) => boolean): FileChanges =>
  new Map<string, string | undefined>([
    ...[...existing.keys()].filter(isOld).map((path) => [path, undefined] as const),
    ...after,
  ]);

/** The entries of a file with those of `given`, sorted by name. */
function merged(files: Files, app: App, given: readonly Entry[]): readonly Entry[] {
  const all = new Map(entriesIn(files, app).map((each) => [each.name, each]));
  for (const each of given) all.set(each.name, { ...all.get(each.name), ...each });
  return [...all.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** @param content false: the cluster hasn't the app */
const configFile = (app: App, content: object | false): readonly (readonly [string, string])[] =>
  content === false ? [] : [[`${app}.json`, json(content)]];

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

const addressOf = ({ name, server }: Cluster) => ({
  remoteAPIURL: server,
  remoteCAURL: `file:///etc/kube-semaphore/remotes/${name}/ca.crt`,
  remoteSATokenPath: `/etc/kube-semaphore/remotes/${name}/token`,
});

const allowedOf = ({ families, podCidrs }: UsedRemote) => ({
  families,
  allowedPodCIDRs: podCidrs.map(({ text }) => text),
});

const policyEntry = (remote: UsedRemote): Entry => ({ name: remote.name, ...addressOf(remote), ...allowedOf(remote) });

const mirrorEntry = (remote: UsedRemote): Entry => ({
  name: remote.name,
  servicePrefix: remote.name,
  ...addressOf(remote),
  ...allowedOf(remote),
});

const serviceMirror = (
  { name }: Cluster,
  { mcs = false, withDns }: { mcs?: boolean | undefined; withDns: boolean },
) => ({
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
  // Our own CoreDNS finds ServiceImports by a rule.
  ...(mcs && { mcs: withDns ? { derivedServices: 'mirrorNamespace' } : {} }),
});

/** A remote keeps its port and its device: a change would interrupt its tunnels. */
function wireguardEntries(
  { takenPorts }: Cluster,
  { remotes, existing, limits }: { remotes: readonly UsedRemote[]; existing: Files; limits: Limits },
): readonly (Entry & { readonly wgListenPort: number })[] {
  const written = writtenIn(existing).endpointCIDRs;
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
      const { name, families, podCidrs, ipam } = remote;
      const before = known.get(name);
      const port = before?.wgListenPort;
      const subnets = podCidrs.map(({ text }) => text);
      return {
        name,
        ...addressOf(remote),
        families,
        podSubnet: subnets.length === 1 ? subnets[0] : subnets,
        allowedEndpointCIDRs: limitOf({
          existing: before?.allowedEndpointCIDRs,
          written: before === undefined ? undefined : written?.[name],
          found: limits.endpointCIDRs?.[name],
        }),
        wgListenPort: port === undefined || takenPorts.includes(port) ? freePort() : port,
        deviceName: before?.deviceName ?? deviceNameOf(name),
        allowedIPsFrom: ipam === 'podCIDRs' ? undefined : ipam,
      };
    });
}

/** The default of semaphore-wireguard. */
const deviceOf = (name: string): string => `wireguard.${name}`;

/** Undefined: the default is short enough. */
function deviceNameOf(name: string): string | undefined {
  if (deviceOf(name).length <= MAX_DEVICE_NAME) return undefined;
  const short = `wg-${name}`;
  return short.length <= MAX_DEVICE_NAME ? short : `wg-${base32Hash16('', name).slice(0, 10)}`;
}
