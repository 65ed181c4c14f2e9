import { bad, good, parseCidr, type Parsed } from '@kube-semaphore/net';
import type { Device, Peer } from '../device.ts';
import { parsePublicKey } from '../keys.ts';

const DEVICE_FIELDS = 5;
const PEER_FIELDS = 9;
const NONE = '(none)';
const MAX_PORT = 65_535;
const MAX_MARK = 0xffff_ffff;

/**
 * Reads `wg show all dump`: a line of tab-separated fields for each device and each peer, beginning with the device's name.
 *
 * @returns the devices in order, or which field of which line is wrong; never its text, which may be a key
 */
export function parseAllDump(text: string): Parsed<readonly Device[]> {
  const devices: (Device & { readonly peers: Peer[] })[] = [];
  for (const [index, line] of linesOf(text).entries()) {
    const fields = line.split('\t');
    const device = devices.at(-1);
    const parsed = fields.length === DEVICE_FIELDS ? parseDevice(fields) : parsePeer(fields, device?.name);
    if (!parsed.ok) return bad(`line ${index + 1}: ${parsed.reason}`);
    if ('listenPort' in parsed.value) devices.push({ ...parsed.value, peers: [] });
    else device?.peers.push(parsed.value);
  }
  return good(devices);
}

/** Reads `wg show NAME dump`, which is the same for one device, without its name. */
export function parseDump(name: string, text: string): Parsed<Device> {
  const lines = linesOf(text).map((line) => `${name}\t${line}`);
  const devices = parseAllDump(lines.join('\n'));
  if (!devices.ok) return devices;
  const [device, ...others] = devices.value;
  return device === undefined || others.length > 0 ? bad('not the dump of one device') : good(device);
}

const linesOf = (text: string): readonly string[] => text.split('\n').filter((line) => line !== '');

function parseDevice([name = '', privateKey, publicKey = '', listenPort, fwMark]: readonly string[]): Parsed<Device> {
  const port = count(listenPort, MAX_PORT);
  const mark = fwMark === 'off' ? 0 : count(fwMark, MAX_MARK);
  if (name === '') return bad('a device without a name');
  const hasKey = privateKey !== NONE;
  if (hasKey && !parsePublicKey(publicKey).ok) return bad('the public key of the device is invalid');
  if (port === undefined) return bad('the listen port is invalid');
  if (mark === undefined) return bad('the fwmark is invalid');
  return good({ name, publicKey: hasKey ? publicKey : undefined, listenPort: port, fwMark: mark, peers: [] });
}

function parsePeer(fields: readonly string[], device: string | undefined): Parsed<Peer> {
  if (fields.length !== PEER_FIELDS)
    return bad(`${fields.length} fields, but a device has ${DEVICE_FIELDS} and a peer ${PEER_FIELDS}`);
  const [name, publicKey = '', preshared, endpoint = '', cidrs = '', handshake, received, sent, keepalive] = fields;
  if (name !== device) return bad('a peer of a device other than the one above');
  if (!parsePublicKey(publicKey).ok) return bad('the public key of the peer is invalid');
  const allowedIps = parseAllowedIps(cidrs);
  if (!allowedIps.ok) return allowedIps;
  const numbers = { handshake: count(handshake), received: count(received), sent: count(sent) };
  const seconds = keepalive === 'off' ? 0 : count(keepalive, MAX_PORT);
  if (numbers.handshake === undefined) return bad('the latest handshake is not a time');
  if (numbers.received === undefined || numbers.sent === undefined) return bad('the transfer is not a number of bytes');
  if (seconds === undefined) return bad('the keepalive is not a number of seconds');
  return good({
    publicKey,
    hasPresharedKey: preshared !== NONE,
    endpoint: endpoint === NONE ? undefined : endpoint,
    allowedIps: allowedIps.value,
    latestHandshakeSeconds: numbers.handshake === 0 ? undefined : numbers.handshake,
    receivedBytes: numbers.received,
    sentBytes: numbers.sent,
    keepaliveSeconds: seconds,
  });
}

function parseAllowedIps(text: string): Parsed<readonly string[]> {
  if (text === NONE || text === '') return good([]);
  const cidrs = text.split(',').map(parseCidr);
  const wrong = cidrs.find((cidr) => !cidr.ok);
  return wrong === undefined
    ? good(cidrs.flatMap((cidr) => (cidr.ok ? [cidr.value.text] : [])))
    : bad(`the allowed IPs: ${wrong.reason}`);
}

/** A whole number from 0 to `max`, decimal or hexadecimal with 0x. */
function count(text = '', max = Number.MAX_SAFE_INTEGER): number | undefined {
  const value = /^(?:\d{1,16}|0x[0-9a-f]{1,8})$/.test(text) ? Number(text) : Number.NaN;
  return value <= max ? value : undefined;
}
