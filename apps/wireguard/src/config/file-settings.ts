import { localReference, Problems, type ProfileRemote } from '@kube-semaphore/multicluster';
import { contains, overlappingBlocks } from '@kube-semaphore/net';
import type { ClustersFile, RemoteEntry } from './file.ts';
import { clusterName } from './option-types.ts';
import { remoteOf } from './remote-entry.ts';
import type { RemoteSettings, Settings } from './settings.ts';

/** Settings, or every problem, each with its field. */
export type FileSettings =
  | { readonly ok: true; readonly value: Settings }
  | { readonly ok: false; readonly problems: readonly string[] };

/**
 * Settings of a config file. Finds every problem that needs neither the node nor a cluster.
 *
 * @param inventory what its inventory has
 */
export function settingsOfFile(
  { local = {}, remotes: ofFile }: ClustersFile,
  inventory: readonly ProfileRemote[] = [],
): FileSettings {
  const entries: readonly RemoteEntry[] = [
    ...ofFile,
    ...inventory.map(({ name, reference: context, allowedPodCIDRs, wgListenPort }) => {
      return { name, context, podSubnet: [...allowedPodCIDRs], wgListenPort };
    }),
  ];
  const found = new Problems();
  const { problems } = found;
  const name = clusterName.parse(local.name ?? '');
  if (!name.ok) problems.push(`local.name: ${name.reason}`);
  const remotes = entries.map((entry, i) => remoteOf(entry, { at: `remotes[${i}]`, found }));
  found.unique(remotes, {
    'remotes: name': (remote) => remote.name,
    'remotes: device': ({ device }) => device,
    'remotes: wgListenPort': ({ listenPort }) => listenPort,
  });
  const conflicts = [...overlappingSubnets(remotes), ...foreignAddresses(remotes), ...sharedSeconds(remotes)];
  if (name.ok && remotes.some((remote) => remote.name === name.value))
    conflicts.push(`remotes: name ${name.value} is that of the local cluster`);
  if (!name.ok || problems.length + conflicts.length > 0) return { ok: false, problems: [...problems, ...conflicts] };
  return { ok: true, value: { local: { name: name.value, reference: localReference(local.kubeConfigPath) }, remotes } };
}

/** With an overlap, two devices have a route for one packet. One for each subnet: 1,000 equal ones have 500,000. */
function overlappingSubnets(remotes: readonly RemoteSettings[]): readonly string[] {
  const subnets = remotes.flatMap(({ podSubnets }, i) =>
    podSubnets.map((cidr) => ({ cidr, at: `remotes[${i}].podSubnet` })),
  );
  return overlappingBlocks(subnets).map(
    ([one, other]) => `${other.at}: ${other.cidr.text} overlaps with ${one.cidr.text} of ${one.at}`,
  );
}

/** The second device of a remote, and its port, must be others than all first and second ones. */
function sharedSeconds(remotes: readonly RemoteSettings[]): readonly string[] {
  const rotations = remotes.flatMap(({ keyRotation }, i) => (keyRotation === undefined ? [] : [{ ...keyRotation, i }]));
  const devices = [...remotes.map(({ device }) => device), ...rotations.map(({ secondDevice }) => secondDevice)];
  const ports = [...remotes.map(({ listenPort }) => listenPort), ...rotations.map(({ secondPort }) => secondPort)];
  const isShared = <T>(value: T, all: readonly T[]): boolean => all.indexOf(value) !== all.lastIndexOf(value);
  return rotations.flatMap(({ i, secondDevice, secondPort }) => [
    ...(secondDevice !== '' && isShared(secondDevice, devices)
      ? [`remotes[${i}].keyRotation.secondDeviceName: ${secondDevice} is used twice`]
      : []),
    ...(secondPort !== 0 && isShared(secondPort, ports)
      ? [`remotes[${i}].keyRotation.secondPort: ${secondPort} is used twice`]
      : []),
  ]);
}

/** With the address of a remote's pod on our own device, that pod would be unreachable. */
function foreignAddresses(remotes: readonly RemoteSettings[]): readonly string[] {
  const subnets = remotes.flatMap(({ podSubnets }) => podSubnets);
  return remotes.flatMap(({ deviceAddress }, i) => {
    if (typeof deviceAddress === 'string') return [];
    const subnet = subnets.find((cidr) => contains(cidr, deviceAddress.ip));
    return subnet === undefined
      ? []
      : [`remotes[${i}].deviceAddress: ${deviceAddress.ip} is in the pod subnet ${subnet.text}`];
  });
}
