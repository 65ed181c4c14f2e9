import type { DeviceChange, PeerChange } from './device.ts';

/** Linux allows 128 KiB per argument. A CIDR with its comma has 44 characters at most. */
const CIDRS_PER_ARGUMENT = 2_000;

/** All arguments of one call, in characters. Linux allows 2 MiB with the environment; less with a small stack. */
const CALL_LENGTH = 512 * 1024;

/**
 * The calls of `wg set` for a change, in order; none for an empty change. They are as few as the kernel's limit on arguments
 * allows: one for some 3,000 peers.
 */
export function setArguments(
  device: string,
  { privateKeyFile, listenPort, peers = [] }: DeviceChange,
): readonly (readonly string[])[] {
  const settings = [
    // The port first: it may be refused, an error shows only the beginning of the call, and a path may be long.
    ...(listenPort === undefined ? [] : ['listen-port', String(listenPort)]),
    ...(privateKeyFile === undefined ? [] : ['private-key', privateKeyFile]),
  ];
  const calls: string[][] = [];
  let call = settings;
  let length = 0;
  // Removed peers free their CIDRs for the others.
  const sorted = [...peers.filter(({ remove }) => remove === true), ...peers.filter(({ remove }) => remove !== true)];
  for (const peer of sorted) {
    const next = peerArguments(peer);
    const nextLength = next.reduce((sum, { length: characters }) => sum + characters + 1, 0);
    if (length > 0 && length + nextLength > CALL_LENGTH) {
      calls.push(call);
      [call, length] = [[], 0];
    }
    call.push(...next);
    length += nextLength;
  }
  if (call.length > 0) calls.push(call);
  return calls.map((words) => ['set', device, ...words]);
}

function peerArguments(peer: PeerChange): readonly string[] {
  if (peer.remove === true) return ['peer', peer.publicKey, 'remove'];
  const { publicKey, allowedIps, endpoint, keepaliveSeconds, clearPresharedKey } = peer;
  return [
    'peer',
    publicKey,
    ...(clearPresharedKey === true ? ['preshared-key', '/dev/null'] : []),
    ...(endpoint === undefined ? [] : ['endpoint', endpoint]),
    ...(keepaliveSeconds === undefined ? [] : ['persistent-keepalive', String(keepaliveSeconds)]),
    ...(allowedIps === undefined ? [] : allowedIpsArguments(allowedIps)),
  ];
}

/** A second `allowed-ips` of a peer adds to the first; an empty one removes all. */
function allowedIpsArguments(cidrs: readonly string[]): readonly string[] {
  if (cidrs.length === 0) return ['allowed-ips', ''];
  const parts = Math.ceil(cidrs.length / CIDRS_PER_ARGUMENT);
  return Array.from({ length: parts }, (_, part) =>
    cidrs.slice(part * CIDRS_PER_ARGUMENT, (part + 1) * CIDRS_PER_ARGUMENT),
  ).flatMap((some) => ['allowed-ips', some.join(',')]);
}
