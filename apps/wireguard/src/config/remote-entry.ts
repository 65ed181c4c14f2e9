import { durationOf, familiesOf, inFamilies, type Problems, remoteReference } from '@kube-semaphore/multicluster';
import { deviceName, isDeviceName, MAX_DEVICE_NAME, secondDeviceOf } from '../names.ts';
import { bad, type Cidr, good, type Parsed, familyNamed, parseIp, parseRange } from '@kube-semaphore/net';
import { oneOf } from '@kube-semaphore/options';
import type { RemoteEntry } from './file.ts';
import { isReachable } from '../mesh/desired/endpoint.ts';
import { clusterName, deviceNameType } from './option-types.ts';
import { FIRST_MTU, minMtu } from '../path-mtu/desired/device-mtu.ts';
import type { KeyRotation } from '../rotation/desired/schedule.ts';
import type { RemoteSettings } from './settings.ts';
import { SHORTEST_AFTER_MS } from '../witnesses/desired/silence.ts';

/** The defaults of the Go program. */
const DEFAULT_MTU = 1420;
const DEFAULT_PORT = 51_820;

const MAX_MTU = 65_535;

const PORTS = { min: 1, max: 65_535 };

/** A rotation takes minutes, and is two writes to our Node, which the agents of a whole cluster read. */
const SHORTEST_EVERY_MS = 3_600_000;

const endpointFamilies = oneOf(['ipv4', 'ipv6']);
const addressTypes = oneOf(['internalIP', 'externalIP']);
const sources = oneOf(['podCIDRs', 'calico-blocks']);

/** The place of an entry in the file, and the problems of the file. */
type Context = { readonly at: string; readonly found: Problems };

/** The settings of one remote in a file. Adds what is wrong to `found`; then the result must not be used. */
export function remoteOf(entry: RemoteEntry, { at, found }: Context): RemoteSettings {
  const check: Check = (field, parsed, otherwise) => found.check(`${at}.${field}`, parsed, otherwise);
  const { podSubnet = '', allowedEndpointCIDRs, endpointFamily = '', endpointFrom = '', allowedIPsFrom = '' } = entry;
  const name = check('name', clusterName.parse(entry.name ?? ''), '');
  const ranges = podSubnetsOf(podSubnet, { at: `${at}.podSubnet`, found });
  const families = check('families', familiesOf(entry.families, { ranges, field: 'podSubnet' }), undefined);
  const podSubnets = inFamilies(ranges, families);
  const device = deviceOf(entry.deviceName ?? '', name, check);
  const family =
    endpointFamily === '' ? undefined : check('endpointFamily', endpointFamilies.parse(endpointFamily), 'ipv4');
  return {
    name,
    reference: check('kubeConfigPath', remoteReference(entry), { kind: 'in-cluster' }),
    families,
    podSubnets,
    device,
    mtuBytes: check('wgDeviceMTU', mtuOf(entry.wgDeviceMTU || DEFAULT_MTU, podSubnets), DEFAULT_MTU),
    measuresMtu: entry.wgDeviceMTU === 'auto',
    listenPort: check('wgListenPort', whole(entry.wgListenPort || DEFAULT_PORT, PORTS), 0),
    resyncPeriodMs: check('resyncPeriod', durationOf(entry.resyncPeriod, 0), 0),
    endpointFamily: family && familyNamed(family),
    endpointFrom:
      endpointFrom === '' ? 'internalIP' : check('endpointFrom', addressTypes.parse(endpointFrom), 'internalIP'),
    dialOut: entry.dialOut === true,
    allowedIpsFrom:
      allowedIPsFrom === '' ? 'podCIDRs' : check('allowedIPsFrom', sources.parse(allowedIPsFrom), 'podCIDRs'),
    allowedEndpoints: allowedEndpointCIDRs && found.cidrs(`${at}.allowedEndpointCIDRs`, allowedEndpointCIDRs),
    deviceAddress: check('deviceAddress', parseAddress(entry.deviceAddress || 'none'), 'none'),
    keyRotation:
      entry.keyRotation &&
      keyRotationOf(check('keyRotation', rotatable(entry, podSubnets), entry.keyRotation), device, check),
    reportSilentAfterMs: check('reportSilentAfter', silentAfterOf(entry), 0),
  };
}

type Check = <T>(field: string, parsed: Parsed<T>, otherwise: T) => T;

/** The default name is only a problem if the cluster's name, which it contains, is valid. */
function deviceOf(chosen: string, cluster: string, check: Check): string {
  if (chosen !== '') return check('deviceName', deviceNameType.parse(chosen), '');
  if (cluster === '') return '';
  const made = deviceName(cluster);
  const tooLong = bad(`it is required, as ${made} is longer than ${MAX_DEVICE_NAME} characters`);
  return check('deviceName', isDeviceName(made) ? deviceNameType.parse(made) : tooLong, '');
}

type RotationEntry = NonNullable<RemoteEntry['keyRotation']>;

/** Nodes move one by one, by routes for their ranges: each has its own ranges, none of them in another one. */
function rotatable(
  { keyRotation = {}, allowedIPsFrom, dialOut }: RemoteEntry,
  podSubnets: readonly Cidr[],
): Parsed<RotationEntry> {
  if (dialOut === true) return bad("it doesn't work with dialOut");
  if (allowedIPsFrom === 'calico-blocks') return bad("it doesn't work with allowedIPsFrom: calico-blocks");
  const single = podSubnets.find(({ family, prefixLength }) => prefixLength === (family === 4 ? 32 : 128));
  return single === undefined
    ? good(keyRotation)
    : bad(`it doesn't work with ${single.text}, a pod subnet of one address`);
}

/** The default name of the second device is only a problem if that of the first one is valid. */
function keyRotationOf(
  { every, secondPort = 0, secondDeviceName: chosen = '' }: RotationEntry,
  device: string,
  check: Check,
): KeyRotation {
  const period = durationOf(every, 0);
  const isTooShort = period.ok && period.value > 0 && period.value < SHORTEST_EVERY_MS;
  const made = secondDeviceOf(device);
  const name =
    chosen === '' && device !== '' && !isDeviceName(made)
      ? bad(`it is required, as ${made} is longer than ${MAX_DEVICE_NAME} characters`)
      : deviceNameType.parse(chosen || made);
  return {
    everyMs: check('keyRotation.every', isTooShort ? bad('it must be at least 1h, or 0') : period, 0),
    secondPort: check('keyRotation.secondPort', whole(secondPort, PORTS), 0),
    secondDevice: chosen === '' && device === '' ? '' : check('keyRotation.secondDeviceName', name, ''),
  };
}

/** The node itself asks, so peers have to accept its packets. */
function silentAfterOf({ reportSilentAfter, deviceAddress = '' }: RemoteEntry): Parsed<number> {
  const after = durationOf(reportSilentAfter, 0);
  if (!after.ok || after.value === 0) return after;
  if (after.value < SHORTEST_AFTER_MS) return bad(`it must be at least ${SHORTEST_AFTER_MS / 1_000}s, or 0`);
  return deviceAddress === '' || deviceAddress === 'none' ? bad('it needs a deviceAddress, such as auto') : after;
}

/** The node has a route for each. */
function podSubnetsOf(podSubnet: string | readonly string[], { at, found }: Context): readonly Cidr[] {
  if (podSubnet.length === 0) found.check(at, bad('it is required'), undefined);
  if (typeof podSubnet !== 'string') return found.ranges(at, podSubnet);
  const range = podSubnet === '' ? undefined : found.check(at, parseRange(podSubnet), undefined);
  return range === undefined ? [] : [range];
}

function parseAddress(raw: string): Parsed<RemoteSettings['deviceAddress']> {
  if (raw === 'none' || raw === 'auto') return good(raw);
  const ip = parseIp(raw);
  if (!ip.ok) return bad(`${ip.reason}; it must be none, auto or an IP address`);
  return isReachable(ip.value) ? good({ ip: ip.value }) : bad(`${ip.value} is not the address of a single node`);
}

function mtuOf(value: number | string, podSubnets: readonly Cidr[]): Parsed<number> {
  if (value === 'auto') return good(FIRST_MTU);
  if (typeof value === 'string') return bad(`${JSON.stringify(value)} is neither a number nor auto`);
  return whole(value, { min: minMtu(podSubnets), max: MAX_MTU });
}

function whole(value: number, { min, max }: { min: number; max: number }): Parsed<number> {
  return Number.isInteger(value) && value >= min && value <= max
    ? good(value)
    : bad(`${value} is not a whole number from ${min} to ${max}`);
}
