import { isDnsSubdomain, pubKeyAnnotation, silentAnnotation, TUNNEL_DOMAIN } from '@kube-semaphore/naming';

export { pubKeyAnnotation, silentAnnotation };

/** At most this many bytes in the name of a network device (the kernel's IFNAMSIZ, without the NUL). */
export const MAX_DEVICE_NAME = 15;

/** Calico's own WireGuard devices, which are never ours. */
export const calicoDevices: readonly string[] = ['wireguard.cali', 'wg-v6.cali'];

/** Marks a route as ours (its `rtm_protocol`). Neither iproute2's rt_protos, nor Calico (80), nor a routing daemon uses it. */
export const routeProtocol = 115;

const MARK = 'semaphore-wireguard ';

/** Characters in a prefix of annotations, at most. */
const MAX_PREFIX = 253;

/**
 * Whether annotations of Nodes can begin with the name of a cluster. It may have dots and capitals: API servers check a key in
 * lower case, but keep its case (ValidateAnnotations of apimachinery), so `C2` isn't `c2`.
 */
export function isClusterName(text: string): boolean {
  return (
    text.length + TUNNEL_DOMAIN.length <= MAX_PREFIX &&
    /^[A-Za-z0-9.-]*$/.test(text) &&
    isDnsSubdomain(text.toLowerCase())
  );
}

/** The default name of a remote's device: `wireguard.c2`. Check `isDeviceName`. */
export const deviceName = (remote: string): string => `wireguard.${remote}`;

/** The default name of a second device, which is there while keys rotate: `wireguard.c2.1`. Check `isDeviceName`. */
export const secondDeviceOf = (device: string): string => `${device}.1`;

/** Whether the kernel accepts a device's name (dev_valid_name) and `ip` doesn't read it as a flag. */
export function isDeviceName(text: string): boolean {
  return /^[!-~]+$/.test(text) && text.length <= MAX_DEVICE_NAME && !/[/:]|^-|^\.\.?$/.test(text);
}

/** The file in `-wg-key-path` with the private key of a remote's device: `wireguard.c2.key`. */
export const keyFileName = (remote: string): string => `wireguard.${remote}.key`;

/** The file by which a user asks for a new key of a remote's device: when it was written counts. */
export const requestFileName = (remote: string): string => `${keyFileName(remote)}.rotate`;

/** The file with its next private key, during a rotation. No cluster has a key file of this name. */
export const nextKeyFileName = (remote: string): string => `${keyFileName(remote)}.next`;

/** The annotation of a Node with its endpoint for the peers of a cluster, as `pubKeyAnnotation`. */
export const endpointAnnotation = (cluster: string): string => `${cluster}${TUNNEL_DOMAIN}/endpoint`;

/**
 * The annotation of a Node that can meet others on two planes, as `pubKeyAnnotation`: the ports of both, `51820,51920`. The port
 * of its endpoint says which of them it announces.
 */
export const planesAnnotation = (cluster: string): string => `${cluster}${TUNNEL_DOMAIN}/planes`;

/** The annotation by which an administrator says where our own Node is reached: an address, or an address and a port. */
export const endpointAddressAnnotation = 'wireguard.semaphore.uw.io/endpoint-address';

const ANNOTATIONS: readonly string[] = ['pubKey', 'endpoint', 'planes', 'silent'];

/** The cluster that one of these annotations is for; undefined for other keys. */
export function clusterOfAnnotation(key: string): string | undefined {
  const slash = key.indexOf('/');
  const [prefix, name] = [key.slice(0, slash), key.slice(slash + 1)];
  if (!prefix.endsWith(TUNNEL_DOMAIN) || !ANNOTATIONS.includes(name)) return undefined;
  const cluster = prefix.slice(0, -TUNNEL_DOMAIN.length);
  return isClusterName(cluster) ? cluster : undefined;
}

/** The alias (`ip link … alias`) that marks a device as ours and names its remote. */
export const deviceAlias = (remote: string): string => `${MARK}${remote}`;

/** The remote that our mark names; undefined for other aliases. */
export function remoteOfAlias(alias: string): string | undefined {
  if (!alias.startsWith(MARK)) return undefined;
  const remote = alias.slice(MARK.length);
  return isClusterName(remote) ? remote : undefined;
}
