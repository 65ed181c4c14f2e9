import type { ClusterDiagnostic } from '../diagnostic.ts';
import { MAX_GLOBAL_PORTS } from '../ports.ts';
import type { ServicePort } from '../source.ts';

/** The ports of one cluster's Service; names are unique, and so are numbers within a protocol. */
export type ClusterPorts = { readonly cluster: string; readonly ports: readonly ServicePort[] };

/** The merged Service's names for ports, by their names in a cluster's own Service; undefined for a port that it lacks. */
export type PortNames = ReadonlyMap<string, string | undefined>;

/** A port of a merged Service. */
export type MergedPort = {
  readonly port: ServicePort;
  /** The cluster that the port is from, for messages. */
  readonly holder: string;
};

/**
 * The ports of a merged Service: all of the oldest cluster, and of the others each one whose name and number are free.
 * A port without a name can't have others beside it. If there are too many ports, each cluster may add only its share.
 *
 * @param clusters the oldest first
 */
export function mergePorts(clusters: readonly ClusterPorts[]): readonly MergedPort[] {
  const all = mergeFirst(MAX_GLOBAL_PORTS, clusters);
  return all.length > MAX_GLOBAL_PORTS ? mergeFirst(portShare(clusters.length), clusters) : all;
}

/** How many ports each cluster may add, whatever the others add. */
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
 * The merged Service's names for the ports of a cluster, and where these differ from the cluster's own definition. Clients
 * know a port by protocol and number. A port that the merged Service doesn't have is skipped.
 *
 * @param share how many ports a cluster may add, for the message about skipped ports
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
    if (place !== undefined) losses.push(...overruled(port, place));
    else if (obstacle === undefined && share !== undefined) excess += 1;
    else losses.push(skipped(port, obstacle));
  }
  if (excess > 0 && share !== undefined) losses.push(tooMany(`${excess} of its ${ports.length} ports`, share));
  return { names, diagnostics: losses.map((loss) => ({ cluster, kind: 'problem', ...loss })) };
}

/** Ports of one Service, by name and by number: a remote may send very many. */
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

  /** A port that excludes this one: one with its name or number, or any other port if one of the two has no name. */
  obstacle(port: ServicePort): MergedPort | undefined {
    const unnamed = port.name === '' ? this.ports[0] : this.#byName.get('');
    return unnamed ?? this.#byName.get(port.name) ?? this.at(port);
  }
}

type Loss = Pick<ClusterDiagnostic, 'reason' | 'detail'>;

/** Where a port differs from the merged one of its number. Its target may differ: traffic goes where the slices say. */
function overruled(port: ServicePort, { port: other, holder }: MergedPort): readonly Loss[] {
  if (port.name !== other.name) {
    const name = other.name === '' ? 'has no name' : `has the name ${JSON.stringify(other.name)}`;
    return [conflict(`its port ${text(port)} ${name}, as in ${holder}`)];
  }
  return port.appProtocol === other.appProtocol
    ? []
    : [conflict(`the appProtocol of its port ${text(port)} is as in ${holder}`)];
}

function skipped(port: ServicePort, obstacle: MergedPort | undefined): Loss {
  const subject = `its port ${text(port)} is skipped`;
  if (obstacle === undefined)
    return { reason: 'port-waits', detail: `${subject} while a cluster of the Service is unknown` };
  const other = `${number(obstacle.port)} of ${obstacle.holder}`;
  if (obstacle.port.name === port.name && port.name !== '') return conflict(`${subject}: its name belongs to ${other}`);
  return conflict(`${subject}: it excludes ${other}, unless both have names`);
}

const tooMany = (ports: string, share: number): Loss =>
  conflict(`${ports} are skipped: the clusters have more than ${MAX_GLOBAL_PORTS} together, and each may add ${share}`);

const conflict = (detail: string): Loss => ({ reason: 'port-conflict', detail });

const text = (port: ServicePort): string =>
  port.name === '' ? number(port) : `${JSON.stringify(port.name)} (${number(port)})`;

const number = ({ protocol, port }: ServicePort): string => `${protocol} ${port}`;
