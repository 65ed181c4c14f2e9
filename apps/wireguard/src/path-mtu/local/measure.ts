import { createSocket, type Socket } from 'node:dgram';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunOptions } from '@kube-semaphore/kube-client';
import { familyOf } from '@kube-semaphore/net';
import type { WireGuardTools } from '@kube-semaphore/wireguard-tools';
import { type Endpoint, parseEndpoint } from '../../mesh/desired/endpoint.ts';

/** IP and UDP, which an MTU has, too. */
const HEADER_BYTES = { udp4: 28, udp6: 48 } as const;

/** Each can find a link that is narrower than those before. */
const MOST_ROUNDS = 6;

/** A packet, or the answer of a router, may be lost. */
const MOST_UNCHANGED = 2;

/** For the answer of a router. */
const ANSWER_MS = 300;

/** A socket for each family, which exists while its paths are measured. */
type Sockets = Partial<Record<keyof typeof HEADER_BYTES, Socket>>;

/**
 * Measures the MTU of the paths to endpoints. It sends each a UDP packet as large as its path is thought to carry, in one piece: the
 * kernel sets "don't fragment". WireGuard ignores it. The router before a narrower link answers how large it may be, which the
 * kernel keeps for some minutes, and `ip route get` shows. If such answers are blocked, a path seems wider than it is.
 *
 * @param endpoints as `wg` writes them
 * @returns bytes by endpoint; without those that no route leads to
 */
export async function measurePaths(
  endpoints: Iterable<string>,
  { tools, signal }: RunOptions & { readonly tools: Pick<WireGuardTools, 'pathMtu'> },
): Promise<ReadonlyMap<string, number>> {
  const sockets: Sockets = {};
  const found = new Map<string, number>();
  try {
    let open = [...endpoints].map((text) => ({ text, unchanged: 0 }));
    for (let round = 0; round < MOST_ROUNDS && open.length > 0; round++) {
      if (round > 0) await delay(ANSWER_MS, undefined, { signal });
      const next: typeof open = [];
      for (const { text, unchanged } of open) {
        const endpoint = parseEndpoint(text);
        const mtuBytes = endpoint.ok ? await tools.pathMtu(endpoint.value.ip, { signal }) : undefined;
        if (!endpoint.ok || mtuBytes === undefined) continue;
        const times = found.get(text) === mtuBytes ? unchanged + 1 : 0;
        found.set(text, mtuBytes);
        if (times >= MOST_UNCHANGED) continue;
        send(sockets, endpoint.value, mtuBytes);
        next.push({ text, unchanged: times });
      }
      open = next;
    }
  } finally {
    for (const socket of Object.values(sockets)) socket.close();
  }
  return found;
}

function send(sockets: Sockets, { ip, port }: Endpoint, mtuBytes: number): void {
  const type = `udp${familyOf(ip)}` as const;
  sockets[type] ??= createSocket(type).on('error', () => undefined); // a packet that can't be sent measures nothing
  sockets[type].send(Buffer.alloc(mtuBytes - HEADER_BYTES[type]), port, ip, () => undefined);
}
