import { localReference } from '@kube-semaphore/multicluster';
import { contains, overlaps } from '@kube-semaphore/net';
import type { ClustersFile } from './file.ts';
import { clusterName } from './option-types.ts';
import { remoteOf } from './remote-entry.ts';
import type { RemoteSettings, Settings } from './settings.ts';

/** Settings, or every problem with the field that it is about. */
export type FileSettings =
  | { readonly ok: true; readonly value: Settings }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Settings of a config file: everything that can be wrong in it without a look at the node or a cluster. */
export function settingsOfFile({ local = {}, remotes: entries }: ClustersFile): FileSettings {
  const problems: string[] = [];
  const name = clusterName.parse(local.name ?? '');
  if (!name.ok) problems.push(`local.name: ${name.reason}`);
  const remotes = entries.map((entry, i) => remoteOf(entry, { at: `remotes[${i}]`, problems }));
  const conflicts = [...rivalries(remotes), ...overlappingSubnets(remotes), ...foreignAddresses(remotes)];
  if (name.ok && remotes.some((remote) => remote.name === name.value))
    conflicts.push(`remotes: ${name.value} is the name of the local cluster`);
  if (!name.ok || problems.length + conflicts.length > 0) return { ok: false, problems: [...problems, ...conflicts] };
  return { ok: true, value: { local: { name: name.value, reference: localReference(local.kubeConfigPath) }, remotes } };
}

/** What only one remote can have. What couldn't be read is a problem of its own already. */
function rivalries(remotes: readonly RemoteSettings[]): readonly string[] {
  return [
    ...repeated(remotes.map(({ name }) => name).filter((name) => name !== '')).map(
      (name) => `remotes: two have the name ${name}`,
    ),
    ...repeated(remotes.map(({ device }) => device).filter((device) => device !== '')).map(
      (device) => `remotes: two have the device ${device}`,
    ),
    ...repeated(remotes.map(({ listenPort }) => listenPort).filter((port) => port !== 0)).map(
      (port) => `remotes: two have the wgListenPort ${port}`,
    ),
  ];
}

/** Which of two devices would a packet take? The first overlap of each subnet: a thousand equal ones have half a million. */
function overlappingSubnets(remotes: readonly RemoteSettings[]): readonly string[] {
  const subnets = remotes.flatMap(({ podSubnets }, i) =>
    podSubnets.map((cidr) => ({ cidr, at: `remotes[${i}].podSubnet` })),
  );
  return subnets.flatMap((one, i) => {
    const other = subnets.find((later, j) => j > i && overlaps(one.cidr, later.cidr));
    return other === undefined ? [] : [`${other.at}: ${other.cidr.text} overlaps with ${one.cidr.text} of ${one.at}`];
  });
}

/** An address of a remote's pods on our own device would keep us from that pod. */
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

const repeated = <T>(values: readonly T[]): readonly T[] => [
  ...new Set(values.filter((each, i) => values.indexOf(each) !== i)),
];
