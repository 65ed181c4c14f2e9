import type { DeviceChange, PeerChange } from './device.ts';

/** Linux takes 128 KiB in one argument. A CIDR has 43 characters at most, and a comma. */
const CIDRS_PER_ARGUMENT = 2_000;

/** All arguments of one call, in characters. Linux takes 2 MiB, with the environment; less if the stack is small. */
const CALL_LENGTH = 512 * 1024;

/**
 * The calls of `wg set` that make a change, in order. They name what is in the change and nothing else, and are as few
 * as the kernel's limit on arguments allows: one for some 3,000 peers, none for nothing.
 */
export function setArguments(
  device: string,
  { privateKeyFile, listenPort, peers = [] }: DeviceChange,
): readonly (readonly string[])[] {
  const settings = [
    // A path may be long, and an error shows the beginning of the call: the port is what can be refused.
    ...(listenPort === undefined ? [] : ['listen-port', String(listenPort)]),
    ...(privateKeyFile === undefined ? [] : ['private-key', privateKeyFile]),
  ];
  const calls: string[][] = [];
  let call = settings;
  let length = 0;
  // What goes makes room for what comes.
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

/** The second `allowed-ips` of a peer adds to the first; an empty one takes all away. */
function allowedIpsArguments(cidrs: readonly string[]): readonly string[] {
  if (cidrs.length === 0) return ['allowed-ips', ''];
  const parts = Math.ceil(cidrs.length / CIDRS_PER_ARGUMENT);
  return Array.from({ length: parts }, (_, part) =>
    cidrs.slice(part * CIDRS_PER_ARGUMENT, (part + 1) * CIDRS_PER_ARGUMENT),
  ).flatMap((some) => ['allowed-ips', some.join(',')]);
}
