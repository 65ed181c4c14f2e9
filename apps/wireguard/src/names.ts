import { isDnsSubdomain } from '@kube-semaphore/naming';

/** At most this many bytes in the name of a network device (the kernel's IFNAMSIZ, without the NUL). */
export const MAX_DEVICE_NAME = 15;

/** Calico's own WireGuard devices: never ours. */
export const calicoDevices: readonly string[] = ['wireguard.cali', 'wg-v6.cali'];

/**
 * What marks a route as ours (its `rtm_protocol`). No name in iproute2's rt_protos has it, nor does Calico (80) or a
 * routing daemon that we know.
 */
export const routeProtocol = 115;

const ANNOTATION_DOMAIN = '.wireguard.semaphore.uw.io';
const MARK = 'semaphore-wireguard ';

/** At most so many characters in a prefix of annotations. */
const MAX_PREFIX = 253;

/**
 * Whether annotations of Nodes can begin with the name of a cluster. API servers check a key in lower case and keep it as it
 * is written (ValidateAnnotations of apimachinery), so it may have capitals, which count: `C2` isn't `c2`. It may have dots.
 */
export function isClusterName(text: string): boolean {
  return (
    text.length + ANNOTATION_DOMAIN.length <= MAX_PREFIX &&
    /^[A-Za-z0-9.-]*$/.test(text) &&
    isDnsSubdomain(text.toLowerCase())
  );
}

/** The device that leads to a remote, unless its config says otherwise: `wireguard.c2`. Check `isDeviceName`. */
export const deviceName = (remote: string): string => `wireguard.${remote}`;

/** What the kernel takes as a device's name (dev_valid_name), but for the leading hyphen that `ip` takes as a flag. */
export function isDeviceName(text: string): boolean {
  return /^[!-~]+$/.test(text) && text.length <= MAX_DEVICE_NAME && !/[/:]|^-|^\.\.?$/.test(text);
}

/** The file in `-wg-key-path` that holds the private key of the device that leads to a remote: `wireguard.c2.key`. */
export const keyFileName = (remote: string): string => `wireguard.${remote}.key`;

/**
 * Annotation of a Node: its public key for the peers of a cluster. On our own Node `cluster` is the remote, on a
 * remote's Nodes it is the local cluster. Check `isClusterName`.
 */
export const pubKeyAnnotation = (cluster: string): string => `${cluster}${ANNOTATION_DOMAIN}/pubKey`;

/** Annotation of a Node: where it listens for the peers of a cluster, as `pubKeyAnnotation` has it. */
export const endpointAnnotation = (cluster: string): string => `${cluster}${ANNOTATION_DOMAIN}/endpoint`;

/** The cluster that an annotation of a Node is for; undefined if the key is none of these two. */
export function clusterOfAnnotation(key: string): string | undefined {
  const slash = key.indexOf('/');
  const [prefix, name] = [key.slice(0, slash), key.slice(slash + 1)];
  if (!prefix.endsWith(ANNOTATION_DOMAIN) || (name !== 'pubKey' && name !== 'endpoint')) return undefined;
  const cluster = prefix.slice(0, -ANNOTATION_DOMAIN.length);
  return isClusterName(cluster) ? cluster : undefined;
}

/** The alias (`ip link … alias`) that marks a device as ours and names the remote it leads to. */
export const deviceAlias = (remote: string): string => `${MARK}${remote}`;

/** The remote that a device of ours leads to; undefined if the alias isn't our mark. */
export function remoteOfAlias(alias: string): string | undefined {
  if (!alias.startsWith(MARK)) return undefined;
  const remote = alias.slice(MARK.length);
  return isClusterName(remote) ? remote : undefined;
}
