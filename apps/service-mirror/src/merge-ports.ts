import type { Notice } from './notice.ts';
import type { ServicePort } from './source.ts';

/** The ports of one cluster's Service; names are unique, and so are numbers within a protocol. */
export type ClusterPorts = { readonly cluster: string; readonly ports: readonly ServicePort[] };

/** What the merged Service calls a port, by what a cluster's own Service calls it; undefined: it has no such port. */
export type PortNames = ReadonlyMap<string, string | undefined>;

/** A port of a merged Service. */
export type MergedPort = {
  readonly port: ServicePort;
  /** Whose it is, for sentences: a cluster. */
  readonly holder: string;
};

/**
 * The ports of a merged Service: all of the oldest, and of the others each one whose name and number are free. Where there
 * are two, both need names, so one without stays alone.
 *
 * @param clusters the oldest first
 */
export function mergePorts(clusters: readonly ClusterPorts[]): readonly MergedPort[] {
  const merged: MergedPort[] = [];
  for (const { cluster, ports } of clusters) {
    for (const port of ports) {
      if (!merged.some((other) => excludes(other.port, port))) merged.push({ port, holder: cluster });
    }
  }
  return merged;
}

/**
 * What the merged Service calls the ports of a cluster, and where that isn't what the cluster says. A port is where its
 * protocol and number are, by which clients know it, and dropped where there is no such place.
 */
export function placePorts({ cluster, ports }: ClusterPorts, merged: readonly MergedPort[]): { readonly names: PortNames; readonly notices: readonly Notice[] } {
  const names = new Map<string, string | undefined>();
  const notices: Notice[] = [];
  for (const port of ports) {
    const place = merged.find((other) => isSameNumber(other.port, port));
    names.set(port.name, place?.port.name);
    const loss = place === undefined ? dropped(port, merged) : lost(port, place);
    if (loss !== undefined) notices.push({ cluster, kind: 'problem', ...loss });
  }
  return { names, notices };
}

/** Whether two ports can't be in one Service. */
function excludes(a: ServicePort, b: ServicePort): boolean {
  return a.name === b.name || isSameNumber(a, b) || a.name === '' || b.name === '';
}

const isSameNumber = (a: ServicePort, b: ServicePort): boolean => a.protocol === b.protocol && a.port === b.port;

type Loss = Pick<Notice, 'reason' | 'detail'>;

/** What a port loses to the one in whose place it is. Where they go to in a Pod may differ: slices tell. */
function lost(port: ServicePort, { port: other, holder }: MergedPort): Loss | undefined {
  if (port.name !== other.name) {
    const name = other.name === '' ? 'has no name' : `is called ${JSON.stringify(other.name)}`;
    return conflict(`its port ${text(port)} ${name}, as in ${holder}`);
  }
  return port.appProtocol === other.appProtocol ? undefined : conflict(`the appProtocol of its port ${text(port)} is as in ${holder}`);
}

function dropped(port: ServicePort, merged: readonly MergedPort[]): Loss {
  const obstacle = merged.find((other) => excludes(other.port, port));
  const subject = `its port ${text(port)} is left out`;
  if (obstacle === undefined) return { reason: 'port-waits', detail: `${subject} for as long as the Service stays as it is` };
  const other = `${number(obstacle.port)} of ${obstacle.holder}`;
  if (obstacle.port.name === port.name && port.name !== '') return conflict(`${subject}: the name is that of ${other}`);
  return conflict(`${subject}: it can't be beside ${other}, unless both have names`);
}

const conflict = (detail: string): Loss => ({ reason: 'port-conflict', detail });

const text = (port: ServicePort): string => (port.name === '' ? number(port) : `${JSON.stringify(port.name)} (${number(port)})`);

const number = ({ protocol, port }: ServicePort): string => `${protocol} ${port}`;
