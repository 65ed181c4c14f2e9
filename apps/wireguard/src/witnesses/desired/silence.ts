import type { Device, Peer } from '@kube-semaphore/wireguard-tools';
import type { Heard } from '../../mesh/desired/heard.ts';

/** What is known of the packets of one Node, on all of its devices here. */
export type Traffic = {
  /** When its last byte came; monotonic. */
  readonly heardMs: number;
  /** Whether we have sent something since. */
  readonly hasSent: boolean;
  /** Of its last handshake, in Unix time; 0: none yet. */
  readonly handshakeSeconds: number;
};

/** The entries of one Node in our devices: two while keys rotate. */
export type Entries = readonly { readonly device: Pick<Device, 'name'>; readonly peer: Peer }[];

/** The silent Nodes, each with the last handshake before its silence. */
export type Silent = ReadonlyMap<string, number>;

export const NOTHING_SILENT: Silent = new Map();

/** How long a Node may be silent, and how often it is asked for an answer. */
export type SilenceTimes = { readonly afterMs: number; readonly askMs: number };

/** WireGuard answers data after ten seconds at most, if nothing else has to be sent; the kernel's timers are up to an eighth late. */
const ANSWER_MS = 15_000;

/** The smallest `reportSilentAfter`: two questions find an answer in that time. */
export const SHORTEST_AFTER_MS = ANSWER_MS + 5_000;

/** Three questions, and the second of them has its time for an answer. */
export const timesOf = (afterMs: number): SilenceTimes => ({
  afterMs,
  askMs: Math.min(afterMs / 3, (afterMs - ANSWER_MS) / 2),
});

/** @param heard was updated with these entries */
export function trafficOf(entries: Entries, heard: Pick<Heard, 'last'>): Traffic {
  const traffic = entries.map(({ device, peer }) => {
    const last = heard.last(device.name, peer.publicKey);
    return {
      heardMs: last?.atMs ?? Infinity,
      hasSent: peer.sentBytes > (last?.peer.sentBytes ?? Infinity),
      handshakeSeconds: peer.latestHandshakeSeconds ?? 0,
    };
  });
  return {
    heardMs: Math.max(...traffic.map(({ heardMs }) => heardMs)),
    hasSent: traffic.some(({ hasSent }) => hasSent),
    handshakeSeconds: Math.max(...traffic.map(({ handshakeSeconds }) => handshakeSeconds)),
  };
}

/**
 * Whether to ask a Node for an answer: at each multiple of `askMs` since its last byte, as two live ends that have nothing to send may
 * be silent for minutes.
 *
 * @param lookedMs when this was last decided
 */
export function isAskDue(
  { heardMs }: Traffic,
  { lookedMs, nowMs }: { readonly lookedMs: number; readonly nowMs: number },
  { askMs }: SilenceTimes,
): boolean {
  return Math.floor((nowMs - heardMs) / askMs) > Math.max(0, Math.floor((lookedMs - heardMs) / askMs));
}

/**
 * The Nodes that are silent now: not a byte came for `afterMs`, while we sent. One that was silent is so until a newer handshake: a
 * byte may be late, but a handshake needs both ways.
 *
 * @param traffic of all Nodes that we watch, by name
 */
export function silentNow(
  before: Silent,
  traffic: ReadonlyMap<string, Traffic>,
  nowMs: number,
  { afterMs }: SilenceTimes,
): Silent {
  return new Map(
    [...traffic].flatMap(([node, each]): (readonly [string, number])[] => {
      const since = before.get(node);
      if (since !== undefined) return each.handshakeSeconds > since ? [] : [[node, since]];
      return each.hasSent && nowMs - each.heardMs >= afterMs ? [[node, each.handshakeSeconds]] : [];
    }),
  );
}

/** The Nodes that the agent before us called silent, each with the last byte that we know of: of one that is no peer here yet, none. */
export type Inherited = ReadonlyMap<string, number | undefined>;

/**
 * Those of them of which we know nothing yet: not a byte has come, and not for so long that we would call them silent ourselves.
 * Unknown is not silent, but it is no answer, either: a restart must not send calls to a dead Node.
 *
 * @param watched the Nodes that we watch
 */
export function stillInherited(
  before: Inherited,
  watched: ReadonlySet<string>,
  traffic: ReadonlyMap<string, Traffic>,
  nowMs: number,
  { afterMs }: SilenceTimes,
): Inherited {
  return new Map(
    [...before].flatMap(([node, knownMs]): (readonly [string, number | undefined])[] => {
      if (!watched.has(node)) return [];
      const heardMs = traffic.get(node)?.heardMs;
      if (heardMs === undefined) return [[node, undefined]];
      return heardMs > (knownMs ?? heardMs) || nowMs - heardMs >= afterMs ? [] : [[node, heardMs]];
    }),
  );
}

/**
 * Whether to wait before a report: most of the Nodes that we watch may be lost, as when a whole cluster is cut off. One report then
 * has them all, instead of several. Their last bytes came within the time for a question and its answer, so it takes no longer.
 */
export function isSpreading(
  silent: Silent,
  traffic: ReadonlyMap<string, Traffic>,
  nowMs: number,
  { afterMs, askMs }: SilenceTimes,
): boolean {
  const spreadMs = askMs + ANSWER_MS;
  let [fresh, suspects] = [0, 0];
  for (const [node, { heardMs, hasSent }] of traffic) {
    const ageMs = nowMs - heardMs;
    if (silent.has(node)) fresh += Number(ageMs < afterMs + spreadMs);
    else suspects += Number(hasSent && ageMs >= afterMs - spreadMs);
  }
  const lost = silent.size + suspects;
  return fresh > 0 && suspects > 0 && lost > 1 && lost > traffic.size / 2;
}
