import type { ClusterDiagnostic } from '../diagnostic.ts';
import { MAX_GLOBAL_PORTS } from '../ports.ts';
import type { ServicePort } from '../source.ts';

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
 * are two, both need names, so one without stays alone. If all were too many, each cluster has its share of them, so
 * that no cluster takes the room of another.
 *
 * @param clusters the oldest first
 */
export function mergePorts(clusters: readonly ClusterPorts[]): readonly MergedPort[] {
  const all = mergeFirst(MAX_GLOBAL_PORTS, clusters);
  return all.length > MAX_GLOBAL_PORTS ? mergeFirst(portShare(clusters.length), clusters) : all;
}

/** How many ports a cluster may bring at least, whatever the others bring. */
export const portShare = (clusters: number): number => Math.floor(MAX_GLOBAL_PORTS / clusters);

function mergeFirst(most: number, clusters: readonly ClusterPorts[]): readonly MergedPort[] {
  const merged = new PortIndex();
  for (const { cluster, ports } of clusters) {
    for (const port of ports.slice(0, most)) {
      if (merged.obstacle(port) === undefined) merged.add({ port, holder: cluster });
    }
  }
  return merged.ports;
}

/**
 * What the merged Service calls the ports of a cluster, and where that isn't what the cluster says. A port is where its
 * protocol and number are, by which clients know it, and dropped where there is no such place.
 *
 * @param share how many ports a cluster may bring, where only too many others keep one out
 */
export function placePorts(
  { cluster, ports }: ClusterPorts,
  merged: readonly MergedPort[],
  share?: number,
): { readonly names: PortNames; readonly diagnostics: readonly ClusterDiagnostic[] } {
  const index = new PortIndex(merged);
  const names = new Map<string, string | undefined>();
  const losses: Loss[] = [];
  let excess = 0;
  for (const port of ports) {
    const place = index.at(port);
    names.set(port.name, place?.port.name);
    const obstacle = index.obstacle(port);
    if (place !== undefined) losses.push(...lost(port, place));
    else if (obstacle === undefined && share !== undefined) excess += 1;
    else losses.push(dropped(port, obstacle));
  }
  if (excess > 0 && share !== undefined) losses.push(tooMany(`${excess} of its ${ports.length} ports`, share));
  return { names, diagnostics: losses.map((loss) => ({ cluster, kind: 'problem', ...loss })) };
}

/** Ports of one Service by name and by number: a remote decides how many there are. */
class PortIndex {
  readonly ports: MergedPort[] = [];
  readonly #byName = new Map<string, MergedPort>();
  readonly #byNumber = new Map<string, MergedPort>();

  constructor(ports: readonly MergedPort[] = []) {
    for (const port of ports) this.add(port);
  }

  add(merged: MergedPort): void {
    this.ports.push(merged);
    this.#byName.set(merged.port.name, merged);
    this.#byNumber.set(number(merged.port), merged);
  }

  /** The port of that protocol and number. */
  at(port: ServicePort): MergedPort | undefined {
    return this.#byNumber.get(number(port));
  }

  /** A port that this one can't be beside: one of its name or number, or any if one of the two has no name. */
  obstacle(port: ServicePort): MergedPort | undefined {
    const unnamed = port.name === '' ? this.ports[0] : this.#byName.get('');
    return unnamed ?? this.#byName.get(port.name) ?? this.at(port);
  }
}

type Loss = Pick<ClusterDiagnostic, 'reason' | 'detail'>;

/** What a port loses to the one in whose place it is. Where they go to in a Pod may differ: slices tell. */
function lost(port: ServicePort, { port: other, holder }: MergedPort): readonly Loss[] {
  if (port.name !== other.name) {
    const name = other.name === '' ? 'has no name' : `is called ${JSON.stringify(other.name)}`;
    return [conflict(`its port ${text(port)} ${name}, as in ${holder}`)];
  }
  return port.appProtocol === other.appProtocol
    ? []
    : [conflict(`the appProtocol of its port ${text(port)} is as in ${holder}`)];
}

function dropped(port: ServicePort, obstacle: MergedPort | undefined): Loss {
  const subject = `its port ${text(port)} is left out`;
  if (obstacle === undefined)
    return { reason: 'port-waits', detail: `${subject} for as long as the Service stays as it is` };
  const other = `${number(obstacle.port)} of ${obstacle.holder}`;
  if (obstacle.port.name === port.name && port.name !== '') return conflict(`${subject}: the name is that of ${other}`);
  return conflict(`${subject}: it can't be beside ${other}, unless both have names`);
}

const tooMany = (ports: string, share: number): Loss =>
  conflict(
    `${ports} are left out: the clusters have more than ${MAX_GLOBAL_PORTS} together, and each may bring ${share}`,
  );

const conflict = (detail: string): Loss => ({ reason: 'port-conflict', detail });

const text = (port: ServicePort): string =>
  port.name === '' ? number(port) : `${JSON.stringify(port.name)} (${number(port)})`;

const number = ({ protocol, port }: ServicePort): string => `${protocol} ${port}`;
